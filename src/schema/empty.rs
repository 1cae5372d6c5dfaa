//! Whether an empty object satisfies a schema, told from its form where that is enough: no validator is built for it.

use serde_json::Value;

/// Keywords that every empty object satisfies, whatever they say, and those that say nothing of a value.
const INDIFFERENT: [&str; 29] = [
    "$comment",
    "$defs",
    "additionalProperties",
    "default",
    "deprecated",
    "description",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "title",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];

/// The answer, or `None` if only a validator can tell.
pub(super) fn satisfies(schema: &Value) -> Option<bool> {
    let map = match schema {
        Value::Bool(anything) => return Some(*anything),
        Value::Object(map) => map,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return None,
    };
    // All keywords must hold: one that fails decides, one that is not understood leaves it open.
    let mut is_open = false;
    for (key, value) in map {
        match keyword(key, value) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => is_open = true,
        }
    }
    (!is_open).then_some(true)
}

fn keyword(key: &str, value: &Value) -> Option<bool> {
    match (key, value) {
        ("type", Value::String(name)) => Some(name == "object"),
        ("type", Value::Array(names)) => Some(names.iter().any(|name| name == "object")),
        ("required", Value::Array(names)) => Some(names.is_empty()),
        (_, _) => INDIFFERENT.contains(&key).then_some(true),
    }
}
