//! JSON Schema: the form of schemas, violations for people and models, walks to fields.

mod files;
mod suite;

use flowright::schema::{Fit, Schema, Step, Walk};
use serde_json::{Value, json};

fn compile(json: Value) -> Schema {
    Schema::compile(&json).unwrap_or_else(|faults| panic!("{json}: {faults:?}"))
}

#[test]
fn faults_of_the_form_have_their_places() {
    let table = [
        (json!({ "type": "strng" }), "type", "`strng` is no type"),
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
    assert!(messages.iter().any(|message| message.contains("the property `plan`")), "{messages:?}");
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

/// Ends by its budget: alternatives that refer to themselves below a value.
#[test]
fn alternatives_that_refer_to_themselves_end() {
    let schema = compile(json!({
        "anyOf": [{ "items": { "$ref": "#" } }, { "properties": { "a": { "$ref": "#" } } }]
    }));
    assert_eq!(schema.kinds(), flowright::schema::KindSet::ANY);
    assert!(schema.validate(&json!([[[{ "a": { "a": 1 } }]]])).is_empty());
    let part = schema.field(&[Step::Name("a"), Step::Name("a"), Step::Name("a"), Step::Index(0)]);
    assert!(matches!(part, Walk::Open), "{part:?}");
}

/// A schema that passes is one that judges: none of these may compile and then refuse every value.
#[test]
fn what_cannot_judge_does_not_compile() {
    let mut chain = serde_json::Map::new();
    for i in 0..20 {
        let next = format!("#/$defs/d{}", i + 1);
        chain.insert(format!("d{i}"), json!({ "anyOf": [{ "$ref": next }, { "$ref": next }] }));
    }
    chain.insert("d20".to_owned(), json!({ "type": "string" }));
    let table = [
        (json!({ "pattern": "(" }), "pattern", "`(` is no regular expression: a `(` is not closed"),
        (json!({ "patternProperties": { "[a": {} } }), "patternProperties/[a", "a `[` is not closed"),
        (json!({ "patternProperties": { "*": {} } }), "patternProperties/*", "no regular expression"),
        (json!({ "type": [] }), "type", "lists no type"),
        (json!({ "type": ["string", "string"] }), "type/1", "twice"),
        (json!({ "required": ["a", "a"] }), "required/1", "twice"),
        (json!({ "enum": [1, 1.0] }), "enum/1", "twice"),
        (json!({ "dependentRequired": { "a": "b" } }), "dependentRequired/a", "list of property names"),
        (json!({ "dependentRequired": { "a": ["b", "b"] } }), "dependentRequired/a/1", "twice"),
        (json!({ "dependentRequired": ["a"] }), "dependentRequired", "is a map"),
        (json!({ "$dynamicRef": "https://example.org/x" }), "$dynamicRef", "not supported"),
        (json!({ "properties": { "a": { "$id": "x" } } }), "properties/a/$id", "another document"),
        (json!({ "$ref": "#/x-part", "x-part": { "type": "strng" } }), "x-part/type", "no type"),
        (json!({ "$ref": "#/default", "default": 7 }), "default", "a schema is an object"),
        (json!({ "items": [{}] }), "items", "prefixItems"),
        (json!({ "dependencies": {} }), "dependencies", "dependentRequired"),
        (json!({ "allOf": [{ "$ref": "#" }] }), "", "leads back to itself"),
        (json!({ "$ref": "#/$defs/d0", "$defs": chain }), "$ref", "multiply"),
        (json!({ "$anchor": "a", "items": { "$anchor": "a" } }), "items/$anchor", "too"),
        (json!({ "$anchor": "a b" }), "$anchor", "is a name"),
        (json!({ "type": "integer", "format": "artifact" }), "format", "type: string"),
        (json!({ "minLength": 1.5 }), "minLength", "whole number"),
        (json!({ "multipleOf": 0.0 }), "multipleOf", "above 0"),
        (json!({ "examples": 1 }), "examples", "is a list"),
        (json!({ "unevaluatedItems": 1 }), "unevaluatedItems", "a schema is an object"),
    ];
    for (schema, place, words) in table {
        let faults = Schema::compile(&schema).expect_err(&schema.to_string());
        assert_eq!(faults.len(), 1, "{schema}: {faults:?}");
        assert_eq!(faults[0].pointer.join("/"), place, "{schema}: {faults:?}");
        assert!(faults[0].message.contains(words), "{schema}: {}", faults[0].message);
    }
}

#[test]
fn what_is_right_is_not_refused() {
    let two = compile(serde_json::from_str(r#"{ "minLength": 2.0, "maxItems": 1e1 }"#).unwrap());
    assert!(two.validate(&json!("ab")).is_empty());
    assert_eq!(two.validate(&json!("a")).len(), 1);
    let encoded = compile(json!({ "$ref": "#/$defs/a%20b", "$defs": { "a b": { "type": "string" } } }));
    assert!(encoded.validate(&json!("x")).is_empty());
    assert_eq!(encoded.validate(&json!(1)).len(), 1);
    let named = compile(json!({
        "$id": "https://example.org/plan.json",
        "items": { "$ref": "#/$defs/one" },
        "contains": { "$ref": "https://example.org/plan.json#one" },
        "$defs": { "one": { "$anchor": "one", "type": "integer" } }
    }));
    assert!(named.validate(&json!([1])).is_empty());
    assert_eq!(named.validate(&json!(["a"])).len(), 2);
}

/// Digits beyond 64 bits count.
#[test]
fn numbers_are_judged_by_their_digits() {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let table = [
        (r#"{"maximum":18446744073709551616}"#, "18446744073709551616", "18446744073709551617"),
        (r#"{"minimum":-9223372036854775809.5}"#, "-9223372036854775809.5", "-9223372036854775809.6"),
        (r#"{"exclusiveMinimum":9007199254740992}"#, "9007199254740993", "9007199254740992.0"),
        (
            r#"{"const":123456789012345678901234567890}"#,
            "1.2345678901234567890123456789e29",
            "123456789012345678901234567891",
        ),
        (r#"{"enum":[0.1,100000000000000000001]}"#, "1e-1", "100000000000000000000"),
        (r#"{"multipleOf":0.01}"#, "100000000000000000000.07", "100000000000000000000.075"),
        (r#"{"multipleOf":3}"#, "100000000000000000000000000002", "100000000000000000000000000000"),
        (r#"{"type":"integer"}"#, "1e400", "1e-400"),
        (r#"{"maximum":1e400}"#, "9e399", "1.1e400"),
        (r#"{"uniqueItems":true}"#, "[18446744073709551616,18446744073709551617]", "[1e2,1,100.0]"),
    ];
    for (schema, fits, misfits) in table {
        let schema = compile(read(schema));
        assert!(schema.validate(&read(fits)).is_empty(), "{schema:?} {fits}");
        assert_eq!(schema.validate(&read(misfits)).len(), 1, "{schema:?} {misfits}");
    }
    // Exponents beyond all bounds cost nothing.
    let schema = compile(read(r#"{"multipleOf":7,"maximum":5}"#));
    assert_eq!(schema.validate(&read("1e999999999999999999999")).len(), 2);
    assert!(schema.validate(&read("-0e999999999999999999999")).is_empty());
}

/// B15: sentences blame the branch that was meant, by its own place, with the nearest name.
#[test]
fn b15_the_branch_that_was_meant_is_blamed() {
    let step = json!({ "oneOf": [
        { "type": "object", "required": ["agent"], "additionalProperties": false,
          "properties": { "kind": { "const": "agent" }, "agent": { "type": "string" }, "completion": { "type": "string" } } },
        { "type": "object", "required": ["cron"], "additionalProperties": false,
          "properties": { "kind": { "const": "cron" }, "cron": { "type": "string" } } },
        { "type": "array", "items": { "type": "integer" } }
    ] });
    let table = [
        (
            step.clone(),
            json!({ "kind": "agent", "agent": "a", "complation": "x" }),
            vec!["/complation: expected no property `complation` (did you mean `completion`?), found \"x\""],
        ),
        (
            step.clone(),
            json!({ "kind": "agnet", "agent": "a" }),
            vec!["/kind: expected one of \"agent\", \"cron\" (did you mean \"agent\"?), found \"agnet\""],
        ),
        (step.clone(), json!([1, "b"]), vec!["/1: expected a whole number, found \"b\""]),
        (step.clone(), json!("accept"), vec!["the value: expected an object or a list, found \"accept\""]),
        (
            step,
            json!({ "agent": "a", "cron": "b" }),
            vec!["/cron: expected no property `cron` (by alternative 1 of 3, which is nearest), found \"b\""],
        ),
        (
            json!({ "anyOf": [{ "const": "a" }, { "type": "string", "minLength": 3 }] }),
            json!("bb"),
            vec!["the value: expected \"a\" or text of at least 3 characters, found \"bb\""],
        ),
        (
            json!({ "oneOf": [{ "type": "number" }, { "minimum": 0 }, { "type": "string" }] }),
            json!(1),
            vec![
                "the value: expected a value that fits only one of the 3 alternatives of `oneOf`, found 1, which fits alternatives 1 and 2",
            ],
        ),
        (
            json!({ "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/p" }],
                 "$defs": { "p": { "type": "object", "properties": { "n": { "maximum": 3 } } } } }),
            json!({ "n": 4 }),
            vec!["/n: expected a number that is at most 3, found 4"],
        ),
    ];
    for (schema, value, expected) in table {
        let found: Vec<_> = compile(schema.clone()).validate(&value).into_iter().map(|v| v.message).collect();
        assert_eq!(found, expected, "{schema} {value}");
    }
}

#[test]
fn sentences_are_whole_and_bounded() {
    let long = "x".repeat(100_000);
    let table = [
        (
            json!({ "enum": ["high", "low"] }),
            json!("hihg"),
            "one of \"high\", \"low\" (did you mean \"high\"?), found \"hihg\"",
        ),
        (json!({ "maxLength": 1 }), json!("ab"), "text of at most 1 character, found \"ab\" (2 characters)"),
        (json!({ "minItems": 2 }), json!([1]), "expected a list of at least 2 items, found a list of 1 item"),
        (
            json!({ "maxProperties": 1 }),
            json!({ "a": 1, "b": 2 }),
            "an object of at most 1 property, found an object of 2 properties",
        ),
        (
            json!({ "uniqueItems": true }),
            json!([1, 2, 1.0]),
            "a list of items that all differ, found 1 at 0 and at 2",
        ),
        (
            json!({ "propertyNames": { "maxLength": 2 } }),
            json!({ "abc": 1 }),
            "/abc: expected a property name that is text of at most 2 characters",
        ),
        (json!({ "not": { "type": "null" } }), json!(null), "anything but null, found null"),
        (json!({ "pattern": "^[a-z]+$" }), json!("A"), "text that matches `^[a-z]+$`, found \"A\""),
        (
            json!({ "contains": { "const": 1 } }),
            json!([2]),
            "a list with an item that fits `contains`, found [2]",
        ),
        (
            json!({ "properties": { "a": false } }),
            json!({ "a": 1 }),
            "/a: expected nothing here: the schema forbids it, found 1",
        ),
        (json!({ "type": ["string", "null"] }), json!(long), ""),
        (json!({ "type": "integer" }), json!(long), "found \"xxx"),
        (json!({ "const": long }), json!("\u{202e}y"), "found \"\\u{202e}y\""),
        (
            json!({ "dependentRequired": { "a": ["b"] } }),
            json!({ "a": 1 }),
            "expected the property `b`, found only `a`",
        ),
        (
            json!({ "additionalProperties": false }),
            json!({ "a/b~": 1 }),
            "/a~1b~0: expected no property `a/b~`",
        ),
    ];
    for (schema, value, words) in table {
        let found = compile(schema.clone()).validate(&value);
        assert_eq!(found.len(), usize::from(!words.is_empty()), "{schema} {found:?}");
        for violation in found {
            assert!(violation.message.contains(words), "{}", violation.message);
            assert!(violation.message.chars().count() < 400, "{}", violation.message.len());
        }
    }
}

/// A part keeps the whole document behind its references, and alternatives are walked together.
#[test]
fn walks_keep_the_root_and_see_all_alternatives() {
    let schema = compile(json!({
        "type": "object", "required": ["head", "tail"],
        "properties": {
            "head": { "type": "object", "required": ["next"], "properties": {
                "next": { "$ref": "#" }, "name": { "$ref": "#/properties/tail/items" } } },
            "tail": { "type": "array", "minItems": 1.0, "items": { "type": "string", "enum": ["a", "b"] } },
            "either": { "oneOf": [
                { "type": "object", "required": ["id", "x"], "properties": { "id": { "const": "one" }, "x": { "type": "integer" } } },
                { "type": "object", "required": ["id"], "properties": { "id": { "const": "two" } } } ] },
            "both": { "allOf": [{ "$ref": "#/$defs/base" }, { "required": ["b"] }], "properties": { "c": {} } }
        },
        "$defs": { "base": { "type": "object", "properties": { "b": { "type": "boolean" } } } }
    }));
    let (name, index) = (Step::Name, Step::Index);
    let found = |path: &[Step<'_>]| match schema.field(path) {
        Walk::Found { schema, definite } => (schema, definite),
        other => panic!("{path:?}: {other:?}"),
    };
    let (again, definite) = found(&[name("head"), name("next"), name("head"), name("next")]);
    assert!(definite);
    assert_eq!(again.validate(&json!({ "head": {} })).len(), 2);
    let (text, definite) = found(&[name("head"), name("name")]);
    assert!(!definite);
    assert_eq!(text.enumeration(), Some(vec![json!("a"), json!("b")]));
    assert_eq!(text.validate(&json!("c")).len(), 1);
    assert!(found(&[name("tail"), index(0)]).1);
    let (id, definite) = found(&[name("either"), name("id")]);
    assert!(!definite, "`either` itself is optional");
    assert_eq!(id.enumeration(), Some(vec![json!("one"), json!("two")]));
    assert_eq!(id.validate(&json!("three")).len(), 1);
    assert!(id.validate(&json!("two")).is_empty());
    let Walk::Found { definite, .. } = schema.field(&[name("either")]) else { panic!() };
    assert!(!definite);
    assert!(
        matches!(schema.field(&[name("either"), name("y")]), Walk::Unknown { at: 1, known } if known == ["id", "x"])
    );
    assert!(!found(&[name("both"), name("b")]).1);
    let (both, _) = found(&[name("both")]);
    let Walk::Found { definite, schema: b } = both.field(&[name("b")]) else { panic!() };
    assert!(definite);
    assert!(b.kinds().is_switchable());
    assert!(matches!(schema.field(&[name("both"), name("d")]), Walk::Unknown { at: 1, .. }));
}
