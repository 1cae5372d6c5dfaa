//! What a key holds, as a schema with its documentation.

use super::defaults::default_of;
use super::{META, reference};
use crate::grammar::print::holds;
use crate::grammar::{Context, Key, MAX_REPEAT, Shape};
use serde_json::{Value, json};

/// Names that can stand in the path of a binding.
const IDENTIFIER: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";

/// The transitions that are a word. As examples they are offered where an editor does not look behind an `if`.
pub(super) const TRANSITIONS: [&str; 4] = ["continue", "break", "next", "hold"];

/// A key of a context: its shape, documentation and default.
pub(super) fn property(context: &Context, key: &Key) -> Value {
    let mut value = shape(key);
    let default = default_of(context.name, key.name);
    let tail = match &default {
        Some(default) => format!("Holds: {}. Without it: `{default}`.", holds(key.shape)),
        None => format!("Holds: {}.", holds(key.shape)),
    };
    describe(&mut value, key.doc, &tail);
    if let (Some(value), Some(default)) = (value.as_object_mut(), default) {
        value.insert("default".to_owned(), default);
    }
    value
}

/// Adds the documentation, once for every reader and once for those that show Markdown.
pub(super) fn describe(value: &mut Value, doc: &str, tail: &str) {
    let Some(value) = value.as_object_mut() else { return };
    value.insert("description".to_owned(), json!(doc));
    let markdown = if tail.is_empty() { format!("{doc}.") } else { format!("{doc}.\n\n{tail}") };
    value.insert("markdownDescription".to_owned(), json!(markdown));
}

/// A shape without the documentation of a key.
pub(super) fn bare(of: Shape) -> Value {
    shape(&Key { name: "", shape: of, required: false, doc: "" })
}

fn shape(key: &Key) -> Value {
    match key.shape {
        Shape::Text if key.name == "agent" => json!({ "type": "string", "pattern": "\\S" }),
        Shape::Text if key.name == "cron" => json!({
            "type": "string",
            "pattern": "^\\s*(@[A-Za-z]+|\\S+(\\s+\\S+){4})\\s*$",
            "patternErrorMessage": "five fields (minute, hour, day, month, weekday) or a nickname such as `@hourly`",
            "examples": ["0 9 * * 1-5", "*/15 * * * *", "@hourly"],
        }),
        Shape::Text => json!({ "type": "string" }),
        Shape::Template if key.name == "reason" => json!({ "type": "string" }),
        Shape::Template => json!({ "type": "string", "pattern": "\\S" }),
        Shape::Binding => reference("binding"),
        Shape::Bindings => json!({ "type": "array", "minItems": 1, "items": reference("binding") }),
        Shape::Name => {
            json!({
                "type": "string",
                "maxLength": 64,
                "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
                "patternErrorMessage": "lower-case letters, digits and single hyphens, beginning with a letter",
            })
        }
        Shape::Word([only]) => json!({ "const": only }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Exactly(number) => json!({ "const": number }),
        Shape::Number(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Shape::Duration => reference("duration"),
        Shape::Retention => json!({ "anyOf": [{ "const": "keep" }, reference("duration")] }),
        Shape::Repeat => {
            let times = json!({ "type": "integer", "minimum": 1, "maximum": MAX_REPEAT });
            json!({ "anyOf": [{ "const": "until_stopped" }, times] })
        }
        Shape::Schema => json!({ "$ref": "#/$defs/json_schema", "type": "object" }),
        Shape::Schemas => named(&json!({ "$ref": "#/$defs/json_schema", "type": "object" })),
        Shape::BindingMap => named(&reference("binding")),
        Shape::TextMap => named(&json!({ "type": "string" })),
        Shape::Data => named(&json!(true)),
        Shape::Respondents => json!({ "type": "array", "minItems": 1, "items": {
            "type": "string",
            "pattern": "^(owner|(user|role):.*\\S.*|[\\s\\S]*\\$\\{\\{[\\s\\S]*)$",
            "patternErrorMessage": "`owner`, `user:NAME` or `role:NAME`",
            "examples": ["owner", "user:ada", "role:lead"],
        } }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        // Which of them, the map around says.
        Shape::ByTag(_) => json!({}),
        Shape::TextOrTexts => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Decimal(from, to) => json!({ "type": "number", "minimum": from, "maximum": to }),
        Shape::Any => json!({}),
        Shape::Map(name) => reference(name),
        Shape::List(name) => json!({ "type": "array", "items": reference(name) }),
        Shape::Steps => json!({ "type": "array", "minItems": 1, "items": reference("step") }),
        Shape::Transition => reference("transition"),
        Shape::OnDeadline => {
            let chooses = json!({ "type": "object", "required": ["choose"] });
            json!({
                "examples": TRANSITIONS,
                "if": chooses,
                "then": reference("choose"),
                "else": reference("transition"),
            })
        }
        Shape::Cases => {
            json!({ "type": "object", "minProperties": 1, "additionalProperties": reference("transition") })
        }
        Shape::Choices => json!({
            "type": "object", "minProperties": 1,
            "additionalProperties": {
                "if": { "type": "object" },
                "then": reference("choice"),
                "else": { "type": "string", "pattern": "\\S" },
            },
        }),
        Shape::Gates => json!({ "type": "array", "minItems": 1, "items": reference("gate") }),
        Shape::Disposition => {
            let plain = json!({ "enum": ["runSync", "runAsync", "defer", "deny"] });
            json!({
                "examples": ["runSync"],
                "if": { "type": "object" },
                "then": reference("disposition"),
                "else": plain,
            })
        }
    }
}

fn named(value: &Value) -> Value {
    json!({
        "type": "object", "propertyNames": { "pattern": IDENTIFIER }, "additionalProperties": value,
    })
}

/// The draft that schemas inside a definition follow.
pub(super) fn draft() -> Value {
    json!({ "const": META })
}
