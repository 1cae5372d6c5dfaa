//! GitLab's code quality report: one JSON list, with fingerprints that survive moved lines. Lines count from 1.

use super::{Report, fingerprint};
use crate::diagnostic::Severity;
use crate::escape::json_text;
use crate::source::Source;
use serde_json::json;
use std::io;

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let all = report.findings();
    let issues: Vec<_> = all
        .iter()
        .zip(fingerprint::of(&all))
        .map(|(found, fingerprint)| {
            let diagnostic = found.diagnostic;
            let source = found.sources.get(diagnostic.span.file);
            let line = |offset: usize| source.map_or(1, |source| source.position(offset).line);
            let range = diagnostic.span.range();
            let severity = match diagnostic.severity {
                Severity::Error => "critical",
                Severity::Warning => "minor",
                Severity::Hint => "info",
            };
            json!({
                "description": diagnostic.message,
                "check_name": diagnostic.rule.name,
                "fingerprint": fingerprint,
                "severity": severity,
                "location": {
                    "path": source.map_or("", Source::name),
                    "lines": { "begin": line(range.start), "end": line(range.end) },
                },
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&issues).map_err(io::Error::other)?;
    writeln!(out, "{}", json_text(&text))
}
