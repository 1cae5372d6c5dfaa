//! JSON text into the same spanned tree as YAML: strict JSON, no comments, no trailing commas, no key twice.
//!
//! Only the lexer of jsonc-parser is used; the tree is built here without recursion, so that reading goes on
//! behind a fault. Numbers keep their digits.

#![allow(clippy::wildcard_enum_match_arm, reason = "tokens and faults are another crate's enums")]

use super::yaml::{Mapper, escapes};
use super::{MAX_DEPTH, MAX_SCALAR_BYTES, hole, hole_entry, prepare, rules};
use crate::diagnostic::{Diagnostic, Fix};
use crate::source::{FileId, Source, Span, Spanned};
use crate::tree::{Entry, Node, Style, Value};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::tokens::Token;
use jsonc_parser::{ParseStringErrorKind, Scanner, ScannerOptions};
use std::collections::HashMap;

/// Reads a JSON document. A part that cannot be read is a hole in the tree.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Node {
    let file = source.id();
    let Some(text) = prepare(source, source.text(), diagnostics) else { return hole(file, 0) };
    let base = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = text.get(base..).unwrap_or_default();
    let options = ScannerOptions {
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let mut scanner = Scanner::new(body, &options);
    let mut reader =
        Reader { file, text: &text, diagnostics, stack: Vec::new(), root: None, cut: false, passed: 0 };
    loop {
        match scanner.scan() {
            Ok(None) => break,
            Ok(Some(token)) => {
                let span = Span::new(file, base + scanner.token_start(), base + scanner.token_end());
                if !reader.token(token, span) {
                    break;
                }
            }
            // A fault of the lexer inside of what has been reported is not reported again.
            Err(error) if base + error.range().start < reader.passed => {
                reader.stop();
                break;
            }
            Err(error) => {
                reader.lexical(&error, base);
                break;
            }
        }
    }
    reader.finish()
}

/// What an open value waits for.
#[derive(Clone, Copy, PartialEq)]
enum Wait {
    /// A value or key, or the end right after the beginning.
    First,
    /// A value or key behind a comma.
    Next,
    /// The colon behind a key.
    Colon,
    /// The value behind a colon.
    Value,
    /// A comma or the end.
    Comma,
}

struct Frame {
    start: usize,
    wait: Wait,
    comma: Span,
    key: Option<Spanned<String>>,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(Vec<Entry>, Option<HashMap<String, usize>>),
}

struct Reader<'a> {
    file: FileId,
    text: &'a str,
    diagnostics: &'a mut Vec<Diagnostic>,
    stack: Vec<Frame>,
    root: Option<Node>,
    /// Reading stopped early.
    cut: bool,
    /// What begins before this byte belongs to a value that has been reported.
    passed: usize,
}

