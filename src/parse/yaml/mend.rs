//! What a syntax error means in the author's terms, and which part of the text to leave out to read on.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of syntax errors are another crate's and may grow"
)]

use super::build::Stopped;
use super::{end_of_line, indent, quoted, start_of_line, swallowed};
use crate::diagnostic::{Diagnostic, Fix};
use crate::parse::rules;
use crate::source::{FileId, Span};
use granit_parser::ErrorKind;
use std::ops::Range;

/// A part of the text to blank out.
pub(super) struct Patch {
    pub(super) range: Range<usize>,
    /// Whether it is the value of a key or list item that stays.
    pub(super) is_value: bool,
}

/// The one finding for a syntax error, and how to read on behind it.
pub(super) fn mend(file: FileId, text: &str, error: &Stopped) -> (Diagnostic, Option<Patch>) {
    if let Some(start) = error.flow_start {
        return in_flow(file, text, error, start);
    }
    let at = match error.kind {
        // The tab stands at the beginning of one of the next lines.
        ErrorKind::TabInPlainScalar => {
            error.at + text.get(error.at..).and_then(|rest| rest.find('\t')).map_or(0, |tab| tab + 1)
        }
        _ => on_text(text, error.at),
    };
    let blamed = match error.last_plain {
        // A plain scalar that runs over several lines up to here: its first line is to blame.
        Some((start, end))
            if error.kind == ErrorKind::MappingValueNotAllowed && end >= at && start < line(text, at) =>
        {
            start
        }
        _ => at,
    };
    let place = Place::of(text, blamed);
    if blamed < at
        && let Some(found) = indent::too_far(file, text, at, place.value_start)
    {
        // The text above it is whole; what stands too deep is lost, and the map is cut there.
        let deep = Place::of(text, at);
        return (found, Some(Patch { range: deep.key_start..deep.block_end, is_value: false }));
    }
    let found = if blamed < at && place.key.is_empty() {
        let line = text.get(blamed..end_of_line(text, blamed)).unwrap_or_default().trim_end();
        let span = Span::new(file, blamed, blamed + line.len());
        let message = format!("`{}` is no `key: value`", crate::parse::fields::shorten(line));
        Diagnostic::new(&rules::SYNTAX_ERROR, span, message)
            .help("a colon and a space stand between key and value")
    } else {
        explain(file, text, error, at, &place)
    };
    let range = if blamed < at && place.key.is_empty() {
        Patch { range: place.key_start..end_of_line(text, blamed), is_value: false }
    } else if blamed >= place.value_start && place.has_indicator {
        Patch { range: place.value_start..place.block_end, is_value: true }
    } else {
        Patch { range: place.key_start..place.block_end, is_value: false }
    };
    (found, Some(range))
}

fn line(text: &str, at: usize) -> usize {
    start_of_line(text, at)
}

