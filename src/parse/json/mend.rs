//! What to say of characters that are no JSON, and how to read on behind them: a stand-in of the same length takes
//! their place in a copy of the text. Builds no tree.

use crate::diagnostic::{Diagnostic, Fix};
use crate::parse::rules;
use crate::source::{FileId, Span};
use jsonc_parser::ParseStringErrorKind;
use jsonc_parser::errors::ParseErrorKind;
use std::ops::Range;

/// What takes the place of what cannot be read.
pub(super) struct Patch {
    /// Bytes of the text.
    pub(super) range: Range<usize>,
    /// Of the same length.
    pub(super) text: String,
    /// Whether it is a stand-in, which counts as a hole.
    pub(super) is_hole: bool,
}

/// What is wrong with characters.
pub(super) enum Fault {
    /// A text in single quotes.
    SingleQuotes,
    /// A text without its closing quote.
    Unclosed,
    /// A comment without its end.
    Comment,
    /// Something inside a text; what, and where.
    Escape(String, usize),
    /// Anything else.
    Word,
}

impl Fault {
    pub(super) fn of(kind: &ParseErrorKind, at: usize) -> Self {
        if matches!(kind, ParseErrorKind::SingleQuotedStringsNotAllowed) {
            Self::SingleQuotes
        } else if matches!(kind, ParseErrorKind::UnterminatedCommentBlock) {
            Self::Comment
        } else if matches!(kind, ParseErrorKind::String(ParseStringErrorKind::UnterminatedStringLiteral)) {
            Self::Unclosed
        } else if let ParseErrorKind::String(fault) = kind {
            Self::Escape(fault.to_string().to_lowercase(), at)
        } else {
            Self::Word
        }
    }
}

/// The finding for a fault that begins at `at`, and how to read on.
pub(super) fn mend(file: FileId, text: &str, at: usize, fault: &Fault) -> (Diagnostic, Option<Patch>) {
    match fault {
        Fault::SingleQuotes => single_quotes(file, text, at),
        Fault::Unclosed => unclosed(file, text, at),
        Fault::Comment => {
            let found = comment(Span::new(file, at, text.len()));
            let rest = " ".repeat(text.len() - at.min(text.len()));
            (found, Some(Patch { range: at..text.len(), text: rest, is_hole: false }))
        }
        Fault::Escape(why, place) => {
            let end = string_end(text, at);
            let len: usize = text.get(*place..).unwrap_or_default().chars().take(2).map(char::len_utf8).sum();
            let found = Diagnostic::new(
                &rules::SYNTAX_ERROR,
                Span::new(file, *place, (*place + len).min(end)),
                format!("this is no JSON text: {}", why.trim_end_matches('.')),
            );
            let help = "escapes are `\\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, and `\\u` with four \
                        digits";
            (found.help(help), stand_in(text, at, end))
        }
        Fault::Word => {
            // What is stuck to it before belongs to it: a stand-in behind `2` would make another number of that.
            let (at, end) = (word_start(text, at), word_end(text, at));
            let word = text.get(at..end).unwrap_or_default();
            let span = Span::new(file, at, end.max(at));
            let shown: String = word.chars().take(40).collect();
            let message = format!("`{shown}` is no JSON value");
            let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, message);
            let found = if word.starts_with('#') {
                found.help("JSON has no comments; remove it, or write the file as YAML")
            } else if word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
                found.help("write the number as `1`, `-0.5` or `1e9`")
            } else {
                let quoted = format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""));
                found.help("put text into double quotes").fix(Fix::replace(
                    "put it into double quotes",
                    span,
                    quoted,
                ))
            };
            (found, stand_in(text, at, end))
        }
    }
}

/// The finding for a comment.
pub(super) fn comment(span: Span) -> Diagnostic {
    let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, "JSON has no comments");
    let fix = Fix::replace("remove the comment", span, "");
    found.help("remove the comment, or write the file as YAML").fix(fix)
}

/// The finding for a word without quotes.
pub(super) fn word(word: &str, span: Span, is_key: bool) -> Diagnostic {
    let meant = match word.to_ascii_lowercase().as_str() {
        "true" if !is_key => Some("true"),
        "false" if !is_key => Some("false"),
        "null" | "none" | "nil" | "undefined" if !is_key => Some("null"),
        _ => None,
    };
    let message =
        if is_key { format!("the key `{word}` is not quoted") } else { format!("`{word}` is no JSON value") };
    let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, message);
    if let Some(meant) = meant {
        let fix = Fix::replace(format!("write `{meant}`"), span, meant);
        return found.help(format!("did you mean `{meant}`?")).fix(fix);
    }
    let fix = Fix::replace("put it into double quotes", span, format!("\"{word}\""));
    found.help("put text into double quotes").fix(fix)
}

/// A text that is not closed on its line. What ends the line is taken to stand behind it.
fn unclosed(file: FileId, text: &str, at: usize) -> (Diagnostic, Option<Patch>) {
    let line_end = text.get(at..).and_then(|rest| rest.find(['\n', '\r'])).map_or(text.len(), |len| at + len);
    let line = text.get(at..line_end).unwrap_or_default();
    let kept = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}'));
    let end = at + kept.len().max(1);
    let message = "the text that begins here is not closed";
    let mut fix = Fix::replace("close it", Span::new(file, end, end), "\"");
    fix.safe = false;
    let found = Diagnostic::new(&rules::SYNTAX_ERROR, Span::new(file, at, at + 1), message);
    (found.help("close it with a double quote").fix(fix), stand_in(text, at, end))
}

fn single_quotes(file: FileId, text: &str, at: usize) -> (Diagnostic, Option<Patch>) {
    let message = "JSON texts stand in double quotes";
    let rest = text.get(at + 1..).unwrap_or_default();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let Some(len) = line.find('\'') else {
        let end = word_end(text, at).max(at + 1);
        let found = Diagnostic::new(&rules::SYNTAX_ERROR, Span::new(file, at, at + 1), message);
        return (found, stand_in(text, at, end));
    };
    let inner = line.get(..len).unwrap_or_default();
    let end = at + len + 2;
    let span = Span::new(file, at, end);
    let better = format!("\"{}\"", inner.replace('"', "\\\""));
    let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, message)
        .help("use double quotes")
        .fix(Fix::replace("use double quotes", span, better));
    if inner.contains(['"', '\\']) {
        return (found, stand_in(text, at, end));
    }
    (found, Some(Patch { range: at..end, text: format!("\"{inner}\""), is_hole: false }))
}

/// A number and blanks, which the reader takes for a hole.
fn stand_in(text: &str, at: usize, end: usize) -> Option<Patch> {
    let len = text.get(at..end)?.len().checked_sub(1)?;
    Some(Patch { range: at..end, text: format!("0{}", " ".repeat(len)), is_hole: true })
}

fn ends_a_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ':' | ']' | '}' | '{' | '[' | '"')
}

fn word_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.char_indices().rev().take_while(|(_, c)| !ends_a_word(*c)).last().map_or(at, |(start, _)| start)
}

fn word_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with('#') {
        return at + rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
    let len = rest.find(ends_a_word).unwrap_or(rest.len());
    at + if len == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { len }
}

/// One past the closing quote of the text that begins at `at`, or the end of its line.
fn string_end(text: &str, at: usize) -> usize {
    let mut escaped = false;
    for (i, c) in text.get(at..).unwrap_or_default().char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + i + 1,
            '\n' | '\r' => return at + i,
            _ => {}
        }
    }
    text.len()
}
