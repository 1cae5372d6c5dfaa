//! Diagnostics on paper: [`write`] for one document and [`write_all`] for many, in one of the forms of [`Format`].
//!
//! Layout only. Nothing here finds a fault, changes its wording or decides an exit code.

mod excerpt;
mod fingerprint;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod log;
mod sarif;
mod short;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Source, Sources};
use std::collections::{BTreeSet, HashSet};
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
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub's workflow log.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// JUnit's XML.
    Junit,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Human, Self::Short, Self::Json, Self::Sarif, Self::Github, Self::Gitlab, Self::Junit];
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

/// What is said of one document.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it read; the first is the document.
    pub sources: &'a Sources,
    /// What counts.
    pub diagnostics: &'a [Diagnostic],
    /// What comments ignore, with their reasons.
    pub ignored: &'a [(Diagnostic, String)],
    /// Whether its warnings fail.
    pub denies_warnings: bool,
    /// The largest number of agent runs between two waits, in words, if it was asked for.
    pub bound: Option<&'a str>,
}

/// What is said of all.
#[derive(Clone, Debug, Default)]
pub struct Report<'a> {
    /// A part a document.
    pub parts: Vec<Part<'a>>,
    /// Files that could not be read: name and one sentence.
    pub unreadable: Vec<(&'a str, &'a str)>,
    /// How many files were checked, if that is to be said.
    pub checked: Option<usize>,
    /// How many findings were mended, if any could have been.
    pub fixed: Option<usize>,
    /// The exit code that the process will end with.
    pub exit_code: u8,
}

/// A finding in its part.
#[derive(Clone, Copy)]
struct Found<'a> {
    sources: &'a Sources,
    diagnostic: &'a Diagnostic,
    fails: bool,
    /// Why a comment ignores it.
    ignored: Option<&'a str>,
}

impl<'a> Report<'a> {
    /// The findings of all parts, each part's by file and place. What is said of a file twice, once alone and once
    /// with a workflow that names it, is said once.
    fn findings(&self) -> Vec<Found<'a>> {
        self.each(|part| part.diagnostics.iter().map(|diagnostic| (diagnostic, None)).collect())
    }

    /// The findings that comments ignore.
    fn ignored(&self) -> Vec<Found<'a>> {
        self.each(|part| part.ignored.iter().map(|(found, reason)| (found, Some(reason.as_str()))).collect())
    }

    fn each(&self, pick: impl Fn(&Part<'a>) -> Vec<(&'a Diagnostic, Option<&'a str>)>) -> Vec<Found<'a>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for part in &self.parts {
            let mut own = pick(part);
            own.sort_by_key(|(d, _)| (d.span.file, d.span.start, std::cmp::Reverse(d.severity), d.span.end));
            for (diagnostic, ignored) in own {
                let span = diagnostic.span;
                let name = part.sources.get(span.file).map(Source::name);
                let first =
                    seen.insert((name, span.start, span.end, diagnostic.rule.name, &diagnostic.message));
                if first {
                    let fails = match diagnostic.severity {
                        Severity::Error => true,
                        Severity::Warning => part.denies_warnings,
                        Severity::Hint => false,
                    };
                    all.push(Found { sources: part.sources, diagnostic, fails, ignored });
                }
            }
        }
        all
    }

    /// How many findings of each weight there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.findings().into_iter().map(|found| found.diagnostic))
    }

    /// What mending has done: `3 fixed, 1 left (1 fix needs --unsafe-fixes)`.
    #[must_use]
    pub fn mended(&self) -> String {
        let all = self.findings();
        let not_safe = |found: &&Found<'_>| found.diagnostic.fix.as_ref().is_some_and(|fix| !fix.safe);
        let more = match all.iter().filter(not_safe).count() {
            0 => String::new(),
            1 => " (1 fix needs --unsafe-fixes)".to_owned(),
            more => format!(" ({more} fixes need --unsafe-fixes)"),
        };
        format!("{} fixed, {} left{more}", self.fixed.unwrap_or(0), all.len())
    }

    /// How many findings there are of each rule, with how many safe fixes.
    #[must_use]
    pub fn by_rule(&self) -> Vec<(&'static crate::diagnostic::Rule, usize, usize)> {
        let mut all: Vec<(&'static crate::diagnostic::Rule, usize, usize)> = Vec::new();
        for found in self.findings() {
            let fixable = usize::from(found.diagnostic.fix.as_ref().is_some_and(|fix| fix.safe));
            match all.iter_mut().find(|(rule, ..)| *rule == found.diagnostic.rule) {
                Some((_, count, fixes)) => {
                    *count += 1;
                    *fixes += fixable;
                }
                None => all.push((found.diagnostic.rule, 1, fixable)),
            }
        }
        all.sort_by_key(|(rule, count, _)| (std::cmp::Reverse(*count), rule.name));
        all
    }
}

/// Prints the findings of one document, ordered by file and place, whatever order they were found in.
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
    let part = Part { sources, diagnostics, ignored: &[], denies_warnings: false, bound: None };
    write_all(format, &Report { parts: vec![part], ..Report::default() }, out, look)
}

/// Prints the findings of many documents.
///
/// # Errors
/// Only what `out` gives.
pub fn write_all(format: Format, report: &Report<'_>, out: &mut dyn io::Write, look: Look) -> io::Result<()> {
    match format {
        Format::Human => log::harmless(out, |out| human::write(report, out, look)),
        Format::Short => log::harmless(out, |out| short::write(report, out)),
        Format::Json => json::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Junit => junit::write(report, out),
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
    let files: BTreeSet<_> = diagnostics.iter().map(|d| d.span.file).collect();
    Counts::of(diagnostics).words(files.len()).unwrap_or_else(|| "no problems found".to_owned())
}

impl Counts {
    /// `4 errors, 1 warning in 2 files`; `None` for no findings.
    #[must_use]
    pub fn words(self, files: usize) -> Option<String> {
        let parts: Vec<String> = [(self.errors, "error"), (self.warnings, "warning"), (self.hints, "hint")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| counted(count, word))
            .collect();
        (!parts.is_empty()).then(|| format!("{} in {}", parts.join(", "), counted(files, "file")))
    }
}

/// `1 file`, `2 files`.
#[must_use]
pub fn counted(count: usize, word: &str) -> String {
    let plural = match (count, word) {
        (1, _) => "",
        (_, "fix") => "es",
        (_, _) => "s",
    };
    format!("{count} {word}{plural}")
}