/// The offset, moved back onto something that is not blank.
fn on_text(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with(|c: char| !c.is_whitespace()) {
        return at;
    }
    let before = text.get(..at).unwrap_or_default();
    let line = before.get(start_of_line(text, at)..).unwrap_or_default();
    let rest_of_line = text.get(at..end_of_line(text, at)).unwrap_or_default();
    if !line.trim().is_empty() && !rest_of_line.trim().is_empty() {
        return at;
    }
    let trimmed = before.trim_end();
    trimmed.char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The entry that a line holds.
struct Place<'a> {
    /// Behind the indentation and the dashes.
    key_start: usize,
    key: &'a str,
    /// Behind the colon or the last dash.
    value_start: usize,
    has_indicator: bool,
    /// End of the entry: the last line that is indented deeper than its first.
    block_end: usize,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, at: usize) -> Self {
        let line_start = start_of_line(text, at);
        let line_end = end_of_line(text, at);
        let line = text.get(line_start..line_end).unwrap_or_default();
        let mut rest = line.trim_start_matches([' ', '\t']);
        let mut dashes = 0;
        while let Some(inner) = rest.strip_prefix("- ") {
            dashes += 1;
            rest = inner.trim_start_matches(' ');
        }
        let key_start = line_end - rest.len();
        let colon = key_len(rest);
        let (key, value_start) = match colon {
            Some(colon) => (rest.get(..colon).unwrap_or_default(), key_start + colon + 1),
            None => ("", key_start),
        };
        let value_start = value_start.min(line_end);
        // The entry goes on over deeper lines; a list may stand at the indentation of its key.
        let indent = key_start - line_start;
        let mut block_end = line_end;
        let mut next = line_end;
        while let Some(after) = text.get(next..).and_then(|rest| rest.find('\n')).map(|at| next + at + 1) {
            let end = end_of_line(text, after);
            let line = text.get(after..end).unwrap_or_default();
            let body = line.trim_start_matches([' ', '\t']);
            if !body.is_empty() {
                if line.len() - body.len() <= indent {
                    break;
                }
                block_end = end;
            }
            next = end;
        }
        Self { key_start, key, value_start, has_indicator: colon.is_some() || dashes > 0, block_end }
    }
}

