//! Words for people: types of schemas, durations, instants in a zone, lists. Markdown where it says so.

use super::place::Role;
use crate::grammar::{Context, Key, Shape};
use crate::schedule::Schedule;
use crate::schema::Schema;
use crate::time::{Millis, Timestamp};
use serde_json::Value;

/// How deep a type is written out.
const DEPTH: usize = 4;
/// Values and properties of a type that are written out.
const MOST: usize = 12;

/// A schema as the text of a type: `{ plan: string, areas?: string[] }`.
pub(super) fn type_text(schema: &Value) -> String {
    type_within(schema, schema, DEPTH)
}

/// The same of a schema that may be a part of a larger document, from which its references count.
pub(super) fn type_of(schema: &Schema) -> String {
    type_within(schema.document(), schema.target(), DEPTH)
}

fn type_within(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|text| root.pointer(text.strip_prefix('#')?))
        .unwrap_or(schema);
    let Some(left) = depth.checked_sub(1) else { return "…".to_owned() };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return joined(values.iter().map(Value::to_string), " | ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(parts) = schema.get(key).and_then(Value::as_array) {
            return joined(parts.iter().map(|part| type_within(root, part, left)), " | ");
        }
    }
    match schema.get("type") {
        Some(Value::String(kind)) => one_type(root, schema, kind, left),
        Some(Value::Array(kinds)) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            joined(kinds.map(|kind| one_type(root, schema, kind, left)), " | ")
        }
        _ if schema.get("properties").is_some() => one_type(root, schema, "object", left),
        _ => "anything".to_owned(),
    }
}

fn one_type(root: &Value, schema: &Value, kind: &str, left: usize) -> String {
    match kind {
        "array" => match schema.get("items") {
            Some(items) => {
                let inner = type_within(root, items, left);
                if inner.contains(" | ") { format!("({inner})[]") } else { format!("{inner}[]") }
            }
            None => "array".to_owned(),
        },
        "object" => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) if !properties.is_empty() => {
                let fields = properties.iter().map(|(name, part)| {
                    let mark = if is_required(schema, name) { "" } else { "?" };
                    format!("{name}{mark}: {}", type_within(root, part, left))
                });
                format!("{{ {} }}", joined(fields, ", "))
            }
            _ => "object".to_owned(),
        },
        other => other.to_owned(),
    }
}

/// Whether a schema demands a property.
pub(super) fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}

/// The first few, and a mark if there are more.
pub(super) fn joined(words: impl Iterator<Item = String>, between: &str) -> String {
    let mut all: Vec<String> = words.take(MOST + 1).collect();
    if all.len() > MOST {
        all.truncate(MOST);
        all.push("…".to_owned());
    }
    all.join(between)
}

/// Names in code style with commas, the first few.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    joined(names.map(|name| format!("`{name}`")), ", ")
}

/// A duration in words: `2 hours 30 minutes`.
pub(super) fn duration(duration: Millis) -> String {
    let mut rest = duration.0 / 1000;
    let mut words = Vec::new();
    for (name, seconds) in [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)] {
        let count = rest / seconds;
        rest %= seconds;
        if count > 0 {
            words.push(format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
        }
    }
    if words.is_empty() { duration.to_string() } else { words.join(" ") }
}

/// An instant in the zone of a schedule, with its offset.
pub(super) fn local(schedule: &Schedule, at: Timestamp) -> String {
    schedule.local(at).format("%a %Y-%m-%d %H:%M %:z").to_string()
}

