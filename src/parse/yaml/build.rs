//! Events of the YAML parser into a tree, without recursion. Looks at no meaning but that of scalars.

use super::frame::{Content, Frame, Reference, Slot};
use super::keys::{PROSE, empty_document, insert, references, take_key};
use super::{Blanked, runs, scalar, swallowed};
use crate::diagnostic::Diagnostic;
use crate::parse::{MAX_DEPTH, MAX_SCALAR_BYTES, hole, hole_entry, rules};
use crate::source::{FileId, Span};
use crate::tree::{Node, Style, Value};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StrInput, StructureStyle};

/// What one attempt has read.
pub(super) struct Outcome {
    pub(super) root: Node,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Places of comments, if they were asked for.
    pub(super) comments: Vec<Span>,
    pub(super) error: Option<Stopped>,
}

/// A syntax error and what was going on around it.
pub(super) struct Stopped {
    pub(super) kind: ErrorKind,
    pub(super) info: String,
    pub(super) at: usize,
    /// Where the outermost open `[` or `{` stands.
    pub(super) flow_start: Option<usize>,
    /// The place of the last scalar, if it is plain.
    pub(super) last_plain: Option<(usize, usize)>,
}

/// Reads `text` until its end or the first syntax error.
pub(super) fn build(file: FileId, text: &str, blanked: &Blanked, with_comments: bool) -> Outcome {
    let limit = MAX_DEPTH + 1;
    let options = granit_parser::options! {
        emit_comments: with_comments,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: limit,
        block_nesting_limit: limit,
        simple_key_max_lookahead: MAX_SCALAR_BYTES,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder {
        file,
        text,
        blanked,
        stack: Vec::new(),
        root: None,
        diagnostics: Vec::new(),
        comments: Vec::new(),
        references: Vec::new(),
        cursor: 0,
        last_plain: None,
        documents: 0,
        is_closing: false,
    };
    let mut error = None;
    loop {
        match parser.next_event() {
            None => break,
            Some(Ok((event, span))) => {
                if builder.event(event, &span).is_stop() {
                    break;
                }
            }
            Some(Err(found)) => {
                error = builder.syntax_error(&found);
                break;
            }
        }
    }
    drop::<Parser<'_, StrInput<'_>>>(parser);
    builder.finish(error)
}

#[derive(Clone, Copy, PartialEq)]
enum Flow {
    Go,
    Stop,
}

impl Flow {
    fn is_stop(self) -> bool {
        self == Self::Stop
    }
}

struct Builder<'a> {
    file: FileId,
    text: &'a str,
    blanked: &'a Blanked,
    stack: Vec<Frame>,
    root: Option<Node>,
    diagnostics: Vec<Diagnostic>,
    comments: Vec<Span>,
    references: Vec<Reference>,
    /// End of what has been read.
    cursor: usize,
    last_plain: Option<(usize, usize)>,
    documents: usize,
    /// Reading has stopped, and what is open is being closed.
    is_closing: bool,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Flow {
        let range = span.byte_range().unwrap_or(self.cursor..self.cursor);
        let place = Span::new(self.file, range.start, range.end);
        if let Some(tag) = span.tag_span().and_then(|tag| tag.byte_range()).filter(|_| event.tag().is_some())
        {
            self.tag(tag.start, tag.end);
        }
        match event {
            // Moves nothing: what is read is the same with and without comments.
            Event::Comment(..) => {
                self.comments.push(place);
                return Flow::Go;
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(..) => return self.document(place),
            Event::Alias(_) | Event::UnresolvedAlias(_) => self.alias(place),
            Event::Anchor(..) => {
                self.references.push(Reference { span: place, is_alias: false });
                return Flow::Go;
            }
            Event::Scalar(value, style, ..) => return self.scalar(&value, style, range),
            Event::SequenceStart(style, ..) => return self.open(place, style, Content::List(Vec::new())),
            Event::MappingStart(style, ..) => {
                let content = Content::Map { entries: Vec::new(), slot: Slot::Key, seen: None };
                return self.open(place, style, content);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range.start, range.end),
            // The parser's own enum may grow; what we do not know carries no data.
            _ => {}
        }
        self.cursor = self.cursor.max(range.end);
        Flow::Go
    }

    fn document(&mut self, place: Span) -> Flow {
        self.documents += 1;
        if self.documents == 1 {
            return Flow::Go;
        }
        let found = Diagnostic::new(&rules::SECOND_DOCUMENT, place, "a second document begins here")
            .note("nothing after this is read")
            .help("put each definition into a file of its own");
        self.diagnostics.push(found);
        Flow::Stop
    }

    fn tag(&mut self, start: usize, end: usize) {
        let written = self.text.get(start..end).unwrap_or_default();
        let span = Span::new(self.file, start, end);
        let found =
            Diagnostic::new(&rules::TAG, span, format!("`{written}` is a YAML tag; the language has none"))
                .help("remove the tag, or quote the text if it is meant to begin with `!`");
        self.diagnostics.push(found);
    }

    fn alias(&mut self, place: Span) {
        if self.key() == Some("cron") {
            let end = super::end_of_line(self.text, place.range().start);
            self.diagnostics.push(super::mend::unquoted_cron(self.file, self.text, place.range().start, end));
        } else {
            self.references.push(Reference { span: place, is_alias: true });
        }
        let node = Node { span: place, value: Value::Hole };
        self.value(node, None);
    }

    fn open(&mut self, place: Span, style: StructureStyle, content: Content) -> Flow {
        let start = place.range().start;
        if self.stack.len() >= MAX_DEPTH {
            self.too_deep(start);
            return Flow::Stop;
        }
        let before = self.cursor;
        self.cursor = self.cursor.max(place.range().end);
        let is_flow = style == StructureStyle::Flow;
        self.stack.push(Frame { start, before, end: place.range().end, is_flow, content });
        Flow::Go
    }

    fn too_deep(&mut self, at: usize) {
        let message = format!("values are nested more than {MAX_DEPTH} deep");
        let len = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let span = Span::new(self.file, at, at + len);
        let found = Diagnostic::new(&rules::TOO_DEEP, span, message).note("nothing from here on is read");
        self.diagnostics.push(found.help("flatten the document"));
    }

    fn close(&mut self, event_start: usize, event_end: usize) {
        let Some(mut frame) = self.stack.pop() else { return };
        if frame.is_flow {
            frame.end = frame.end.max(event_end);
            let lost =
                self.blanked.values.iter().any(|range| frame.start < range.start && range.end < frame.end);
            if let Content::List(items) = &mut frame.content
                && lost
            {
                items.push(hole(self.file, frame.end));
            }
        }
        if self.blanked.holds_line(frame.before, event_start.max(frame.end)) {
            frame.cut(self.file);
        }
        let node = frame.into_node(self.file);
        self.value(node, None);
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, range: std::ops::Range<usize>) -> Flow {
        if value.len() > MAX_SCALAR_BYTES {
            let message = format!("the scalar has {} bytes; the limit is {MAX_SCALAR_BYTES}", value.len());
            let place = Span::new(self.file, range.start, range.end);
            let found = Diagnostic::new(&rules::SCALAR_TOO_LONG, place, message);
            self.diagnostics.push(found.help("move the text into a file of its own that agents read"));
            self.cursor = self.cursor.max(range.end);
            self.value(Node { span: place, value: Value::Hole }, None);
            return Flow::Go;
        }
        self.last_plain =
            (style == ScalarStyle::Plain && !range.is_empty()).then_some((range.start, range.end));
        if style == ScalarStyle::Plain && range.is_empty() {
            self.empty(range.start);
            return Flow::Go;
        }
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        if self.blanked.cuts(&range) {
            self.cursor = self.cursor.max(range.end);
            let span = Span::new(self.file, range.start, range.end);
            self.value(Node { span, value: Value::Hole }, None);
            return Flow::Go;
        }
        let text = match style {
            Style::Literal | Style::Folded => {
                let header = self.block_header(range.start);
                // Only as far as the scalar goes, so that many blocks are not each read to the end.
                let end = super::end_of_line(self.text, range.end.max(header)) + 2;
                let part = self.text.get(..end).unwrap_or(self.text);
                runs::block(self.file, part, header, style, value)
            }
            Style::Plain | Style::Single | Style::Double => {
                runs::flow(self.file, self.text, range.start, range.end, style, value)
            }
        };
        if style == Style::Plain && !self.wants_key() {
            self.look_behind(value, &range);
        }
        self.cursor = self.cursor.max(range.end);
        let span = text.span;
        let key = self.wants_key().then(|| (value.to_owned(), style));
        let resolved = if style == Style::Plain && key.is_none() { scalar::resolve(value) } else { None };
        let value = match resolved {
            None => Value::Text(text),
            Some(Ok(value)) => value,
            Some(Err(())) => {
                let message = format!("`{value}` is a number that JSON cannot hold");
                let found = Diagnostic::new(&rules::NUMBER_NOT_JSON, span, message);
                self.diagnostics
                    .push(found.help("write a finite number, or quote it if it is meant as text"));
                Value::Hole
            }
        };
        self.value(Node { span, value }, key);
        Flow::Go
    }

    /// Nothing is written where a value or a key belongs.
    fn empty(&mut self, at: usize) {
        let behind = at + usize::from(self.text.get(at..).is_some_and(|rest| rest.starts_with(':')));
        let value = if self.blanked.is_value(self.text, at) { Value::Hole } else { Value::Null };
        let span = Span::new(self.file, behind, behind);
        if self.wants_key() {
            let found = Diagnostic::new(&rules::KEY_NOT_TEXT, span, "there is no key before the colon");
            self.diagnostics.push(found.help("write the key, or remove the line"));
            self.bad_key();
            return;
        }
        self.value(Node { span, value }, None);
    }

    /// Where the `|` or `>` of a block scalar stands whose content begins at `content`.
    fn block_header(&self, content: usize) -> usize {
        let between = self.text.get(self.cursor..).unwrap_or_default();
        let mut in_comment = false;
        let mut last = '\n';
        for (i, c) in between.char_indices() {
            match c {
                '\n' | '\r' => in_comment = false,
                '#' if last.is_whitespace() => in_comment = true,
                '|' | '>' if !in_comment => return self.cursor + i,
                _ => {}
            }
            last = c;
        }
        content
    }

    /// Whether a comment behind a plain value was meant as text.
    fn look_behind(&mut self, value: &str, range: &std::ops::Range<usize>) {
        let rest = self.text.get(range.end..).unwrap_or_default();
        let comment = rest.trim_start_matches([' ', '\t']);
        let gap = rest.len() - comment.len();
        if gap == 0 || !comment.starts_with('#') {
            return;
        }
        let line = comment.get(..comment.find(['\n', '\r']).unwrap_or(comment.len())).unwrap_or_default();
        let is_error = value.contains("${{") || line.contains("${{");
        let is_prose = value.contains(' ') && self.key().is_some_and(|key| PROSE.contains(&key));
        let is_stuck = gap == 1 && line.chars().nth(1).is_some_and(|c| !c.is_whitespace() && c != '#');
        if is_error || (is_prose && is_stuck) {
            let found = swallowed(self.file, self.text, range.start, range.end + gap, is_error);
            self.diagnostics.push(found);
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { content: Content::Map { slot: Slot::Key, .. }, .. }))
    }

    /// The key whose value is being read; inside a list, the key of the list.
    fn key(&self) -> Option<&str> {
        self.stack.iter().rev().find_map(|frame| match &frame.content {
            Content::Map { slot: Slot::ValueOf(key), .. } => Some(Some(key.value.as_str())),
            Content::Map { .. } => Some(None),
            Content::List(_) => None,
        })?
    }

    fn bad_key(&mut self) {
        if let Some(Frame { content: Content::Map { slot, .. }, .. }) = self.stack.last_mut() {
            *slot = Slot::ValueOfNothing;
        }
    }

    /// A value is complete; `key` is its text if it is a scalar where a key belongs.
    fn value(&mut self, node: Node, key: Option<(String, Style)>) {
        let file = self.file;
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        frame.end = frame.end.max(node.span.range().end);
        match &mut frame.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, slot, seen } => match std::mem::replace(slot, Slot::Key) {
                Slot::Key if self.is_closing => *slot = Slot::ValueOfNothing,
                Slot::Key => *slot = take_key(node, key, &mut self.diagnostics),
                Slot::ValueOfNothing => entries.push(hole_entry(file, node.span.range().start)),
                Slot::ValueOf(key) => {
                    if let Some(found) = insert(entries, seen, key, node) {
                        self.diagnostics.push(*found);
                    }
                }
            },
        }
    }

    fn syntax_error(&mut self, error: &ScanError) -> Option<Stopped> {
        let at = error.marker().byte_offset().unwrap_or(self.cursor).min(self.text.len());
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            self.too_deep(at);
            return None;
        }
        let flow_start = self.stack.iter().find(|frame| frame.is_flow).map(|frame| frame.start);
        let (kind, info) = (error.kind().clone(), error.info());
        Some(Stopped { kind, info, at, flow_start, last_plain: self.last_plain })
    }

    fn finish(mut self, error: Option<Stopped>) -> Outcome {
        let file = self.file;
        self.is_closing = true;
        while let Some(mut frame) = self.stack.pop() {
            frame.cut(file);
            let node = frame.into_node(file);
            self.value(node, None);
        }
        if let Some(found) = references(&self.references, self.text) {
            self.diagnostics.push(found);
        }
        let was_cut = error.is_some() || self.diagnostics.iter().any(|found| found.rule == &rules::TOO_DEEP);
        let blank = !was_cut && self.blanked.lines.is_empty() && self.blanked.values.is_empty();
        let root = match self.root {
            Some(Node { value: Value::Null, span }) if blank => empty_document(span, &mut self.diagnostics),
            Some(root) => root,
            None if blank => empty_document(Span::new(file, 0, 0), &mut self.diagnostics),
            None => hole(file, 0),
        };
        Outcome { root, diagnostics: self.diagnostics, comments: self.comments, error }
    }
}