/// Length of the key if the text begins with one and a colon.
fn key_len(rest: &str) -> Option<usize> {
    // What stands in braces or brackets is a value, with colons of its own.
    if rest.starts_with(['{', '[']) {
        return None;
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = match quote {
        Some(quote) => rest.get(1..)?.find(quote)? + 2,
        None => 0,
    };
    let tail = rest.get(from..)?;
    let colon = tail.match_indices(':').map(|(at, _)| at).find(|at| {
        tail.get(at + 1..).is_some_and(|behind| behind.is_empty() || behind.starts_with([' ', '\t', '\r']))
    })?;
    Some(from + colon)
}

fn explain(file: FileId, text: &str, error: &Stopped, at: usize, place: &Place<'_>) -> Diagnostic {
    let value_at = place.value_start
        + text
            .get(place.value_start..)
            .map_or(0, |rest| rest.len() - rest.trim_start_matches([' ', '\t']).len());
    let value_end = end_of_line(text, value_at).max(value_at);
    let value = text.get(value_at..value_end).unwrap_or_default().trim_end();
    let first = value.chars().next().unwrap_or_default();
    let in_value = at >= value_at && !place.key.is_empty();
    if in_value && place.key == "cron" && matches!(first, '*' | '@') {
        return unquoted_cron(file, text, value_at, value_end);
    }
    let value_span = Span::new(file, value_at, value_at + value.len());
    match &error.kind {
        ErrorKind::MappingValueNotAllowed if in_value && !matches!(first, '"' | '\'') => {
            colon_in_text(file, text, at, value_span, value)
        }
        ErrorKind::CommentInterceptedScalar => {
            let rest = text.get(at..).unwrap_or_default();
            let hash = at + rest.find('#').unwrap_or(0);
            let start = error.last_plain.map_or(hash, |(start, _)| start);
            swallowed(file, text, start, hash, true)
        }
        ErrorKind::UnexpectedCharacter { .. } | ErrorKind::MissingAnchorOrAliasName if at == value_at => {
            let message = format!("unquoted text cannot begin with {}", in_backquotes(first));
            let found =
                Diagnostic::new(&rules::UNQUOTED_INDICATOR, value_span, message).help("quote the text");
            found.fix(Fix::replace("quote the text", value_span, quoted(value)))
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => indent::tab(file, text, at),
        _ if indent::has_tab(text, at) => indent::tab(file, text, at),
        _ => plain_error(file, text, error, at),
    }
}

/// The finding for a cron text that is not quoted.
pub(super) fn unquoted_cron(file: FileId, text: &str, start: usize, end: usize) -> Diagnostic {
    let line = text.get(start..end).unwrap_or_default();
    let value = line.split(" #").next().unwrap_or(line).trim_end();
    let span = Span::new(file, start, start + value.len());
    let why = if value.starts_with('@') { "`@` is reserved in YAML" } else { "`*` begins a YAML alias" };
    Diagnostic::new(&rules::UNQUOTED_CRON, span, format!("the cron text `{value}` is not quoted, and {why}"))
        .help("quote every cron text")
        .fix(Fix::replace("quote the cron text", span, quoted(value)))
}

fn colon_in_text(file: FileId, text: &str, at: usize, value_span: Span, value: &str) -> Diagnostic {
    let span = Span::new(file, at, at + 1);
    let found = Diagnostic::new(
        &rules::COLON_IN_PLAIN_TEXT,
        span,
        "this `:` makes a key of the text before it; text that holds `: ` must be quoted",
    )
    .label(value_span, "the unquoted text");
    if value_span.range().contains(&at) && !value.contains(" #") && !continues(text, value_span.range().end) {
        let fix = Fix::replace("quote the text", value_span, quoted(value));
        return found.help("quote the text").fix(fix);
    }
    found.help("quote the text, or write it as a block under `|`")
}

/// Whether the next line belongs to the same scalar, so that quoting one line would not do.
fn continues(text: &str, at: usize) -> bool {
    let line_start = start_of_line(text, at);
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = indent(text.get(line_start..).unwrap_or_default());
    let rest = text.get(end_of_line(text, at)..).unwrap_or_default();
    let next = rest.trim_start_matches('\r').strip_prefix('\n').unwrap_or_default();
    let next = next.get(..next.find('\n').unwrap_or(next.len())).unwrap_or_default();
    !next.trim().is_empty() && indent(next) > own
}

fn plain_error(file: FileId, text: &str, error: &Stopped, at: usize) -> Diagnostic {
    let word = word_at(text, at);
    let mut span = Span::new(file, at, at + word.len());
    let message = match &error.kind {
        ErrorKind::UnclosedQuotedScalar => {
            let quote = word.chars().next().unwrap_or('"');
            span = Span::new(file, at, at + 1);
            format!("the text that begins with this `{quote}` is not closed")
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            let (start, escape) = bad_escape(text, at);
            span = Span::new(file, start, start + escape.len());
            format!("`{escape}` is no escape; write `\\\\` for a backslash, or use single quotes")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            format!("`{word}` stands behind the closing quote")
        }
        ErrorKind::ExpectedBlockSequenceEntry => {
            format!("expected `- ` here: `{word}` stands at the indentation of the list above")
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            let line = text.get(at..end_of_line(text, at)).unwrap_or_default().trim_end();
            span = Span::new(file, at, at + line.len());
            format!("expected `key: value` here, found `{}`", crate::parse::fields::shorten(line))
        }
        ErrorKind::MappingValueNotAllowed => {
            "no value can stand here; the line above may lack its colon".to_owned()
        }
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list item cannot begin here; begin the list on the next line".to_owned()
        }
        ErrorKind::InvalidIndentation => format!("the indentation of `{word}` fits nothing above it"),
        other if error.info.is_empty() => format!("the YAML cannot be read here ({other:?})"),
        _ => format!("the YAML cannot be read here: {}", error.info),
    };
    Diagnostic::new(&rules::SYNTAX_ERROR, span, message)
}

/// A character as messages show it.
fn in_backquotes(c: char) -> String {
    if c == '`' { "a backquote".to_owned() } else { format!("`{c}`") }
}

/// The word that begins at an offset, shortened for a message.
fn word_at(text: &str, at: usize) -> &str {
    let rest = text.get(at..end_of_line(text, at)).unwrap_or_default();
    let len = rest
        .char_indices()
        .take(40)
        .find(|(_, c)| c.is_whitespace() || *c == ':')
        .map_or_else(|| rest.char_indices().nth(40).map_or(rest.len(), |(at, _)| at), |(at, _)| at);
    if len == 0 {
        rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or_default()
    } else {
        rest.get(..len).unwrap_or_default()
    }
}

fn bad_escape(text: &str, at: usize) -> (usize, &str) {
    let rest = text.get(at..).unwrap_or_default();
    let mut chars = rest.char_indices();
    while let Some((i, c)) = chars.next() {
        if c != '\\' {
            continue;
        }
        let Some((j, escaped)) = chars.next() else { break };
        if !"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(escaped) {
            return (at + i, rest.get(i..j + escaped.len_utf8()).unwrap_or_default());
        }
    }
    (at, rest.get(..1).unwrap_or_default())
}

