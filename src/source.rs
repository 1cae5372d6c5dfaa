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
///
/// Columns are counted from marks that stand every [`BLOCK_BYTES`] bytes, so that a place costs the same wherever it
/// lies in a line, and a text of one long line costs no more than one of many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// What stands before each block of the text; empty for ASCII, where bytes are columns.
    blocks: Vec<Count>,
    /// Whether the text begins with a byte order mark, which is no column.
    has_mark: bool,
}

/// Bytes between two marks; at most so many are looked at to find a column.
pub const BLOCK_BYTES: usize = 256;

/// Characters and UTF-16 units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    characters: usize,
    units: usize,
}

impl Count {
    /// Of the characters that begin in `bytes`.
    fn of(bytes: &[u8]) -> Self {
        let mut count = Self::default();
        for byte in bytes {
            let begins = !matches!(byte, 0x80..=0xbf);
            count.characters += usize::from(begins);
            count.units += usize::from(begins) + usize::from(*byte >= 0xf0);
        }
        count
    }

    fn plus(self, other: Self) -> Self {
        Self { characters: self.characters + other.characters, units: self.units + other.units }
    }
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
        let mut blocks = Vec::new();
        if !text.is_ascii() {
            let mut before = Count::default();
            for block in bytes.chunks(BLOCK_BYTES) {
                blocks.push(before);
                before = before.plus(Count::of(block));
            }
            blocks.push(before);
        }
        Self { starts, blocks, has_mark: text.starts_with('\u{feff}') }
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
        let before = self.characters(text, self.start_of(line)..offset);
        let mark = usize::from(line == 0 && self.has_mark && offset > 0);
        Position { line: to_u32(line + 1), column: to_u32(before.saturating_sub(mark) + 1) }
    }

    /// How many characters begin in a range of bytes.
    #[must_use]
    pub fn characters(&self, text: &str, range: std::ops::Range<usize>) -> usize {
        let before = self.before(text, range.start).characters;
        self.before(text, range.end).characters.saturating_sub(before)
    }

    /// Byte offset of the character that is `count` characters behind the one at `start`; the end of the text if there
    /// are fewer.
    #[must_use]
    pub fn offset_of_character(&self, text: &str, start: usize, count: usize) -> usize {
        let wanted = self.before(text, start).characters + count;
        self.offset_where(text, start, |before| before.characters >= wanted)
    }

    /// 0-based line and UTF-16 column, as editors count.
    #[must_use]
    pub fn utf16_position(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.line_of(offset);
        let before = self.before(text, self.start_of(line)).units;
        (to_u32(line), to_u32(self.before(text, offset).units.saturating_sub(before)))
    }

    /// Byte offset of a 0-based line and UTF-16 column; a column past the end of its line is the line's end.
    #[must_use]
    pub fn offset_of_utf16(&self, text: &str, line: u32, column: u32) -> usize {
        let line = line as usize;
        let start = self.start_of(line);
        let next = if line + 1 < self.count() { self.start_of(line + 1) } else { text.len() };
        let end =
            text.get(..next).map_or(start, |before| before.trim_end_matches(['\n', '\r']).len()).max(start);
        let wanted = self.before(text, start).units + column as usize;
        self.offset_where(text, start, |before| before.units >= wanted).min(end)
    }

    /// What stands before a byte offset; bytes past the end of the text count as none.
    fn before(&self, text: &str, offset: usize) -> Count {
        let offset = offset.min(text.len());
        let block = offset / BLOCK_BYTES;
        let Some(before) = self.blocks.get(block) else {
            return Count { characters: offset, units: offset };
        };
        before.plus(Count::of(text.as_bytes().get(block * BLOCK_BYTES..offset).unwrap_or_default()))
    }

    /// The first character border from `start` on before which there is enough; the end of the text if never.
    fn offset_where(&self, text: &str, start: usize, is_enough: impl Fn(Count) -> bool) -> usize {
        let first = start / BLOCK_BYTES;
        // The last block that does not begin behind what is looked for.
        let blocks = self.blocks.get(first + 1..).unwrap_or_default();
        let from = match blocks.partition_point(|before| !is_enough(*before)) {
            0 => start,
            more => (first + more) * BLOCK_BYTES,
        };
        if self.blocks.is_empty() {
            // Of ASCII every count is the offset itself.
            let (mut low, mut high) = (start, text.len());
            while low < high {
                let middle = low + (high - low) / 2;
                match is_enough(Count { characters: middle, units: middle }) {
                    true => high = middle,
                    false => low = middle + 1,
                }
            }
            return low;
        }
        let bytes = text.as_bytes().get(from..).unwrap_or_default();
        let mut count = self.before(text, from);
        for (i, byte) in bytes.iter().enumerate() {
            // A character that began before counts already, so only its border does.
            if !matches!(byte, 0x80..=0xbf) && is_enough(count) {
                return from + i;
            }
            count = count.plus(Count::of(std::slice::from_ref(byte)));
        }
        text.len()
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
