//! From a path on the command line to a frozen workflow, with findings printed on the way.

use super::{Exit, Failure, output};
use crate::ast;
use crate::compile::{self, Folder, MainDocument};
use crate::diagnostic::Severity;
use crate::host::clock::{Clock, RealClock};
use crate::settings;
use crate::verdict::{self, Under, Verdict};
use crate::{ir, report};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a frozen workflow begins.
const FROZEN: &[u8] = b"{\"digest\":\"sha256:";

/// A definition that can run.
pub(super) struct Ready {
    pub workflow: Arc<ir::Workflow>,
    pub root: PathBuf,
    /// What was written, unless the file was a frozen workflow.
    pub ast: Option<ast::Workflow>,
}

/// Judges the file at `path` under the settings that count for it. What is wrong with these, `check` says.
pub(super) fn judge_file(path: &Path) -> Result<Verdict, Failure> {
    Ok(judge(path, read(path)?))
}

fn judge(path: &Path, bytes: Vec<u8>) -> Verdict {
    let package = package(path);
    let document = document(path, bytes, &package);
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let settings = settings::of(absolute.parent().unwrap_or(&absolute));
    let place = settings::path_from(&settings.folder, &absolute);
    verdict::judge(document, &package.folder, Under { settings: &settings, path: &place }, RealClock.now())
}

/// The package that a file belongs to; all files of its folder share it.
pub(super) struct Package {
    pub root: PathBuf,
    pub folder: Folder,
}

/// The package of the file at `path`.
pub(super) fn package(path: &Path) -> Package {
    let root = compile::package_root(path);
    let folder = Folder::new(&root).shown_under(prefix(&shown(path), &package_path(&root, path)));
    Package { root, folder }
}

/// A text under its path in a package.
pub(super) fn document(path: &Path, bytes: Vec<u8>, package: &Package) -> MainDocument {
    MainDocument { name: shown(path), package_path: package_path(&package.root, path), bytes }
}

fn shown(path: &Path) -> String {
    let shown = path.display().to_string();
    shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown)
}

/// The path of a file from the root of its package, with `/`.
fn package_path(root: &Path, path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    settings::path_from(root, &absolute)
}

/// What stands before the package paths of other files, for one who sees `package_path` as `name`.
fn prefix(name: &str, package_path: &str) -> String {
    let (mut shown, mut inside): (Vec<_>, Vec<_>) =
        (name.split('/').collect(), package_path.split('/').collect());
    while shown.last().is_some_and(|last| inside.last() == Some(last)) {
        shown.pop();
        inside.pop();
    }
    if inside.is_empty() {
        return shown.iter().map(|part| format!("{part}/")).collect();
    }
    // The reader stands inside the package.
    if shown.is_empty() { "../".repeat(inside.len()) } else { String::new() }
}

/// All of stdin.
pub(super) fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::new(Exit::Fault, format!("stdin cannot be read: {error}"))),
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::new(Exit::Usage, format!("{} cannot be read: {error}", path.display())))
}

/// An agent that can talk.
pub(super) struct ReadyAgent {
    pub agent: ir::Agent,
    pub root: PathBuf,
}

/// The frozen agent at `path`. Findings go to stderr; errors among them end it.
pub(super) fn agent(path: &Path) -> Result<ReadyAgent, Failure> {
    let root = compile::package_root(path);
    let root = root.canonicalize().unwrap_or(root);
    let verdict = judge_file(path)?;
    if !verdict.diagnostics.is_empty() {
        print_findings(&verdict);
    }
    let errors = report::counted(verdict.count(Severity::Error), "error");
    match verdict.agent {
        Some(agent) => Ok(ReadyAgent { agent, root }),
        None if verdict.count(Severity::Error) == 0 => {
            Err(Failure::new(Exit::Usage, format!("{} is a workflow, not an agent", path.display())))
        }
        None => {
            Err(Failure::new(Exit::Findings, format!("{} has {errors} and does not run", path.display())))
        }
    }
}

/// The frozen agent at `path` as it is now; none if it is none.
pub(super) fn agent_quietly(path: &Path) -> Option<ir::Agent> {
    judge_file(path).ok()?.agent
}

/// How a workflow file stands to the frozen definition of this digest: `same`, `changed`, `broken` or `gone`.
pub(super) fn standing(path: &Path, frozen: &ir::Digest) -> &'static str {
    let Ok(bytes) = read(path) else { return "gone" };
    let digest = if bytes.starts_with(FROZEN) {
        ir::Workflow::from_bytes(&bytes).ok().map(|workflow| workflow.digest().clone())
    } else {
        judge(path, bytes).workflow().map(|workflow| workflow.digest().clone())
    };
    match digest {
        Some(now) if now == *frozen => "same",
        Some(_) => "changed",
        None => "broken",
    }
}

/// Findings as a person reads them, to stderr.
pub(super) fn print_findings(verdict: &Verdict) {
    let look = report::Look { color: output::color(), width: output::width() };
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = report::write(report::Format::Human, &verdict.sources, &verdict.diagnostics, &mut text, look);
    eprint!("{}", String::from_utf8_lossy(&text));
}

/// The frozen workflow at `path`, from YAML, JSON or frozen bytes. Findings go to stderr; errors among them end it.
pub(super) fn ready(path: &Path) -> Result<Ready, Failure> {
    let root = compile::package_root(path);
    let absolute = root.canonicalize().unwrap_or(root);
    let bytes = read(path)?;
    if bytes.starts_with(FROZEN) {
        let workflow = ir::Workflow::from_bytes(&bytes)
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))?;
        return Ok(Ready { workflow: Arc::new(workflow), root: absolute, ast: None });
    }
    let verdict = judge(path, bytes);
    if !verdict.diagnostics.is_empty() {
        print_findings(&verdict);
    }
    let errors = report::counted(verdict.count(Severity::Error), "error");
    match verdict.workflow() {
        Some(workflow) => Ok(Ready { workflow: Arc::new(workflow), root: absolute, ast: verdict.ast }),
        None if verdict.count(Severity::Error) == 0 && verdict.agent.is_none() => {
            let path = path.display();
            Err(Failure::usage(format!("{path} is a test file; `flowright test {path}` plays it")))
        }
        None if verdict.count(Severity::Error) == 0 => Err(Failure::new(
            Exit::Usage,
            format!("{} is an agent, not a workflow; `flowright agent run` talks to it", path.display()),
        )),
        None => {
            Err(Failure::new(Exit::Findings, format!("{} has {errors} and does not run", path.display())))
        }
    }
}
