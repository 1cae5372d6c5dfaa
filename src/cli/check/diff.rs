//! What differs between two texts, as `diff -u` writes it. On a terminal in colour and with hidden characters visible,
//! anywhere else byte for byte, so that `patch` can read it.

use super::super::output;
use crate::escape::visible;
use similar::{ChangeTag, TextDiff};
use std::io::IsTerminal;

/// Lines shown around a change.
const CONTEXT_LINES: usize = 3;

pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    let is_terminal = std::io::stdout().is_terminal();
    let diff = TextDiff::from_lines(before, after);
    // An absolute path too is one below `a` and `b`.
    let shown = visible(name.trim_start_matches('/'));
    let (old, new) = (format!("a/{shown}"), format!("b/{shown}"));
    if !is_terminal {
        return diff.unified_diff().context_radius(CONTEXT_LINES).header(&old, &new).to_string();
    }
    let paint = |code: &str, text: &str| {
        if output::color() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    };
    let mut out = format!("{}\n{}\n", paint("1", &format!("--- {old}")), paint("1", &format!("+++ {new}")));
    for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
        out.push_str(&format!("{}\n", paint("36", &hunk.header().to_string())));
        for change in hunk.iter_changes() {
            let line = visible(change.value().trim_end_matches(['\n', '\r'])).into_owned();
            let line = match change.tag() {
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete => paint("31", &format!("-{line}")),
                ChangeTag::Insert => paint("32", &format!("+{line}")),
            };
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}
