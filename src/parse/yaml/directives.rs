//! Directives before a document: `%YAML 1.2` says nothing new, everything else is refused. Reads no document.

use super::rules;
use crate::diagnostic::{Diagnostic, Fix};
use crate::source::{FileId, Span};
use std::ops::Range;

/// The places of all directives, so that the reading can pass over them; what is refused is reported.
pub(super) fn look(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let body = line.trim_end();
        if body.starts_with('%') {
            // The parser itself refuses a tag whose handle has no name.
            if !body.starts_with("%TAG") {
                found.push(at..at + body.len());
            }
            diagnostics.extend(judge(file, body, at));
        } else if !body.is_empty() && !body.starts_with('#') {
            break;
        }
        at += line.len();
    }
    found
}

fn judge(file: FileId, body: &str, at: usize) -> Option<Diagnostic> {
    let words: Vec<_> = body.split('#').next().unwrap_or_default().split_whitespace().collect();
    let span = Span::new(file, at, at + body.len());
    let mut fix = Fix::replace("remove the directive", span, "");
    match words.as_slice() {
        ["%YAML", "1.2"] => None,
        ["%YAML", version] => {
            // Another version reads some words otherwise, so removing the line may change what is meant.
            fix.safe = false;
            let message = format!("the file says that it is YAML {version}, and it is read as YAML 1.2");
            let help = "remove the directive; in YAML 1.2 words such as `yes` and `off` are text";
            Some(Diagnostic::new(&rules::YAML_DIRECTIVE, span, message).help(help).fix(fix))
        }
        ["%TAG", ..] => {
            let message = "`%TAG` gives a name to tags, and tags are refused";
            Some(
                Diagnostic::new(&rules::TAG, span, message)
                    .help("remove the directive and the tags")
                    .fix(fix),
            )
        }
        _ => {
            let name = words.first().copied().unwrap_or("%");
            let message = format!("`{name}` is no directive of YAML");
            let help = "remove it; text that begins with `%` is quoted";
            fix.safe = false;
            Some(Diagnostic::new(&rules::YAML_DIRECTIVE, span, message).help(help).fix(fix))
        }
    }
}
