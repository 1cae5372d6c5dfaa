//! Where each character of a scalar stands in the source: unquoting and folding done once more, with places.
//!
//! The value that comes out is compared with the parser's own; where they differ no run is given, so that a place
//! is never wrong, only wide.

use crate::source::{FileId, Span};
use crate::tree::{Run, Style, Text};

/// Builds a value and its runs.
#[derive(Default)]
pub(in crate::parse) struct Mapper {
    value: String,
    runs: Vec<Run>,
}

impl Mapper {
    /// `verbatim` stands in the source at `at`.
    pub(in crate::parse) fn copy(&mut self, at: usize, verbatim: &str) {
        if verbatim.is_empty() {
            return;
        }
        let (value_start, source_start, len) = (to_u32(self.value.len()), to_u32(at), to_u32(verbatim.len()));
        self.value.push_str(verbatim);
        if let Some(last) = self.runs.last_mut()
            && last.len > 0
            && last.source_start + last.len == source_start
            && last.value_start + last.len == value_start
        {
            last.len += len;
            return;
        }
        self.runs.push(Run { value_start, source_start, len });
    }

    /// `text` stands for something that begins in the source at `at`.
    pub(in crate::parse) fn stand_in(&mut self, at: usize, text: &str) {
        if !text.is_empty() {
            let (value_start, source_start) = (to_u32(self.value.len()), to_u32(at));
            self.runs.push(Run { value_start, source_start, len: 0 });
            self.value.push_str(text);
        }
    }

