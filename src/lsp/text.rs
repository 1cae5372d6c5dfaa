//! The text of an open document and places in it: positions of the protocol in either unit, edits in the middle.
//!
//! A line ends with `\n`, `\r\n` or a lone `\r`. A position behind the end of its line is the end of the line; one
//! behind the last line is the end of the text; one within a character is its start.

use crate::source::Source;
use gen_lsp_types::{Position, Range};

/// What a column counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
}

impl Encoding {
    /// How many units a text has.
    pub(super) fn units(self, text: &str) -> u32 {
        let count = match self {
            Self::Utf16 if !text.is_ascii() => text.encode_utf16().count(),
            Self::Utf8 | Self::Utf16 => text.len(),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The byte of a column in a text that begins at the start of a line.
    fn byte(self, from_line: &str, column: u32) -> usize {
        let mut units = 0;
        for (at, c) in from_line.char_indices() {
            let width = match self {
                Self::Utf8 => c.len_utf8(),
                Self::Utf16 => c.len_utf16(),
            };
            units += u32::try_from(width).unwrap_or(u32::MAX);
            if units > column || c == '\n' || c == '\r' {
                return at;
            }
        }
        from_line.len()
    }
}

/// The position of a byte offset in a source.
pub(super) fn position(source: &Source, offset: usize, encoding: Encoding) -> Position {
    let offset = offset.min(source.text().len());
    let line = source.lines().line_of(offset);
    let before = source.text().get(source.lines().start_of(line)..offset).unwrap_or_default();
    Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: encoding.units(before) }
}

/// A text that is edited in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    text: String,
    /// Byte offsets of the starts of lines; the first is 0.
    starts: Vec<usize>,
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        let mut starts = vec![0];
        starts.extend((1..=text.len()).filter(|at| starts_line(text.as_bytes(), *at)));
        Self { text, starts }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte offset of a position.
    pub(super) fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let Some(start) = usize::try_from(position.line).ok().and_then(|line| self.starts.get(line)) else {
            return self.text.len();
        };
        start + encoding.byte(self.text.get(*start..).unwrap_or_default(), position.character)
    }

    /// Puts another text in place of a range. A range that ends before it starts is taken the other way round.
    pub(super) fn replace(&mut self, range: Range, with: &str, encoding: Encoding) {
        let (one, two) = (self.offset(range.start, encoding), self.offset(range.end, encoding));
        let (start, end) = (one.min(two), one.max(two));
        self.text.replace_range(start..end, with);
        // Whether a line starts at an offset depends on the two bytes around it: only those that touch the change can
        // differ, and what lies behind moves as a whole.
        let low = self.starts.partition_point(|at| *at < start.max(1));
        let high = self.starts.partition_point(|at| *at <= end).max(low);
        for at in self.starts.iter_mut().skip(high) {
            *at = *at - (end - start) + with.len();
        }
        let bytes = self.text.as_bytes();
        let fresh: Vec<usize> =
            (start.max(1)..=start + with.len()).filter(|at| starts_line(bytes, *at)).collect();
        self.starts.splice(low..high, fresh);
    }
}

/// Whether a line starts at an offset other than 0.
fn starts_line(bytes: &[u8], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| bytes.get(before)) {
        Some(b'\n') => true,
        Some(b'\r') => bytes.get(at) != Some(&b'\n'),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Text};
    use gen_lsp_types::{Position, Range};
    use proptest::prelude::{any, proptest};

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_units_and_stay_in_their_line() {
        let text = Text::new("aé😀b\r\nx\ry\n".to_owned());
        for (position, utf8, utf16) in [
            (at(0, 0), 0, 0),
            (at(0, 1), 1, 1),
            (at(0, 2), 1, 3),
            (at(0, 3), 3, 3),
            (at(0, 4), 3, 7),
            (at(0, 7), 7, 8),
            (at(0, 99), 8, 8),
            (at(1, 5), 11, 11),
            (at(2, 0), 12, 12),
            (at(3, 0), 14, 14),
            (at(9, 9), 14, 14),
        ] {
            assert_eq!(text.offset(position, Encoding::Utf8), utf8, "{position:?}");
            assert_eq!(text.offset(position, Encoding::Utf16), utf16, "{position:?}");
        }
    }

    proptest! {
        #[test]
        fn an_edited_text_is_the_text_read_anew(
            before in "[a\u{e9}\u{1f600}\r\n]{0,40}",
            edits in proptest::collection::vec((0u32..6, 0u32..12, 0u32..6, 0u32..12, "[b\u{e9}\r\n]{0,6}"), 0..8),
            wide in any::<bool>(),
        ) {
            let encoding = if wide { Encoding::Utf16 } else { Encoding::Utf8 };
            let mut text = Text::new(before);
            for (line, column, to_line, to_column, with) in edits {
                text.replace(Range { start: at(line, column), end: at(to_line, to_column) }, &with, encoding);
                assert_eq!(text, Text::new(text.as_str().to_owned()));
            }
        }
    }
}
