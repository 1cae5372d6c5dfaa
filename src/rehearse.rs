//! Rehearsals: the cases of a test file, played on the real engine and host with scripted agents, a store in memory and
//! a clock that moves when told; and `simulate`, which walks every path. Nothing here prints, opens a file, or reaches
//! a network or a process.

mod actor;
mod coverage;
mod expect;
mod names;
mod play;
pub mod simulate;
mod stage;

pub use coverage::{Coverage, Way};
pub use stage::Happened;

use crate::ast::rehearsal::Rehearsal;
use crate::compile::{self, CompiledTest, FileError, Files, MainDocument};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir;
use crate::parse::rules;
use crate::resolve::package_path::normal;
use crate::source::{Sources, Span};
use crate::time::Timestamp;
use std::sync::Arc;

/// What came of a test file.
#[derive(Debug)]
pub struct Rehearsed {
    /// The text of the file; the first is it.
    pub sources: Sources,
    /// What is wrong with the file, and every expectation that failed, by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What came of each case, in order; none if the file has faults.
    pub cases: Vec<Played>,
    /// What the cases have visited of the workflow; none if there is no sound one.
    pub coverage: Option<Coverage>,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its name.
    pub name: String,
    /// What did not hold.
    pub findings: Vec<Diagnostic>,
    /// Every event of the session and its agents, in order.
    pub events: Vec<Happened>,
}

impl Played {
    /// Whether everything held.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Plays the cases of a test file whose names hold `filter`. The workflow is compiled as of `as_of`.
pub async fn rehearse(
    main: MainDocument,
    files: &dyn Files,
    filter: Option<&str>,
    as_of: Timestamp,
) -> Rehearsed {
    let CompiledTest { sources, ast, mut diagnostics } = compile::compile_test(main.clone());
    let found = ast.and_then(|rehearsal| {
        let workflow = workflow(&main, &rehearsal, files, as_of, &mut diagnostics)?;
        names::check(&rehearsal, &workflow.1, &mut diagnostics);
        Some((rehearsal, workflow))
    });
    let Some((rehearsal, (shown, frozen))) = found else {
        return Rehearsed { sources, diagnostics, cases: Vec::new(), coverage: None };
    };
    let mut coverage = Coverage::of(shown, &frozen);
    let mut cases = Vec::new();
    if !compile::has_errors(&diagnostics) {
        let frozen = Arc::new(frozen);
        let chosen = |name: &str| filter.is_none_or(|part| name.contains(part));
        for case in rehearsal.cases.iter().filter(|case| chosen(&case.name.value)) {
            let played = play::play(&frozen, &rehearsal, case).await;
            coverage.take(&played.events);
            diagnostics.extend(played.findings.iter().cloned());
            cases.push(played);
        }
    }
    diagnostics.sort_by_key(|found| (found.span.start, found.span.end));
    Rehearsed { sources, diagnostics, cases, coverage: Some(coverage) }
}

/// The workflow that the file plays, frozen, with the path that it is shown under.
fn workflow(
    main: &MainDocument,
    rehearsal: &Rehearsal,
    files: &dyn Files,
    as_of: Timestamp,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(String, ir::Workflow)> {
    let start = rehearsal.span.at_start();
    let span = rehearsal.workflow.as_ref().map_or(start, |written| written.span);
    let mut unusable = |message: String, help: Option<String>| {
        let found = Diagnostic::new(&rules::UNUSABLE_WORKFLOW, place(span), message);
        diagnostics.push(Diagnostic { help, ..found });
    };
    let written = match &rehearsal.workflow {
        Some(written) => written.value.clone(),
        None => beside(&main.package_path)?,
    };
    let (folder, _) = main.package_path.rsplit_once('/').unwrap_or(("", ""));
    let joined = if folder.is_empty() { written.clone() } else { format!("{folder}/{written}") };
    let path = match normal(&joined) {
        Ok(path) => path,
        Err(why) => {
            unusable(format!("`{written}` cannot be the workflow: {why}"), None);
            return None;
        }
    };
    let bytes = match files.read(&path) {
        Ok(bytes) => bytes,
        Err(FileError::Missing) => {
            unusable(format!("there is no workflow `{path}`"), Some(HERE.to_owned()));
            return None;
        }
        Err(FileError::Outside(why) | FileError::Unreadable(why)) => {
            unusable(format!("the workflow `{path}` cannot be had: {why}"), None);
            return None;
        }
    };
    let shown = files.shown(&path);
    let document = MainDocument { name: shown.clone(), package_path: path, bytes };
    let compiled = compile::compile(document, files, as_of);
    if let Some(frozen) = compiled.workflow {
        return Some((shown, frozen));
    }
    let mut errors = compiled.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    let first = errors.next().map(|found| first_line(&compiled.sources, found)).unwrap_or_default();
    let more = match errors.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let help = format!("`flowright check {shown}` shows all of it");
    unusable(format!("the workflow `{shown}` has errors: {first}{more}"), Some(help));
    None
}

const HERE: &str =
    "`workflow` is a path from the folder of the test file; without it the workflow is beside it";

/// A place that is never empty at the start of a file without a `workflow`.
fn place(span: Span) -> Span {
    if span.is_empty() { Span { end: span.end.saturating_add(1), ..span } } else { span }
}

/// `plan.test.yaml` plays `plan.yaml`, which stands in the same folder.
fn beside(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    Some(format!("{stem}.{ending}"))
}

fn first_line(sources: &Sources, found: &Diagnostic) -> String {
    let place = sources.get(found.span.file).map(|source| {
        let at = source.position(found.span.start as usize);
        format!(" ({}:{}:{})", source.name(), at.line, at.column)
    });
    format!("{}{}", found.message, place.unwrap_or_default())
}
