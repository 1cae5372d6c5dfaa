//! `hidden-character`: characters that take no place on the screen or turn the order of what is read.

use crate::diagnostic::{Diagnostic, Edit, Fix, Rule, Severity};
use crate::escape::is_hidden;
use crate::source::{Source, Span};

/// A character that nobody sees stands in the text.
pub static RULE: Rule = Rule {
    name: "hidden-character",
    severity: Severity::Warning,
    summary: "A character that nobody sees stands in the text",
    page: include_str!("../../docs/diagnostics/hidden-character.md"),
};

/// Reports the first such character of each line. What turns the order of the text is an error: people would approve
/// what they do not read.
pub fn check_text(source: &Source, out: &mut Vec<Diagnostic>) {
    let text = source.text();
    if text.is_ascii() {
        return;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.is_ascii()
            && let Some(found) = look(source, at, line)
        {
            out.push(found);
        }
        at += line.len();
    }
}

fn look(source: &Source, line_at: usize, line: &str) -> Option<Diagnostic> {
    let is_meant = |at: usize, c: char| {
        // Controls are refused by the reader; a mark of the byte order may begin a file.
        c.is_control() || c.is_ascii() || (c == '\u{feff}' && line_at + at == 0) || !is_hidden(c)
    };
    let hidden: Vec<(usize, char)> = line.char_indices().filter(|(at, c)| !is_meant(*at, *c)).collect();
    let turning = hidden.iter().find(|(_, c)| turns(*c));
    let (first, c) = *turning.or(hidden.first())?;
    let place = |at: usize, c: char| Span::new(source.id(), line_at + at, line_at + at + c.len_utf8());
    let mut message = format!("U+{:04X}{} stands in the text, where nobody sees it", u32::from(c), name(c));
    if hidden.len() > 1 {
        message.push_str(&format!(" (with {} more on this line)", hidden.len() - 1));
    }
    let edits = hidden.iter().map(|(at, c)| Edit { span: place(*at, *c), text: String::new() }).collect();
    let title = "remove what is not seen".to_owned();
    let mut found = Diagnostic::new(&RULE, place(first, c), message)
        .help("remove it; where it is meant, write it as an escape in double quotes, which everybody can read")
        .fix(Fix { title, safe: false, edits });
    if turning.is_some() {
        found.severity = Severity::Error;
        found = found.note("turns the order of what is read");
    }
    Some(found)
}

/// Whether a character makes text stand in another order than its bytes.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn name(c: char) -> &'static str {
    match c {
        '\u{200b}' => " (zero width space)",
        '\u{200e}' => " (left-to-right mark)",
        '\u{200f}' => " (right-to-left mark)",
        '\u{2028}' => " (line separator)",
        '\u{2029}' => " (paragraph separator)",
        '\u{202a}' | '\u{202b}' => " (bidirectional embedding)",
        '\u{202c}' => " (end of a bidirectional embedding)",
        '\u{202d}' | '\u{202e}' => " (bidirectional override)",
        '\u{2060}' => " (word joiner)",
        '\u{2066}'..='\u{2069}' => " (bidirectional isolate)",
        '\u{feff}' => " (byte order mark)",
        '\u{e0000}'..='\u{e007f}' => " (tag character)",
        _ => "",
    }
}
