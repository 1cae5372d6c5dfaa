//! Findings as the protocol writes them, and what of them the client has been told. Nothing is found or left out
//! here.

use super::judged::Judged;
use super::view::View;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Source, Sources};
use gen_lsp_types as lsp;
use std::collections::{BTreeMap, BTreeSet};

/// What a document was last told.
#[derive(Debug)]
struct Told {
    uri: String,
    version: Option<i32>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// What the client has been told, by canonical address.
#[derive(Debug, Default)]
pub(super) struct Board {
    told: BTreeMap<String, Told>,
}

impl Board {
    /// What the client has to be told to know all that is known: of open documents for every version of them, of
    /// others when it changes.
    pub(super) fn news(&mut self, view: View<'_>) -> Vec<lsp::PublishDiagnosticsParams> {
        let mut now: BTreeMap<String, Vec<lsp::Diagnostic>> = BTreeMap::new();
        for (key, document) in &view.documents.all {
            let own = now.entry(key.clone()).or_default();
            let Some(judged) = &document.judged else { continue };
            own.extend(of_file(view, judged, key));
        }
        for (key, document) in &view.documents.all {
            let Some(judged) = &document.judged else { continue };
            if let Some((source, file, found)) = &judged.settings.file {
                let known = now.entry(file.clone()).or_default();
                let found = found.iter().map(|found| one(view, source, found));
                // Every document under these settings says so.
                if known.is_empty() {
                    known.extend(found);
                }
            }
            let files: BTreeSet<&str> = judged
                .findings()
                .iter()
                .filter_map(|found| judged.file(found.span.file))
                .map(|(_, file)| file)
                .collect();
            for file in files.into_iter().filter(|file| file != key) {
                let known = now.entry(file.to_owned()).or_default();
                for found in of_file(view, judged, file) {
                    // The document itself, or another workflow, may have said the same.
                    if !known.contains(&found) {
                        known.push(found);
                    }
                }
            }
        }
        self.compare(view, now)
    }

    fn compare(
        &mut self,
        view: View<'_>,
        mut now: BTreeMap<String, Vec<lsp::Diagnostic>>,
    ) -> Vec<lsp::PublishDiagnosticsParams> {
        let mut news = Vec::new();
        let keys: BTreeSet<String> = self.told.keys().chain(now.keys()).cloned().collect();
        for key in keys {
            let is_known = now.contains_key(&key);
            let diagnostics = now.remove(&key).unwrap_or_default();
            let uri = view.spelling(&key).0;
            let version = view.documents.all.get(&key).map(|document| document.version);
            let is_told = self.told.get(&key).is_some_and(|told| {
                told.uri == uri && told.version == version && told.diagnostics == diagnostics
            });
            if is_told {
                continue;
            }
            if let Some(told) = self.told.remove(&key).filter(|told| told.uri != uri) {
                // The same file under another spelling.
                news.push(lsp::PublishDiagnosticsParams::new(lsp::Uri(told.uri), None, Vec::new()));
            }
            news.push(lsp::PublishDiagnosticsParams::new(
                lsp::Uri(uri.clone()),
                version,
                diagnostics.clone(),
            ));
            if is_known {
                self.told.insert(key, Told { uri, version, diagnostics });
            }
        }
        news
    }
}

/// What a compile has found in one of its files.
fn of_file(view: View<'_>, judged: &Judged, key: &str) -> Vec<lsp::Diagnostic> {
    let Some(id) = judged.id_of(key) else { return Vec::new() };
    let here = judged.findings().iter().filter(|found| found.span.file == id);
    here.filter_map(|found| diagnostic(view, judged, found)).collect()
}

/// A finding as the protocol writes it.
pub(super) fn diagnostic(view: View<'_>, judged: &Judged, found: &Diagnostic) -> Option<lsp::Diagnostic> {
    let related: Vec<_> = found
        .labels
        .iter()
        .filter_map(|label| {
            let location = view.location(judged, label.span)?;
            Some(lsp::DiagnosticRelatedInformation { location, message: label.text.clone() })
        })
        .collect();
    let mut diagnostic = one(view, judged.sources().get(found.span.file)?, found);
    diagnostic.message = lsp::Message::String(message(view, judged.sources(), found));
    diagnostic.related_information = (view.client.related && !related.is_empty()).then_some(related);
    Some(diagnostic)
}

/// A finding without its further places.
fn one(view: View<'_>, source: &Source, found: &Diagnostic) -> lsp::Diagnostic {
    let name = found.rule.name;
    let is_unnecessary = name.starts_with("unused-") || name.starts_with("unreachable-");
    let severity = match found.severity {
        Severity::Error => lsp::DiagnosticSeverity::Error,
        Severity::Warning => lsp::DiagnosticSeverity::Warning,
        // What is faded is shown by that; other hints have to be listed.
        Severity::Hint if is_unnecessary => lsp::DiagnosticSeverity::Hint,
        Severity::Hint => lsp::DiagnosticSeverity::Information,
    };
    let page = view.client.pages.then(|| view.pages.address(found.rule)).flatten();
    lsp::Diagnostic {
        range: view.range_in(source, found.span),
        severity: Some(severity),
        code: Some(lsp::Code::String(name.to_owned())),
        code_description: page.map(|page| lsp::CodeDescription { href: lsp::Uri(page) }),
        source: Some("flowright".to_owned()),
        message: lsp::Message::String(message(view, &Sources::default(), found)),
        tags: (is_unnecessary && view.client.unnecessary).then(|| vec![lsp::DiagnosticTag::Unnecessary]),
        related_information: None,
        data: None,
    }
}

/// The sentence, what stands at the place, what to do; and the further places, if the client has no place for them.
fn message(view: View<'_>, sources: &Sources, found: &Diagnostic) -> String {
    let mut text = found.message.clone();
    if !found.note.is_empty() {
        text.push_str(&format!("\n{}", found.note));
    }
    if !view.client.related {
        for label in &found.labels {
            let Some(source) = sources.get(label.span.file) else { continue };
            let place = source.position(label.span.range().start);
            let file = if label.span.file == found.span.file { "" } else { source.name() };
            let gap = if file.is_empty() { "" } else { ", " };
            text.push_str(&format!("\n{} ({file}{gap}line {})", label.text, place.line));
        }
    }
    if let Some(help) = &found.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}
