//! From a path on the command line to a frozen workflow, with findings printed on the way.

use super::{Exit, Failure, output};
use crate::ast;
use crate::compile::{self, Compiled, Folder, MainDocument};
use crate::diagnostic::Severity;
use crate::host::clock::{Clock, RealClock};
use crate::ir;
use crate::report;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A definition that can run.
pub(super) struct Ready {
    pub workflow: Arc<ir::Workflow>,
    pub root: PathBuf,
    /// What was written, unless the file was a frozen workflow.
    pub ast: Option<ast::Workflow>,
}

/// Compiles the file at `path`.
pub(super) fn compile_file(path: &Path) -> Result<Compiled, Failure> {
    let (document, package) = document(path, read(path)?);
    Ok(compile::compile(document, &package, RealClock.now()))
}

/// A text under its path, and the package that it belongs to.
pub(super) fn document(path: &Path, bytes: Vec<u8>) -> (MainDocument, Folder) {
    let root = compile::package_root(path);
    let (name, package_path) = (path.display().to_string(), package_path(&root, path));
    (MainDocument { name, package_path, bytes }, Folder::new(root))
}

/// The path of a file from the root of its package, with `/`.
fn package_path(root: &Path, path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let inside = absolute.strip_prefix(root).unwrap_or(&absolute);
    let segments: Vec<_> =
        inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    segments.join("/")
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::new(Exit::Usage, format!("{} cannot be read: {error}", path.display())))
}

/// Findings as a person reads them, to stderr.
pub(super) fn print_findings(compiled: &Compiled) {
    let look = report::Look { color: output::color(), width: output::width() };
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = report::write(report::Format::Human, &compiled.sources, &compiled.diagnostics, &mut text, look);
    eprint!("{}", String::from_utf8_lossy(&text));
}

/// The frozen workflow at `path`, from YAML, JSON or frozen bytes. Findings go to stderr; errors among them end it.
pub(super) fn ready(path: &Path) -> Result<Ready, Failure> {
    let root = compile::package_root(path);
    let absolute = root.canonicalize().unwrap_or(root);
    let bytes = read(path)?;
    if bytes.starts_with(b"{\"digest\":\"sha256:") {
        let workflow = ir::Workflow::from_bytes(&bytes)
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())))?;
        return Ok(Ready { workflow: Arc::new(workflow), root: absolute, ast: None });
    }
    let compiled = compile_file(path)?;
    if !compiled.diagnostics.is_empty() {
        print_findings(&compiled);
    }
    let errors = compiled.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    match compiled.workflow {
        Some(workflow) => Ok(Ready { workflow: Arc::new(workflow), root: absolute, ast: compiled.ast }),
        None => Err(Failure::new(
            Exit::Findings,
            format!("{} has {errors} errors and does not run", path.display()),
        )),
    }
}
