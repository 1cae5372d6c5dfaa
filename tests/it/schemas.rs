//! The printed JSON Schemas: they take what the compiler takes and refuse what has the wrong shape.

use crate::corpus::cases;
use flowright::compile::{MainDocument, compile, compile_agent};
use flowright::diagnostic::Severity;
use flowright::source::{FileId, Source};
use flowright::{grammar, parse};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Rules about shape that a schema can see too.
const SHAPE: [&str; 12] = [
    "wrong-shape",
    "unknown-key",
    "missing-key",
    "bad-value",
    "bad-transition",
    "bad-duration",
    "bad-name",
    "number-out-of-range",
    "no-step-kind",
    "several-step-kinds",
    "unsupported-construct",
    "binding-expected",
];

fn validator(schema: &Value) -> Validator {
    assert!(jsonschema::meta::is_valid(schema), "it is itself a schema");
    jsonschema::draft202012::new(schema).unwrap()
}

struct Schemas {
    workflow: Validator,
    agent: Validator,
}

impl Schemas {
    fn new() -> Self {
        Self { workflow: validator(&grammar::json_schema()), agent: validator(&grammar::agent_schema()) }
    }

    fn faults(&self, is_agent: bool, value: &Value) -> Vec<String> {
        let schema = if is_agent { &self.agent } else { &self.workflow };
        schema.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect()
    }
}

/// Rule, weight and message.
type Found = (&'static str, Severity, String);

/// The value of a text, and whether it is of an agent; `None` if it cannot be read as YAML or JSON.
fn read(name: &str, text: &str) -> Option<(bool, Value)> {
    let mut found = Vec::new();
    let tree = parse::read(&Source::new(FileId::MAIN, name, text), &mut found);
    let can_be_read = found.iter().all(|found| found.severity != Severity::Error);
    let is_agent = tree.get("slug").is_some() || tree.get("contents").is_some();
    can_be_read.then(|| (is_agent, tree.to_json()))
}

/// What is wrong with the verdict of the schemas on a text, of which the compiler has found this.
fn judge(schemas: &Schemas, shown: &str, name: &str, text: &str, found: &[Found]) -> Option<String> {
    let (is_agent, value) = read(name, text)?;
    if !is_agent && value.get("kind").is_none() && value.get("steps").is_none() {
        return None;
    }
    let faults = schemas.faults(is_agent, &value);
    let seen: Vec<_> = found
        .iter()
        .filter(|(rule, severity, _)| *severity == Severity::Error && SHAPE.contains(rule))
        .map(|(rule, _, message)| format!("{rule}: {message}"))
        .collect();
    let errors = found.iter().filter(|(_, severity, _)| *severity == Severity::Error).count();
    // What weighs less in an agent without a base is an error in a schema, which knows no weights.
    let lenient = ["unknown-key", "unsupported-toolbox"];
    if errors == 0 && !faults.is_empty() && !found.iter().any(|(rule, ..)| lenient.contains(rule)) {
        return Some(format!("{shown} has no error and is refused:\n{}\n{text}", faults.join("\n")));
    }
    if !seen.is_empty() && faults.is_empty() {
        return Some(format!("{shown} is taken in spite of {seen:?}\n{text}"));
    }
    None
}

/// Files in JSON in folders named `agents`.
fn agents(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(agents(&path.display().to_string()));
        } else if folder.ends_with("agents") && path.extension().is_some_and(|ending| ending == "json") {
            found.push(path);
        }
    }
    found
}

/// What was found in the document itself; the files that it names are looked at on their own.
fn found(diagnostics: Vec<flowright::diagnostic::Diagnostic>) -> Vec<Found> {
    let own = diagnostics.into_iter().filter(|found| found.span.file == FileId::MAIN);
    own.map(|found| (found.rule.name, found.severity, found.message)).collect()
}

