//! The lines around a finding, made harmless and short enough to be shown: [`Excerpt`].
//!
//! Lines are found through the line index, so a report costs what it shows and not what the file weighs. Places are
//! carried over character by character: a mark covers what it covered in the source. Nothing here draws.

use crate::diagnostic::Diagnostic;
use crate::escape::{is_hidden, visible};
use crate::secret;
use crate::source::{Position, Source, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A mark over more lines than this is shown on its first line only.
const TALLEST: usize = 8;
/// The part of a cut line that is shown before its first mark: one in so many characters.
const LEAD: usize = 4;

/// Shown lines of one or more files, one after another, and the marks in them.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    text: String,
    rows: Vec<Row>,
    names: Vec<String>,
    marks: Vec<Mark>,
    asides: Vec<String>,
    /// A longer line (in characters) is cut around its first mark.
    longest: usize,
}

/// A marked range of the shown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// First byte of the shown text.
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
    /// What is said of it; may be empty.
    pub(super) text: String,
    /// Whether it is the place of the finding itself.
    pub(super) primary: bool,
    position: Position,
}

/// Some neighbouring lines of one file.
pub(super) struct Window<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// Where `text` begins in the shown text.
    pub(super) start: usize,
    /// 0-based line of the file that it begins with.
    pub(super) line: usize,
    /// 0-based column there.
    pub(super) column: usize,
    pub(super) line_count: usize,
}

#[derive(Debug)]
struct Row {
    start: usize,
    name: usize,
    line: usize,
}

/// A place that is to be shown, in bytes of its source.
struct Wanted {
    start: usize,
    end: usize,
    text: String,
    primary: bool,
}

impl Excerpt {
    /// The place of a finding and its labels, with `context` lines around each; the finding's own place comes first,
    /// then its file, then the others.
    pub(super) fn of(sources: &Sources, diagnostic: &Diagnostic, context: usize, longest: usize) -> Self {
        let mut excerpt = Self { longest, ..Self::default() };
        let own = std::iter::once((diagnostic.span, diagnostic.note.as_str()));
        let places: Vec<(Span, &str)> =
            own.chain(diagnostic.labels.iter().map(|label| (label.span, label.text.as_str()))).collect();
        let mut files = Vec::new();
        for (span, _) in &places {
            if !files.contains(&span.file) {
                files.push(span.file);
            }
        }
        for file in files {
            let Some(source) = sources.get(file) else { continue };
            let mut wanted: Vec<Wanted> = Vec::new();
            for (i, (span, text)) in places.iter().enumerate().filter(|(_, (span, _))| span.file == file) {
                let (start, end) = clip(source, *span);
                let place = Wanted { start, end, text: visible(text).into_owned(), primary: i == 0 };
                if let Some(aside) = apart(source, place, &mut wanted) {
                    excerpt.asides.push(aside);
                }
            }
            wanted.sort_by_key(|place| (place.start, place.end));
            excerpt.take_file(source, &wanted, context);
        }
        excerpt.marks.sort_by_key(|mark| (mark.start, mark.end));
        excerpt
    }

    /// In the order of the shown text.
    pub(super) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// What is said of places that lie inside a marked one and so have no mark of their own.
    pub(super) fn asides(&self) -> &[String] {
        &self.asides
    }

