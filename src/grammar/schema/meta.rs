//! The part of JSON Schema that people write in definitions, as a schema: it helps to write one and fetches nothing.

use super::{reference, shapes};
use serde_json::{Map, Value, json};

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

/// A JSON Schema, draft 2020-12. Keywords that are not named here are free.
pub(super) fn json_schema() -> Value {
    let properties: Map<String, Value> = keywords()
        .into_iter()
        .map(|(name, mut value, doc)| {
            shapes::describe(&mut value, doc, "");
            (name.to_owned(), value)
        })
        .collect();
    json!({
        "title": "JSON Schema",
        "description": "A JSON Schema, draft 2020-12",
        "type": ["object", "boolean"],
        "properties": properties,
    })
}

fn keywords() -> Vec<(&'static str, Value, &'static str)> {
    let schema = || reference("json_schema");
    let schemas = || json!({ "type": "array", "minItems": 1, "items": schema() });
    let named = || json!({ "type": "object", "additionalProperties": schema() });
    let count = || json!({ "type": "integer", "minimum": 0 });
    let number = || json!({ "type": "number" });
    let text = || json!({ "type": "string" });
    vec![
        ("$schema", shapes::draft(), "The draft; there is only this one"),
        (
            "$ref",
            json!({ "type": "string", "pattern": "^(#|\\./)" }),
            "Another part of the same schema, `#/…`, or a schema file of the package, `./…`",
        ),
        ("$defs", named(), "Schemas that `$ref` can name"),
        ("title", text(), "Title for people"),
        ("description", text(), "What the value is, for people and agents"),
        ("default", json!({}), "The value where none is given"),
        ("examples", json!({ "type": "array" }), "Values that fit"),
        (
            "type",
            json!({ "anyOf": [
                { "enum": TYPES }, { "type": "array", "minItems": 1, "items": { "enum": TYPES } },
            ] }),
            "Which kinds of value fit",
        ),
        ("enum", json!({ "type": "array" }), "The values that fit, and no others"),
        ("const", json!({}), "The one value that fits"),
        ("properties", named(), "The properties of an object"),
        (
            "required",
            json!({ "type": "array", "items": text() }),
            "Properties that must be there; only these are surely readable by a binding",
        ),
        ("additionalProperties", schema(), "What other properties hold; `false` for none"),
        ("patternProperties", named(), "Properties by the pattern of their names"),
        ("propertyNames", schema(), "What names of properties must fit"),
        ("minProperties", count(), "The fewest properties"),
        ("maxProperties", count(), "The most properties"),
        ("items", schema(), "What the items of a list hold"),
        ("prefixItems", schemas(), "What the first items of a list hold"),
        ("contains", schema(), "What some item of a list holds"),
        ("minItems", count(), "The fewest items"),
        ("maxItems", count(), "The most items"),
        ("uniqueItems", json!({ "type": "boolean" }), "Whether items must differ"),
        ("minLength", count(), "The fewest characters"),
        ("maxLength", count(), "The most characters"),
        ("pattern", text(), "A regular expression that a text must match"),
        (
            "format",
            text(),
            "Meaning of a text, such as `date-time`; `artifact` has no effect in this version",
        ),
        ("minimum", number(), "The smallest number"),
        ("maximum", number(), "The largest number"),
        ("exclusiveMinimum", number(), "Numbers are above this"),
        ("exclusiveMaximum", number(), "Numbers are below this"),
        ("multipleOf", json!({ "type": "number", "exclusiveMinimum": 0 }), "Numbers are a multiple of this"),
        ("allOf", schemas(), "All of these fit"),
        ("anyOf", schemas(), "At least one of these fits"),
        ("oneOf", schemas(), "Exactly one of these fits"),
        ("not", schema(), "This does not fit"),
        ("if", schema(), "If this fits, so must `then`, else `else`"),
        ("then", schema(), "What must fit where `if` does"),
        ("else", schema(), "What must fit where `if` does not"),
    ]
}
