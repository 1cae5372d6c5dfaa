//! Diagnostics for people, with the lines they stand on. The only file that knows miette.
//!
//! miette draws; what it draws is an excerpt of our own (see `excerpt`), never the source text itself.

use super::excerpt::{Excerpt, Mark};
use super::{Counts, Found, Look, Report, counted};
use crate::diagnostic::{Diagnostic, Severity};
use crate::escape::{visible, visible_lines};
use crate::source::{FileId, Source, Sources};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceSpan,
};
use std::collections::BTreeSet;
use std::{fmt, io};

/// Lines shown before and after a marked one.
const CONTEXT_LINES: usize = 1;
/// Below this width a report is not legible any more, so it is not wrapped narrower.
const NARROWEST: usize = 40;

pub(super) fn write(report: &Report<'_>, out: &mut dyn io::Write, look: Look) -> io::Result<()> {
    let all = report.findings();
    for found in &all {
        let finding = Finding::new(found.sources, found.diagnostic, look);
        let mut text = String::new();
        handler(&finding, look).render_report(&mut text, &finding).map_err(io::Error::other)?;
        // miette indents the first line by two columns; a heading begins at the margin.
        write!(out, "{}", text.strip_prefix("  ").unwrap_or(&text))?;
        for aside in finding.excerpt.asides() {
            writeln!(out, "  note: {aside}")?;
        }
        writeln!(out)?;
    }
    for part in &report.parts {
        if let (Some(bound), Some(main)) = (part.bound, part.sources.get(FileId::MAIN)) {
            writeln!(out, "{}: agent runs between two waits: {bound}", visible(main.name()))?;
        }
    }
    closing(report, &all, out)
}

/// What is counted at the end, once for all files.
fn closing(report: &Report<'_>, all: &[Found<'_>], out: &mut dyn io::Write) -> io::Result<()> {
    let names = all.iter().map(|found| found.sources.get(found.diagnostic.span.file).map(Source::name));
    let files: BTreeSet<_> = names.collect();
    let counts = Counts::of(all.iter().map(|found| found.diagnostic));
    let words = match (counts.words(files.len()), report.checked) {
        (Some(words), None) => words,
        (Some(words), Some(checked)) => format!("{words} · {} checked", counted(checked, "file")),
        (None, Some(checked)) => format!("no findings · {} checked", counted(checked, "file")),
        (None, None) => return Ok(()),
    };
    writeln!(out, "{words}")?;
    let fixes = |safe: bool| {
        all.iter().filter(|found| found.diagnostic.fix.as_ref().is_some_and(|fix| fix.safe == safe)).count()
    };
    let (safe, not_safe) = (fixes(true), fixes(false));
    match report.fixed {
        Some(_) => writeln!(out, "{}", report.mended()),
        None if report.checked.is_none() || safe + not_safe == 0 => Ok(()),
        None if safe == 0 => writeln!(out, "{} with --unsafe-fixes", counted(not_safe, "fix")),
        None if not_safe == 0 => writeln!(out, "{} with --fix", counted(safe, "fix")),
        None => writeln!(out, "{} with --fix, {not_safe} more with --unsafe-fixes", counted(safe, "fix")),
    }
}

fn handler(finding: &Finding<'_>, look: Look) -> GraphicalReportHandler {
    let mut theme = if look.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let heading = format!("{}[{}]:", finding.diagnostic.severity.word(), finding.diagnostic.rule.name);
    theme.characters.error.clone_from(&heading);
    theme.characters.warning.clone_from(&heading);
    theme.characters.advice = heading;
    let styles = &mut theme.styles;
    let weight = match finding.diagnostic.severity {
        Severity::Error => styles.error,
        Severity::Warning => styles.warning,
        Severity::Hint => styles.advice,
    };
    let aside = styles.help;
    let marks = finding.excerpt.marks();
    if !marks.is_empty() {
        styles.highlights = marks.iter().map(|mark| if mark.primary { weight } else { aside }).collect();
    }
    styles.link = aside;
    GraphicalReportHandler::new_themed(theme)
        .with_width(look.width.max(NARROWEST) + 2)
        .with_context_lines(CONTEXT_LINES)
        .with_urls(false)
        .without_cause_chain()
        .without_syntax_highlighting()
}

/// One diagnostic as miette wants it.
#[derive(Debug)]
struct Finding<'a> {
    diagnostic: &'a Diagnostic,
    excerpt: Excerpt,
    help: Option<String>,
}

impl<'a> Finding<'a> {
    fn new(sources: &Sources, diagnostic: &'a Diagnostic, look: Look) -> Self {
        // Six columns of a line are its number and the rail.
        let longest = look.width.max(NARROWEST) - 6;
        let excerpt = Excerpt::of(sources, diagnostic, CONTEXT_LINES, longest);
        let help = match (&diagnostic.help, &diagnostic.fix) {
            (Some(help), _) => Some(visible_lines(help).replace('\t', "    ")),
            (None, Some(fix)) => Some(visible(&fix.title).into_owned()),
            (None, None) => None,
        };
        Self { diagnostic, excerpt, help }
    }
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.diagnostic.message))
    }
}

impl std::error::Error for Finding<'_> {}

impl miette::Diagnostic for Finding<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Hint => miette::Severity::Advice,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labeled = |mark: &Mark| {
            let text = (!mark.text.is_empty()).then(|| mark.text.clone());
            let span = (mark.start, mark.end - mark.start);
            if mark.primary {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        };
        Some(Box::new(self.excerpt.marks().iter().map(labeled)))
    }
}

impl miette::SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        let window = self
            .window(span.offset(), span.offset() + span.len(), before, after)
            .ok_or(MietteError::OutOfBounds)?;
        let range = SourceSpan::from((window.start, window.text.len()));
        Ok(Box::new(MietteSpanContents::new_named(
            window.name.to_owned(),
            window.text.as_bytes(),
            range,
            window.line,
            window.column,
            window.line_count,
        )))
    }
}
