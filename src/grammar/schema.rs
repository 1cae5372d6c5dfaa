//! JSON Schema (draft 2020-12) of workflow and agent files, for editors. A map that has kinds is told apart by the
//! key, or the `tag`, that says its kind, so an editor offers and explains only what belongs there. What a schema
//! cannot see (what a binding names, whether a path ends) it does not try.

mod agent;
mod defaults;
mod meta;
mod shapes;
mod test;

use super::{CONTEXTS, Context, DOCUMENT, GUARANTEE, KINDS, Key, STEP};
use serde_json::{Map, Value, json};
use shapes::property;

pub use agent::agent_schema;
pub use test::test_schema;

const META: &str = "https://json-schema.org/draft/2020-12/schema";
/// The first context of agent files; those before it are of workflows.
const FIRST_OF_AGENTS: &str = "agent_file";

/// The schema of a workflow document.
#[must_use]
pub fn json_schema() -> Value {
    let mut defs = Map::new();
    let own = CONTEXTS.iter().take_while(|context| context.name != FIRST_OF_AGENTS);
    for context in own.filter(|context| ![DOCUMENT.name, STEP.name, GUARANTEE.name].contains(&context.name)) {
        let is_step = KINDS.iter().any(|kind| kind.name == context.name);
        let shared = if is_step { STEP.keys } else { &[] };
        defs.insert(context.name.to_owned(), object(context, shared));
    }
    defs.insert("step".to_owned(), step());
    defs.insert("gate".to_owned(), gate());
    defs.insert("guarantee".to_owned(), guarantee());
    defs.insert("transition".to_owned(), transition());
    defs.insert("duration".to_owned(), duration());
    defs.insert("binding".to_owned(), binding());
    defs.insert("json_schema".to_owned(), meta::json_schema());
    document("Flowright workflow", object(&DOCUMENT, &[]), defs)
}

/// The whole of a schema: head, root, definitions.
fn document(title: &str, root: Value, defs: Map<String, Value>) -> Value {
    let mut out = Map::new();
    out.insert("$schema".to_owned(), json!(META));
    out.extend(root.as_object().cloned().unwrap_or_default());
    out.insert("title".to_owned(), json!(title));
    out.insert("$defs".to_owned(), Value::Object(defs));
    Value::Object(out)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A map with the keys of a context and some that it shares with others, and no more.
fn object(context: &Context, shared: &[Key]) -> Value {
    let keys = || shared.iter().chain(context.keys);
    let required: Vec<&str> = keys().filter(|key| key.required).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        keys().map(|key| (key.name.to_owned(), property(context, key))).collect();
    let mut out = json!({
        "title": context.name,
        "description": context.doc.trim(),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(out) = out.as_object_mut().filter(|_| !required.is_empty()) {
        out.insert("required".to_owned(), json!(required));
    }
    out
}

/// The first schema whose key is there, else `otherwise`.
fn by_key<'a>(branches: impl DoubleEndedIterator<Item = (&'a str, Value)>, otherwise: Value) -> Value {
    branches.rev().fold(
        otherwise,
        |otherwise, (key, then)| json!({ "if": { "required": [key] }, "then": then, "else": otherwise }),
    )
}

/// A map in which none of the keys that say its kind is there yet: it offers them and is refused.
fn undecided(title: &str, keys: &[&str], properties: Map<String, Value>) -> Value {
    let any: Vec<Value> = keys.iter().map(|key| json!({ "required": [key] })).collect();
    json!({
        "title": title,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "anyOf": any,
    })
}

fn step() -> Value {
    let mut properties: Map<String, Value> =
        STEP.keys.iter().map(|key| (key.name.to_owned(), property(&STEP, key))).collect();
    for kind in KINDS {
        if let Some(key) = kind.key(kind.name) {
            let mut value = property(kind, key);
            shapes::describe(&mut value, &format!("{}: {}", kind.doc.trim(), lower_first(key.doc)), "");
            properties.insert(kind.name.to_owned(), value);
        }
    }
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let branches = KINDS.iter().map(|kind| (kind.name, reference(kind.name)));
    by_key(branches, undecided("step", &names, properties))
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

fn gate() -> Value {
    let kinds = [("human", &super::GATE_HUMAN), ("agent", &super::GATE_AGENT)];
    let properties = kinds
        .iter()
        .filter_map(|(name, context)| Some(((*name).to_owned(), property(context, context.key(name)?))))
        .collect();
    let branches = kinds.iter().map(|(name, context)| (*name, reference(context.name)));
    by_key(branches, undecided("gate", &["human", "agent"], properties))
}

/// Which keys a guarantee has follows from the one that says what is promised.
fn guarantee() -> Value {
    let with = |own: &[&str], required: &[&str]| {
        let own = own.iter().filter_map(|name| GUARANTEE.key(name));
        let properties: Map<String, Value> =
            own.map(|key| (key.name.to_owned(), property(&GUARANTEE, key))).collect();
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })
    };
    let kinds = ["accepted", "answered", "agent_runs_between_waits"];
    let branches = [
        ("accepted", with(&["before", "accepted", "by"], &["before", "accepted"])),
        ("answered", with(&["before", "answered", "choice"], &["before", "answered", "choice"])),
        ("agent_runs_between_waits", with(&["agent_runs_between_waits"], &[])),
    ];
    let all = GUARANTEE.keys.iter().filter(|key| !["by", "choice"].contains(&key.name));
    let properties = all.map(|key| (key.name.to_owned(), property(&GUARANTEE, key))).collect();
    let mut out = by_key(branches.into_iter(), undecided("guarantee", &kinds, properties));
    shapes::describe(&mut out, GUARANTEE.doc.trim(), "");
    out
}

fn transition() -> Value {
    let contexts = [("stop", &super::STOP_TRANSITION), ("steps", &super::STEPS_TRANSITION)];
    let properties = contexts
        .iter()
        .filter_map(|(name, context)| Some(((*name).to_owned(), property(context, context.key(name)?))))
        .collect();
    let branches = contexts.iter().map(|(name, context)| (*name, reference(context.name)));
    json!({
        "examples": shapes::TRANSITIONS,
        "if": { "type": "object" },
        "then": by_key(branches, undecided("transition", &["stop", "steps"], properties)),
        "else": {
            "enum": shapes::TRANSITIONS,
            "markdownEnumDescriptions": [
                "To the next step",
                "Out of the innermost loop",
                "To the next iteration of the innermost loop",
                "Nowhere: the session needs attention, and a person retries, resumes or cancels",
            ],
        },
    })
}

fn duration() -> Value {
    json!({
        "type": "string",
        "pattern": concat!(
            "^(?=.*[1-9])(P(?=.)(\\d+W)?(\\d+D)?(T(?=.)(\\d+H)?(\\d+M)?(\\d+S)?)?",
            "|(?=.)(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?)$",
        ),
        "patternErrorMessage": "a duration such as `90s`, `15m`, `2h30m`, `3d` or `PT2H`",
        "examples": ["90s", "15m", "2h30m", "3d", "PT2H"],
    })
}

fn binding() -> Value {
    json!({
        "type": "string",
        "pattern": "^\\s*\\$\\{\\{[^}]*\\}\\}\\s*$",
        "patternErrorMessage": "exactly one binding, such as `${{ inputs.name }}`",
        "examples": ["${{ inputs.name }}"],
    })
}
