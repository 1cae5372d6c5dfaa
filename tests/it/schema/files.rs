//! Schemas that refer to files of the package: brought in, judged at their own places, frozen whole; everything else
//! refused at the reference.

use crate::pages::package;
use crate::support::AS_OF;
use flowright::compile::{Compiled, MainDocument, Memory, compile, compile_agent_in};

const PLAN: &str = r##"{
  "$id": "https://example.org/plan.json",
  "type": "object",
  "required": ["plan", "parts"],
  "additionalProperties": false,
  "properties": {
    "plan": { "$ref": "#text" },
    "parts": { "type": "array", "minItems": 1, "items": { "$ref": "part.yaml#/$defs/part" } }
  },
  "$defs": { "t": { "$anchor": "text", "type": "string" } }
}"##;
const PART: &str = "$defs:
  part:
    $anchor: text
    type: object
    required: [name]
    properties:
      name: { type: string, enum: [a, b] }
      inner: { type: array, items: { $ref: '#text' } }
      whole: { $ref: plan.json }
";

fn files() -> Memory {
    package().with("schemas/plan.json", PLAN).with("schemas/part.yaml", PART)
}

fn flow(result: &str, rest: &str) -> String {
    format!(
        "kind: workflow\nversion: 1\nname: example\nsteps:\n  - id: plan\n    agent: worker\n    task: Plan it.\n    \
         result: {result}\n    on_failed: {{ stop: failed }}\n    on_blocked: {{ stop: failed }}\n    on_deadline: {{ \
         stop: failed }}\n    on_exhausted: {{ stop: failed }}\n{rest}"
    )
}

