//! `flowright test`: plays the cases of test files and prints what did not hold, and what no case has visited.

use super::run::block_on;
use super::{Exit, Failure, definition, output, walk};
use crate::host::clock::{Clock, RealClock};
use crate::parse::rehearsal::is_test;
use crate::rehearse::{self, Coverage, Rehearsed};
use crate::report::{self, Part, Report, counted};
use crate::settings;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Test files, or folders that are searched for files that end in .test.yaml, .test.yml or .test.json
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How findings are printed [default: human on a terminal, else short]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Play only the cases whose names hold this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Fail if less than so many percent of the steps and edges of a workflow are visited
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min_coverage: Option<u8>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// With the source around each place
    Human,
    /// A line each
    Short,
    /// Versioned JSON
    Json,
}

/// A test file and what came of it.
struct Tried {
    path: String,
    rehearsed: Rehearsed,
}

impl Tried {
    fn passed(&self) -> usize {
        self.rehearsed.cases.iter().filter(|case| case.passed()).count()
    }

    /// A file that could not be played at all is one failure.
    fn failed(&self) -> usize {
        let failed = self.rehearsed.cases.len() - self.passed();
        if failed == 0 && self.is_faulty() { 1 } else { failed }
    }

    fn is_faulty(&self) -> bool {
        crate::compile::has_errors(&self.rehearsed.diagnostics)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut tried = Vec::new();
    for path in files(&arguments.paths)? {
        tried.push(try_file(&path, arguments.filter.as_deref())?);
    }
    let coverages = coverages(&tried);
    let least = usize::from(arguments.min_coverage.unwrap_or(0));
    let lacking: Vec<&Coverage> = coverages.iter().filter(|one| one.percent() < least).collect();
    let failed: usize = tried.iter().map(Tried::failed).sum();
    let exit = if failed > 0 || !lacking.is_empty() { Exit::Findings } else { Exit::Done };
    let played: usize = tried.iter().map(|one| one.rehearsed.cases.len()).sum();
    if played == 0 && failed == 0 {
        let filter = arguments.filter.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!("no case has `{filter}` in its name")));
    }
    if arguments.json || matches!(arguments.format, Some(Format::Json)) {
        output::json(&as_json(&tried, &coverages, exit));
    } else {
        output::print(&as_text(&tried, &coverages, arguments));
    }
    for one in lacking {
        let (workflow, percent) = (&one.workflow, one.percent());
        output::note(&format!("{percent} % of {workflow} are visited; at least {least} % are asked for"));
    }
    Ok(exit)
}

/// The test files of all paths, each once.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in walk::files(path) {
                let file = file.map_err(Failure::usage)?;
                let is_meant = is_test(&file.to_string_lossy()) && !is_excluded(&file);
                if is_meant && !found.contains(&file) {
                    found.push(file);
                }
            }
        } else if !found.contains(path) {
            found.push(path.clone());
        }
    }
    if found.is_empty() {
        let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::usage(format!("there is no test file in {}", names.join(", "))));
    }
    Ok(found)
}

/// Whether the settings that count for a file exclude it.
fn is_excluded(path: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let settings = settings::of(absolute.parent().unwrap_or(&absolute));
    settings.excludes(&settings::path_from(&settings.folder, &absolute), false)
}

fn try_file(path: &Path, filter: Option<&str>) -> Result<Tried, Failure> {
    let bytes = definition::read(path)?;
    let package = definition::package(path);
    let document = definition::document(path, bytes, &package);
    let name = document.name.clone();
    let rehearsed = block_on(rehearse::rehearse(document, &package.folder, filter, RealClock.now()))?;
    Ok(Tried { path: name, rehearsed })
}

/// What was visited of each workflow by all files together.
fn coverages(tried: &[Tried]) -> Vec<Coverage> {
    let mut all: Vec<Coverage> = Vec::new();
    for one in tried.iter().filter(|one| !one.rehearsed.cases.is_empty()) {
        let Some(coverage) = &one.rehearsed.coverage else { continue };
        let same =
            |known: &&mut Coverage| known.workflow == coverage.workflow && known.digest == coverage.digest;
        match all.iter_mut().find(same) {
            Some(known) => known.join(coverage),
            None => all.push(coverage.clone()),
        }
    }
    all
}