    /// The text, if its value is `expected`; `expected` without runs otherwise.
    pub(in crate::parse) fn finish(self, expected: &str, style: Style, span: Span) -> Text {
        if self.value == expected {
            Text { value: self.value, style, runs: self.runs, span }
        } else {
            Text { value: expected.to_owned(), style, runs: Vec::new(), span }
        }
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A scalar in flow style (plain or quoted) whose whole place is `start..end`.
pub(super) fn flow(file: FileId, text: &str, start: usize, end: usize, style: Style, value: &str) -> Text {
    let span = Span::new(file, start, end);
    let quoted = usize::from(style != Style::Plain);
    let (from, to) = (start + quoted, end.saturating_sub(quoted).max(start + quoted));
    let inner = text.get(from..to).unwrap_or_default();
    let mut mapper = Mapper::default();
    if inner == value {
        mapper.copy(from, inner);
        return mapper.finish(value, style, span);
    }
    flow_lines(&mut mapper, inner, from, style);
    mapper.finish(value, style, span)
}

fn flow_lines(mapper: &mut Mapper, inner: &str, from: usize, style: Style) {
    let mut lines = lines(inner).peekable();
    let mut first = true;
    let mut breaks = 0;
    let mut break_at = 0;
    while let Some((at, line, _)) = lines.next() {
        let last = lines.peek().is_none();
        let body = if first { line } else { line.trim_start_matches([' ', '\t']) };
        let body_at = from + at + (line.len() - body.len());
        let body = if last { body } else { trim_end_of_line(body, style) };
        if !first {
            breaks += 1;
        }
        if body.is_empty() && !first && !last {
            continue;
        }
        match breaks {
            0 => {}
            1 => mapper.stand_in(break_at, " "),
            more => mapper.stand_in(break_at, &"\n".repeat(more - 1)),
        }
        breaks = 0;
        first = false;
        let escaped_break = !last && style == Style::Double && ends_with_escape(body);
        let body = if escaped_break { body.get(..body.len() - 1).unwrap_or_default() } else { body };
        match style {
            Style::Single => single(mapper, body, body_at),
            Style::Double => escapes(mapper, body, body_at),
            Style::Plain | Style::Literal | Style::Folded => mapper.copy(body_at, body),
        }
        break_at = body_at + body.len();
        if escaped_break {
            // The break itself is nothing; further empty lines would still count.
            skip_after_escaped_break(mapper, &mut lines, from, break_at);
            first = true;
            if let Some((at, line, _)) = lines.peek().copied() {
                // The next line is read as a first line, with its indentation already gone.
                let body = line.trim_start_matches([' ', '\t']);
                let rest_at = at + (line.len() - body.len());
                let rest = inner.get(rest_at..).unwrap_or_default();
                flow_lines(mapper, rest, from + rest_at, style);
                return;
            }
        }
    }
}

fn skip_after_escaped_break<'a>(
    mapper: &mut Mapper,
    lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str, &'a str)>>,
    from: usize,
    break_at: usize,
) {
    let mut at = break_at;
    while let Some((start, line, ending)) = lines.peek().copied() {
        if !line.trim_matches([' ', '\t']).is_empty() || ending.is_empty() {
            break;
        }
        mapper.stand_in(at, "\n");
        at = from + start + line.len();
        lines.next();
    }
}

/// Without the blanks that folding drops; a blank that is escaped stays.
fn trim_end_of_line(body: &str, style: Style) -> &str {
    let trimmed = body.trim_end_matches([' ', '\t']);
    if style == Style::Double && trimmed.len() < body.len() && ends_with_escape(trimmed) {
        return body.get(..=trimmed.len()).unwrap_or(trimmed);
    }
    trimmed
}

/// Whether the text ends in a backslash that is itself not escaped.
fn ends_with_escape(body: &str) -> bool {
    (body.len() - body.trim_end_matches('\\').len()) % 2 == 1
}

fn single(mapper: &mut Mapper, body: &str, at: usize) {
    let mut rest = body;
    let mut from = at;
    while let Some(quote) = rest.find("''") {
        mapper.copy(from, rest.get(..quote).unwrap_or_default());
        mapper.stand_in(from + quote, "'");
        from += quote + 2;
        rest = rest.get(quote + 2..).unwrap_or_default();
    }
    mapper.copy(from, rest);
}

/// Copies text with backslash escapes undone, YAML's and with them JSON's.
pub(in crate::parse) fn escapes(mapper: &mut Mapper, body: &str, at: usize) {
    let mut rest = body;
    let mut from = at;
    while let Some(slash) = rest.find('\\') {
        mapper.copy(from, rest.get(..slash).unwrap_or_default());
        let escape = rest.get(slash..).unwrap_or_default();
        let (text, len) = unescape(escape);
        let mut buffer = [0; 4];
        mapper.stand_in(from + slash, text.encode_utf8(&mut buffer));
        from += slash + len;
        rest = escape.get(len..).unwrap_or_default();
    }
    mapper.copy(from, rest);
}

/// The character of the escape at the start, and the bytes that it takes.
fn unescape(escape: &str) -> (char, usize) {
    let Some(kind) = escape.chars().nth(1) else { return ('\\', escape.len()) };
    let simple = match kind {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return hex(escape, 2),
        'u' => return hex(escape, 4),
        'U' => return hex(escape, 8),
        other => other,
    };
    (simple, 1 + kind.len_utf8())
}

fn hex(escape: &str, digits: usize) -> (char, usize) {
    let read = |from: usize| escape.get(from..from + digits).and_then(|s| u32::from_str_radix(s, 16).ok());
    let Some(code) = read(2) else { return ('\u{fffd}', 2) };
    if let Some(c) = char::from_u32(code) {
        return (c, 2 + digits);
    }
    if let (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) = (code, read(4 + digits)) {
        let joined = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(joined).unwrap_or('\u{fffd}'), 2 * (2 + digits));
    }
    ('\u{fffd}', 2 + digits)
}

/// A block scalar whose header begins at `header`. Its place ends with its last line that is not blank.
pub(super) fn block(file: FileId, text: &str, header: usize, style: Style, value: &str) -> Text {
    let rest = text.get(header..).unwrap_or_default();
    let mut all = lines(rest);
    let head = all.next().map_or("", |(_, line, _)| line);
    let keep = head.bytes().take(3).any(|byte| byte == b'+');
    let body: Vec<Line<'_>> = all.map(|(at, line, ending)| Line { at: header + at, line, ending }).collect();
    let first = body.iter().find(|line| !line.line.trim_matches(' ').is_empty());
    let most = first.map_or(0, |line| indent_of(line.line));
    let in_value = value.trim_start_matches('\n');
    let guess = most.saturating_sub(in_value.len() - in_value.trim_start_matches(' ').len());
    for indent in std::iter::once(guess).chain((0..=most.min(64)).rev()) {
        let (mapper, end) = block_lines(&body, indent, style, keep, value);
        let end = end.unwrap_or(header + head.trim_end().len());
        let span = Span::new(file, header, end);
        if mapper.value == value {
            return mapper.finish(value, style, span);
        }
    }
    Text {
        value: value.to_owned(),
        style,
        runs: Vec::new(),
        span: Span::new(file, header, header + head.len()),
    }
}

