//! Whether two trees mean the same, and which comments a text has. It prints nothing.

use super::gap::{self, Piece};
use crate::tree::{Node, Style, Value};
use std::ops::Range;

/// Whether two trees hold the same values in the same order; places and styles aside.
pub(super) fn values(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Null, Value::Null) | (Value::Hole, Value::Hole) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Number(one), Value::Number(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one.value == other.value,
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| values(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            let same = |(one, other): (&crate::tree::Entry, &crate::tree::Entry)| {
                one.key.value == other.key.value && values(&one.value, &other.value)
            };
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Hole,
            _,
        ) => false,
    }
}

/// The comments of a YAML text in their order.
pub(super) fn comments<'t>(text: &'t str, tree: &Node) -> Vec<&'t str> {
    let mut leaves = Vec::new();
    collect(tree, &mut leaves);
    let mut found = Vec::new();
    let mut at = 0;
    for (leaf, is_block) in leaves {
        between(text, at, leaf.start, &mut found);
        if is_block {
            // The header of a block scalar may have one.
            let header = gap::line(text, leaf.start);
            if let Some(hash) = header.find('#') {
                found.push(header.get(hash..).unwrap_or_default().trim_end());
            }
        }
        at = leaf.end;
    }
    between(text, at, text.len(), &mut found);
    found
}

fn between<'t>(text: &'t str, from: usize, upto: usize, found: &mut Vec<&'t str>) {
    let mut at = from;
    loop {
        match gap::next(text, at, upto).1 {
            Piece::Comment(range) => {
                at = range.end;
                found.push(text.get(range).unwrap_or_default());
            }
            Piece::Mark(place, mark) => at = place + mark.len_utf8(),
            Piece::End => return,
        }
    }
}

/// The places of all keys and scalars in their order, and whether each is a block scalar.
fn collect(node: &Node, leaves: &mut Vec<(Range<usize>, bool)>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| collect(item, leaves)),
        Value::Map(entries) => {
            for entry in entries {
                leaves.push((entry.key.span.range(), false));
                collect(&entry.value, leaves);
            }
        }
        Value::Text(text) => {
            leaves.push((node.span.range(), matches!(text.style, Style::Literal | Style::Folded)));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) if !node.span.is_empty() => {
            leaves.push((node.span.range(), false));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => {}
    }
}