fn report(tried: &[Tried], exit: Exit) -> Report<'_> {
    Report { parts: tried.iter().map(part_of).collect(), exit_code: exit.code(), ..Report::default() }
}

fn part_of(one: &Tried) -> Part<'_> {
    Part {
        sources: &one.rehearsed.sources,
        diagnostics: &one.rehearsed.diagnostics,
        ignored: &[],
        denies_warnings: false,
        bound: None,
    }
}

fn printed(tried: &[Tried], exit: Exit, format: report::Format) -> String {
    let look = report::Look { color: output::color(), width: output::width() };
    let mut text = Vec::new();
    // Writing into memory cannot fail.
    let _ = report::write_all(format, &report(tried, exit), &mut text, look);
    String::from_utf8_lossy(&text).into_owned()
}

fn as_text(tried: &[Tried], coverages: &[Coverage], arguments: &Arguments) -> String {
    let is_human = match arguments.format {
        Some(Format::Human) => true,
        Some(Format::Short | Format::Json) => false,
        None => std::io::stdout().is_terminal(),
    };
    let has_findings = tried.iter().any(|one| !one.rehearsed.diagnostics.is_empty());
    let mut text = String::new();
    if has_findings {
        let format = if is_human { report::Format::Human } else { report::Format::Short };
        text.push_str(&printed(tried, Exit::Done, format));
        text.push('\n');
    }
    if is_human {
        for one in tried {
            text.push_str(&format!("{}\n", one.path));
            for case in &one.rehearsed.cases {
                let word = if case.passed() { "ok    " } else { "FAILED" };
                text.push_str(&format!("  {word}  {}\n", case.name));
            }
        }
        text.push('\n');
    }
    for one in coverages {
        let ((steps, all_steps), (edges, all_edges)) = (one.steps_of(), one.edges_of());
        text.push_str(&format!(
            "{}: {steps} of {} visited, {edges} of {} taken ({} %)\n",
            one.workflow,
            counted(all_steps, "step"),
            counted(all_edges, "edge"),
            one.percent()
        ));
        let unseen: Vec<&str> =
            one.steps.iter().filter(|(_, seen)| !seen).map(|(name, _)| name.as_str()).collect();
        if !unseen.is_empty() {
            text.push_str(&format!("  never visited: {}\n", unseen.join(", ")));
        }
        for (way, _) in one.edges.iter().filter(|(_, seen)| !seen) {
            text.push_str(&format!("  never taken: {}\n", way.label()));
        }
    }
    text.push_str(&format!("{}\n", summary(tried)));
    output::visible(&text)
}

fn summary(tried: &[Tried]) -> String {
    let passed: usize = tried.iter().map(Tried::passed).sum();
    let failed: usize = tried.iter().map(Tried::failed).sum();
    format!("{passed} passed, {failed} failed in {}", counted(tried.len(), "file"))
}

/// What `check --format json` prints, with the cases and what they visited.
fn as_json(tried: &[Tried], coverages: &[Coverage], exit: Exit) -> Value {
    let text = printed(tried, exit, report::Format::Json);
    let mut document: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({ "version": 1 }));
    let files: Vec<Value> = tried
        .iter()
        .map(|one| {
            let cases = one.rehearsed.cases.iter();
            let cases: Vec<Value> =
                cases.map(|case| json!({ "name": case.name, "passed": case.passed() })).collect();
            json!({ "file": one.path, "passed": one.passed(), "failed": one.failed(), "cases": cases })
        })
        .collect();
    let coverage: Vec<Value> = coverages
        .iter()
        .map(|one| {
            let steps = one.steps.iter().map(|(name, seen)| json!({ "name": name, "visited": seen }));
            let edges = one.edges.iter().map(
                |(way, seen)| json!({ "from": way.from, "to": way.to, "label": way.label(), "taken": seen }),
            );
            json!({
                "workflow": one.workflow,
                "percent": one.percent(),
                "steps": steps.collect::<Vec<_>>(),
                "edges": edges.collect::<Vec<_>>(),
            })
        })
        .collect();
    if let Some(document) = document.as_object_mut() {
        document.insert("tests".to_owned(), Value::Array(files));
        document.insert("coverage".to_owned(), Value::Array(coverage));
    }
    document
}
