//! One verdict for every way in: the command line, stdin, an editor and a package all ask here. A document is
//! compiled as what it is, then settings and ignore comments are applied to its findings.
//!
//! A pure function of the document, the files of its package, settings and a date; nothing here prints.

mod ignored;
pub mod kind;
pub mod mend;

use crate::compile::{self, CompiledAgent, CompiledTest, Files, MainDocument};
use crate::diagnostic::{Diagnostic, Severity};
use crate::resolve::Agents;
use crate::settings::Settings;
use crate::source::{FileId, Sources};
use crate::time::Timestamp;
use crate::{ast, check, ir};

pub use kind::{Kind, kind};

/// What is known of a document.
#[derive(Debug)]
pub struct Verdict {
    /// All texts that were read; [`FileId::MAIN`] is the document.
    pub sources: Sources,
    /// The findings that count, by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// The findings that comments ignore.
    pub ignored: Vec<Ignored>,
    /// The largest number of agent runs between two waits, if the workflow is sound.
    pub bound: Option<Bound>,
    /// What was written, of a workflow that could be read.
    pub ast: Option<ast::Workflow>,
    /// The agent files that it names.
    pub agents: Agents,
    /// The frozen agent, if the document is an agent and nothing is an error.
    pub agent: Option<ir::Agent>,
}

/// A finding that a comment ignores.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Why it does not count, in the words of the comment.
    pub reason: String,
}

/// How many agent runs there can be between two waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most so many.
    Runs(u64),
    /// There is no bound.
    Unbounded,
}

/// Settings, and where the document stands to them.
#[derive(Clone, Copy, Debug)]
pub struct Under<'a> {
    /// What the project wants.
    pub settings: &'a Settings,
    /// The path of the document from the folder of the settings, with `/`.
    pub path: &'a str,
}

impl Verdict {
    /// How many findings weigh so much.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == severity).count()
    }

    /// The frozen workflow, if it is one and nothing is an error. It is made now: a check never pays for it.
    #[must_use]
    pub fn workflow(&self) -> Option<ir::Workflow> {
        let (ast, bound) = (self.ast.as_ref()?, self.bound?);
        let agent_runs = match bound {
            Bound::Runs(runs) => Some(runs),
            Bound::Unbounded => None,
        };
        (!compile::has_errors(&self.diagnostics)).then(|| compile::freeze(ast, &self.agents, agent_runs))
    }
}

/// Judges a document.
#[must_use]
pub fn judge(main: MainDocument, files: &dyn Files, under: Under<'_>, as_of: Timestamp) -> Verdict {
    let mut frozen = None;
    let (sources, found, ast, agents, bound) = match kind(&main.package_path, &main.bytes) {
        Some(Kind::Agent) => {
            let CompiledAgent { sources, diagnostics, agent, .. } = compile::compile_agent_in(main, files);
            frozen = agent;
            (sources, diagnostics, None, Agents::default(), None)
        }
        Some(Kind::Test) => {
            let CompiledTest { sources, diagnostics, .. } = compile::compile_test(main);
            (sources, diagnostics, None, Agents::default(), None)
        }
        Some(Kind::Workflow) | None => {
            let compiled = compile::analyse(main, files, as_of);
            let is_sound = compiled.ast.is_some() && !compile::has_errors(&compiled.diagnostics);
            let bound = is_sound.then(|| compiled.agent_runs.map_or(Bound::Unbounded, Bound::Runs));
            (compiled.sources, compiled.diagnostics, compiled.ast, compiled.agents, bound)
        }
    };
    let (diagnostics, ignored) = apply(&sources, found, under);
    let agent = frozen.filter(|_| !compile::has_errors(&diagnostics));
    Verdict { sources, diagnostics, ignored, bound, ast, agents, agent }
}

/// Applies ignore comments, then settings, to what a compile has found: the findings that count, and those that
/// comments ignore.
#[must_use]
pub fn apply(sources: &Sources, found: Vec<Diagnostic>, under: Under<'_>) -> (Vec<Diagnostic>, Vec<Ignored>) {
    let (found, ignored) = ignored::apply(sources, found);
    let mut left: Vec<_> = found
        .into_iter()
        .filter_map(|one| {
            let path = path_of(sources, one.span.file, under.path);
            under.settings.apply(one, &path)
        })
        .collect();
    left.sort_by_key(|one| (one.span.file, one.span.start, one.span.end));
    (left, ignored)
}

/// Whether a finding is about the findings of others, which is why no comment ignores it.
fn is_about_comments(found: &Diagnostic) -> bool {
    [
        &check::bad_ignore::RULE,
        &check::ignore_without_reason::RULE,
        &check::ignored_error::RULE,
        &check::unknown_rule::RULE,
        &check::unused_ignore::RULE,
    ]
    .contains(&found.rule)
}

/// The path of a source from the folder of the settings: names differ only in what stands before them.
fn path_of(sources: &Sources, file: FileId, main: &str) -> String {
    let name = |id| sources.get(id).map(|source| source.name().replace('\\', "/")).unwrap_or_default();
    if file == FileId::MAIN {
        return main.to_owned();
    }
    let (shown, other) = (name(FileId::MAIN), name(file));
    let common = shown
        .split('/')
        .rev()
        .zip(main.split('/').rev())
        .take_while(|(one, two)| one == two)
        .map(|(one, _)| one.len() + 1)
        .sum::<usize>();
    let head = |text: &str| text.get(..text.len().saturating_sub(common - 1)).unwrap_or_default().to_owned();
    if common == 0 {
        return other;
    }
    match other.strip_prefix(&head(&shown)) {
        Some(rest) => normal(&format!("{}{rest}", head(main))),
        None => other,
    }
}

fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
