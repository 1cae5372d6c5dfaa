//! Builds the tree from tokens without recursion, and reads on behind what is missing or too much. Reads no characters.

use super::{Mended, mend};
use crate::diagnostic::{Diagnostic, Fix};
use crate::parse::yaml::{Mapper, escapes};
use crate::parse::{MAX_DEPTH, MAX_SCALAR_BYTES, hole, hole_entry, rules};
use crate::source::{FileId, Span, Spanned};
use crate::tree::{Entry, Node, Style, Value};
use jsonc_parser::tokens::Token;
use std::collections::HashMap;

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
    /// The key could not be read, so the entry is left out.
    is_lost: bool,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(Vec<Entry>, Option<HashMap<String, usize>>),
}

pub(super) struct Reader<'a> {
    file: FileId,
    text: &'a str,
    mended: &'a Mended,
    diagnostics: &'a mut Vec<Diagnostic>,
    stack: Vec<Frame>,
    root: Option<Node>,
    /// Reading stopped early.
    cut: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        file: FileId,
        text: &'a str,
        mended: &'a Mended,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self { file, text, mended, diagnostics, stack: Vec::new(), root: None, cut: false }
    }

    /// False if reading must stop.
    pub(super) fn token(&mut self, token: Token<'_>, span: Span) -> bool {
        let value = match token {
            Token::CommentLine(_) | Token::CommentBlock(_) => {
                self.diagnostics.push(mend::comment(span));
                return true;
            }
            Token::OpenBrace | Token::OpenBracket => return self.open(&token, span),
            Token::CloseBrace | Token::CloseBracket => return self.close(&token, span),
            Token::Comma => return self.comma(span),
            Token::Colon => return self.colon(span),
            Token::String(value) => return self.string(&value, span),
            Token::Boolean(value) => Value::Bool(value),
            Token::Null => Value::Null,
            Token::Number(_) if self.mended.holes.contains(&span.range()) => Value::Hole,
            Token::Number(digits) => Value::Number(digits.to_owned()),
            Token::Word(word) => {
                self.diagnostics.push(mend::word(word, span, self.wants_key()));
                if self.wants_key() {
                    return self.key(word, span);
                }
                Value::Hole
            }
        };
        if self.wants_key() {
            if value != Value::Hole {
                let found =
                    Diagnostic::new(&rules::KEY_NOT_TEXT, span, "a key must be text in double quotes");
                let quoted = format!("\"{}\"", self.text.get(span.range()).unwrap_or_default());
                self.diagnostics.push(found.fix(Fix::replace("put it into double quotes", span, quoted)));
            }
            if let Some(frame) = self.stack.last_mut() {
                frame.is_lost = true;
                frame.wait = Wait::Colon;
            }
            return true;
        }
        self.value(Node { span, value })
    }

    fn key(&mut self, value: &str, span: Span) -> bool {
        if let Some(frame) = self.stack.last_mut() {
            frame.key = Some(Spanned::new(value.to_owned(), span));
            frame.wait = Wait::Colon;
        }
        true
    }

    /// Whether a text goes on over the end of its line and ends where none can end: then its closing quote was
    /// forgotten, and the next one opens another text.
    pub(super) fn runs_on(&self, span: Span) -> bool {
        let inner = self.text.get(span.range()).unwrap_or_default();
        let behind = self.text.get(span.range().end..).unwrap_or_default().trim_start();
        inner.contains(['\n', '\r']) && !behind.is_empty() && !behind.starts_with([',', ':', ']', '}'])
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
        let content = if matches!(token, Token::OpenBracket) {
            Content::List(Vec::new())
        } else {
            Content::Map(Vec::new(), None)
        };
        let start = span.range().start;
        self.stack.push(Frame { start, wait: Wait::First, comma: span, key: None, is_lost: false, content });
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
        if !fits {
            let open = Span::new(self.file, frame.start, frame.start + 1);
            let message = "this closes something else than what is open";
            self.stack.push(frame);
            self.diagnostics
                .push(Diagnostic::new(&rules::SYNTAX_ERROR, span, message).label(open, "opened here"));
            return self.stop();
        }
        if matches!(frame.wait, Wait::Colon | Wait::Value) {
            self.stack.push(frame);
            self.no_value(span);
            return self.close(token, span);
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
            Some(frame) if matches!(frame.wait, Wait::Colon | Wait::Value) => {
                frame.comma = span;
                self.no_value(span);
                if let Some(frame) = self.stack.last_mut() {
                    frame.wait = Wait::Next;
                }
                true
            }
            Some(_) => {
                let message = "a value is expected here, not a comma";
                let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, message);
                self.diagnostics.push(found.fix(Fix::replace("remove the comma", span, "")));
                true
            }
            None => self.fault(span, "a value is expected here, not a comma"),
        }
    }

    /// A key whose value is missing where something else stands.
    fn no_value(&mut self, span: Span) {
        let place = self.stack.last().and_then(|frame| frame.key.as_ref()).map(|key| key.span);
        let mut found = Diagnostic::new(&rules::SYNTAX_ERROR, span, "a value is missing before this");
        if let Some(place) = place {
            found = found.label(place, "the value of this key");
        }
        self.diagnostics.push(found);
        self.place(hole(self.file, span.range().start));
    }

    fn missing(&mut self, at: usize, what: &str, sign: &str) {
        let span = Span::new(self.file, at, at);
        let found = Diagnostic::new(&rules::SYNTAX_ERROR, span, format!("{what} is missing here"));
        self.diagnostics.push(found.fix(Fix::replace(format!("write `{sign}`"), span, sign)));
    }

    /// Where the last thing before `span` ends.
    fn end_before(&self, span: Span) -> usize {
        let end = self.text.get(..span.range().start).map_or(0, |before| before.trim_end().len());
        // A stand-in is shorter than what it stands for.
        let hole = self.mended.holes.iter().find(|hole| hole.contains(&end));
        hole.map_or(end, |hole| hole.end)
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
        let is_map = self.stack.last().is_some_and(|frame| matches!(frame.content, Content::Map(..)));
        if is_map && self.stack.last().is_some_and(|frame| frame.wait == Wait::Comma) {
            self.missing(self.end_before(span), "a comma", ",");
            return self.key(value, span);
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
        let is_single = self.mended.singles.contains(&span.range().start);
        let style = if is_single { Style::Single } else { Style::Double };
        let text = mapper.finish(value, style, span);
        self.value(Node { span, value: Value::Text(text) })
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
                self.missing(self.end_before(span), "a comma", ",");
                true
            }
            (Wait::Colon, _) => {
                frame.wait = Wait::Value;
                self.missing(self.end_before(span), "a colon", ":");
                true
            }
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
            Content::Map(entries, _) if frame.is_lost => {
                frame.is_lost = false;
                entries.push(hole_entry(self.file, node.span.range().start));
            }
            Content::Map(entries, seen) => {
                let Some(key) = frame.key.take() else { return };
                if let Some(found) = crate::parse::yaml::insert(entries, seen, key, node) {
                    self.diagnostics.push(*found);
                }
            }
        }
    }

    /// The tree of what was read before a fault.
    pub(super) fn finish_cut(mut self) -> Node {
        self.cut = true;
        self.finish()
    }

    pub(super) fn finish(mut self) -> Node {
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
