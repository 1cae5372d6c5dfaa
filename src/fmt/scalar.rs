//! How a scalar is written: with quotes or without, over one line or several, as a block. It keeps every value.

use super::gap;
use crate::tree::{Node, Style, Text, Value};

/// Where a scalar stands, as far as it matters for its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a block, where only line breaks and `: ` end it.
    Block,
    /// Inside `{}` or `[]`.
    Flow,
    /// The text of a schedule, which is always quoted.
    Cron,
}

/// Words that some reader of YAML takes for a boolean, null or a number.
const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];

/// Characters beside letters and digits that mean nothing to YAML inside a text.
const HARMLESS: &str = " _-./()'!?;";

/// A key or scalar of one line. `written` is how it stands in the source.
pub(super) fn one_line(written: &str, value: &str, place: Place) -> String {
    let is_single = written.starts_with('\'');
    if !is_single && !written.starts_with('"') {
        let needs = place == Place::Cron && !value.is_empty() && fits_double(value);
        return if needs { format!("\"{value}\"") } else { written.to_owned() };
    }
    if place != Place::Cron && reads_plain(value, place) {
        return value.to_owned();
    }
    if is_single && fits_double(value) {
        return format!("\"{value}\"");
    }
    written.to_owned()
}

/// Whether the text can stand without quotes and nobody takes it for something else.
fn reads_plain(value: &str, place: Place) -> bool {
    let harmless =
        |c: char| c.is_alphanumeric() || HARMLESS.contains(c) || (c == ',' && place == Place::Block);
    value.starts_with(char::is_alphabetic)
        && !value.ends_with(' ')
        && value.chars().all(harmless)
        && !WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether the text can stand between double quotes as it is.
fn fits_double(value: &str) -> bool {
    !value.chars().any(|c| matches!(c, '"' | '\\' | '\u{feff}') || c.is_control())
}

/// A plain or quoted scalar over several lines; those after the first are indented anew, which YAML drops.
pub(super) fn several_lines(written: &str, indent: usize) -> String {
    let is_double = written.starts_with('"');
    let last = gap::lines(written).count().saturating_sub(1);
    let mut out = String::new();
    for (i, line) in gap::lines(written).enumerate() {
        let line = if i == 0 { line } else { line.trim_start_matches([' ', '\t']) };
        let trimmed = line.trim_end_matches([' ', '\t']);
        // A blank behind a backslash is part of the text.
        let is_escaped = is_double && trimmed.ends_with('\\');
        let line = if i == last || is_escaped { line } else { trimmed };
        if i > 0 {
            out.push('\n');
            if !line.is_empty() {
                out.push_str(&" ".repeat(indent));
            }
        }
        out.push_str(line);
    }
    out
}

/// A block scalar whose lines are put under `indent`, and the line breaks that it keeps at its end.
pub(super) fn block(written: &str, text: &Text, indent: usize) -> (String, usize) {
    let mut all = gap::lines(written);
    let header = all.next().unwrap_or_default();
    let (marks, comment) =
        header.split_once('#').map_or((header, None), |(marks, comment)| (marks, Some(comment)));
    // Where the text begins with blanks, the header says how deep it is: always one level.
    let mut out: String =
        marks.trim_end().chars().map(|c| if c.is_ascii_digit() { '2' } else { c }).collect();
    let keeps = marks.contains('+');
    if let Some(comment) = comment {
        out.push_str("  #");
        out.push_str(comment.trim_end());
    }
    let body: Vec<&str> = all.collect();
    let old = indent_of(&body, &text.value);
    let mut has_content = false;
    for line in body {
        out.push('\n');
        let content = line.get(old.min(line.len())..).unwrap_or_default();
        if !content.is_empty() {
            has_content = true;
            out.push_str(&" ".repeat(indent));
            out.push_str(content);
        }
    }
    let breaks = text.value.len() - text.value.trim_end_matches('\n').len();
    let kept = if keeps { breaks.saturating_sub(usize::from(has_content)) } else { 0 };
    (out, kept)
}

/// How deep the lines of a block scalar stand: the first that is not blank, less what of its blanks is in the value.
fn indent_of(body: &[&str], value: &str) -> usize {
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let has_content = |line: &&str| !line.trim_matches(' ').is_empty();
    let first = body.iter().copied().find(has_content).map_or(0, blanks);
    let in_value = value.split('\n').find(has_content).map_or(0, blanks);
    first.saturating_sub(in_value)
}

/// The value of a scalar as text, for the choice of quotes; `None` where it is no text.
pub(super) fn text(node: &Node) -> Option<&Text> {
    match &node.value {
        Value::Text(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) | Value::Hole => {
            None
        }
    }
}

/// Whether a node is a block scalar.
pub(super) fn is_block(node: &Node) -> bool {
    text(node).is_some_and(|text| matches!(text.style, Style::Literal | Style::Folded))
}
