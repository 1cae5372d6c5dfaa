//! The required tests of the JSON-Schema-Test-Suite for every keyword that is said to be supported (B16).

use flowright::schema::Schema;
use serde_json::Value;

/// Groups whose schemas are refused, with the words of the refusal: what the page of the language says is not there.
const REFUSED: &[(&str, &str)] = &[
    ("anchor: Location-independent identifier with absolute URI", INNER),
    ("anchor: Location-independent identifier with base URI change in subschema", INNER),
    ("anchor: same $anchor with different base uri", INNER),
    ("defs: validate definition against metaschema", OUTSIDE),
    ("enum: empty enum", "lists no value"),
    ("ref: remote ref, containing refs itself", OUTSIDE),
    ("ref: Recursive references between schemas", INNER),
    ("ref: refs with relative uris and defs", INNER),
    ("ref: relative refs with absolute uris and defs", INNER),
    ("ref: $id must be resolved against nearest parent, not just immediate parent", INNER),
    ("ref: order of evaluation: $id and $ref", INNER),
    ("ref: order of evaluation: $id and $anchor and $ref", INNER),
    ("ref: order of evaluation: $id and $ref on nested schema", INNER),
    ("ref: URN ref with nested pointer ref", INNER),
    ("ref: ref to if", INNER),
    ("ref: ref to then", INNER),
    ("ref: ref to else", INNER),
    ("ref: ref with absolute-path-reference", INNER),
    ("unevaluatedItems: unevaluatedItems with $dynamicRef", "`$dynamicRef` is not supported"),
    ("unevaluatedProperties: unevaluatedProperties with $dynamicRef", "`$dynamicRef` is not supported"),
];
const INNER: &str = "inside a schema would begin another document";
const OUTSIDE: &str = "points out of the schema";

#[test]
fn b16_every_supported_keyword_passes_the_suite() {
    let text = std::fs::read_to_string("corpus/json-schema/draft2020-12.jsonl").unwrap();
    let mut wrong = Vec::new();
    let (mut judged, mut refused) = (0, 0);
    for line in text.lines() {
        let group: Value = serde_json::from_str(line).unwrap();
        let name = format!("{}: {}", group["file"].as_str().unwrap(), group["description"].as_str().unwrap());
        let expected = REFUSED.iter().find(|(start, _)| name == *start);
        let schema = match (Schema::compile(&group["schema"]), expected) {
            (Ok(schema), None) => schema,
            (Ok(_), Some(_)) => {
                wrong.push(format!("{name}: is to be refused"));
                continue;
            }
            (Err(faults), Some((_, words))) if faults.iter().any(|fault| fault.message.contains(words)) => {
                refused += 1;
                continue;
            }
            (Err(faults), _) => {
                wrong.push(format!("{name}: {} {faults:?}", group["schema"]));
                continue;
            }
        };
        for test in group["tests"].as_array().unwrap() {
            let found = schema.validate(&test[1]);
            if found.is_empty() != test[2].as_bool().unwrap() {
                wrong.push(format!("{name}: {}: {} {found:?}", test[0], test[1]));
            }
            // Each sentence is whole and bounded.
            for violation in found {
                let size = violation.message.chars().count();
                assert!(
                    size < 900 && !violation.expected.is_empty() && !violation.found.is_empty(),
                    "{violation:?}"
                );
            }
            judged += 1;
        }
    }
    assert!(wrong.is_empty(), "{} of {judged} and {refused}:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(refused, REFUSED.len());
}