fn run(text: &str, files: &Memory) -> Compiled {
    let main = MainDocument {
        name: "flow.yaml".to_owned(),
        package_path: "flow.yaml".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    compile(main, files, AS_OF)
}

/// `rule file:text-at-the-place` of each finding.
fn told(compiled: &Compiled) -> Vec<String> {
    let place = |span: flowright::source::Span| {
        let source = compiled.sources.get(span.file).unwrap();
        format!("{}:{}", source.name(), source.slice(span))
    };
    let found = compiled.diagnostics.iter();
    found
        .map(|found| {
            let labels: Vec<_> = found.labels.iter().map(|label| place(label.span)).collect();
            format!("{} {} {} {labels:?}", found.rule.name, place(found.span), found.message)
        })
        .collect()
}

#[test]
fn a_schema_file_is_brought_in_and_frozen_whole() {
    let rest = "  - agent: worker\n    task: Do ${{ steps.plan.result.parts[0].name }}.\n    with:\n      plan: ${{ \
                steps.plan.result.plan }}\n";
    let compiled = run(&flow("{ $ref: ./schemas/plan.json }", rest), &files());
    assert_eq!(told(&compiled), Vec::<String>::new());
    let frozen = String::from_utf8(compiled.workflow.unwrap().to_bytes()).unwrap();
    let references = frozen.split("\"$ref\":\"").skip(1);
    assert!(
        references.clone().count() >= 4 && references.into_iter().all(|rest| rest.starts_with("#/$defs/")),
        "{frozen}"
    );
    let result = frozen_result(&frozen);
    let schema = flowright::schema::Schema::compile(&result).unwrap_or_else(|faults| panic!("{faults:?}"));
    let good = serde_json::json!({ "plan": "p", "parts": [{ "name": "a", "inner": [{ "name": "b" }] }] });
    assert_eq!(schema.validate(&good), []);
    let bad = serde_json::json!({
        "plan": 1,
        "parts": [{ "name": "c", "inner": [{}], "whole": { "plan": "x", "parts": [] } }]
    });
    let places: Vec<_> = schema.validate(&bad).into_iter().map(|found| found.pointer.join("/")).collect();
    assert_eq!(places, ["plan", "parts/0/name", "parts/0/inner/0", "parts/0/whole/parts"]);
}

fn frozen_result(frozen: &str) -> serde_json::Value {
    fn find(value: &serde_json::Value) -> Option<serde_json::Value> {
        match value {
            serde_json::Value::Object(map) => {
                match map.get("result").filter(|result| result.get("$defs").is_some()) {
                    Some(result) => Some(result.clone()),
                    None => map.values().find_map(find),
                }
            }
            serde_json::Value::Array(items) => items.iter().find_map(find),
            _ => None,
        }
    }
    find(&serde_json::from_str(frozen).unwrap()).unwrap()
}

#[test]
fn bindings_are_checked_against_the_file() {
    let rest = "  - agent: worker\n    task: Do ${{ steps.plan.result.parts[0].nam }}.\n";
    let compiled = run(&flow("{ $ref: ./schemas/plan.json }", rest), &files());
    assert_eq!(told(&compiled), ["unknown-field flow.yaml:nam the schema declares no `nam` []"]);
}

#[test]
fn every_other_reference_is_refused_where_it_stands() {
    let table = [
        (
            "../plan.json",
            "refused-path flow.yaml:../plan.json the file `../plan.json` is not read: `..` is refused",
        ),
        (
            "/etc/plan.json",
            "refused-path flow.yaml:/etc/plan.json the file `/etc/plan.json` is not read: it is an absolute",
        ),
        ("https://example.org/plan.json", "refused-path flow.yaml:https://example.org/plan.json"),
        ("file:///plan.json", "refused-path flow.yaml:file:///plan.json"),
        (
            "./schemas/paln.json",
            "missing-schema flow.yaml:./schemas/paln.json there is no file `./schemas/paln.json`",
        ),
        (
            "./schemas/plan.json#/$defs/x",
            "invalid-schema flow.yaml:./schemas/plan.json#/$defs/x `#/$defs/x` points to nothing in `schemas/plan.json`",
        ),
        ("./schemas", "missing-schema flow.yaml:./schemas"),
    ];
    for (reference, words) in table {
        let compiled = run(&flow(&format!("{{ $ref: '{reference}' }}"), ""), &files());
        let told: Vec<_> =
            told(&compiled).into_iter().map(|line| line.replace(":'", ":").replace("' ", " ")).collect();
        assert_eq!(told.len(), 1, "{reference}: {told:?}");
        assert!(told[0].starts_with(words), "{reference}: {}", told[0]);
        assert!(compiled.workflow.is_none());
    }
    let compiled = run(&flow("{ $ref: ./schemas/paln.json }", ""), &files());
    let fix = compiled.diagnostics[0].fix.as_ref().unwrap();
    assert_eq!(fix.edits[0].text, "./schemas/plan.json");
}

#[test]
fn faults_of_a_file_are_told_in_the_file() {
    let files = files().with(
        "schemas/bad.json",
        r#"{ "type": "object", "required": ["a"], "properties": { "a": { "type": "strng" } } }"#,
    );
    let compiled = run(&flow("{ $ref: schemas/bad.json }", ""), &files);
    assert_eq!(
        told(&compiled),
        [r#"invalid-schema schemas/bad.json:"strng" `strng` is no type ["flow.yaml:schemas/bad.json"]"#]
    );
    let edit = &compiled.diagnostics[0].fix.as_ref().unwrap().edits[0];
    assert_eq!(
        (compiled.sources.get(edit.span.file).unwrap().slice(edit.span), edit.text.as_str()),
        ("strng", "string")
    );
    let files = files.with("schemas/bad.json", "{ \"type\": ");
    let compiled = run(&flow("{ $ref: schemas/bad.json }", ""), &files);
    assert!(told(&compiled).iter().all(|line| line.contains("schemas/bad.json:")), "{:?}", told(&compiled));
    assert!(!told(&compiled).is_empty());
    let files = files
        .with("schemas/bad.json", r#"{ "$ref": "circle.json" }"#)
        .with("schemas/circle.json", r#"{ "$ref": "bad.json" }"#);
    let compiled = run(&flow("{ $ref: schemas/bad.json }", ""), &files);
    assert!(
        told(&compiled).iter().any(|line| line.contains("leads back to itself")),
        "{:?}",
        told(&compiled)
    );
    assert!(told(&compiled).iter().all(|line| line.starts_with("invalid-schema")), "{:?}", told(&compiled));
}

#[test]
fn inputs_of_workflows_and_agents_refer_to_files_too() {
    let agent = r#"{ "slug": "typed", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "qwen3:4b",
  "modelUrl": "http://localhost:11434/v1", "apiKeyId": "local", "systemPrompt": ["You work."], "inputs": { "$ref": "./schemas/plan.json" } }"#;
    let files = files().with("agents/typed.json", agent);
    let text = "kind: workflow\nversion: 1\nname: example\ninputs:\n  part: { $ref: './schemas/part.yaml#/$defs/part' }\n\
                steps:\n  - agent: typed\n    task: Do ${{ inputs.part.name }}.\n    with:\n      plan: a\n      parst: []\n";
    let compiled = run(text, &files);
    let told = told(&compiled);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("misfit-input flow.yaml:parst the agent `typed` takes no input `parst`"),
        "{told:?}"
    );
    let main = MainDocument {
        name: "agents/typed.json".to_owned(),
        package_path: "agents/typed.json".to_owned(),
        bytes: agent.replace("plan.json", "paln.json").into_bytes(),
    };
    let alone = compile_agent_in(main, &files);
    assert!(
        alone.diagnostics.iter().any(|found| found.rule.name == "missing-schema"),
        "{:?}",
        alone.diagnostics
    );
}