/// What a shape holds, in words.
pub(super) fn shape(shape: Shape) -> String {
    let text = match shape {
        Shape::Text => "text",
        Shape::Template => "text, may hold `${{ … }}`",
        Shape::Binding => "one binding, `${{ … }}`",
        Shape::Bindings => "a list of bindings",
        Shape::Name => "a kebab-case name",
        Shape::Word(words) => return format!("one of {}", listed(words.iter().copied())),
        Shape::Exactly(number) => return format!("the number `{number}`"),
        Shape::Number(least, most) => return format!("a whole number from {least} to {most}"),
        Shape::Duration => "a duration: `90s`, `15m`, `2h30m`, `3d` or ISO 8601",
        Shape::Retention => "a duration such as `30d`, or `keep`",
        Shape::Repeat => "`until_stopped` or a number from 1 to 10000",
        Shape::Schema => "a JSON Schema",
        Shape::Schemas => "a map from names to JSON Schemas",
        Shape::BindingMap => "a map from names to bindings",
        Shape::TextMap => "a map from names to texts",
        Shape::Data => "a map from names to any values; texts may hold `${{ … }}`",
        Shape::Respondents => "`owner`, `user:NAME` or `role:NAME`, one or a list",
        Shape::Texts => "a list of texts",
        Shape::TextOrTexts => "a text or a list of texts",
        Shape::Bool => "`true` or `false`",
        Shape::Decimal(least, most) => return format!("a number from {least} to {most}"),
        Shape::Words(words) => return format!("a list of {}", listed(words.iter().copied())),
        Shape::ByTag(_) => "what the `tag` beside it says",
        Shape::Any => "any value, kept as written",
        Shape::Map(_) => "a map",
        Shape::List(_) => "a list of maps",
        Shape::Steps => "a list of steps",
        Shape::Transition => "`continue`, `break`, `next`, `hold`, `{ stop: … }` or `{ steps: … }`",
        Shape::OnDeadline => "a transition or `{ choose: VALUE }`",
        Shape::Cases => "a map from values to transitions",
        Shape::Choices => "a map from values to labels or choices",
        Shape::Gates => "a list of gates",
        Shape::Disposition => "a word such as `runSync`, or a map with a `tag`",
    };
    text.to_owned()
}

/// The doc of a key, Markdown.
pub(super) fn key_doc(context: &Context, key: &Key) -> String {
    let need = if key.required { "required" } else { "optional" };
    let holder = if context.name == key.name {
        format!("makes {}", context.title)
    } else {
        format!("{need} in {}", context.title)
    };
    let mut out = format!("**`{}`** · {holder}\n\n{}.\n\nHolds {}.", key.name, key.doc, shape(key.shape));
    if context.name == key.name {
        out.push_str(&format!("\n\n{}.", context.doc.trim()));
    }
    out
}

/// What a transition or another word of the language means.
pub(super) fn word(role: Role, word: &str) -> Option<&'static str> {
    let shape = role.shape()?;
    if matches!(shape, Shape::Transition | Shape::OnDeadline) {
        return TRANSITIONS.iter().find(|(name, _)| *name == word).map(|(_, doc)| *doc);
    }
    let (Shape::Word(_) | Shape::Disposition | Shape::Repeat | Shape::Retention) = shape else { return None };
    WORDS.iter().find(|(name, _)| *name == word).map(|(_, doc)| *doc)
}

/// The words of transitions.
pub(super) static TRANSITIONS: [(&str, &str); 4] = [
    ("continue", "Goes on with the next step of the list"),
    ("break", "Leaves the innermost loop"),
    ("next", "Begins the next iteration of the innermost loop"),
    ("hold", "Goes nowhere: the session needs attention, and a person retries, resumes or cancels"),
];

static WORDS: [(&str, &str); 29] = [
    ("workflow", "The document is a workflow definition"),
    ("human", "Only an acceptance by a person counts"),
    ("skip", "An occurrence that passed while nobody waited is never made up"),
    ("none", "Free text is refused"),
    ("optional", "Free text may be given"),
    ("required", "Free text must be given"),
    ("one_shot", "A valid submission completes the step"),
    ("reviewed", "A submission must pass the gates of `review`"),
    ("succeeded", "The session ends well, and its outputs are given"),
    ("failed", "The session ends as failed"),
    ("cancelled", "The session ends as given up"),
    ("until_stopped", "Repeats until something leaves the loop"),
    ("keep", "Finished children and candidates are never removed"),
    ("runSync", "The call runs, and the model gets its result"),
    ("runAsync", "In this version as `runSync`"),
    ("defer", "The call waits for a person who gives its result"),
    ("deny", "The call is refused, and the model is told"),
    ("runIsolated", "In this version refused, and the model is told"),
    ("decorate", "Another disposition with decorators, outermost first"),
    ("docker", "In a container image"),
    ("localProcess", "In a program of the package"),
    ("functionRunner", "In a function runner that the operator allows"),
    ("timeout", "Ends the call after some seconds"),
    ("retries", "Kept, without effect in this version"),
    ("cache", "Kept, without effect in this version"),
    ("label", "Kept, without effect in this version"),
    ("truncate", "Shortens a longer result, and says so"),
    ("synchronous", "Calls are waited for"),
    ("asynchronous", "Calls may run in the background"),
];
