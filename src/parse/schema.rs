//! Traps of YAML in JSON Schemas: a null as a type, yes and no as booleans, bindings. Whether a schema is valid
//! is not judged here.

use super::fields::Fields;
use super::rules;
use super::yaml::scalar::yes_no_word;
use crate::diagnostic::{Diagnostic, Fix};
use crate::tree::{Node, Style, Value};

/// Keywords whose value is data and no schema.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];
/// Keywords that hold true or false, or may.
const BOOLEAN: [&str; 8] = [
    "additionalProperties",
    "uniqueItems",
    "deprecated",
    "readOnly",
    "writeOnly",
    "unevaluatedProperties",
    "unevaluatedItems",
    "items",
];
/// Keywords that hold a map from names to schemas.
const MAPS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Looks through one schema and those inside it; the depth is bounded by the reader.
pub(super) fn look(fields: &mut Fields<'_>, node: &Node) {
    for entry in node.entries() {
        let key = entry.key.value.as_str();
        let value = &entry.value;
        if key == "type" {
            types(fields, value);
        }
        if BOOLEAN.contains(&key) || (key == "default" && is_boolean(node)) {
            boolean(fields, key, value);
        }
        if DATA.contains(&key) {
            bindings(fields, key, value);
            continue;
        }
        if MAPS.contains(&key) {
            for inner in value.entries() {
                look(fields, &inner.value);
            }
            continue;
        }
        match &value.value {
            Value::Map(_) => look(fields, value),
            Value::List(items) => {
                for item in items {
                    look(fields, item);
                    fields.no_binding(item, key);
                }
            }
            Value::Text(_) => fields.no_binding(value, key),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => {}
        }
    }
}

fn is_boolean(schema: &Node) -> bool {
    schema.get("type").and_then(Node::text).is_some_and(|text| text.value == "boolean")
}

fn types(fields: &mut Fields<'_>, node: &Node) {
    let nulls: Vec<&Node> = match &node.value {
        Value::Null => vec![node],
        Value::List(items) => items.iter().filter(|item| item.value == Value::Null).collect(),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) | Value::Hole => Vec::new(),
    };
    for null in nulls.into_iter().filter(|null| !null.span.is_empty()) {
        let message = format!("`{}` is YAML's null here, not the name of a type", fields.written(null));
        let found = Diagnostic::new(&rules::NULL_IN_TYPE, null.span, message).help("quote it");
        fields.report(found.fix(Fix::replace("write `\"null\"`", null.span, "\"null\"")));
    }
}

fn boolean(fields: &mut Fields<'_>, key: &str, node: &Node) {
    let Some(text) = node.text().filter(|text| text.style == Style::Plain) else { return };
    let Some(meant) = yes_no_word(&text.value) else { return };
    let message = format!("`{}` is text; `{key}` expects true or false", text.value);
    let mut found = Diagnostic::new(&rules::YES_NO_WORD, node.span, message).help(format!("write `{meant}`"));
    // With the text the schema would be no schema, or the default of another type.
    found.severity = crate::diagnostic::Severity::Error;
    fields.report(found.fix(Fix::replace(format!("write `{meant}`"), node.span, meant.to_string())));
}

fn bindings(fields: &mut Fields<'_>, key: &str, node: &Node) {
    fields.no_binding(node, key);
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| bindings(fields, key, item)),
        Value::Map(entries) => entries.iter().for_each(|entry| bindings(fields, key, &entry.value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {}
    }
}
