//! The findings of a compile, put in order: by place, each once, none as a consequence of another, and with fixes
//! that fit the syntax of their file. It finds nothing itself.

use crate::check::plain_secret;
use crate::diagnostic::{Diagnostic, Severity};
use crate::parse::{self, rules};
use crate::secret;
use crate::source::{FileId, Source, Sources};
use std::collections::HashSet;

/// Orders the findings, leaves out repetitions and consequences, and writes fixes as the file needs them.
pub(super) fn tidy(sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    drop_consequences(sources, diagnostics);
    if diagnostics.iter().any(|found| found.rule.name == plain_secret::RULE.name) {
        diagnostics.iter_mut().for_each(mask);
    }
    let key = |found: &Diagnostic| (found.span.file, found.span.start, found.span.end, found.rule.name);
    diagnostics.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message)));
    diagnostics.dedup_by(|a, b| key(a) == key(b) && a.message == b.message);
    for found in diagnostics {
        keep_quotes(sources, found);
        write_as_json(sources, found);
    }
}

/// Rules after which something of the text is lost, so that nothing is known to be out of reach or left out.
const LOSSES: [&str; 5] =
    ["syntax-error", "tab-indentation", "colon-in-plain-text", "unquoted-indicator", "too-deep"];
/// Rules that look at characters, whatever they mean.
const OF_CHARACTERS: [&str; 2] = ["plain-secret", "hidden-character"];
/// Rules that look for what is not there.
const LACKS: [&str; 2] = ["unreachable-step", "uncovered-case"];

/// Leaves out what only follows from a fault of reading: a check of the very text that could not be read, a name
/// that is unused since the binding that names it is broken, a step out of reach since the way to it was lost.
fn drop_consequences(sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    let of_reading: HashSet<&str> = rules::ALL.iter().map(|rule| rule.name).collect();
    let is_fault =
        |found: &Diagnostic| found.severity == Severity::Error && of_reading.contains(found.rule.name);
    let faults: Vec<_> = diagnostics.iter().filter(|found| is_fault(found)).map(|found| found.span).collect();
    let has_losses = diagnostics.iter().any(|found| is_fault(found) && LOSSES.contains(&found.rule.name));
    // A name may also be missing from what is read because its root is misspelt.
    let misread = |found: &&Diagnostic| is_fault(found) || found.rule.name == "unknown-root";
    // Each piece of text once: many findings may stand on one long line.
    let lines: HashSet<(FileId, &str)> = diagnostics
        .iter()
        .filter(misread)
        .filter_map(|found| Some((found.span.file, lines_of(sources.get(found.span.file)?, found))))
        .collect();
    diagnostics.retain(|found| {
        let rule = found.rule.name;
        if of_reading.contains(rule)
            || OF_CHARACTERS.contains(&rule)
            || found.span.is_empty() && !LACKS.contains(&rule)
        {
            return true;
        }
        if has_losses && LACKS.contains(&rule) {
            return false;
        }
        let judges_a_fault = faults.iter().any(|fault| {
            fault.file == found.span.file
                && !fault.is_empty()
                && found.span.start <= fault.start
                && fault.end <= found.span.end
        });
        let is_lost =
            |name: &str| lines.iter().any(|(file, text)| *file == found.span.file && has_word(text, name));
        let name = sources.get(found.span.file).map_or("", |source| source.slice(found.span));
        let is_used = rule.starts_with("unused-") && is_lost(name.trim_matches(['"', '\'']));
        !judges_a_fault && !is_used && !found.missing.is_some_and(is_lost)
    });
}

/// The whole lines that a finding covers.
fn lines_of<'a>(source: &'a Source, found: &Diagnostic) -> &'a str {
    let index = source.lines();
    let (first, last) = (index.line_of(found.span.range().start), index.line_of(found.span.range().end));
    let end = if last + 1 < index.count() { index.start_of(last + 1) } else { source.text().len() };
    source.text().get(index.start_of(first)..end).unwrap_or_default()
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + word.len()..).and_then(|behind| behind.chars().next());
            !before.is_some_and(is_part) && !behind.is_some_and(is_part)
        })
}

/// A name that a fix puts where a quoted one stood keeps the quotes.
fn keep_quotes(sources: &Sources, found: &mut Diagnostic) {
    for edit in found.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
        let old = sources.get(edit.span.file).map(|source| source.slice(edit.span)).unwrap_or_default();
        let quote = old.chars().next().filter(|c| matches!(c, '"' | '\''));
        let is_quoted = quote.is_some_and(|quote| old.len() >= 2 && old.ends_with(quote));
        if let (Some(quote), true, true) = (quote, is_quoted, is_name(&edit.text)) {
            edit.text = format!("{quote}{}{quote}", edit.text);
        }
    }
}

/// Whether a text is a name or a path, and no other kind of scalar.
fn is_name(text: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '.' | '/' | ':' | '[' | ']');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '@'))
        && text.chars().all(is_plain)
        && !matches!(text, "true" | "false" | "null")
}

/// A fix says what to write in YAML; where a whole JSON value is replaced, that is written as JSON.
fn write_as_json(sources: &Sources, found: &mut Diagnostic) {
    let Some(fix) = &mut found.fix else { return };
    for edit in &mut fix.edits {
        let Some(source) = sources.get(edit.span.file).filter(|source| parse::is_json(source.name())) else {
            continue;
        };
        let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if !is_json(source.slice(edit.span)) || edit.text.is_empty() || is_json(&edit.text) {
            continue;
        }
        let piece = Source::new(FileId::MAIN, "fix.yaml", edit.text.as_str());
        let mut faults = Vec::new();
        let node = parse::yaml::read(&piece, &mut faults);
        if faults.is_empty() {
            edit.text = node.to_json().to_string();
        }
    }
}

/// No sentence repeats a secret of the text that it speaks of.
fn mask(found: &mut Diagnostic) {
    let parts = [&mut found.message, &mut found.note].into_iter();
    for part in parts.chain(&mut found.help).chain(found.labels.iter_mut().map(|label| &mut label.text)) {
        *part = secret::masked(part);
    }
}
