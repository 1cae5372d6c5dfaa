//! The reader beside the YAML test suite (`corpus/yaml-test-suite.jsonl`, its licence beside it): what is YAML there
//! is YAML here and means the same, what is none is none here, but for the listed differences.
//!
//! `corpus/yaml-test-suite.differences` has a line for each: the case, how we differ, and why.

use crate::reader::read;
use flowright::diagnostic::Severity;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What the language refuses on purpose, by the rule that says so; any other difference is explained in its line.
const REFUSED: &[(&str, &str)] = &[
    ("anchor-or-alias", "anchors and aliases are refused (section 2)"),
    ("tag", "tags are refused (section 2)"),
    ("yaml-directive", "no directive but `%YAML 1.2` is taken (section 2)"),
    ("second-document", "a file holds one document (section 2)"),
    ("duplicate-key", "no key stands twice (section 2)"),
    ("key-not-text", "keys are single texts, as in JSON"),
    ("merge-key", "merge keys are refused (section 2)"),
    ("empty-document", "a document without content is no definition"),
    ("number-not-json", "numbers are those of JSON"),
    ("control-character", "control characters are refused (section 2)"),
];

struct Suite {
    id: String,
    yaml: String,
    fails: bool,
    json: Option<Value>,
}

fn path(name: &str) -> String {
    format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn suite() -> Vec<Suite> {
    let text = std::fs::read_to_string(path("yaml-test-suite.jsonl")).unwrap();
    let mut lines = text.lines();
    let head: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert!(head["license"].as_str().unwrap().starts_with("MIT"));
    lines
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            let json = case["json"].as_str().and_then(|json| serde_json::from_str(json).ok());
            Suite {
                id: case["id"].as_str().unwrap().to_owned(),
                yaml: case["yaml"].as_str().unwrap().to_owned(),
                fails: case["fail"].as_bool().unwrap_or(false),
                json,
            }
        })
        .collect()
}

/// How we differ, in a word or the names of rules; `None` if not at all.
fn difference(case: &Suite) -> Option<String> {
    let (tree, found) = read("case.yaml", &case.yaml);
    for one in &found {
        assert!(case.yaml.get(one.span.range()).is_some(), "{}: {one:?}", case.id);
    }
    let errors: BTreeSet<&str> =
        found.iter().filter(|found| found.severity == Severity::Error).map(|found| found.rule.name).collect();
    if case.fails {
        return errors.is_empty().then(|| "accepted".to_owned());
    }
    if !errors.is_empty() {
        return Some(errors.into_iter().collect::<Vec<_>>().join(","));
    }
    let value = tree.to_json();
    case.json.as_ref().filter(|json| !same(json, &value)).map(|json| format!("value {value} for {json}"))
}

/// Numbers are compared as numbers: the suite's JSON writes some with other digits than its YAML.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn reason(what: &str) -> Option<String> {
    let reasons: Option<Vec<_>> = what
        .split(',')
        .map(|rule| REFUSED.iter().find(|(name, _)| *name == rule).map(|(_, reason)| *reason))
        .collect();
    reasons.map(|reasons| reasons.join("; "))
}

#[test]
fn the_reader_agrees_but_for_the_listed_differences() {
    let suite = suite();
    assert!(suite.len() > 400, "{} cases", suite.len());
    let path = path("yaml-test-suite.differences");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let explained: BTreeMap<&str, &str> = written
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" | ").map(|(id, rest)| (id.trim(), rest)))
        .collect();
    let mut out = String::from("# Where the reader differs from the YAML test suite: case | how | why\n");
    let (mut agreed, mut refused) = (0, 0);
    for case in &suite {
        let Some(what) = difference(case) else {
            agreed += 1;
            continue;
        };
        let old = explained.get(case.id.as_str()).and_then(|rest| rest.rsplit_once(" | "));
        let why = reason(&what).inspect(|_| refused += 1).or_else(|| old.map(|(_, why)| why.to_owned()));
        let _ = writeln!(out, "{} | {what} | {}", case.id, why.unwrap_or_else(|| "not explained".to_owned()));
    }
    if std::env::var_os("FLOWRIGHT_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &out).unwrap();
    }
    println!("{agreed} of {} agree, {refused} are refused on purpose; the differences:\n{out}", suite.len());
    assert!(!out.contains("not explained"), "a difference has no reason");
    assert_eq!(out, std::fs::read_to_string(&path).unwrap(), "the list of differences is another");
}
