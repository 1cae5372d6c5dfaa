//! What to say of a key that stands too deep. Reads nothing but the lines in question.

use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::parse::rules;
use crate::source::{FileId, Span};

/// A key on a line of its own, deeper than the key whose text stands above it: YAML takes it for more of that text.
pub(super) fn too_far(file: FileId, text: &str, at: usize, value_span: Span) -> Option<Diagnostic> {
    let start_of_line =
        |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let (line, above) = (start_of_line(at), start_of_line(value_span.range().start));
    let key = text.get(line..at)?;
    let blank = key.len() - key.trim_start_matches(' ').len();
    let is_key =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let before = text.get(above..value_span.range().start)?;
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
