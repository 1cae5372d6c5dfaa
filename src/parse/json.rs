//! JSON text into the same spanned tree as YAML: strict JSON, no comments, no trailing commas, no key twice.
//!
//! Only the lexer of jsonc-parser is used; the tree is built here without recursion, so that reading goes on
//! behind a fault. Numbers keep their digits.

mod build;
mod mend;

use super::{hole, prepare};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Source, Span};
use crate::tree::Node;
use build::Reader;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use mend::Fault;
use std::ops::Range;

/// Faults of characters of one file after which the rest is left unread.
const MAX_FAULTS: usize = 20;

/// Reads a JSON document. A part that cannot be read is a hole in the tree; behind it the reading goes on, in a copy
/// of the text that holds something else of the same length there.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Node {
    let file = source.id();
    let first = diagnostics.len();
    let Some(mut text) = prepare(source, source.text(), diagnostics) else { return hole(file, 0) };
    let mut mended = Mended::default();
    for attempt in 0.. {
        let mut found = Vec::new();
        let (node, fault) = read_once(file, &text, &mended, &mut found);
        let patch = fault.and_then(|(at, kind)| {
            let (fault, patch) = mend::mend(file, &text, at, &kind);
            diagnostics.push(fault);
            patch.filter(|_| attempt < MAX_FAULTS)
        });
        if let Some(patch) = patch {
            if patch.is_hole {
                mended.holes.push(patch.range.clone());
            } else {
                mended.singles.push(patch.range.start);
            }
            mended.to_end |= text.get(patch.range.end..).is_some_and(|rest| rest.trim().is_empty());
            text.to_mut().replace_range(patch.range, &patch.text);
            continue;
        }
        diagnostics.append(&mut found);
        if let Some(found) = diagnostics.get_mut(first..) {
            found.sort_by_key(|found| found.span.start);
        }
        return node;
    }
    hole(file, 0)
}

/// What has been put in place of what could not be read.
#[derive(Default)]
struct Mended {
    /// Places of stand-ins, which are holes.
    holes: Vec<Range<usize>>,
    /// Where texts begin that have their quotes changed.
    singles: Vec<usize>,
    /// Nothing is left behind the last of them, so what is still open was cut off with it.
    to_end: bool,
}

/// Reads up to the first fault of characters: where it is, and which.
fn read_once(
    file: FileId,
    text: &str,
    mended: &Mended,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Node, Option<(usize, Fault)>) {
    let base = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let options = ScannerOptions {
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let mut scanner = Scanner::new(text.get(base..).unwrap_or_default(), &options);
    let mut reader = Reader::new(file, text, mended, diagnostics);
    loop {
        match scanner.scan() {
            Ok(None) => break,
            Ok(Some(token)) => {
                let mut span = Span::new(file, base + scanner.token_start(), base + scanner.token_end());
                let stand_in = mended.holes.iter().find(|range| range.start == span.range().start);
                match (&token, stand_in) {
                    (_, Some(range)) => span = Span::new(file, range.start, range.end),
                    (Token::Number(_), None) if goes_on(text, span) => {
                        return (reader.finish_cut(), Some((span.range().start, Fault::Word)));
                    }
                    (_, None) => {}
                }
                if matches!(token, Token::String(_)) && reader.runs_on(span) {
                    return (reader.finish_cut(), Some((span.range().start, Fault::Unclosed)));
                }
                if !reader.token(token, span) {
                    break;
                }
            }
            Err(error) => {
                let at = base + scanner.token_start();
                let fault = Fault::of(error.kind(), base + error.range().start);
                return (reader.finish_cut(), Some((at, fault)));
            }
        }
    }
    (if mended.to_end { reader.finish_cut() } else { reader.finish() }, None)
}

/// Whether something of a number is left behind what JSON takes for one: `01`, `1_000`, `1px`.
fn goes_on(text: &str, span: Span) -> bool {
    let behind = text.get(span.range().end..).and_then(|behind| behind.chars().next());
    behind.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-'))
}
