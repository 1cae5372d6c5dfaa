//! The spanned data tree that YAML and JSON are both read into, before anything is known of workflows or agents.
//!
//! Numbers keep their digits as written. Scalars know where each of their characters stands in the source, so
//! that a place inside a folded or escaped text can be pointed at. This module reads nothing itself.

use crate::source::{Span, Spanned};

/// One value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// From the first to the last character of the value.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// The JSON kinds, and a hole where something could not be read (a diagnostic has been given).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The digits as a JSON number (YAML's `+1`, `0x1f`, `1_000` forms have been brought to JSON's).
    Number(String),
    /// Any other scalar.
    Text(Text),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in written order; keys are unique.
    Map(Vec<Entry>),
    /// Could not be read; already reported.
    Hole,
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, always text (`yes:` is the text `yes`, `1:` the text `1`).
    pub key: Spanned<String>,
    /// Its value; `Value::Null` with an empty span behind the colon if nothing is written.
    pub value: Node,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes (JSON strings too).
    Double,
    /// A block scalar, `|`.
    Literal,
    /// A block scalar, `>`.
    Folded,
}

/// A scalar's text after unquoting and folding, and where its parts stand in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The characters that the scalar means.
    pub value: String,
    /// How it was written.
    pub style: Style,
    /// Runs in rising order: from `value_start` on, characters stand one to one from `source_start` on.
    pub runs: Vec<Run>,
    /// The place of the whole scalar, quotes or block header included.
    pub span: Span,
}

/// See [`Text::runs`]. Both numbers are bytes; `len` bytes of the value are verbatim bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Byte in the value.
    pub value_start: u32,
    /// Byte in the source.
    pub source_start: u32,
    /// Verbatim bytes; 0 for an escape or a folded line break, which stands for the bytes up to the next run.
    pub len: u32,
}

impl Text {
    /// The place in the source of a byte range of the value; the whole scalar's place where no run covers it.
    #[must_use]
    pub fn span_of(&self, range: std::ops::Range<usize>) -> Span {
        let start = self.source_of(range.start);
        let end = if range.end > range.start { self.source_end_of(range.end) } else { start };
        match (start, end) {
            (Some(start), Some(end)) if end >= start => Span::new(self.span.file, start, end),
            _ => self.span,
        }
    }

    fn run_at(&self, offset: usize) -> Option<Run> {
        let offset = u32::try_from(offset).ok()?;
        let i = self.runs.partition_point(|run| run.value_start <= offset);
        self.runs.get(i.checked_sub(1)?).copied()
    }

    fn source_of(&self, offset: usize) -> Option<usize> {
        let run = self.run_at(offset)?;
        let into = offset - run.value_start as usize;
        Some(run.source_start as usize + into.min(run.len as usize))
    }

    fn source_end_of(&self, end: usize) -> Option<usize> {
        let run = self.run_at(end.checked_sub(1)?)?;
        let into = end - run.value_start as usize;
        if into <= run.len as usize {
            return Some(run.source_start as usize + into);
        }
        let i = self.runs.partition_point(|other| other.value_start <= run.value_start);
        let next = self.runs.get(i).map(|next| next.source_start as usize);
        // What the last run stands for ends with the scalar, before its closing quote.
        let quote = usize::from(matches!(self.style, Style::Single | Style::Double));
        next.or_else(|| (self.span.end as usize).checked_sub(quote))
    }
}

impl Node {
    /// The entries of a mapping.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Hole => &[],
        }
    }

    /// The entry of a key of a map.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.value == key)
    }

    /// The value under `key` of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The text of a text scalar.
    #[must_use]
    pub fn text(&self) -> Option<&Text> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Hole => None,
        }
    }

    /// The node under a JSON pointer's segments (unescaped); the nearest ancestor that exists.
    #[must_use]
    pub fn nearest<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> &Node {
        let mut at = self;
        for segment in path {
            let next = match &at.value {
                Value::Map(_) => at.get(segment),
                Value::List(items) => segment.parse().ok().and_then(|i: usize| items.get(i)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => None,
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// The plain JSON value, spans dropped; holes become null.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null | Value::Hole => serde_json::Value::Null,
            Value::Bool(b) => serde_json::Value::Bool(*b),
            Value::Number(digits) => digits
                .parse::<serde_json::Number>()
                .map_or_else(|_| serde_json::Value::String(digits.clone()), serde_json::Value::Number),
            Value::Text(text) => serde_json::Value::String(text.value.clone()),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|entry| (entry.key.value.clone(), entry.value.to_json())).collect()
            }
        }
    }

    /// One word for messages: `text`, `number`, `list`, `map`, `true or false`, `nothing`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Hole => "something unreadable",
        }
    }
}
