//! YAML text into the spanned tree, with the limits and refusals of section 2 applied while reading.
//!
//! After a syntax error the faulty value is blanked in a copy of the text and the reading begins again, so that
//! every fault of a file is found in one run. The only file that drives granit-parser is `yaml/build.rs`.

mod build;
mod directives;
mod frame;
mod indent;
mod keys;
mod mend;
mod runs;
pub(in crate::parse) mod scalar;

pub(in crate::parse) use keys::insert;
pub(in crate::parse) use runs::{Mapper, escapes};

use super::{prepare, rules};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use crate::tree;
use std::ops::Range;

/// Syntax errors of one file after which the rest is left unread.
const MAX_SYNTAX_ERRORS: usize = 20;

/// Reads a YAML document. A part that cannot be read is a hole in the tree.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> tree::Node {
    read_part(source, source.text(), diagnostics)
}

/// Reads the beginning `text` of a source as a document of its own.
pub(in crate::parse) fn read_part(
    source: &Source,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> tree::Node {
    read_with(source, text, diagnostics, None)
}

/// The places of the comments in the beginning `text` of a source, and what it holds beside them.
pub(in crate::parse) fn comments(source: &Source, text: &str) -> (tree::Node, Vec<Span>) {
    let mut found = Vec::new();
    let root = read_with(source, text, &mut Vec::new(), Some(&mut found));
    (root, found)
}

fn read_with(
    source: &Source,
    text: &str,
    diagnostics: &mut Vec<Diagnostic>,
    mut comments: Option<&mut Vec<Span>>,
) -> tree::Node {
    let first = diagnostics.len();
    let Some(mut text) = prepare(source, text, diagnostics) else {
        return super::hole(source.id(), 0);
    };
    for range in directives::look(source.id(), &text, diagnostics) {
        blank(text.to_mut(), &range);
    }
    let mut blanked = Blanked::default();
    for attempt in 0..=MAX_SYNTAX_ERRORS {
        let mut outcome = build::build(source.id(), &text, &blanked, comments.is_some());
        let patch = outcome.error.take().and_then(|error| {
            let (found, patch) = mend::mend(source.id(), &text, &error);
            // A second fault at the same place is a consequence of the first.
            if diagnostics.iter().skip(first).all(|earlier| earlier.span != found.span) {
                diagnostics.push(found);
            }
            patch
        });
        let patch = patch.filter(|patch| attempt < MAX_SYNTAX_ERRORS && blank(text.to_mut(), &patch.range));
        let Some(patch) = patch else {
            diagnostics.append(&mut outcome.diagnostics);
            if let Some(found) = diagnostics.get_mut(first..) {
                found.sort_by_key(|found| found.span.start);
            }
            if let Some(comments) = &mut comments {
                **comments = outcome.comments;
            }
            return outcome.root;
        };
        if patch.is_value {
            blanked.values.push(patch.range);
        } else {
            blanked.lines.push(patch.range);
        }
    }
    super::hole(source.id(), 0)
}

/// What has been blanked out before this attempt.
#[derive(Default)]
struct Blanked {
    /// Values; what stands there now is an empty scalar.
    values: Vec<Range<usize>>,
    /// Whole entries, which leave their map or list incomplete.
    lines: Vec<Range<usize>>,
}

impl Blanked {
    /// Whether the empty scalar at `at` (or behind the colon that stands there) is what is left of a value.
    fn is_value(&self, text: &str, at: usize) -> bool {
        self.values.iter().any(|range| {
            let between = text.get(at + 1..range.start.max(at + 1));
            at <= range.end && between.is_some_and(|between| between.trim().is_empty())
        })
    }

    /// Whether something was taken out of the middle of a scalar, which then is not what its author wrote.
    fn cuts(&self, scalar: &Range<usize>) -> bool {
        let mut all = self.values.iter().chain(&self.lines);
        all.any(|range| range.start < scalar.end && scalar.start < range.end)
    }

    fn holds_line(&self, from: usize, to: usize) -> bool {
        self.lines.iter().any(|range| from <= range.start && range.start <= to)
    }
}

/// Replaces everything but line breaks by spaces, byte for byte; false if nothing was there.
fn blank(text: &mut String, range: &Range<usize>) -> bool {
    let Some(part) = text.get(range.clone()) else { return false };
    if part.trim().is_empty() {
        return false;
    }
    let spaces: String = part
        .chars()
        .flat_map(|c| std::iter::repeat_n(if c == '\n' || c == '\r' { c } else { ' ' }, c.len_utf8()))
        .collect();
    let stands_alone = stands_alone(text, range);
    text.replace_range(range.clone(), &spaces);
    if stands_alone && spaces.starts_with(' ') {
        text.replace_range(range.start..range.start + 1, "~");
    }
    true
}

/// Whether a value is a whole item of a list in brackets; without it there would be a comma too many.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default().trim_end();
    let behind = text.get(range.end..).unwrap_or_default().trim_start();
    if !before.ends_with(['[', ',']) || !behind.starts_with(',') {
        return false;
    }
    let mut closed = 0;
    for c in before.chars().rev() {
        match c {
            ']' | '}' => closed += 1,
            '[' | '{' if closed > 0 => closed -= 1,
            '[' => return true,
            '{' => return false,
            _ => {}
        }
    }
    false
}

/// The text as a YAML scalar in quotes.
pub(in crate::parse) fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

/// A finding on a plain scalar, value and comment, that an author meant as one text.
fn swallowed(
    file: crate::source::FileId,
    text: &str,
    start: usize,
    hash: usize,
    is_error: bool,
) -> Diagnostic {
    let line_end = end_of_line(text, hash);
    let whole = text.get(start..line_end).unwrap_or_default().trim_end();
    let comment = text.get(hash..line_end).unwrap_or_default().trim_end();
    let span = Span::new(file, hash, hash + comment.len());
    let mut found = Diagnostic::new(
        &rules::SWALLOWED_COMMENT,
        span,
        format!("`{comment}` is a comment to YAML, so the text ends before it"),
    )
    .note("not part of the text")
    .help("quote the text, or put the comment on a line of its own");
    let whole_span = Span::new(file, start, start + whole.len());
    if !whole.contains(['\n', '\r']) {
        let mut fix = crate::diagnostic::Fix::replace("quote the whole text", whole_span, quoted(whole));
        fix.safe = is_error && comment.contains("${{");
        found = found.fix(fix);
    }
    if !is_error {
        found.severity = crate::diagnostic::Severity::Hint;
    }
    found
}

fn end_of_line(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find(['\n', '\r']).unwrap_or(rest.len())
}

fn start_of_line(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |at| at + 1)
}
