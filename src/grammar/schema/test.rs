//! The schema of test files, for editors: keys, their words, and what a step takes. A test holds it against the reader.

use super::{by_key, document, duration, reference};
use serde_json::{Map, Value, json};

/// A key, what it holds, what it is for.
type Row = (&'static str, Value, &'static str);

const STATUSES: [&str; 11] = [
    "completed",
    "failed",
    "cancelled",
    "cancelling",
    "needs_attention",
    "paused",
    "awaiting_answer",
    "awaiting_review",
    "waiting_for_schedule",
    "agent_running",
    "waiting",
];

/// The schema of a test file.
#[must_use]
pub fn test_schema() -> Value {
    let mut defs = Map::new();
    defs.insert("duration".to_owned(), duration());
    defs.insert("instant".to_owned(), instant());
    defs.insert("case".to_owned(), case());
    defs.insert("step".to_owned(), step());
    defs.insert("expect".to_owned(), expect());
    defs.insert("decision".to_owned(), decision("accept", &[], &[]));
    defs.insert("refused".to_owned(), json!({ "anyOf": [{ "const": true }, text()] }));
    let root = map(
        "Cases of a workflow, played by `flowright test`",
        vec![
            ("kind", json!({ "const": "test" }), "What the file is"),
            ("version", json!({ "const": 1 }), "The version of its form"),
            ("workflow", text(), "The workflow, from the folder of the file; without it the file beside it"),
            ("description", text(), "For people"),
            ("owner", text(), "Who owns the sessions, and acts where no `as` is written"),
            ("people", json!({ "type": "object", "additionalProperties": texts() }), "Names and their roles"),
            ("inputs", json!({ "type": "object" }), "Inputs of every case"),
            ("start_at", reference("instant"), "When every case begins"),
            ("cases", json!({ "type": "array", "minItems": 1, "items": reference("case") }), "The cases"),
        ],
        &["kind", "version", "cases"],
    );
    document("Flowright test", root, defs)
}

fn case() -> Value {
    map(
        "One session that is played through",
        vec![
            ("name", text(), "Its name, of its own"),
            ("description", text(), "For people"),
            ("inputs", json!({ "type": "object" }), "Over those of the file"),
            ("start_at", reference("instant"), "Instead of that of the file"),
            ("steps", json!({ "type": "array", "items": reference("step") }), "What happens, in order"),
            ("expect", reference("expect"), "What holds at the end"),
        ],
        &["name"],
    )
}

fn expect() -> Value {
    let mut schema = map(
        "What must hold; what is not written is not looked at",
        vec![
            ("status", json!({ "enum": STATUSES }), "Where the session stands"),
            ("waits_for", text(), "The step that is open, or the agent at work"),
            ("visits", texts(), "All visits so far in order, loops left out"),
            ("never", texts(), "Steps that have not been visited"),
            ("outputs", json!({ "type": "object" }), "Declared outputs at the end"),
            ("reason", text(), "Part of why it ended or is held"),
            ("asks", text(), "Part of what the person reads that is waited for"),
            ("task", text(), "Part of the task of the agent at work"),
            ("given", json!({ "type": "object" }), "What the agent at work is given"),
            ("revision", number(), "The newest candidate of the open step"),
            ("wakes_at", reference("instant"), "When the session must be looked at again"),
        ],
        &[],
    );
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("minProperties".to_owned(), json!(1));
    }
    schema
}