#[derive(Clone, Copy)]
struct Line<'a> {
    at: usize,
    line: &'a str,
    ending: &'a str,
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Reads lines at a given indentation; the second result is the end of the last line that is not blank.
fn block_lines(
    body: &[Line<'_>],
    indent: usize,
    style: Style,
    keep: bool,
    value: &str,
) -> (Mapper, Option<usize>) {
    let mut mapper = Mapper::default();
    let mut end = None;
    // Breaks that wait for the next line: the place of the first, and how many.
    let mut pending: Vec<(usize, &str)> = Vec::new();
    let mut last_spaced = false;
    let mut any = false;
    for line in body {
        if mapper.value.len() > value.len() {
            break;
        }
        let blank = line.line.len() <= indent && line.line.trim_matches(' ').is_empty();
        let content_at = line.at + indent.min(line.line.len());
        if blank {
            if !line.ending.is_empty() {
                pending.push((line.at + line.line.len(), line.ending));
            }
            continue;
        }
        if indent_of(line.line) < indent || (indent == 0 && is_marker(line.line)) {
            break;
        }
        let content = line.line.get(indent..).unwrap_or_default();
        let spaced = content.starts_with([' ', '\t']);
        let fold = style == Style::Folded && any && !spaced && !last_spaced;
        if fold && pending.len() == 1 {
            if let Some((at, _)) = pending.first() {
                mapper.stand_in(*at, " ");
            }
        } else {
            let skip = usize::from(fold);
            for (at, ending) in pending.iter().skip(skip) {
                push_break(&mut mapper, *at, ending);
            }
        }
        pending.clear();
        mapper.copy(content_at, content);
        end = Some(content_at + content.len());
        any = true;
        last_spaced = spaced;
        if !line.ending.is_empty() {
            pending.push((line.at + line.line.len(), line.ending));
        }
    }
    finish_block(&mut mapper, &pending, keep, any, value);
    (mapper, end)
}

/// The breaks at the end, by the chomping that the header says; at the end of the input one is made up.
fn finish_block(mapper: &mut Mapper, pending: &[(usize, &str)], keep: bool, any: bool, value: &str) {
    let wanted = value.len().saturating_sub(mapper.value.len());
    let take = if keep { pending.len() } else { usize::from(any) };
    for (at, ending) in pending.iter().take(take.min(wanted)) {
        push_break(mapper, *at, ending);
    }
    if mapper.value.len() + 1 == value.len() && value.ends_with('\n') {
        let at = mapper.runs.last().map_or(0, |run| (run.source_start + run.len) as usize);
        mapper.stand_in(at, "\n");
    }
}

fn push_break(mapper: &mut Mapper, at: usize, ending: &str) {
    if ending == "\n" { mapper.copy(at, "\n") } else { mapper.stand_in(at, "\n") }
}

fn is_marker(line: &str) -> bool {
    (line.starts_with("---") || line.starts_with("..."))
        && line.get(3..).is_none_or(|s| s.trim_start() != s || s.is_empty())
}

/// Lines with their offset and the break that ends them (`\n`, `\r\n`, `\r`, or nothing at the end).
fn lines(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at?;
        let rest = text.get(start..)?;
        let Some(len) = rest.bytes().position(|byte| byte == b'\n' || byte == b'\r') else {
            at = None;
            return Some((start, rest, ""));
        };
        let ending_len = if rest.get(len..len + 2) == Some("\r\n") { 2 } else { 1 };
        at = Some(start + len + ending_len);
        Some((start, rest.get(..len)?, rest.get(len..len + ending_len)?))
    })
}
