//! `::error file=…,line=…::message`, one finding a line, which GitHub shows at its place. Columns count characters
//! from 1.

use super::Report;
use super::log::broken;
use crate::diagnostic::Severity;
use crate::escape::{visible, visible_lines};
use std::io;

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for found in report.findings() {
        let diagnostic = found.diagnostic;
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "notice",
        };
        let mut properties = Vec::new();
        if let Some(source) = found.sources.get(diagnostic.span.file) {
            let (from, to) = (
                source.position(diagnostic.span.range().start),
                source.position(diagnostic.span.range().end),
            );
            properties.push(format!("file={}", property(source.name())));
            properties.push(format!("line={},endLine={}", from.line, to.line));
            if from.line == to.line {
                properties.push(format!("col={},endColumn={}", from.column, to.column.max(from.column)));
            }
        }
        properties.push(format!("title={}", property(diagnostic.rule.name)));
        let mut text = visible(&diagnostic.message).into_owned();
        if let Some(help) = &diagnostic.help {
            text.push_str(&format!("\nhelp: {}", visible_lines(help)));
        }
        writeln!(out, "::{level} {}::{}", properties.join(","), data(&text))?;
    }
    for (name, message) in &report.unreadable {
        writeln!(out, "::error file={}::{}", property(name), data(&visible(message)))?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    broken(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}