#[test]
fn every_file_of_the_corpus_gets_the_verdict_of_the_compiler() {
    let schemas = Schemas::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for case in [cases::of("ok"), cases::of("bad")].into_iter().flatten() {
        let (Ok(text), false) = (String::from_utf8(case.bytes()), case.file.ends_with(".md")) else {
            continue;
        };
        let findings = found(case.compile().diagnostics);
        faults.extend(judge(&schemas, &case.name, &case.file, &text, &findings));
        count += 1;
    }
    for path in agents("corpus") {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let main =
            MainDocument { name: name.clone(), package_path: name.clone(), bytes: text.clone().into() };
        faults.extend(judge(&schemas, &name, &name, &text, &found(compile_agent(main).diagnostics)));
        count += 1;
    }
    assert!(count > 130, "only {count} files");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn every_example_of_the_rules_gets_the_verdict_of_the_compiler() {
    let schemas = Schemas::new();
    let mut faults = Vec::new();
    let rules = parse::rules::ALL.iter().chain(flowright::check::ALL);
    let pages = rules
        .map(|rule| (rule.name, rule.page))
        .chain([("language", include_str!("../../docs/language.md"))]);
    for (name, page) in pages {
        for block in page.split("\n```").skip(1).step_by(2) {
            let Some((info, body)) = block.split_once('\n') else { continue };
            let file = match info.split_whitespace().next() {
                Some("yaml") => "x.yaml",
                Some("json") => "x.json",
                _ => continue,
            };
            let text = format!("{body}\n");
            let main =
                MainDocument { name: file.into(), package_path: file.into(), bytes: text.clone().into() };
            let diagnostics = match read(file, &text) {
                Some((true, _)) => compile_agent(main).diagnostics,
                _ => compile(main, &crate::pages::package(), crate::support::AS_OF).diagnostics,
            };
            faults.extend(judge(&schemas, name, file, &text, &found(diagnostics)));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

/// A step's kind decides which of its keys are known, and nothing is refused twice for it.
#[test]
fn the_kind_key_decides() {
    let schemas = Schemas::new();
    let faults = |step: Value| {
        schemas.faults(false, &json!({ "kind": "workflow", "version": 1, "name": "x", "steps": [step] }))
    };
    assert_eq!(faults(json!({ "agent": "a", "task": "t", "deadline": "4h" })), [""; 0]);
    for (step, fault) in [
        (json!({ "agent": "a", "task": "t", "cases": {} }), "'cases'"),
        (json!({ "agent": "a", "task": "t", "taks": "t" }), "'taks'"),
        (json!({ "agent": "a" }), "\"task\" is a required property"),
        (json!({ "cron": "* * * * *", "task": "t" }), "'task'"),
        (json!({ "cron": "* * * *" }), "does not match"),
        (json!({ "question": "q", "choices": { "a": { "lable": "x", "label": "y" } } }), "'lable'"),
        (json!({ "stop": "succeded" }), "is not one of"),
        (json!({ "loop": { "repeat": 0, "steps": [{ "stop": "failed" }] } }), "anyOf"),
    ] {
        let found = faults(step.clone());
        assert_eq!(found.len(), 1, "{step}: {found:?}");
        assert!(found[0].contains(fault), "{step}: {found:?}");
    }
    // Without a kind, the key that is wrong is named, and that a kind is missing.
    assert_eq!(faults(json!({ "agnet": "a" })).len(), 2);
}

fn reaches_one_of(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.iter().any(|(key, value)| (key == "oneOf" && value.is_array()) || reaches_one_of(value))
        }
        Value::Array(items) => items.iter().any(reaches_one_of),
        _ => false,
    }
}

#[test]
fn the_schemas_discriminate_without_one_of_and_explain_every_key() {
    for schema in [grammar::json_schema(), grammar::agent_schema()] {
        assert!(!reaches_one_of(&schema));
        let text = schema.to_string();
        assert!(!text.contains("\"$ref\":\"http"), "nothing is fetched");
        for word in text.split("\"$ref\":\"#/$defs/").skip(1) {
            let name = word.split('"').next().unwrap();
            assert!(schema["$defs"].get(name).is_some(), "`{name}` is defined");
        }
    }
    let workflow = grammar::json_schema();
    let task = &workflow["$defs"]["agent"]["properties"]["task"];
    assert_eq!(task["description"], "What the agent is to do");
    assert_eq!(task["markdownDescription"], "What the agent is to do.\n\nHolds: text with bindings.");
    assert_eq!(workflow["$defs"]["agent"]["properties"]["max_revisions"]["default"], 5);
    assert_eq!(workflow["$defs"]["cron"]["additionalProperties"], false);
}

/// To write a default out changes nothing.
#[test]
fn defaults_are_what_the_compiler_takes() {
    let schema = grammar::json_schema();
    let digest = |text: &str| {
        let main = MainDocument {
            name: "x.yaml".into(),
            package_path: "x.yaml".into(),
            bytes: text.as_bytes().to_vec(),
        };
        let compiled = compile(main, &crate::pages::package(), crate::support::AS_OF);
        compiled.workflow.unwrap_or_else(|| panic!("{text}\n{:?}", compiled.diagnostics)).digest().to_string()
    };
    let head = "kind: workflow\nversion: 1\nname: x\n";
    let stop = "  - stop: succeeded\n";
    // The document with a mark where the map of the context has a line more.
    let places = [
        ("document", format!("{head}@steps:\n{stop}")),
        ("cron", format!("{head}steps:\n  - cron: \"@daily\"\n    timezone: UTC\n    @")),
        (
            "question",
            format!("{head}steps:\n  - question: q\n    choices: {{ a: A, b: B }}\n    deadline: 1h\n    @"),
        ),
        ("agent", format!("{head}steps:\n  - agent: worker\n    task: t\n    @")),
        (
            "gate_human",
            format!(
                "{head}steps:\n  - agent: worker\n    task: t\n    completion: reviewed\n    review:\n      - human: h\n        deadline: 1h\n        @"
            ),
        ),
        (
            "loop_body",
            format!(
                "{head}steps:\n  - loop:\n      repeat: 3\n      deadline: 1h\n      steps:\n        - agent: worker\n          task: t\n      @"
            ),
        ),
        (
            "choice",
            format!(
                "{head}steps:\n  - question: q\n    choices:\n      b: B\n      a:\n        label: A\n        @"
            ),
        ),
        (
            "steps_transition",
            format!(
                "{head}steps:\n  - question: q\n    choices:\n      b: B\n      a:\n        label: A\n        then:\n          steps:\n            - agent: worker\n              task: t\n          @"
            ),
        ),
    ];
    let mut count = 0;
    for (context, text) in places {
        let without = digest(&text.replace('@', "").replace("\"daily\"", "\"@daily\""));
        let properties = match context {
            "document" => &schema["properties"],
            other => &schema["$defs"][other]["properties"],
        };
        for (key, property) in properties.as_object().unwrap() {
            let Some(default) = property.get("default") else { continue };
            let line = format!("{key}: {default}\n");
            let with = text.replace("\"@daily\"", "\"\u{0}daily\"").replace('@', &line).replace('\u{0}', "@");
            assert_eq!(digest(&with), without, "{context}.{key}");
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}
