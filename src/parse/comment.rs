//! The comments of a document with their places, as its reader sees them: `#` in YAML and in front matter, keys that
//! begin with `--` in JSON. What stands inside a text is no comment. What a comment says is not judged here.

use super::{agent, is_json, json, yaml};
use crate::source::{Source, Span};
use crate::tree::{Node, Value};

/// One comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// All of it: from the `#` to the end of the line, or the key with its value.
    pub span: Span,
    /// What it says, without the `#`.
    pub text: String,
    /// Where that stands in the source.
    pub inner: Span,
    /// Whether something else stands before it on its line.
    pub is_behind: bool,
    /// Whether no key stands before it.
    pub is_on_top: bool,
}

/// The comments of a source, in order.
#[must_use]
pub fn comments(source: &Source) -> Vec<Comment> {
    if is_json(source.name()) {
        return keys(source);
    }
    let text = source.text();
    let is_markdown = source.name().to_ascii_lowercase().ends_with(".md");
    let part = if is_markdown { text.get(..agent::front_end(text)).unwrap_or_default() } else { text };
    let (root, spans) = yaml::comments(source, part);
    let first = if root.span.is_empty() { text.len() } else { root.span.range().start };
    spans.into_iter().map(|span| hash(source, span, first)).collect()
}

fn hash(source: &Source, span: Span, first: usize) -> Comment {
    let (start, end) = (span.range().start, span.range().end);
    let line = source.lines().start_of(source.lines().line_of(start));
    let before = source.text().get(line..start).unwrap_or_default();
    let inner = Span::new(span.file, (start + 1).min(end), end);
    Comment {
        span,
        text: source.slice(inner).to_owned(),
        inner,
        is_behind: !before.trim_matches(['\u{feff}', ' ', '\t']).is_empty(),
        is_on_top: end <= first,
    }
}

fn keys(source: &Source) -> Vec<Comment> {
    let tree = json::read(source, &mut Vec::new());
    let mut found = Vec::new();
    walk(&tree, true, &mut found);
    found
}

fn walk(node: &Node, is_root: bool, found: &mut Vec<Comment>) {
    match &node.value {
        Value::Map(entries) => {
            let mut is_on_top = is_root;
            for entry in entries {
                match entry.value.text() {
                    Some(text) if entry.key.value.starts_with("--") => found.push(Comment {
                        span: entry.key.span.to(entry.value.span),
                        text: text.value.clone(),
                        inner: text.span_of(0..text.value.len()),
                        is_behind: false,
                        is_on_top,
                    }),
                    Some(_) | None => {
                        is_on_top = false;
                        walk(&entry.value, false, found);
                    }
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| walk(item, false, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {}
    }
}
