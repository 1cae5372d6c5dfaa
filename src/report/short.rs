//! `path:line:column: error[rule]: message`, one finding a line: for editors, grep and old terminals. No colours.

use crate::diagnostic::Diagnostic;
use crate::escape::visible;
use crate::source::Sources;
use std::io;

pub(super) fn write(
    sources: &Sources,
    diagnostics: &[&Diagnostic],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    for diagnostic in diagnostics {
        let (severity, rule) = (diagnostic.severity.word(), diagnostic.rule.name);
        let message = visible(&diagnostic.message);
        match sources.get(diagnostic.span.file) {
            Some(source) => {
                let place = source.position(diagnostic.span.start as usize);
                let (name, line, column) = (visible(source.name()), place.line, place.column);
                writeln!(out, "{name}:{line}:{column}: {severity}[{rule}]: {message}")?;
            }
            None => writeln!(out, "{severity}[{rule}]: {message}")?,
        }
    }
    Ok(())
}