fn step() -> Value {
    let alone = |rows: Vec<Row>| {
        let required: Vec<&'static str> = rows.iter().map(|(key, ..)| *key).take(1).collect();
        let mut rows = rows;
        rows.push(("refused", reference("refused"), "It must be refused, for a reason that holds this text"));
        map("A step", rows, &required)
    };
    let operate = |key: &'static str, reason: bool| {
        let mut rows = vec![("as", text(), "Who")];
        if reason {
            rows.push(("reason", text(), "Why"));
        }
        let holds = json!({ "anyOf": [{ "type": "null" }, map("Who does it", rows, &[])] });
        (key, alone(vec![(key, holds, "A person does it with the whole session")]))
    };
    let decide = |key: &'static str, holds: Value, doc: &'static str| (key, alone(vec![(key, holds, doc)]));
    let branches = vec![
        ("agent", agent()),
        ("expect", map("A look", vec![("expect", reference("expect"), "Where it stands")], &["expect"])),
        ("answer", alone(vec![("answer", answer(), "A person answers a question")])),
        decide("accept", reference("decision"), "A person accepts the candidate"),
        decide(
            "reject",
            decision("reject", &[("feedback", "What to change")], &["feedback"]),
            "A person asks for a correction",
        ),
        decide("abort", decision("abort", &[("reason", "Why")], &[]), "A person gives the stage up"),
        ("message", alone(vec![("message", message(), "A person speaks to an agent")])),
        ("advance", alone(vec![("advance", reference("duration"), "Time passes")])),
        ("until", alone(vec![("until", reference("instant"), "Time passes, to an instant")])),
        ("down", alone(vec![("down", reference("duration"), "Time passes while nobody is there")])),
        operate("pause", false),
        operate("resume", false),
        operate("retry", false),
        operate("cancel", true),
    ];
    let names: Vec<&str> = branches.iter().map(|(name, _)| *name).collect();
    let otherwise =
        json!({ "anyOf": names.iter().map(|name| json!({ "required": [name] })).collect::<Vec<_>>() });
    json!({
        "if": { "type": "string" },
        "then": { "enum": ["pause", "resume", "retry", "cancel"] },
        "else": by_key(branches.into_iter(), otherwise),
    })
}

fn agent() -> Value {
    let submit =
        map("A result", vec![("summary", text(), "Its words"), ("result", json!({}), "The result")], &[]);
    let mut schema = map(
        "The agent at work replies",
        vec![
            ("agent", text(), "Its slug, or the step that it works at"),
            ("submit", submit, "It submits a result"),
            ("judge", json!({ "enum": ["accept", "reject"] }), "It judges a candidate"),
            ("feedback", text(), "Beside `judge`: what to change"),
            ("block", text(), "It needs something from outside"),
            ("fail", text(), "It cannot be done"),
            ("say", text(), "It answers without a submission"),
            ("crash", text(), "Its model gives no answer"),
            ("refused", reference("refused"), "It must be refused, for a reason that holds this text"),
        ],
        &["agent"],
    );
    let acts = ["submit", "judge", "block", "fail", "say", "crash"];
    let one: Vec<Value> = acts.iter().map(|act| json!({ "required": [act] })).collect();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("oneOf".to_owned(), Value::Array(one));
        schema.insert("dependentRequired".to_owned(), json!({ "feedback": ["judge"] }));
    }
    schema
}

fn answer() -> Value {
    let rows = vec![
        ("step", text(), "The question"),
        ("choice", text(), "The choice"),
        ("feedback", text(), "Free text"),
        ("as", text(), "Who"),
    ];
    map("An answer", rows, &["choice"])
}

fn message() -> Value {
    map(
        "Words to an agent",
        vec![("to", text(), "The agent"), ("text", text(), "The words")],
        &["to", "text"],
    )
}

/// A decision at a gate; one that needs no more than the step is also written as its name.
fn decision(word: &str, more: &[(&'static str, &'static str)], required: &[&'static str]) -> Value {
    let mut rows = vec![
        ("step", text(), "The stage"),
        ("as", text(), "Who"),
        ("revision", number(), "Which candidate; the one under review without it"),
        ("gate", number(), "Which gate, from 1; the open one without it"),
    ];
    rows.extend(more.iter().map(|(key, doc)| (*key, text(), *doc)));
    let whole = map(&format!("To {word}"), rows, required);
    if required.is_empty() { json!({ "if": { "type": "string" }, "else": whole }) } else { whole }
}

fn map(doc: &str, rows: Vec<Row>, required: &[&str]) -> Value {
    let properties: Map<String, Value> = rows
        .into_iter()
        .map(|(key, mut holds, doc)| {
            if let Some(holds) = holds.as_object_mut() {
                holds.insert("description".to_owned(), json!(doc));
            }
            (key.to_owned(), holds)
        })
        .collect();
    let mut out = json!({
        "description": doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(out) = out.as_object_mut().filter(|_| !required.is_empty()) {
        out.insert("required".to_owned(), json!(required));
    }
    out
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn number() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
}

fn instant() -> Value {
    json!({
        "type": "string",
        "pattern": "^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$",
        "patternErrorMessage": "an instant such as `2026-01-31T09:00:00Z`",
    })
}
