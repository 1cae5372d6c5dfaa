//! SARIF 2.1.0: one run with the rules that were broken, results with related places, paths, fixes and suppressions.
//!
//! Columns count Unicode characters from 1 (`columnKind`), bytes from 0. Paths are URIs; relative ones count from
//! `%SRCROOT%`.

use super::{Found, Report, fingerprint};
use crate::diagnostic::{Diagnostic, Edit, Fix, Label, Rule, Severity};
use crate::escape::{json_text, percent_encoded};
use crate::source::{Source, Sources, Span};
use serde_json::{Map, Value, json};
use std::io;

/// Rules whose labels are the steps of a path, in order.
const PATHS: [&str; 4] = ["unbounded-loop", "broken-guarantee", "unassigned-binding", "unattended-approval"];
/// What never needs encoding, and `/`.
const PLAIN: &[u8] = b"-._~/";

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut all = report.findings();
    all.extend(report.ignored());
    let mut rules: Vec<&'static Rule> = Vec::new();
    for found in &all {
        if !rules.contains(&found.diagnostic.rule) {
            rules.push(found.diagnostic.rule);
        }
    }
    let results: Vec<Value> =
        all.iter().zip(fingerprint::of(&all)).map(|(found, print)| result(found, &rules, &print)).collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "flowright",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
        } },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            "%SRCROOT%": { "description": { "text": "The folder in which flowright was started." } }
        },
        "invocations": [invocation(report)],
        "results": results,
    });
    if let (Some(checked), Some(run)) = (report.checked, run.as_object_mut()) {
        run.insert("properties".to_owned(), json!({ "filesChecked": checked }));
    }
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    let text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    writeln!(out, "{}", json_text(&text))
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.name,
        "shortDescription": { "text": format!("{}.", rule.summary) },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

/// How the run went: files that could not be read make it unsuccessful, findings do not.
fn invocation(report: &Report<'_>) -> Value {
    let notes: Vec<Value> = report
        .unreadable
        .iter()
        .map(|(name, message)| {
            json!({
                "level": "error",
                "message": { "text": message },
                "locations": [{ "physicalLocation": { "artifactLocation": artifact(name) } }],
            })
        })
        .collect();
    json!({
        "executionSuccessful": report.unreadable.is_empty(),
        "exitCode": report.exit_code,
        "toolExecutionNotifications": notes,
    })
}

fn result(found: &Found<'_>, rules: &[&'static Rule], fingerprint: &str) -> Value {
    let (sources, diagnostic) = (found.sources, found.diagnostic);
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\n{help}"));
    }
    let mut own = location(sources, diagnostic.span);
    if !diagnostic.note.is_empty() {
        insert(&mut own, "message", json!({ "text": diagnostic.note }));
    }
    let mut result = json!({
        "ruleId": diagnostic.rule.name,
        "ruleIndex": rules.iter().position(|rule| *rule == diagnostic.rule),
        "level": level(diagnostic.severity),
        "message": { "text": text },
        "locations": [own],
        "partialFingerprints": { "flowright/v1": fingerprint },
    });
    if !diagnostic.labels.is_empty() {
        let places: Vec<Value> = diagnostic
            .labels
            .iter()
            .enumerate()
            .map(|(id, label)| labelled(sources, label, id + 1))
            .collect();
        insert(&mut result, "relatedLocations", Value::Array(places));
    }
    if let Some(flow) = flow(sources, diagnostic) {
        insert(&mut result, "codeFlows", flow);
    }
    if let Some(fix) = &diagnostic.fix {
        insert(&mut result, "fixes", json!([change(sources, fix)]));
    }
    if let Some(reason) = found.ignored {
        insert(&mut result, "suppressions", json!([{ "kind": "inSource", "justification": reason }]));
    }
    result
}

fn insert(value: &mut Value, key: &str, what: Value) {
    if let Value::Object(object) = value {
        object.insert(key.to_owned(), what);
    }
}

fn flow(sources: &Sources, diagnostic: &Diagnostic) -> Option<Value> {
    if !PATHS.contains(&diagnostic.rule.name) || diagnostic.labels.is_empty() {
        return None;
    }
    let steps = diagnostic.labels.iter().enumerate();
    let steps: Vec<Value> =
        steps.map(|(id, label)| json!({ "location": labelled(sources, label, id + 1) })).collect();
    Some(json!([{ "threadFlows": [{ "locations": steps }] }]))
}

fn labelled(sources: &Sources, label: &Label, id: usize) -> Value {
    let mut place = location(sources, label.span);
    insert(&mut place, "id", json!(id));
    insert(&mut place, "message", json!({ "text": label.text }));
    place
}

fn location(sources: &Sources, span: Span) -> Value {
    let Some(source) = sources.get(span.file) else { return json!({}) };
    json!({ "physicalLocation": {
        "artifactLocation": artifact(source.name()),
        "region": region(source, span),
    } })
}

fn region(source: &Source, span: Span) -> Value {
    let (from, to) = (source.position(span.range().start), source.position(span.range().end));
    json!({
        "startLine": from.line,
        "startColumn": from.column,
        "endLine": to.line,
        "endColumn": to.column,
        "byteOffset": span.start,
        "byteLength": span.len(),
    })
}

fn change(sources: &Sources, fix: &Fix) -> Value {
    let mut files: Vec<(&Source, Vec<&Edit>)> = Vec::new();
    for edit in &fix.edits {
        let Some(source) = sources.get(edit.span.file) else { continue };
        match files.iter_mut().find(|(known, _)| known.id() == source.id()) {
            Some((_, edits)) => edits.push(edit),
            None => files.push((source, vec![edit])),
        }
    }
    let changes: Vec<Value> = files
        .into_iter()
        .map(|(source, edits)| {
            let replacements: Vec<Value> = edits
                .into_iter()
                .map(|edit| {
                    json!({
                        "deletedRegion": region(source, edit.span),
                        "insertedContent": { "text": edit.text },
                    })
                })
                .collect();
            json!({ "artifactLocation": artifact(source.name()), "replacements": replacements })
        })
        .collect();
    let mut change = Map::new();
    change.insert("description".to_owned(), json!({ "text": fix.title }));
    change.insert("artifactChanges".to_owned(), Value::Array(changes));
    change.insert("properties".to_owned(), json!({ "safe": fix.safe }));
    Value::Object(change)
}

fn artifact(name: &str) -> Value {
    let path = name.replace('\\', "/");
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", percent_encoded(&path, PLAIN)) });
    }
    json!({ "uri": percent_encoded(&path, PLAIN), "uriBaseId": "%SRCROOT%" })
}
