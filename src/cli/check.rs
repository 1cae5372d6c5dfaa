//! `flowright check`: finds what is wrong with files and folders.

use super::{Exit, Failure, definition, output};
use crate::compile;
use crate::diagnostic::{Diagnostic, Severity};
use crate::host::clock::{Clock, RealClock};
use crate::report;
use crate::source::Sources;
use crate::verdict;
use clap::ValueEnum;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow files, agent files, or folders that are searched for them; `-` reads a workflow from stdin
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How findings are printed [default: human]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Let warnings fail the check as errors do
    #[arg(long, value_name = "WHAT", value_enum)]
    deny: Option<Deny>,
    /// The name that a workflow read from stdin is taken to have: its folder is where agents are looked for
    #[arg(long, value_name = "PATH", default_value = "stdin.yaml")]
    stdin_filename: PathBuf,
    /// Print how many agent runs there can be between two waits
    #[arg(long)]
    explain_bounds: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// Warnings
    Warnings,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let format = match (arguments.json, arguments.format) {
        (true, _) | (false, Some(Format::Json)) => report::Format::Json,
        (false, Some(Format::Short)) => report::Format::Short,
        (false, Some(Format::Human) | None) => report::Format::Human,
    };
    let mut checked = Checked::default();
    for path in &arguments.paths {
        checked.path(path, arguments)?;
    }
    if checked.files == 0 {
        let names: Vec<_> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::usage(format!("there is no workflow and no agent in {}", names.join(", "))));
    }
    checked.print(format)?;
    let errors = checked.count(Severity::Error);
    let warnings = checked.count(Severity::Warning);
    let fails = errors > 0 || (arguments.deny == Some(Deny::Warnings) && warnings > 0);
    Ok(if fails { Exit::Findings } else { Exit::Done })
}

/// One compile a document; its sources stay with its findings.
#[derive(Default)]
struct Checked {
    files: usize,
    findings: Vec<(Sources, Vec<Diagnostic>)>,
    bounds: Vec<String>,
}

impl Checked {
    fn path(&mut self, path: &Path, arguments: &Arguments) -> Result<(), Failure> {
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::new(Exit::Fault, format!("stdin cannot be read: {error}")))?;
            self.document(&arguments.stdin_filename, bytes, arguments);
            return Ok(());
        }
        if !path.is_dir() {
            let bytes = definition::read(path)?;
            self.document(path, bytes, arguments);
            return Ok(());
        }
        let mut found = Vec::new();
        search(path, &mut found, 0).map_err(|error| {
            Failure::new(Exit::Usage, format!("the folder {} cannot be read: {error}", path.display()))
        })?;
        for file in found {
            let bytes = definition::read(&file)?;
            if verdict::kind(&file.to_string_lossy(), &bytes).is_some() {
                self.document(&file, bytes, arguments);
            }
        }
        Ok(())
    }

    fn document(&mut self, path: &Path, bytes: Vec<u8>, arguments: &Arguments) {
        self.files += 1;
        let (main, package) = definition::document(path, bytes);
        let (sources, diagnostics, workflow) =
            if verdict::kind(&path.to_string_lossy(), &main.bytes) == Some(verdict::Kind::Agent) {
                let compiled = compile::compile_agent(main);
                (compiled.sources, compiled.diagnostics, None)
            } else {
                let compiled = compile::compile(main, &package, RealClock.now());
                (compiled.sources, compiled.diagnostics, compiled.workflow)
            };
        if let (true, Some(workflow)) = (arguments.explain_bounds, &workflow) {
            let bound =
                workflow.agent_runs_between_waits().map_or_else(|| "unbounded".to_owned(), |n| n.to_string());
            self.bounds.push(format!("{}: agent runs between two waits: {bound}", path.display()));
        }
        self.findings.push((sources, diagnostics));
    }

    fn all(&self) -> impl Iterator<Item = &Diagnostic> {
        self.findings.iter().flat_map(|(_, diagnostics)| diagnostics)
    }

    fn count(&self, severity: Severity) -> usize {
        self.all().filter(|found| found.severity == severity).count()
    }

    fn print(&self, format: report::Format) -> Result<(), Failure> {
        if matches!(format, report::Format::Json) {
            return self.print_json();
        }
        let look = report::Look { color: output::color(), width: output::width() };
        let mut text = Vec::new();
        for (sources, diagnostics) in self.findings.iter().filter(|(_, diagnostics)| !diagnostics.is_empty())
        {
            // Writing into memory cannot fail.
            let _ = report::write(format, sources, diagnostics, &mut text, look);
        }
        output::print(&String::from_utf8_lossy(&text));
        for bound in &self.bounds {
            output::line(bound);
        }
        // A report of one file closes with its own count.
        let counted = self.findings.len() == 1 && self.all().next().is_some();
        if matches!(format, report::Format::Human) && !counted {
            let files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
            let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
            let hints = self.count(Severity::Hint);
            let words = if self.all().next().is_none() {
                "no findings".to_owned()
            } else {
                format!("{errors} errors, {warnings} warnings, {hints} hints in all")
            };
            output::line(&format!("{words} · {files} checked"));
        }
        Ok(())
    }

    /// One document for all files: the printers' documents joined, since each compile numbers its own sources.
    fn print_json(&self) -> Result<(), Failure> {
        let mut whole: Option<Value> = None;
        for (sources, diagnostics) in &self.findings {
            let mut text = Vec::new();
            let look = report::Look { color: false, width: 100 };
            // Writing into memory cannot fail.
            let _ = report::write(report::Format::Json, sources, diagnostics, &mut text, look);
            let mut one: Value = serde_json::from_slice(&text).map_err(|error| {
                Failure::new(Exit::Fault, format!("a report cannot be read back: {error}"))
            })?;
            let Some(whole) = &mut whole else {
                whole = Some(one);
                continue;
            };
            let more = one.get_mut("diagnostics").and_then(Value::as_array_mut).map(std::mem::take);
            if let Some(known) = whole.get_mut("diagnostics").and_then(Value::as_array_mut) {
                known.extend(more.unwrap_or_default());
            }
        }
        if let Some(mut whole) = whole {
            if let Some(object) = whole.as_object_mut() {
                object.insert(
                    "summary".to_owned(),
                    serde_json::json!({
                        "errors": self.count(Severity::Error),
                        "warnings": self.count(Severity::Warning),
                        "hints": self.count(Severity::Hint),
                        "files": self.files,
                    }),
                );
            }
            output::json(&whole);
        }
        Ok(())
    }
}

const DEPTH: usize = 16;

/// Files that may be ours, sorted; hidden folders, `node_modules` and `target` are not searched, links not followed.
pub(super) fn search(folder: &Path, found: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    if depth > DEPTH {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && name != "node_modules" && name != "target" {
            search(&entry.path(), found, depth + 1)?;
        } else if kind.is_file() && verdict::kind::may_be_ours(&name) {
            found.push(entry.path());
        }
    }
    Ok(())
}
