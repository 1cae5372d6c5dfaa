//! JSON Schema of workflow documents, for editors. Steps discriminate on their kind key.

use super::{CONTEXTS, Context, DOCUMENT, KINDS, Key, STEP, Shape};
use serde_json::{Map, Value, json};

const META: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema (draft 2020-12) of a workflow document; `$defs` hold every context, the agent file's included.
#[must_use]
pub fn json_schema() -> Value {
    let mut defs = Map::new();
    for context in CONTEXTS {
        let is_step = context.name == STEP.name || KINDS.iter().any(|kind| kind.name == context.name);
        if !is_step && context.name != DOCUMENT.name {
            defs.insert(context.name.to_owned(), object(context));
        }
    }
    defs.insert("step".to_owned(), step());
    defs.insert("duration".to_owned(), duration());
    defs.insert("binding".to_owned(), json!({ "type": "string", "pattern": "^\\$\\{\\{[^}]*\\}\\}$" }));
    defs.insert("transition".to_owned(), transition());
    defs.insert(
        "gate".to_owned(),
        json!({
            "type": "object",
            "if": { "required": ["human"] },
            "then": reference("gate_human"),
            "else": reference("gate_agent"),
        }),
    );
    let mut root = object(&DOCUMENT);
    if let Some(root) = root.as_object_mut() {
        root.insert("$schema".to_owned(), json!(META));
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    root
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn object(context: &Context) -> Value {
    let required: Vec<&str> = context.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut out = json!({
        "title": context.name,
        "description": context.doc.trim(),
        "type": "object",
        "properties": properties(context.keys.iter()),
        "additionalProperties": false,
    });
    if let Some(out) = out.as_object_mut().filter(|_| !required.is_empty()) {
        out.insert("required".to_owned(), json!(required));
    }
    out
}

fn properties<'a>(keys: impl Iterator<Item = &'a Key>) -> Value {
    keys.map(|key| (key.name.to_owned(), property(key))).collect::<Map<_, _>>().into()
}

fn property(key: &Key) -> Value {
    let mut value = shape(key.shape);
    if let Some(value) = value.as_object_mut() {
        value.insert("description".to_owned(), json!(key.doc));
    }
    value
}

/// Every key of every kind is known; which belong together follows from the kind key that is there.
fn step() -> Value {
    // A key that two kinds share may hold different things in them, so what it holds is said in the branch.
    let mut all = properties(STEP.keys.iter());
    for key in KINDS.iter().flat_map(|kind| kind.keys) {
        if let Some(all) = all.as_object_mut() {
            all.insert(key.name.to_owned(), json!(true));
        }
    }
    let mut branches = Vec::new();
    for kind in KINDS {
        let required: Vec<&str> = kind.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
        let allowed: Vec<&str> = STEP.names().chain(kind.names()).collect();
        branches.push(json!({
            "if": { "required": [kind.name] },
            "then": {
                "title": kind.title,
                "description": kind.doc.trim(),
                "required": required,
                "properties": properties(kind.keys.iter()),
                "propertyNames": { "enum": allowed },
            },
        }));
    }
    json!({
        "title": STEP.name,
        "type": "object",
        "minProperties": 1,
        "properties": all,
        "additionalProperties": false,
        "allOf": branches,
    })
}

fn duration() -> Value {
    json!({
        "type": "string",
        "pattern": "^(P(?=.)(\\d+W)?(\\d+D)?(T(?=.)(\\d+H)?(\\d+M)?(\\d+S)?)?|(?=.)(\\d+d)?(\\d+h)?(\\d+m)?(\\d+s)?)$",
        "examples": ["90s", "15m", "2h30m", "3d", "PT2H"],
    })
}

fn transition() -> Value {
    json!({
        "if": { "type": "object" },
        "then": {
            "if": { "required": ["stop"] },
            "then": reference("stop_transition"),
            "else": reference("steps_transition"),
        },
        "else": { "enum": ["continue", "break", "next", "hold"] },
    })
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text | Shape::Template => json!({ "type": "string" }),
        Shape::Binding => reference("binding"),
        Shape::Bindings => json!({ "type": "array", "minItems": 1, "items": reference("binding") }),
        Shape::Name => {
            json!({ "type": "string", "maxLength": 64, "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$" })
        }
        Shape::Word([only]) => json!({ "const": only }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Exactly(number) => json!({ "const": number }),
        Shape::Number(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Shape::Duration => reference("duration"),
        Shape::Retention => json!({ "anyOf": [{ "const": "keep" }, reference("duration")] }),
        Shape::Repeat => {
            let times = json!({ "type": "integer", "minimum": 1, "maximum": super::MAX_REPEAT });
            json!({ "anyOf": [{ "const": "until_stopped" }, times] })
        }
        Shape::Schema => json!({ "$ref": META }),
        Shape::Schemas => {
            json!({ "type": "object", "additionalProperties": { "$ref": META } })
        }
        Shape::BindingMap => json!({ "type": "object", "additionalProperties": reference("binding") }),
        Shape::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::Data => json!({ "type": "object" }),
        Shape::Respondents | Shape::Texts => {
            json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
        }
        Shape::TextOrTexts => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Decimal(from, to) => json!({ "type": "number", "minimum": from, "maximum": to }),
        Shape::Items => json!({ "type": "array" }),
        Shape::Any => json!({}),
        Shape::Map(name) => reference(name),
        Shape::List(name) => json!({ "type": "array", "items": reference(name) }),
        Shape::Steps => json!({ "type": "array", "minItems": 1, "items": reference("step") }),
        Shape::Transition => reference("transition"),
        Shape::OnDeadline => {
            let chooses = json!({ "type": "object", "required": ["choose"] });
            json!({ "if": chooses, "then": reference("choose"), "else": reference("transition") })
        }
        Shape::Cases => {
            json!({ "type": "object", "minProperties": 1, "additionalProperties": reference("transition") })
        }
        Shape::Choices => json!({
            "type": "object", "minProperties": 1,
            "additionalProperties": {
                "if": { "type": "object" }, "then": reference("choice"), "else": { "type": "string" },
            },
        }),
        Shape::Gates => json!({ "type": "array", "minItems": 1, "items": reference("gate") }),
        Shape::Disposition => {
            let plain = json!({ "enum": ["runSync", "runAsync", "defer", "deny"] });
            json!({ "if": { "type": "object" }, "then": reference("disposition"), "else": plain })
        }
    }
}
