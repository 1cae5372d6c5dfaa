//! Text of others in the log of a build server: a line that the server would obey is broken. GitHub and Azure obey
//! `::command::` at the beginning of a line, blanks before it allowed, and `##[command]` and `##vso[command]` anywhere.
//!
//! Terminals are the business of [`crate::escape`].

use std::borrow::Cow;
use std::io;

/// Lets `print` write, and writes what it wrote with every such line broken.
pub(super) fn harmless(
    out: &mut dyn io::Write,
    print: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut text = Vec::new();
    print(&mut text)?;
    out.write_all(broken(&String::from_utf8_lossy(&text)).as_bytes())
}

/// The text with the first character of each such command as an escape.
pub(super) fn broken(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        let (indent, rest) = line.split_at_checked(blanks).unwrap_or(("", line));
        out.push_str(indent);
        let rest = match rest.strip_prefix("::") {
            Some(behind) => {
                out.push_str("\\u{3a}:");
                behind
            }
            None => rest,
        };
        let mut at = 0;
        for (hash, _) in rest.match_indices("##") {
            let behind = rest.get(hash + 2..).unwrap_or_default();
            if hash >= at && behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[') {
                out.push_str(rest.get(at..hash).unwrap_or_default());
                out.push_str("#\\u{23}");
                at = hash + 2;
            }
        }
        out.push_str(rest.get(at..).unwrap_or_default());
    }
    Cow::Owned(out)
}
