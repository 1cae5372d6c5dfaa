//! `path:line:column: error[rule]: message`, one finding a line: for editors, grep and old terminals. No colours.

use super::Report;
use crate::escape::visible;
use crate::source::FileId;
use std::io;

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for found in report.findings() {
        let diagnostic = found.diagnostic;
        let (severity, rule) = (diagnostic.severity.word(), diagnostic.rule.name);
        let message = visible(&diagnostic.message);
        match found.sources.get(diagnostic.span.file) {
            Some(source) => {
                let place = source.position(diagnostic.span.start as usize);
                let (name, line, column) = (visible(source.name()), place.line, place.column);
                writeln!(out, "{name}:{line}:{column}: {severity}[{rule}]: {message}")?;
            }
            None => writeln!(out, "{severity}[{rule}]: {message}")?,
        }
    }
    for part in &report.parts {
        if let (Some(bound), Some(main)) = (part.bound, part.sources.get(FileId::MAIN)) {
            writeln!(out, "{}: agent runs between two waits: {bound}", visible(main.name()))?;
        }
    }
    Ok(())
}
