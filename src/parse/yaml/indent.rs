//! What to say of indentation: tabs, and a key that stands too deep. Reads nothing but the lines in question.

use super::{end_of_line, start_of_line};
use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parse::rules;
use crate::source::{FileId, Span};

/// A key on a line of its own, deeper than the key whose text stands above it: YAML takes it for more of that text.
/// `at` is its colon, `value_start` where that text begins.
pub(super) fn too_far(file: FileId, text: &str, at: usize, value_start: usize) -> Option<Diagnostic> {
    let (line, above) = (start_of_line(text, at), start_of_line(text, value_start));
    let key = text.get(line..at)?;
    let blank = key.len() - key.trim_start_matches(' ').len();
    let is_key =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let before = text.get(above..value_start)?;
    let owner = before.trim_end().strip_suffix(':')?.trim_start_matches([' ', '-']);
    if line <= above || !is_key(key.trim_start_matches(' ')) || !is_key(owner) {
        return None;
    }
    let column = before.find(owner)?;
    let message = format!(
        "`{}` is indented deeper than `{owner}` above it, so it is read as more of its text",
        key.trim()
    );
    let title = format!("indent it as `{owner}`");
    let edit = Edit { span: Span::new(file, line, line + blank), text: " ".repeat(column) };
    Some(
        Diagnostic::new(&rules::COLON_IN_PLAIN_TEXT, Span::new(file, line + blank, at), message)
            .label(Span::new(file, above + column, above + column + owner.len()), "whose text goes on")
            .help(format!("indent it as `{owner}`; quote text that holds `: `"))
            .fix(Fix { title, safe: false, edits: vec![edit] }),
    )
}

/// Whether the indentation of a line holds a tab.
pub(super) fn has_tab(text: &str, at: usize) -> bool {
    let line = text.get(start_of_line(text, at)..end_of_line(text, at)).unwrap_or_default();
    let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
    indent.contains('\t')
}

/// The finding for a tab in the indentation of a line.
pub(super) fn tab(file: FileId, text: &str, at: usize) -> Diagnostic {
    let start = start_of_line(text, at);
    let line = text.get(start..end_of_line(text, at)).unwrap_or_default();
    let blank = line.len() - line.trim_start().len();
    let tab = line.find('\t').unwrap_or(0);
    let len =
        line.get(tab..blank.max(tab)).map_or(0, |tabs| tabs.len() - tabs.trim_start_matches('\t').len());
    let span = Span::new(file, start + tab, start + tab + len.max(1));
    Diagnostic::new(&rules::TAB_INDENTATION, span, "a tab is used as indentation; YAML allows only spaces")
        .help("indent with two spaces a level")
}