impl Reader<'_> {
    /// False if reading must stop.
    fn token(&mut self, token: Token<'_>, span: Span) -> bool {
        if span.range().start < self.passed {
            return true;
        }
        let value = match token {
            Token::CommentLine(_) | Token::CommentBlock(_) => {
                let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, "JSON has no comments");
                let fix = Fix::replace("remove the comment", span, "");
                self.diagnostics.push(found.help("remove the comment, or write the file as YAML").fix(fix));
                return true;
            }
            Token::OpenBrace | Token::OpenBracket => return self.open(&token, span),
            Token::CloseBrace | Token::CloseBracket => return self.close(&token, span),
            Token::Comma => return self.comma(span),
            Token::Colon => return self.colon(span),
            Token::String(value) => return self.string(&value, span),
            Token::Boolean(value) => Value::Bool(value),
            Token::Null => Value::Null,
            Token::Number(digits) => self.number(digits, span),
            Token::Word(word) if self.wants_key() => {
                let quoted = format!("\"{word}\"");
                let found =
                    Diagnostic::new(&rules::SYNTAX_ERROR, span, "a key must be text in double quotes");
                self.diagnostics.push(found.fix(Fix::replace("put it into double quotes", span, quoted)));
                return self.key(word, span);
            }
            Token::Word(word) => {
                let quoted = format!("\"{word}\"");
                let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, format!("`{word}` is no JSON value"))
                    .help("put text into double quotes");
                self.diagnostics.push(found.fix(Fix::replace("put it into double quotes", span, quoted)));
                Value::Hole
            }
        };
        if self.wants_key() {
            if value != Value::Hole {
                let found =
                    Diagnostic::new(&rules::KEY_NOT_TEXT, span, "a key must be text in double quotes");
                self.diagnostics.push(found);
            }
            return self.stop();
        }
        self.value(Node { span, value })
    }

    fn wants_key(&self) -> bool {
        self.stack.last().is_some_and(|frame| {
            matches!(frame.content, Content::Map(..)) && matches!(frame.wait, Wait::First | Wait::Next)
        })
    }

    fn stop(&mut self) -> bool {
        self.cut = true;
        false
    }

    fn fault(&mut self, span: Span, message: &str) -> bool {
        self.diagnostics.push(Diagnostic::new(&rules::SYNTAX_ERROR, span, message));
        self.stop()
    }

    fn open(&mut self, token: &Token<'_>, span: Span) -> bool {
        if self.stack.len() >= MAX_DEPTH {
            let message = format!("values are nested more than {MAX_DEPTH} deep");
            let found = Diagnostic::new(&rules::TOO_DEEP, span, message).note("nothing from here on is read");
            self.diagnostics.push(found.help("flatten the document"));
            return self.stop();
        }
        if self.wants_key() {
            return self.fault(span, "a key must be text in double quotes");
        }
        if !self.ready_for_value(span) {
            return false;
        }
        let content = match token {
            Token::OpenBracket => Content::List(Vec::new()),
            _ => Content::Map(Vec::new(), None),
        };
        let start = span.range().start;
        self.stack.push(Frame { start, wait: Wait::First, comma: span, key: None, content });
        true
    }

    fn close(&mut self, token: &Token<'_>, span: Span) -> bool {
        let Some(frame) = self.stack.pop() else {
            return self.fault(span, "there is nothing open that this could close");
        };
        let fits = matches!(
            (&frame.content, token),
            (Content::List(_), Token::CloseBracket) | (Content::Map(..), Token::CloseBrace)
        );
        if !fits || matches!(frame.wait, Wait::Colon | Wait::Value) {
            let open = Span::new(self.file, frame.start, frame.start + 1);
            let message = if fits {
                "a value is missing before this"
            } else {
                "this closes something else than what is open"
            };
            self.stack.push(frame);
            self.diagnostics
                .push(Diagnostic::new(&rules::SYNTAX_ERROR, span, message).label(open, "opened here"));
            return self.stop();
        }
        if frame.wait == Wait::Next {
            let found = Diagnostic::new(
                &rules::SYNTAX_ERROR,
                frame.comma,
                "JSON has no comma before a closing bracket",
            );
            let fix = Fix::replace("remove the comma", frame.comma, "");
            self.diagnostics.push(found.help("remove the comma").fix(fix));
        }
        let node = frame.into_node(self.file, span.range().end);
        self.place(node);
        true
    }

    fn comma(&mut self, span: Span) -> bool {
        match self.stack.last_mut() {
            Some(frame) if frame.wait == Wait::Comma => {
                frame.wait = Wait::Next;
                frame.comma = span;
                true
            }
            _ => self.fault(span, "a value is expected here, not a comma"),
        }
    }

    fn colon(&mut self, span: Span) -> bool {
        match self.stack.last_mut() {
            Some(frame) if frame.wait == Wait::Colon => {
                frame.wait = Wait::Value;
                true
            }
            _ => self.fault(span, "a colon cannot stand here"),
        }
    }

    fn string(&mut self, value: &str, span: Span) -> bool {
        let inner_at = span.range().start + 1;
        let inner = self.text.get(inner_at..span.range().end.saturating_sub(1)).unwrap_or_default();
        if let Some((at, c)) = inner.char_indices().find(|(_, c)| matches!(c, '\n' | '\r' | '\t')) {
            let (name, escape) = match c {
                '\t' => ("tab", "\\t"),
                _ => ("line break", "\\n"),
            };
            let place = Span::new(self.file, inner_at + at, inner_at + at + 1);
            let message = format!("a {name} inside a JSON text must be written `{escape}`");
            self.diagnostics.push(Diagnostic::new(&rules::SYNTAX_ERROR, place, message));
        }
        if value.len() > MAX_SCALAR_BYTES {
            let message = format!("the scalar has {} bytes; the limit is {MAX_SCALAR_BYTES}", value.len());
            self.diagnostics.push(Diagnostic::new(&rules::SCALAR_TOO_LONG, span, message));
            return self.value(Node { span, value: Value::Hole });
        }
        if self.wants_key() {
            return self.key(value, span);
        }
        let mut mapper = Mapper::default();
        if inner == value {
            mapper.copy(inner_at, inner)
        } else {
            escapes(&mut mapper, inner, inner_at)
        }
        let text = mapper.finish(value, Style::Double, span);
        self.value(Node { span, value: Value::Text(text) })
    }

    fn key(&mut self, key: &str, span: Span) -> bool {
        if let Some(frame) = self.stack.last_mut() {
            frame.key = Some(Spanned::new(key.to_owned(), span));
            frame.wait = Wait::Colon;
        }
        true
    }

    /// The lexer ends a number where JSON does: what is stuck to it makes it none.
    fn number(&mut self, digits: &str, span: Span) -> Value {
        let rest = self.text.get(span.range().end..).unwrap_or_default();
        let stuck =
            rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || "._+-".contains(c)).len();
        if stuck == 0 {
            return Value::Number(digits.to_owned());
        }
        self.passed = span.range().end + stuck;
        let whole = Span::new(self.file, span.range().start, self.passed);
        let written = self.text.get(whole.range()).unwrap_or_default();
        let message = format!("`{written}` is no JSON number");
        let help = "a number has no zero at its beginning, no sign but `-` and no letter but `e`";
        self.diagnostics.push(Diagnostic::new(&rules::SYNTAX_ERROR, whole, message).help(help));
        Value::Hole
    }

    fn value(&mut self, node: Node) -> bool {
        if !self.ready_for_value(node.span) {
            return false;
        }
        self.place(node);
        true
    }

    /// Whether a value may stand here; a forgotten comma is reported and taken as written.
    fn ready_for_value(&mut self, span: Span) -> bool {
        let Some(frame) = self.stack.last_mut() else {
            return self.root.is_none()
                || self.fault(span, "there is something behind the end of the document");
        };
        match (frame.wait, &frame.content) {
            (Wait::First | Wait::Next, Content::List(_)) | (Wait::Value, _) => true,
            (Wait::Comma, Content::List(_)) => {
                frame.wait = Wait::Next;
                self.diagnostics.push(Diagnostic::new(
                    &rules::SYNTAX_ERROR,
                    span.at_start(),
                    "a comma is missing here",
                ));
                true
            }
            (Wait::Colon, _) => self.fault(span, "a colon is missing behind the key"),
            (Wait::First | Wait::Next | Wait::Comma, _) => self.fault(span, "a comma is missing here"),
        }
    }

    fn place(&mut self, node: Node) {
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        frame.wait = Wait::Comma;
        match &mut frame.content {
            Content::List(items) => items.push(node),
            Content::Map(entries, seen) => {
                let Some(key) = frame.key.take() else { return };
                if let Some(found) = super::yaml::insert(entries, seen, key, node) {
                    self.diagnostics.push(*found);
                }
            }
        }
    }

    fn lexical(&mut self, error: &ParseError, base: usize) {
        let range = error.range();
        let mut span = Span::new(self.file, base + range.start, base + range.end);
        let message = match error.kind() {
            ParseErrorKind::SingleQuotedStringsNotAllowed => "JSON texts stand in double quotes".to_owned(),
            ParseErrorKind::String(ParseStringErrorKind::UnterminatedStringLiteral) => {
                span = Span::new(self.file, base + range.start, base + range.start + 1);
                "the text that begins here is not closed".to_owned()
            }
            ParseErrorKind::UnterminatedCommentBlock => "JSON has no comments".to_owned(),
            other => format!("this is not JSON: {}", other.to_string().to_lowercase()),
        };
        self.fault(span, &message);
    }

    fn finish(mut self) -> Node {
        let end = self.text.len();
        if let (Some(frame), false) = (self.stack.last(), self.cut) {
            let open = Span::new(self.file, frame.start, frame.start + 1);
            let what = if matches!(frame.content, Content::List(_)) { "`[`" } else { "`{`" };
            let message = format!("{what} is not closed");
            self.diagnostics.push(Diagnostic::new(&rules::SYNTAX_ERROR, open, message));
        }
        while let Some(mut frame) = self.stack.pop() {
            match &mut frame.content {
                Content::List(items) => items.push(hole(self.file, end)),
                Content::Map(entries, _) => {
                    if let Some(key) = frame.key.take() {
                        entries.push(Entry { key, value: hole(self.file, end) });
                    }
                    entries.push(hole_entry(self.file, end));
                }
            }
            let node = frame.into_node(self.file, end);
            self.place(node);
        }
        self.root.take().unwrap_or_else(|| {
            if !self.cut {
                let span = Span::new(self.file, 0, 0);
                self.diagnostics.push(Diagnostic::new(&rules::EMPTY_DOCUMENT, span, "the document is empty"));
            }
            hole(self.file, 0)
        })
    }
}

impl Frame {
    fn into_node(self, file: FileId, end: usize) -> Node {
        let span = Span::new(file, self.start, end);
        match self.content {
            Content::List(items) => Node { span, value: Value::List(items) },
            Content::Map(entries, _) => Node { span, value: Value::Map(entries) },
        }
    }
}