    /// The lines that hold `start..end` of the shown text and their neighbours, if they are neighbours in one file.
    pub(super) fn window(&self, start: usize, end: usize, before: usize, after: usize) -> Option<Window<'_>> {
        let row_of = |offset: usize| self.rows.partition_point(|row| row.start <= offset).checked_sub(1);
        let (mut first, mut last) = (row_of(start)?, row_of(end)?);
        if !(first..last).all(|row| self.follows(row)) {
            return None;
        }
        for _ in 0..before {
            match first.checked_sub(1) {
                Some(row) if self.follows(row) => first = row,
                Some(_) | None => break,
            }
        }
        for _ in 0..after {
            if self.follows(last) {
                last += 1;
            }
        }
        let row = self.rows.get(first)?;
        let until = self.rows.get(last + 1).map_or(self.text.len(), |row| row.start);
        let mark = self.marks.iter().find(|mark| mark.start == start && mark.end == end);
        let column = match mark {
            Some(mark) if before == 0 => (mark.position.column as usize).saturating_sub(1),
            Some(_) | None => 0,
        };
        Some(Window {
            name: self.names.get(row.name)?,
            text: self.text.get(row.start..until)?,
            start: row.start,
            line: row.line,
            column,
            line_count: last - first + 1,
        })
    }

    /// Whether the row behind `row` is the next line of the same file.
    fn follows(&self, row: usize) -> bool {
        match (self.rows.get(row), self.rows.get(row + 1)) {
            (Some(this), Some(next)) => this.name == next.name && this.line + 1 == next.line,
            (Some(_) | None, _) => false,
        }
    }

    fn take_file(&mut self, source: &Source, wanted: &[Wanted], context: usize) {
        let name = self.names.len();
        self.names.push(visible(source.name()).into_owned());
        let index = source.lines();
        // What follows the last line end is a line only if something stands there or is marked there.
        let bare_end = index.start_of(index.count()) == source.text().len();
        let shown_last = index.count().saturating_sub(if bare_end { 2 } else { 1 });
        let mut lines = BTreeSet::new();
        let mut bounds = BTreeMap::new();
        for place in wanted {
            let (first, last) = (index.line_of(place.start), index.line_of(place.end));
            lines.extend(first..=last);
            lines.extend(first.saturating_sub(context)..first);
            lines.extend((last + 1..=last + context).filter(|line| *line <= shown_last));
            bounds.insert(place.start, 0);
            bounds.insert(place.end, 0);
        }
        let own = wanted.iter().find(|place| place.primary).map(|place| index.line_of(place.start));
        for line in own_first(&lines, own) {
            self.rows.push(Row { start: self.text.len(), name, line });
            let (start, raw) = line_of(source, line);
            show(source, (start, raw), self.longest, &mut bounds, &mut self.text);
            self.text.push('\n');
        }
        for place in wanted {
            let shown = |offset: usize| bounds.get(&offset).copied().unwrap_or_default();
            let (start, end) = (shown(place.start), shown(place.end));
            let position = source.position(place.start);
            self.marks.push(Mark {
                start,
                end: end.max(start),
                text: place.text.clone(),
                primary: place.primary,
                position,
            });
        }
    }
}

/// The lines in order, but those around the finding's own place before all others: the place that is printed first
/// is the one that people go to.
fn own_first(lines: &BTreeSet<usize>, own: Option<usize>) -> Vec<usize> {
    let Some(own) = own else { return lines.iter().copied().collect() };
    let (mut first, mut last) = (own, own);
    while first.checked_sub(1).is_some_and(|line| lines.contains(&line)) {
        first -= 1;
    }
    while lines.contains(&(last + 1)) {
        last += 1;
    }
    let others = lines.iter().copied().filter(|line| !(first..=last).contains(line));
    (first..=last).chain(others).collect()
}

/// A line without its end, and where it begins.
fn line_of(source: &Source, line: usize) -> (usize, &str) {
    let start = source.lines().start_of(line);
    let end = if line + 1 < source.lines().count() {
        source.lines().start_of(line + 1)
    } else {
        source.text().len()
    };
    let raw = source.text().get(start..end).unwrap_or_default();
    (start, raw.trim_end_matches(['\n', '\r']))
}

