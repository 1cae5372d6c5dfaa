//! One layout for definitions and agent files: `flowright fmt`, and formatting in editors.
//!
//! A text is printed anew from its tree and its own words: two spaces a level, lists indented under their keys, one
//! blank line between groups, quotes only where they are needed. The order of keys, comments, the content of block
//! scalars, digits, the kind of line ends and a byte order mark stay. What comes out is read again, and is given
//! out only if it means the same and has every comment; a text that cannot be read is refused with its findings.
//! This module opens no file and compiles nothing.

mod block;
mod flow;
mod gap;
mod json;
mod same;
mod scalar;

use crate::diagnostic::{Diagnostic, Severity};
use crate::parse;
use crate::source::{FileId, Source};
use crate::tree::Node;

/// Columns that a `{}` or `[]` on one line may reach; a longer one gets a line for each item.
pub const WIDTH: usize = 120;

const BOM: char = '\u{feff}';

/// Why a text was not formatted.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// It cannot be read: the findings of the reader, errors among them.
    Unreadable(Vec<Diagnostic>),
    /// The new text would not mean the same, which is a fault of this module; what is different, one clause.
    Different(&'static str),
}

/// The text in the one layout. The ending of `name` says how it is read: `.json`, `.md` with front matter, else YAML.
///
/// # Errors
/// The text cannot be read, or the new text would not mean the same.
pub fn format(name: &str, text: &str) -> Result<String, Refusal> {
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (text.get(..BOM.len_utf8()).unwrap_or_default(), body),
        None => ("", text),
    };
    let part =
        if name.to_ascii_lowercase().ends_with(".md") { front_matter(name, text, body)? } else { body };
    // Findings count in the whole text, a byte order mark included.
    let read_of = text.get(..bom.len() + part.len()).unwrap_or_default();
    read(name, read_of)?;
    let tree = read(name, part)?;
    let is_json = parse::is_json(name);
    let printed = if is_json { json::print(part) } else { block::print(part, &tree) };
    let printed = with_breaks_of(part, printed);
    let again = read(name, &printed).map_err(|_| Refusal::Different("it could not be read again"))?;
    if !same::values(&tree, &again) {
        return Err(Refusal::Different("a value would change"));
    }
    if !is_json && same::comments(part, &tree) != same::comments(&printed, &again) {
        return Err(Refusal::Different("a comment would change"));
    }
    let rest = body.get(part.len()..).unwrap_or_default();
    Ok([bom, &printed, rest].concat())
}

/// The lines of the front matter without the one that closes it.
fn front_matter<'t>(name: &str, text: &str, body: &'t str) -> Result<&'t str, Refusal> {
    match parse::agent::front_matter(body) {
        Some((end, _)) => Ok(body.get(..end).unwrap_or_default()),
        None => {
            let mut found = Vec::new();
            parse::agent::markdown(&Source::new(FileId::MAIN, name, text), &mut found);
            Err(Refusal::Unreadable(found))
        }
    }
}

fn read(name: &str, text: &str) -> Result<Node, Refusal> {
    let source = Source::new(FileId::MAIN, name, text);
    let mut found = Vec::new();
    let tree = parse::read(&source, &mut found);
    if found.iter().any(|found| found.severity == Severity::Error) {
        return Err(Refusal::Unreadable(found));
    }
    Ok(tree)
}

/// Line ends as in the first line of the text that was there.
fn with_breaks_of(text: &str, printed: String) -> String {
    let first = text.find(['\n', '\r']);
    let is_crlf = first.is_some_and(|at| text.get(at..).is_some_and(|rest| rest.starts_with("\r\n")));
    if is_crlf { printed.replace('\n', "\r\n") } else { printed }
}
