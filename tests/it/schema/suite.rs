//! The required tests of the JSON-Schema-Test-Suite for every keyword that is said to be supported (B16).

use flowright::schema::Schema;
use flowright::schema::keyword::{KEYWORDS, Shape};
use serde_json::Value;
use std::collections::BTreeSet;

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

/// The page of the language lists exactly the keywords of the table, the refused ones apart.
#[test]
fn the_page_lists_the_keywords_of_the_table() {
    let page = std::fs::read_to_string("docs/language.md").unwrap();
    let start = page.find("**Schemas.**").unwrap();
    let (supported, rest) = page[start..].split_once("These are refused:").unwrap();
    let refused = rest.split_once(". Also refused").unwrap().0;
    let words =
        |text: &str| -> BTreeSet<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let table = |is_refused: bool| -> BTreeSet<String> {
        let all = KEYWORDS.iter().filter(|keyword| matches!(keyword.shape, Shape::Refused(_)) == is_refused);
        all.map(|keyword| keyword.name.to_owned()).collect()
    };
    assert_eq!(words(supported), table(false));
    assert_eq!(words(refused), table(true));
}

/// Each supported keyword that judges has tests in the suite.
#[test]
fn every_judging_keyword_is_tested() {
    let text = std::fs::read_to_string("corpus/json-schema/draft2020-12.jsonl").unwrap();
    for keyword in KEYWORDS {
        let judges = !matches!(
            keyword.shape,
            Shape::Refused(_) | Shape::Text | Shape::List | Shape::Id | Shape::Dialect
        ) && !matches!(
            keyword.name,
            "deprecated" | "readOnly" | "writeOnly" | "contentSchema" | "definitions"
        );
        let quoted = format!("\"{}\":", keyword.name);
        assert!(!judges || text.contains(&quoted), "{}", keyword.name);
    }
}

/// Looseness told from the form alone is that of the validator.
#[test]
fn an_empty_object_is_judged_alike_by_form_and_by_validator() {
    let text = std::fs::read_to_string("corpus/json-schema/draft2020-12.jsonl").unwrap();
    let nothing = Value::Object(serde_json::Map::new());
    let (mut loose, mut strict) = (0, 0);
    for line in text.lines() {
        let group: Value = serde_json::from_str(line).unwrap();
        let Ok(schema) = Schema::compile(&group["schema"]) else { continue };
        let is_loose = schema.validate(&nothing).is_empty();
        assert_eq!(schema.is_loose(), is_loose, "{}", group["schema"]);
        *if is_loose { &mut loose } else { &mut strict } += 1;
    }
    assert!(loose > 50 && strict > 50, "{loose} loose, {strict} strict");
}