fn in_flow(file: FileId, text: &str, error: &Stopped, flow_start: usize) -> (Diagnostic, Option<Patch>) {
    let at = error.at.max(flow_start);
    if let Some((start, end)) = unquoted_binding(text, at, error.last_plain) {
        let written = text.get(start..end).unwrap_or_default();
        let span = Span::new(file, start, end);
        let message = format!("`{written}` must be quoted inside braces or brackets");
        let found = Diagnostic::new(&rules::UNQUOTED_BINDING, span, message)
            .note("YAML reads `{` as the beginning of a map")
            .help("quote the binding")
            .fix(Fix::replace("quote the binding", span, quoted(written)));
        return (found, Some(Patch { range: start..end, is_value: true }));
    }
    let end = matching_close(text, flow_start).unwrap_or_else(|| Place::of(text, flow_start).block_end);
    let open = text.get(flow_start..).and_then(|rest| rest.chars().next()).unwrap_or('[');
    let word = word_at(text, at);
    let unclosed = matching_close(text, flow_start).is_none();
    let found = if unclosed {
        let message = format!("`{open}` is not closed");
        Diagnostic::new(&rules::SYNTAX_ERROR, Span::new(file, flow_start, flow_start + 1), message)
            .help(format!("add the `{}` that belongs to it", if open == '[' { ']' } else { '}' }))
    } else if let ErrorKind::UnexpectedCharacter { character } = error.kind {
        let message = format!("unquoted text cannot begin with {}", in_backquotes(character));
        Diagnostic::new(&rules::UNQUOTED_INDICATOR, Span::new(file, at, at + word.len()), message)
            .help("quote the text")
    } else {
        let message = format!("expected `,` or the end of the `{open}` here, found `{word}`");
        Diagnostic::new(&rules::SYNTAX_ERROR, Span::new(file, at, at + word.len()), message)
            .label(Span::new(file, flow_start, flow_start + 1), "opened here")
            .help("text that holds one of `, [ ] { }` or `: ` must be quoted here")
    };
    (found, Some(Patch { range: flow_start..end, is_value: true }))
}

/// The scalar that ends in the `$` before a `{{` at which reading stopped, up to its `}}`.
fn unquoted_binding(text: &str, at: usize, last_plain: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let (start, end) = last_plain?;
    if !text.get(..end)?.ends_with('$') || !text.get(end..)?.starts_with("{{") || at < end || at > end + 2 {
        return None;
    }
    let rest = text.get(end..end_of_line(text, end))?;
    let close = rest.find("}}").map_or(rest.len(), |close| close + 2);
    Some((start, end + close))
}

/// End of the bracketed value that begins at `start`, by brackets and quotes alone.
fn matching_close(text: &str, start: usize) -> Option<usize> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    for (i, byte) in text.as_bytes().iter().enumerate().skip(start) {
        if let Some(mark) = quote {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if mark == b'"' => escaped = true,
                _ if *byte == mark => quote = None,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' | b'\''
                if text.as_bytes().get(i.wrapping_sub(1)).is_none_or(|b| !b.is_ascii_alphanumeric()) =>
            {
                quote = Some(*byte);
            }
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b']' | b'}' => {
                if open.pop() != Some(*byte) {
                    return None;
                }
                if open.is_empty() {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}
