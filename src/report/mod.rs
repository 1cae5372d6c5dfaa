//! Diagnostics on paper: [`write`] in one of the forms of [`Format`], and the closing line [`summary`].
//!
//! Layout only. Nothing here finds a fault, changes its wording or decides an exit code.

mod excerpt;
mod human;
mod json;
mod short;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Sources;
use std::collections::BTreeSet;
use std::io;

/// The forms a list of diagnostics is printed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// With the lines of the source, for people.
    #[default]
    Human,
    /// `path:line:column: error[rule]: message`, one finding a line.
    Short,
    /// One JSON document.
    Json,
}

/// What the reader's screen can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether ANSI colours are wanted.
    pub color: bool,
    /// Width in columns that text is wrapped at.
    pub width: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Prints the findings, ordered by file and place, whatever order they were found in.
///
/// # Errors
/// Only what `out` gives.
pub fn write(
    format: Format,
    sources: &Sources,
    diagnostics: &[Diagnostic],
    out: &mut dyn io::Write,
    look: Look,
) -> io::Result<()> {
    let mut ordered: Vec<&Diagnostic> = diagnostics.iter().collect();
    ordered.sort_by(|a, b| {
        let key = |d: &Diagnostic| (d.span.file, d.span.start, std::cmp::Reverse(d.severity), d.span.end);
        key(a).cmp(&key(b))
    });
    match format {
        Format::Human => human::write(sources, &ordered, out, look),
        Format::Short => short::write(sources, &ordered, out),
        Format::Json => json::write(sources, &ordered, out),
    }
}

/// How many findings of each weight there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings that stop a compile.
    pub errors: usize,
    /// Findings that stop it only on demand.
    pub warnings: usize,
    /// Findings that stop nothing.
    pub hints: usize,
}

impl Counts {
    /// Counts them.
    #[must_use]
    pub fn of<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Self::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Hint => counts.hints += 1,
            }
        }
        counts
    }
}

/// One line that counts: `4 errors, 1 warning in 2 files`; `no problems found` for none.
#[must_use]
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    summary_of(diagnostics.iter())
}

fn summary_of<'a>(diagnostics: impl Iterator<Item = &'a Diagnostic> + Clone) -> String {
    let counts = Counts::of(diagnostics.clone());
    let files: BTreeSet<_> = diagnostics.map(|d| d.span.file).collect();
    let parts: Vec<String> = [(counts.errors, "error"), (counts.warnings, "warning"), (counts.hints, "hint")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| counted(count, word))
        .collect();
    if parts.is_empty() {
        return "no problems found".to_owned();
    }
    format!("{} in {}", parts.join(", "), counted(files.len(), "file"))
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
