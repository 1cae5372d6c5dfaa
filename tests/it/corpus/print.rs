//! The tree of a document written out again in other ways that mean the same.

use flowright::tree::{Entry, Node, Value};
use std::fmt::Write as _;

/// Keys below which the order of a map is part of the meaning.
const ORDERED: [&str; 2] = ["choices", "cases"];

/// As JSON, the keys of every map in another order.
pub(crate) fn json(node: &Node) -> String {
    let mut out = String::new();
    push_json(node, "", &mut out);
    out.push('\n');
    out
}

/// As YAML in blocks, every text in double quotes, a comment before every key.
pub(crate) fn yaml(node: &Node) -> String {
    let mut out = String::from("# Written anew.\n");
    push_yaml(node, "", 0, &mut out);
    out
}

/// The entries the other way round, those that hold steps last and in their order: steps without an id are counted
/// as they are written.
fn turned<'a>(entries: &'a [Entry], under: &str) -> Vec<&'a Entry> {
    if ORDERED.contains(&under) {
        return entries.iter().collect();
    }
    let (steps, mut others): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| holds_steps(&entry.key.value, &entry.value));
    others.reverse();
    others.extend(steps);
    others
}

fn holds_steps(key: &str, node: &Node) -> bool {
    key == "steps"
        || match &node.value {
            Value::Map(entries) => entries.iter().any(|entry| holds_steps(&entry.key.value, &entry.value)),
            Value::List(items) => items.iter().any(|item| holds_steps("", item)),
            _ => false,
        }
}

fn scalar(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(digits) => digits.clone(),
        Value::Text(text) => quoted(&text.value),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
        Value::Hole => panic!("a hole cannot be written"),
    }
}

/// JSON with everything but plain characters escaped, which is a double-quoted YAML scalar too.
fn quoted(text: &str) -> String {
    quoted_with(text, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn quoted_with(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c => escape(c, &mut out),
        }
    }
    out.push('"');
    out
}

fn push_json(node: &Node, under: &str, out: &mut String) {
    match &node.value {
        Value::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ",\n" } else { "" });
                push_json(item, "", out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (i, entry) in turned(entries, under).into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str(&quoted(&entry.key.value));
                out.push(':');
                push_json(&entry.value, &entry.key.value, out);
            }
            out.push('}');
        }
        _ => out.push_str(&scalar(node)),
    }
}

fn push_yaml(node: &Node, under: &str, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match &node.value {
        Value::List(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{blanks}# An item.\n{blanks}-");
                push_below(item, "", indent, out);
            }
        }
        Value::Map(entries) if !entries.is_empty() => {
            for entry in turned(entries, under) {
                let _ = write!(out, "{blanks}# A key.\n{blanks}{}:", yaml_quoted(&entry.key.value));
                push_below(&entry.value, &entry.key.value, indent, out);
            }
        }
        Value::Text(text) => {
            let _ = writeln!(out, "{blanks}{}", yaml_quoted(&text.value));
        }
        _ => {
            let _ = writeln!(out, "{blanks}{}", scalar(node));
        }
    }
}

fn push_below(node: &Node, under: &str, indent: usize, out: &mut String) {
    let is_empty = match &node.value {
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => true,
    };
    if is_empty {
        let text = match &node.value {
            Value::Text(text) => yaml_quoted(&text.value),
            _ => scalar(node),
        };
        let _ = writeln!(out, " {text} # said");
    } else {
        out.push_str(" # below\n");
        push_yaml(node, under, indent + 1, out);
    }
}

/// In YAML an escape of a code unit is no character, so characters beyond the first plane are written with eight digits.
fn yaml_quoted(text: &str) -> String {
    quoted_with(text, |c, out| {
        let _ = write!(out, "\\U{:08x}", u32::from(c));
    })
}
