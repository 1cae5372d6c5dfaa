//! JSON Schema: the form of schemas, violations for people and models, walks to fields.

use flowright::schema::{Fit, Schema, Step, Walk};
use serde_json::{Value, json};

fn compile(json: Value) -> Schema {
    Schema::compile(&json).unwrap_or_else(|faults| panic!("{json}: {faults:?}"))
}

#[test]
fn faults_of_the_form_have_their_places() {
    let table = [
        (json!({ "type": "strng" }), "type", "did you mean `string`?"),
        (json!({ "type": ["string", null] }), "type/1", "quote it"),
        (json!({ "properties": { "a": { "minLength": -1 } } }), "properties/a/minLength", "whole number"),
        (json!({ "required": "a" }), "required", "list of property names"),
        (
            json!({ "required": ["b"], "additionalProperties": false, "properties": { "a": {} } }),
            "required/0",
            "`b`",
        ),
        (json!({ "$ref": "https://example.org/x.json" }), "$ref", "points out"),
        (json!({ "$ref": "#/$defs/nowhere" }), "$ref", "points to nothing"),
        (json!({ "$ref": "#" }), "$ref", "leads back to itself"),
        (json!({ "pattern": "(" }), "pattern", "no regular expression"),
        (json!({ "enum": [] }), "enum", "nothing can fit"),
        (json!({ "$schema": "http://json-schema.org/draft-07/schema#" }), "$schema", "2020-12"),
        (json!({ "anyOf": [] }), "anyOf", "at least one"),
        (json!({ "properties": { "a": null } }), "properties/a", "null"),
    ];
    for (schema, place, words) in table {
        let faults = Schema::compile(&schema).expect_err(&schema.to_string());
        assert_eq!(faults.len(), 1, "{schema}: {faults:?}");
        assert_eq!(faults[0].pointer.join("/"), place, "{schema}");
        assert!(faults[0].message.contains(words), "{schema}: {}", faults[0].message);
    }
}

#[test]
fn a_deep_schema_is_refused_without_overflow() {
    let mut schema = json!({});
    for _ in 0..120 {
        schema = json!({ "not": schema });
    }
    let faults = Schema::compile(&schema).unwrap_err();
    assert!(faults[0].message.contains("nested deeper"));
}

#[test]
fn several_violations_are_told_at_once() {
    let schema = compile(json!({
        "type": "object", "required": ["plan", "areas"], "additionalProperties": false,
        "properties": { "plan": { "type": "string" }, "areas": { "type": "array", "items": { "type": "string" } } }
    }));
    let found = schema.validate(&json!({ "areas": ["a", 3], "x~/y": 1 }));
    let messages: Vec<_> = found.iter().map(|violation| violation.message.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages.contains(&"/areas/1: expected a string, found 3"), "{messages:?}");
    assert!(messages.iter().any(|message| message.contains("the property \"plan\"")), "{messages:?}");
    assert!(messages.iter().any(|message| message.contains("no property `x~/y`")), "{messages:?}");
}

/// B16: the schema's own words decide.
#[test]
fn b16_unions_and_whole_numbers() {
    let one_of = compile(json!({ "oneOf": [{ "type": "number" }, { "minimum": 0 }] }));
    assert_eq!(one_of.validate(&json!(1)).len(), 1);
    assert!(one_of.validate(&json!(-1)).is_empty());
    let any_of = compile(json!({ "anyOf": [{ "type": "number" }, { "minimum": 0 }] }));
    assert!(any_of.validate(&json!(1)).is_empty());
    let integer = compile(json!({ "type": "integer" }));
    let exact: Value = serde_json::from_str("1.0").unwrap();
    assert!(integer.validate(&exact).is_empty());
    let big: Value = serde_json::from_str("9007199254740993").unwrap();
    assert!(integer.validate(&big).is_empty());
}

#[test]
fn walks_to_fields() {
    let schema = compile(json!({
        "type": "object", "required": ["a"],
        "properties": {
            "a": { "$ref": "#/$defs/list" },
            "b": { "type": "string" },
            "free": { "type": "object" }
        },
        "$defs": { "list": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/row" } }, "row": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } } }
    }));
    let walk = |path: &[Step<'_>]| schema.field(path);
    assert!(matches!(
        walk(&[Step::Name("a"), Step::Index(0), Step::Name("n")]),
        Walk::Found { definite: true, .. }
    ));
    assert!(matches!(walk(&[Step::Name("a"), Step::Index(1)]), Walk::Found { definite: false, .. }));
    assert!(matches!(walk(&[Step::Name("b")]), Walk::Found { definite: false, .. }));
    assert!(
        matches!(walk(&[Step::Name("c")]), Walk::Unknown { at: 0, known } if known == ["a", "b", "free"])
    );
    assert!(matches!(walk(&[Step::Name("b"), Step::Name("x")]), Walk::NotAContainer { at: 1, .. }));
    assert!(matches!(walk(&[Step::Name("free"), Step::Name("x")]), Walk::Open));
}

#[test]
fn fitting_is_refused_only_where_nothing_can_fit() {
    let text = compile(json!({ "type": "string" }));
    let number = compile(json!({ "type": "number" }));
    let integer = compile(json!({ "type": "integer" }));
    let colors = compile(json!({ "enum": ["red", "blue"] }));
    let sizes = compile(json!({ "enum": ["s", "m"] }));
    assert!(matches!(text.fits(&number), Fit::No(_)));
    assert!(matches!(number.fits(&integer), Fit::No(_)));
    assert!(matches!(colors.fits(&sizes), Fit::No(_)));
    assert_eq!(integer.fits(&number), Fit::Maybe);
    assert_eq!(colors.fits(&text), Fit::Maybe);
    assert!(compile(json!({ "type": "object" })).is_loose());
    assert!(!compile(json!({ "required": ["a"] })).is_loose());
}

/// Ends by its budget: three branches of sixteen levels would be forty million parts.
#[test]
fn alternatives_that_refer_to_themselves_end() {
    let circle = json!({ "$ref": "#" });
    let schema =
        compile(json!({ "anyOf": [circle, circle, circle, circle, circle, circle, circle, circle] }));
    assert_eq!(schema.kinds(), flowright::schema::KindSet::ANY);
}
