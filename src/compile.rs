//! The one door of the front wing: bytes in, everything that can be said of them and the frozen workflow out.
//!
//! It reads agent files only through [`Files`] and knows no clock, database or network. Faults of the input are
//! diagnostics; nothing here fails or prints.

mod agents;
mod around;
mod boxes;
mod files;
mod relink;
mod schemas;
mod steps;
mod tidy;

use crate::diagnostic::{Diagnostic, Severity};
use crate::resolve::{Agents, Around, resolve};
use crate::source::{FileId, Source, Sources};
use crate::time::Timestamp;
use crate::tree::Node;
use crate::{ast, check, ir, lower, parse};

pub use files::{FileError, Files, Folder, Memory, package_root};
pub use relink::relink;

/// The document that is compiled.
#[derive(Clone, Debug)]
pub struct MainDocument {
    /// What people see: the path as they typed it, or `<stdin>`.
    pub name: String,
    /// Its path from the package root, with `/`.
    pub package_path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What a compile gives.
#[derive(Debug)]
pub struct Compiled {
    /// All texts that were read; [`FileId::MAIN`] is the document.
    pub sources: Sources,
    /// The document as it was read, with holes; `None` if the bytes are no text.
    pub tree: Option<Node>,
    /// What was written, with the schema files that it refers to inside its schemas; `None` if the bytes are no text.
    pub ast: Option<ast::Workflow>,
    /// The agent files that it names.
    pub agents: Agents,
    /// The largest number of agent runs between two waits that was proved; `None` without a bound.
    pub agent_runs: Option<u64>,
    /// The frozen workflow, if nothing is an error.
    pub workflow: Option<ir::Workflow>,
    /// Findings by file and place.
    pub diagnostics: Vec<Diagnostic>,
}

/// What compiling an agent file alone gives.
#[derive(Debug)]
pub struct CompiledAgent {
    /// The text that was read.
    pub sources: Sources,
    /// The keys as they were read (of Markdown, its front matter), with holes; `None` if there are none.
    pub tree: Option<Node>,
    /// What was written; `None` if the bytes are no text.
    pub ast: Option<ast::Agent>,
    /// What the package holds of the things that it names; `None` if nothing is known of the package.
    pub around: Option<Around>,
    /// The frozen agent, if nothing is an error.
    pub agent: Option<ir::Agent>,
    /// Findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles a definition with the agent files of its package. Findings that need a date (an expression that meets a
/// change of its zone) look from `as_of` on; nothing else depends on it.
#[must_use]
pub fn compile(main: MainDocument, files: &dyn Files, as_of: Timestamp) -> Compiled {
    let mut compiled = analyse(main, files, as_of);
    if let Some(ast) = compiled.ast.as_ref().filter(|_| !has_errors(&compiled.diagnostics)) {
        compiled.workflow = Some(freeze(ast, &compiled.agents, compiled.agent_runs));
    }
    compiled
}

/// Freezes what [`analyse`] gave without an error.
#[must_use]
pub fn freeze(ast: &ast::Workflow, agents: &Agents, agent_runs: Option<u64>) -> ir::Workflow {
    lower::lower(&resolve(ast, agents), agent_runs)
}

/// As [`compile`], without freezing: all that a check and an editor need.
#[must_use]
pub fn analyse(main: MainDocument, files: &dyn Files, as_of: Timestamp) -> Compiled {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let Some(source) = take_in(&mut sources, &main.name, main.bytes, &mut diagnostics) else {
        return unread(sources, None, diagnostics);
    };
    let tree = parse::read(&source, &mut diagnostics);
    if has_errors(&diagnostics) && tree.get("kind").is_none() {
        // What could not be read whole and does not say that it is a workflow is not judged as one.
        tidy::tidy(&sources, &mut diagnostics);
        return unread(sources, Some(tree), diagnostics);
    }
    let mut ast = parse::workflow::workflow(&source, &tree, &mut diagnostics);
    let mut agents = agents::load(&ast, files, &mut sources, &mut diagnostics);
    schemas::link(&mut ast, &mut agents, files, &mut sources, &mut diagnostics);
    let agent_runs = check::check(&resolve(&ast, &agents), as_of, &mut diagnostics);
    tidy::tidy(&sources, &mut diagnostics);
    Compiled { agent_runs, tree: Some(tree), ast: Some(ast), agents, ..unread(sources, None, diagnostics) }
}

/// Compiles an agent file alone, knowing nothing of its package.
#[must_use]
pub fn compile_agent(main: MainDocument) -> CompiledAgent {
    agent(main, None)
}

/// Compiles an agent file with what its package holds of the things that it names.
#[must_use]
pub fn compile_agent_in(main: MainDocument, files: &dyn Files) -> CompiledAgent {
    agent(main, Some(files))
}

fn agent(main: MainDocument, files: Option<&dyn Files>) -> CompiledAgent {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let name = main.name.clone();
    let Some(source) = take_in(&mut sources, &name, main.bytes, &mut diagnostics) else {
        return CompiledAgent { sources, tree: None, ast: None, around: None, agent: None, diagnostics };
    };
    let tree = agents::tree(&source, &main.package_path);
    let mut ast = agents::read(&source, &main.package_path, &mut diagnostics);
    match files {
        Some(files) => {
            schemas::link_agent(&mut ast, files, &mut sources, &mut diagnostics);
            boxes::link(&mut ast, files, &mut sources, &mut diagnostics);
        }
        None => schemas::forget(&mut ast),
    }
    let around = files.map(|files| around::of(&ast, files));
    check::agent(&ast, &main.package_path, around.as_ref(), &mut diagnostics);
    tidy::tidy(&sources, &mut diagnostics);
    let agent =
        (!has_errors(&diagnostics)).then(|| lower::freeze_agent(&ast, &main.package_path, around.as_ref()));
    CompiledAgent { sources, tree, ast: Some(ast), around, agent, diagnostics }
}

/// What reading a test file gives.
#[derive(Debug)]
pub struct CompiledTest {
    /// The text that was read.
    pub sources: Sources,
    /// What was written, if nothing is an error.
    pub ast: Option<ast::rehearsal::Rehearsal>,
    /// Findings by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompiledTest {
    /// As a document of which nothing is known but its findings.
    #[must_use]
    pub fn into_unread(self) -> Compiled {
        unread(self.sources, None, self.diagnostics)
    }
}

/// Reads a test file alone; the workflow that it plays is not looked at.
#[must_use]
pub fn compile_test(main: MainDocument) -> CompiledTest {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    let name = main.name.clone();
    let ast = take_in(&mut sources, &name, main.bytes, &mut diagnostics).and_then(|source| {
        let tree = parse::read(&source, &mut diagnostics);
        let is_whole = !has_errors(&diagnostics);
        is_whole.then(|| parse::rehearsal::rehearsal(&source, &tree, &mut diagnostics))
    });
    tidy::tidy(&sources, &mut diagnostics);
    let ast = ast.filter(|_| !has_errors(&diagnostics));
    CompiledTest { sources, ast, diagnostics }
}

/// Whether a finding stops the compile.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|found| found.severity == Severity::Error)
}

fn unread(sources: Sources, tree: Option<Node>, diagnostics: Vec<Diagnostic>) -> Compiled {
    Compiled {
        sources,
        tree,
        ast: None,
        agents: Agents::default(),
        agent_runs: None,
        workflow: None,
        diagnostics,
    }
}

fn take_in(
    sources: &mut Sources,
    name: &str,
    bytes: Vec<u8>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Source> {
    let id = FileId(u32::try_from(sources.iter().count()).unwrap_or(u32::MAX));
    match parse::decode(id, bytes) {
        Ok(text) => {
            let source = sources.add(name, text);
            check::text(&source, diagnostics);
            Some(source)
        }
        Err(found) => {
            sources.add(name, "");
            diagnostics.push(*found);
            None
        }
    }
}
