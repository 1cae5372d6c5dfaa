//! The listing of an expectation: each finding with its place, the text that stands there, and all that is said.

use super::cases::Findings;
use flowright::escape::visible;
use flowright::source::{FileId, Span};
use std::fmt::Write as _;

pub(crate) fn print(findings: &Findings) -> String {
    let mut out = String::new();
    for found in &findings.diagnostics {
        let (severity, rule) = (found.severity.word(), found.rule.name);
        let _ = writeln!(out, "{severity}[{rule}] {}", place(findings, found.span));
        let _ = writeln!(out, "  says {}", visible(&found.message));
        if !found.note.is_empty() {
            let _ = writeln!(out, "  note {}", visible(&found.note));
        }
        for label in &found.labels {
            let _ = writeln!(out, "  also {}: {}", place(findings, label.span), visible(&label.text));
        }
        if let Some(help) = &found.help {
            let _ = writeln!(out, "  help {}", visible(help));
        }
        if let Some(fix) = &found.fix {
            let kind = if fix.safe { "fix " } else { "fix?" };
            let _ = writeln!(out, "  {kind} {}", visible(&fix.title));
            for edit in &fix.edits {
                let _ = writeln!(out, "    {} becomes {}", place(findings, edit.span), shown(&edit.text));
            }
        }
    }
    out
}

/// `line:column-line:column "text"`, with the file before it if it is not the document.
fn place(findings: &Findings, span: Span) -> String {
    let Some(source) = findings.sources.get(span.file) else { return "nowhere".to_owned() };
    let (start, end) = (source.position(span.range().start), source.position(span.range().end));
    let file = if span.file == FileId::MAIN { String::new() } else { format!("{}:", source.name()) };
    let text = shown(source.slice(span));
    format!("{file}{}:{}-{}:{} {text}", start.line, start.column, end.line, end.column)
}

fn shown(text: &str) -> String {
    let quoted = format!("{text:?}");
    if quoted.chars().count() <= 90 {
        return visible(&quoted).into_owned();
    }
    let start: String = quoted.chars().take(50).collect();
    let end: String = quoted.chars().skip(quoted.chars().count() - 30).collect();
    visible(&format!("{start} … {end}")).into_owned()
}
