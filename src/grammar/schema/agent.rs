//! The schema of agent files. Null counts there as not written, and keys that begin with `--` are comments.

use super::{document, meta, object, reference, shapes};
use crate::grammar::boxes::SQLITE_TOOLBOX;
use crate::grammar::{AGENT_FILE, CONTEXTS, Context, DECORATOR, DISPOSITION, ISOLATION, Shape};
use serde_json::{Map, Value, json};

/// For each tag the keys that belong to it, and whether each must be there.
type Tags = &'static [(&'static str, &'static [(&'static str, bool)])];

const DISPOSITIONS: Tags = &[
    ("runSync", &[]),
    ("runAsync", &[]),
    ("defer", &[("reason", false)]),
    ("deny", &[("reason", false)]),
    ("runIsolated", &[("spec", true)]),
    ("decorate", &[("decorators", true), ("inner", true)]),
];

const ISOLATIONS: Tags = &[
    ("docker", &[("image", true)]),
    ("localProcess", &[("path", true)]),
    ("functionRunner", &[("target", true)]),
];

const DECORATORS: Tags = &[
    ("timeout", &[("seconds", true)]),
    ("retries", &[("count", true)]),
    ("cache", &[("key", false)]),
    ("label", &[("label", true)]),
    ("truncate", &[("maxBytes", true)]),
];

/// The schema of an agent file in JSON, bare or wrapped in a `tag`.
#[must_use]
pub fn agent_schema() -> Value {
    let mut defs = Map::new();
    for context in CONTEXTS.iter().skip_while(|context| context.name != AGENT_FILE.name) {
        let tags = [(&DISPOSITION, DISPOSITIONS), (&ISOLATION, ISOLATIONS), (&DECORATOR, DECORATORS)];
        let tags = tags.into_iter().find(|(tagged, _)| tagged.name == context.name);
        let schema = tags.map_or_else(|| of_context(context), |(_, tags)| by_tag(context, tags));
        defs.insert(context.name.to_owned(), schema);
    }
    if let Some(file) = defs.get_mut("agent_file").and_then(Value::as_object_mut) {
        // Only Markdown has its prompt elsewhere.
        let required = file.get_mut("required").and_then(Value::as_array_mut);
        if let Some(required) = required.filter(|required| !required.contains(&json!("systemPrompt"))) {
            required.push(json!("systemPrompt"));
        }
    }
    defs.insert("json_schema".to_owned(), meta::json_schema());
    let root = json!({
        "type": "object",
        "if": { "required": ["tag", "contents"] },
        "then": {
            "properties": { "tag": { "const": "OpenAIAgentDescription" }, "contents": reference("agent_file") },
        },
        "else": reference("agent_file"),
    });
    document("Flowright agent", root, defs)
}

/// A map of a context: what its `contents` hold its `tag` says, and either spelling of a key will do.
fn of_context(context: &Context) -> Value {
    let mut out = object(context, &[]);
    let Some(map) = out.as_object_mut() else { return out };
    let either =
        |name: &str| Some(json!([{ "required": [name] }, { "required": [context.other_spelling(name)?] }]));
    let names: Vec<&str> = context.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let alternatives: Vec<Value> = names.iter().filter_map(|name| either(name)).collect();
    if let Some(Value::Array(required)) = map.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| context.other_spelling(name).is_none()));
        if required.is_empty() {
            map.remove("required");
        }
    }
    let mut all: Vec<Value> = alternatives.into_iter().map(|either| json!({ "anyOf": either })).collect();
    if let Some(Shape::ByTag(kinds)) = context.key("contents").map(|key| key.shape) {
        all.extend(kinds.iter().map(|(tag, shape)| {
            let says = json!({ "properties": { "tag": { "const": tag } }, "required": ["tag"] });
            json!({ "if": says, "then": { "properties": { "contents": shapes::bare(*shape) } } })
        }));
    }
    if context.name == SQLITE_TOOLBOX.name {
        let names = ["Versioning", "versioning", "Path", "path"];
        all.push(json!({ "anyOf": names.map(|name| json!({ "required": [name] })) }));
    }
    if !all.is_empty() {
        map.insert("allOf".to_owned(), json!(all));
    }
    lenient(out)
}

/// Takes comments, and null for what need not be there.
fn lenient(mut object: Value) -> Value {
    let required = object.get("required").cloned().unwrap_or_default();
    let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, value) in properties.iter_mut().filter(|(name, _)| !required.contains(&name.as_str())) {
            debug_assert!(!name.is_empty(), "keys have names");
            nullable(value);
        }
    }
    if let Some(object) = object.as_object_mut() {
        object.insert("patternProperties".to_owned(), json!({ "^--": true }));
    }
    object
}

fn nullable(value: &mut Value) {
    let Some(schema) = value.as_object_mut() else { return };
    let documentation = ["description", "markdownDescription", "default"];
    if schema.keys().all(|key| documentation.contains(&key.as_str())) {
        return;
    }
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    } else if let (Some(name), false) = (schema.get("type").cloned(), schema.contains_key("$ref")) {
        let mut names = name.as_array().cloned().unwrap_or_else(|| vec![name]);
        names.push(json!("null"));
        schema.insert("type".to_owned(), Value::Array(names));
    } else {
        let (kept, moved): (Map<_, _>, Map<_, _>) =
            std::mem::take(schema).into_iter().partition(|(key, _)| documentation.contains(&key.as_str()));
        *schema = kept;
        schema.insert("anyOf".to_owned(), json!([moved, { "type": "null" }]));
    }
}

/// A map whose `tag` says which keys belong to it.
fn by_tag(context: &Context, tags: Tags) -> Value {
    let with = |own: &[(&str, bool)]| {
        let mut properties = Map::new();
        for key in context
            .keys
            .iter()
            .filter(|key| key.name == "tag" || own.iter().any(|(name, _)| *name == key.name))
        {
            let mut value = shapes::property(context, key);
            let is_required = key.name == "tag" || own.iter().any(|(name, must)| *name == key.name && *must);
            if !is_required {
                nullable(&mut value);
            }
            properties.insert(key.name.to_owned(), value);
        }
        let required: Vec<&str> = own.iter().filter(|(_, must)| *must).map(|(name, _)| *name).collect();
        let required = [&["tag"], required.as_slice()].concat();
        json!({
            "type": "object",
            "properties": properties,
            "patternProperties": { "^--": true },
            "additionalProperties": false,
            "required": required,
        })
    };
    let mut out = with(&[]);
    for (tag, own) in tags.iter().rev() {
        let says = json!({ "properties": { "tag": { "const": tag } }, "required": ["tag"] });
        out = json!({ "if": says, "then": with(own), "else": out });
    }
    shapes::describe(&mut out, context.doc.trim(), "");
    out
}
