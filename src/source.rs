//! Source texts and places in them: [`Source`], [`Span`] in bytes, [`Spanned`], [`LineIndex`].
//!
//! Inside the crate a place is always a byte range of one file. Lines, columns and UTF-16 exist only at the
//! edges, and only through [`LineIndex`]. This module never reads a file.

use std::fmt;
use std::sync::Arc;

/// Number of a source within one compile; `FileId::MAIN` is the document that was asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

impl FileId {
    /// The document that the compile was started on.
    pub const MAIN: Self = Self(0);
}

/// A byte range of one source. `start <= end`; both lie on character boundaries of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The source that the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A range of `file`; `end` below `start` is taken as an empty range at `start`.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(start);
        Self { file, start, end }
    }

    /// The byte range, for slicing.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` (bytes) lies in the range or right behind it.
    #[must_use]
    pub fn touches(self, offset: usize) -> bool {
        self.range().contains(&offset) || self.end as usize == offset
    }

    /// The smallest range that holds both; `other` must be of the same file, else `self` is returned.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty range at the start of this one.
    #[must_use]
    pub fn at_start(self) -> Self {
        Self { end: self.start, ..self }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

/// A value and the place it was written at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// What was written.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Joins a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }

    /// A borrowed view.
    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

/// One text that is compiled, with the name it is shown under.
#[derive(Clone, Debug)]
pub struct Source {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: FileId,
    name: String,
    text: String,
    lines: LineIndex,
}

impl Source {
    /// `name` is what people see (a path as they typed it, or `<stdin>`).
    #[must_use]
    pub fn new(id: FileId, name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = LineIndex::new(&text);
        Self { inner: Arc::new(Inner { id, name: name.into(), text, lines }) }
    }

    /// Number within the compile.
    #[must_use]
    pub fn id(&self) -> FileId {
        self.inner.id
    }

    /// The name people see.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The whole text, a leading byte order mark included.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// Line starts of the text.
    #[must_use]
    pub fn lines(&self) -> &LineIndex {
        &self.inner.lines
    }

    /// The text under `span`; empty if the span is not of this text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.inner.text.get(span.range()).unwrap_or_default()
    }

    /// 1-based line and column (in characters) of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.inner.lines.position(&self.inner.text, offset)
    }
}

/// All sources of one compile, by [`FileId`].
#[derive(Clone, Debug, Default)]
pub struct Sources {
    all: Vec<Source>,
}

impl Sources {
    /// Takes a text in and numbers it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> Source {
        let id = FileId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        let source = Source::new(id, name, text);
        self.all.push(source.clone());
        source
    }

    /// The source with this number.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.all.get(id.0 as usize)
    }

    /// In the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.all.iter()
    }
}

/// A place as people count it: both numbers begin at 1, columns count characters (Unicode scalar values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Character within the line, from 1.
    pub column: u32,
}

/// Byte offsets of the starts of lines. A line ends with `\n`, `\r\n` or a lone `\r`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Reads the text once.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, byte) in bytes.iter().enumerate() {
            let ends_line = match byte {
                b'\n' => true,
                b'\r' => bytes.get(i + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends_line {
                starts.push(u32::try_from(i + 1).unwrap_or(u32::MAX));
            }
        }
        Self { starts }
    }

    /// How many lines there are; an empty text has one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// 0-based line of a byte offset.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Byte offset of the start of a 0-based line; the last start for a line past the end.
    #[must_use]
    pub fn start_of(&self, line: usize) -> usize {
        self.starts.get(line).or(self.starts.last()).copied().unwrap_or(0) as usize
    }

    /// 1-based line and column in characters. A byte order mark is no column.
    #[must_use]
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.line_of(offset);
        let before = text.get(self.start_of(line)..offset.min(text.len())).unwrap_or_default();
        let column = before.chars().filter(|c| *c != '\u{feff}').count() + 1;
        Position { line: to_u32(line + 1), column: to_u32(column) }
    }

    /// 0-based line and UTF-16 column, as editors count.
    #[must_use]
    pub fn utf16_position(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.line_of(offset);
        let before = text.get(self.start_of(line)..offset.min(text.len())).unwrap_or_default();
        (to_u32(line), to_u32(before.encode_utf16().count()))
    }

    /// Byte offset of a 0-based line and UTF-16 column; a column past the end of its line is the line's end.
    #[must_use]
    pub fn offset_of_utf16(&self, text: &str, line: u32, column: u32) -> usize {
        let start = self.start_of(line as usize);
        let mut units = 0;
        for (i, c) in text.get(start..).unwrap_or_default().char_indices() {
            if units >= column || c == '\n' || c == '\r' {
                return start + i;
            }
            units += u32::try_from(c.len_utf16()).unwrap_or(1);
        }
        text.len()
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