/// Brings a span into the text, off its trailing white space and line ends, and down to a height that can be shown.
fn clip(source: &Source, span: Span) -> (usize, usize) {
    let text = source.text();
    let start = floor(text, span.start as usize);
    let mut end = floor(text, (span.end as usize).max(start));
    let index = source.lines();
    let (first, last) = (index.line_of(start), index.line_of(end));
    let line_end = |line: usize| {
        let (begin, raw) = line_of(source, line);
        begin + raw.len()
    };
    if last > first {
        let kept = if last - first >= TALLEST { line_end(first).max(start) } else { end };
        let covered = text.get(start..kept).unwrap_or_default();
        end = start + covered.trim_end().len();
    }
    let start = start.min(line_end(index.line_of(start)));
    let end = end.min(line_end(index.line_of(end)));
    (start, end.max(start))
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Takes a place in so that no two marks of one line overlap; what cannot have a mark is returned in words.
fn apart(source: &Source, mut place: Wanted, taken: &mut Vec<Wanted>) -> Option<String> {
    let index = source.lines();
    let line = index.line_of(place.start);
    let one_line = |wanted: &Wanted| index.line_of(wanted.start) == index.line_of(wanted.end);
    if one_line(&place) {
        for other in taken.iter().filter(|other| one_line(other) && index.line_of(other.start) == line) {
            let apart = place.end <= other.start || other.end <= place.start;
            let same_point = place.start == other.start && place.end == other.end;
            if apart && !same_point {
                continue;
            }
            let head = source.text().get(place.start..other.start).unwrap_or_default().trim_end();
            if head.is_empty() {
                let at = source.position(place.start);
                let text = place.text;
                return (!text.is_empty())
                    .then(|| format!("{text} (line {}, column {})", at.line, at.column));
            }
            place.end = place.start + head.len();
        }
    }
    taken.push(place);
    None
}

/// What of a line must not be shown. Of a line that may be the whole file only the surroundings of what is shown are
/// looked at.
fn secrets(raw: &str, shown: Range<usize>) -> Vec<Range<usize>> {
    const AROUND: usize = 2048;
    let (start, end) = (floor(raw, shown.start.saturating_sub(AROUND)), floor(raw, shown.end + AROUND));
    let near = raw.get(start..end).unwrap_or_default();
    secret::in_line(near).into_iter().map(|range| range.start + start..range.end + start).collect()
}

/// Appends a line as it is shown and notes in `bounds` where its marked places came to stand.
fn show(
    source: &Source,
    (start, raw): (usize, &str),
    longest: usize,
    bounds: &mut BTreeMap<usize, usize>,
    out: &mut String,
) {
    let until_char = |offset: usize| source.lines().characters(source.text(), start..offset);
    let length = until_char(start + raw.len());
    let mut marked = bounds.range(start..=start + raw.len()).map(|(offset, _)| until_char(*offset));
    let (from, until) = match (marked.next(), marked.next()) {
        _ if length <= longest => (0, length),
        (Some(first), second) if second.unwrap_or(first) >= longest => {
            let from = first.saturating_sub(longest / LEAD);
            (from, from + longest)
        }
        (_, _) => (0, longest),
    };
    // Only what is shown is walked character by character: a line may be the whole file.
    let byte_of = |count: usize| {
        (source.lines().offset_of_character(source.text(), start, count) - start).min(raw.len())
    };
    let (first, last) = (byte_of(from), byte_of(until));
    if from > 0 {
        out.push('…');
    }
    for shown in bounds.range_mut(start..start + first).map(|(_, shown)| shown) {
        *shown = out.len();
    }
    let secrets = secrets(raw, first..last);
    for (at, c) in raw.get(first..last).unwrap_or_default().char_indices() {
        let offset = start + first + at;
        if let Some(shown) = bounds.get_mut(&offset) {
            *shown = out.len();
        }
        if c == '\u{feff}' && offset == 0 {
            continue;
        }
        let c = if secrets.iter().any(|range| range.contains(&(first + at))) { secret::DOT } else { c };
        if c != '\t' && is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    for shown in bounds.range_mut(start + last..=start + raw.len()).map(|(_, shown)| shown) {
        *shown = out.len();
    }
    if until < length {
        out.push('…');
    }
}
