//! Keys of maps: what may be one, and that none stands twice; and the finding for anchors and aliases.

use super::frame::{Reference, Slot};
use crate::diagnostic::Diagnostic;
use crate::parse::rules;
use crate::source::{Span, Spanned};
use crate::tree::{Entry, Node, Style, Value};
use std::collections::HashMap;

/// Keys under which people write sentences.
pub(super) const PROSE: &[&str] =
    &["task", "question", "human", "reason", "label", "title", "description", "announce", "systemPrompt"];

/// What a map waits for after a node where a key belongs.
pub(super) fn take_key(node: Node, key: Option<(String, Style)>, diagnostics: &mut Vec<Diagnostic>) -> Slot {
    let Some((text, style)) = key else {
        if node.value != Value::Hole {
            let message = format!("a key must be a single text, not {}", node.kind());
            let mut found = Diagnostic::new(&rules::KEY_NOT_TEXT, node.span, message);
            if matches!(&node.value, Value::Map(_)) {
                found =
                    found.help("quote the key; a binding is written `${{ … }}` and goes into quotes here");
            }
            diagnostics.push(found);
        }
        return Slot::ValueOfNothing;
    };
    if text == "<<" && style == Style::Plain {
        let found =
            Diagnostic::new(&rules::MERGE_KEY, node.span, "`<<` is a YAML merge key; the language has none");
        diagnostics.push(found.help("write the keys out where they are needed"));
        return Slot::ValueOfNothing;
    }
    Slot::ValueOf(Spanned::new(text, node.span))
}

/// Adds an entry, unless its key is there already.
pub(in crate::parse) fn insert(
    entries: &mut Vec<Entry>,
    seen: &mut Option<HashMap<String, usize>>,
    key: Spanned<String>,
    value: Node,
) -> Option<Box<Diagnostic>> {
    const FEW: usize = 12;
    let earlier = match seen {
        None if entries.len() < FEW => entries.iter().find(|entry| entry.key.value == key.value),
        None => {
            let index = entries.iter().enumerate().map(|(i, entry)| (entry.key.value.clone(), i)).collect();
            let index: &HashMap<String, usize> = seen.insert(index);
            index.get(&key.value).and_then(|i| entries.get(*i))
        }
        Some(index) => index.get(&key.value).and_then(|i| entries.get(*i)),
    };
    if let Some(earlier) = earlier.filter(|earlier| !crate::parse::is_hole_entry(earlier)) {
        let message = format!("the key `{}` stands here a second time", key.value);
        return Some(Box::new(
            Diagnostic::new(&rules::DUPLICATE_KEY, key.span, message)
                .note("second")
                .label(earlier.key.span, "first")
                .help("keep one of the two"),
        ));
    }
    if let Some(index) = seen {
        index.insert(key.value.clone(), entries.len());
    }
    entries.push(Entry { key, value });
    None
}

/// One finding for all anchors and aliases of a document.
pub(super) fn references(all: &[Reference], text: &str) -> Option<Diagnostic> {
    const SHOWN: usize = 8;
    let main = all.iter().position(|reference| reference.is_alias).unwrap_or(0);
    let first = all.get(main)?;
    let written = |span: Span| text.get(span.range()).unwrap_or_default();
    let what = if first.is_alias { "alias" } else { "anchor" };
    let message = format!("`{}` is a YAML {what}; anchors and aliases are not allowed", written(first.span));
    let mut found = Diagnostic::new(&rules::ANCHOR_OR_ALIAS, first.span, message)
        .help("write the value out where it is needed; text that begins with `*` or `&` must be quoted");
    for (i, other) in all.iter().enumerate().filter(|(i, _)| *i != main).take(SHOWN) {
        debug_assert!(i != main, "the main place is no label");
        found = found.label(other.span, if other.is_alias { "an alias too" } else { "an anchor" });
    }
    Some(found)
}

/// The hole of a document that holds nothing.
pub(super) fn empty_document(span: Span, diagnostics: &mut Vec<Diagnostic>) -> Node {
    diagnostics.push(
        Diagnostic::new(&rules::EMPTY_DOCUMENT, span, "the document is empty")
            .help("a workflow begins with `kind: workflow` and `version: 1`"),
    );
    Node { span, value: Value::Hole }
}
