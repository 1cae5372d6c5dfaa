//! What stands between two values: blanks, comments, and the marks of YAML. It knows no values.

use std::ops::Range;

/// The next thing that is no blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A comment, from its `#` to the end of its line.
    Comment(Range<usize>),
    /// A character of YAML's own, such as `-` or `,`.
    Mark(usize, char),
    /// There is nothing more.
    End,
}

/// The next piece of `from..upto`, and how many line breaks stand before it.
pub(super) fn next(text: &str, from: usize, upto: usize) -> (usize, Piece) {
    let part = text.get(from..upto).unwrap_or_default();
    let mut breaks = 0;
    let mut after_return = false;
    for (i, c) in part.char_indices() {
        match c {
            '\n' if after_return => {}
            '\n' | '\r' => breaks += 1,
            ' ' | '\t' => {}
            '#' => return (breaks, Piece::Comment(from + i..end_of_comment(text, from + i))),
            mark => return (breaks, Piece::Mark(from + i, mark)),
        }
        after_return = c == '\r';
    }
    (breaks, Piece::End)
}

fn end_of_comment(text: &str, at: usize) -> usize {
    at + line(text, at).trim_end().len()
}

/// The rest of the line from a place on, without its break.
pub(super) fn line(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    rest.split(['\n', '\r']).next().unwrap_or_default()
}

/// Characters between the start of its line and a place.
pub(super) fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    before.get(start..).unwrap_or_default().chars().count()
}

/// Lines without their breaks, whatever kind these are.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\n', '\r']) else {
            rest = None;
            return Some(text);
        };
        let behind = text.get(end..).unwrap_or_default();
        let len = if behind.starts_with("\r\n") { 2 } else { 1 };
        rest = behind.get(len..);
        text.get(..end)
    })
}

/// Whether the text has a line break.
pub(super) fn is_broken(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
