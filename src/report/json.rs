//! Diagnostics as one JSON document with a version and its units, for programs.
//!
//! The types here are the contract; fields are only ever added to one version.

use super::{Counts, Report};
use crate::diagnostic::{Diagnostic, Edit, Fix, Label};
use crate::escape::json_text;
use crate::source::{FileId, Source, Sources, Span};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    units: Units,
    diagnostics: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<Ignored<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bounds: Vec<Bound<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Unreadable<'a>>,
    summary: Summary,
}

/// A finding that a comment ignores.
#[derive(Serialize)]
struct Ignored<'a> {
    rule: &'a str,
    file: Option<&'a str>,
    span: Range,
    reason: &'a str,
}

/// The largest number of agent runs between two waits, or `unbounded`.
#[derive(Serialize)]
struct Bound<'a> {
    file: Option<&'a str>,
    agent_runs_between_waits: &'a str,
}

#[derive(Serialize)]
struct Unreadable<'a> {
    file: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Units {
    bytes: &'static str,
    line: &'static str,
    column: &'static str,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    severity: &'a str,
    message: &'a str,
    note: Option<&'a str>,
    help: Option<&'a str>,
    file: Option<&'a str>,
    span: Range,
    labels: Vec<Mark<'a>>,
    fix: Option<Change<'a>>,
}

#[derive(Serialize)]
struct Range {
    start: Place,
    end: Place,
}

#[derive(Serialize)]
struct Place {
    byte: u32,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct Mark<'a> {
    text: &'a str,
    file: Option<&'a str>,
    span: Range,
}

#[derive(Serialize)]
struct Change<'a> {
    title: &'a str,
    safe: bool,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    file: Option<&'a str>,
    span: Range,
    text: &'a str,
}

#[derive(Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
    hints: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<usize>,
}

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let all = report.findings();
    let ignored = report.ignored();
    let counts = Counts::of(all.iter().map(|found| found.diagnostic));
    let document = Document {
        version: 1,
        units: Units {
            bytes: "utf-8, 0-based, half-open",
            line: "1-based",
            column: "1-based, Unicode scalar values",
        },
        diagnostics: all.iter().map(|found| finding(found.sources, found.diagnostic)).collect(),
        ignored: ignored
            .iter()
            .map(|found| Ignored {
                rule: found.diagnostic.rule.name,
                file: file(found.sources, found.diagnostic.span),
                span: range(found.sources, found.diagnostic.span),
                reason: found.ignored.unwrap_or_default(),
            })
            .collect(),
        bounds: report
            .parts
            .iter()
            .filter_map(|part| {
                let file = part.sources.get(FileId::MAIN).map(Source::name);
                Some(Bound { file, agent_runs_between_waits: part.bound? })
            })
            .collect(),
        unreadable: report.unreadable.iter().map(|(file, message)| Unreadable { file, message }).collect(),
        summary: Summary {
            errors: counts.errors,
            warnings: counts.warnings,
            hints: counts.hints,
            files: report.checked,
            fixed: report.fixed,
        },
    };
    let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    writeln!(out, "{}", json_text(&text))
}

fn finding<'a>(sources: &'a Sources, diagnostic: &'a Diagnostic) -> Finding<'a> {
    Finding {
        rule: diagnostic.rule.name,
        severity: diagnostic.severity.word(),
        message: &diagnostic.message,
        note: (!diagnostic.note.is_empty()).then_some(diagnostic.note.as_str()),
        help: diagnostic.help.as_deref(),
        file: file(sources, diagnostic.span),
        span: range(sources, diagnostic.span),
        labels: diagnostic.labels.iter().map(|label| mark(sources, label)).collect(),
        fix: diagnostic.fix.as_ref().map(|fix| change(sources, fix)),
    }
}

fn mark<'a>(sources: &'a Sources, label: &'a Label) -> Mark<'a> {
    Mark { text: &label.text, file: file(sources, label.span), span: range(sources, label.span) }
}

fn change<'a>(sources: &'a Sources, fix: &'a Fix) -> Change<'a> {
    let replacement = |edit: &'a Edit| Replacement {
        file: file(sources, edit.span),
        span: range(sources, edit.span),
        text: &edit.text,
    };
    Change { title: &fix.title, safe: fix.safe, edits: fix.edits.iter().map(replacement).collect() }
}

fn file(sources: &Sources, span: Span) -> Option<&str> {
    sources.get(span.file).map(Source::name)
}

fn range(sources: &Sources, span: Span) -> Range {
    let source = sources.get(span.file);
    let place = |byte: u32| {
        let position = source.map(|source| source.position(byte as usize));
        Place { byte, line: position.map(|at| at.line), column: position.map(|at| at.column) }
    };
    Range { start: place(span.start), end: place(span.end) }
}
