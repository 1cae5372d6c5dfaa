//! Sentences about values that do not fit: where, what is expected there, what stands there. Each is bounded, and
//! where a value fits none of several alternatives, the one that was meant is blamed.

use super::Violation;
use super::judge::{self, Judge};
use super::keyword;
use super::{blame, place};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

/// Characters of a value or a list in a sentence.
const SHOWN: usize = 80;

/// Everything that one error of the library says.
pub(super) fn tell(judge: &Judge, error: &ValidationError<'_>, out: &mut Vec<Violation>) {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            out.extend(unexpected.iter().map(|name| no_property(judge, error, name)));
        }
        Kind::Required { property } => out.push(missing(error, property.as_str().unwrap_or_default())),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            blame::alternatives(judge, error, context, out);
        }
        Kind::OneOfMultipleValid { context } => {
            let fitting: Vec<_> =
                context.iter().enumerate().filter(|(_, errors)| errors.is_empty()).collect();
            let names: Vec<_> = fitting.iter().map(|(i, _)| (i + 1).to_string()).collect();
            let expected =
                format!("a value that fits only one of the {} alternatives of `oneOf`", context.len());
            let found =
                format!("{}, which fits alternatives {}", shown(error.instance()), joined(&names, "and"));
            out.push(violation(pointer_of(error), expected, found));
        }
        Kind::PropertyNames { error: inner } => {
            let mut about = Vec::new();
            tell(judge, inner, &mut about);
            let name = inner.instance().as_str().unwrap_or_default().to_owned();
            let wanted = about.first().map_or_else(|| "another".to_owned(), |first| first.expected.clone());
            let mut pointer = pointer_of(error);
            pointer.push(name.clone());
            out.push(violation(
                pointer,
                format!("a property name that is {wanted}"),
                format!("`{}`", cut(&name, SHOWN)),
            ));
        }
        Kind::UnevaluatedItems { .. } => {
            let expected = "no items beyond those that the schema names".to_owned();
            out.push(violation(pointer_of(error), expected, shown(error.instance())));
        }
        Kind::AdditionalItems { .. }
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::Constant { .. }
        | Kind::Contains
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::Custom { .. }
        | Kind::Enum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::FalseSchema
        | Kind::Format { .. }
        | Kind::FromUtf8 { .. }
        | Kind::MaxItems { .. }
        | Kind::Maximum { .. }
        | Kind::MaxLength { .. }
        | Kind::MaxProperties { .. }
        | Kind::MinItems { .. }
        | Kind::Minimum { .. }
        | Kind::MinLength { .. }
        | Kind::MinProperties { .. }
        | Kind::MultipleOf { .. }
        | Kind::Not { .. }
        | Kind::Pattern { .. }
        | Kind::Type { .. }
        | Kind::UniqueItems
        | Kind::Referencing(_) => out.push(simple(judge, error)),
    }
}

/// The keyword that an error is about, and what it holds in the schema.
pub(super) fn keyword_of<'a>(judge: &'a Judge, error: &ValidationError<'_>) -> (String, Option<&'a Value>) {
    let path = place::segments(error.schema_path().as_str());
    let keyword = path.last().cloned().unwrap_or_default();
    (keyword, place::at(&judge.copy, &path))
}

/// The schema that the keyword of an error stands in.
fn around<'a>(judge: &'a Judge, error: &ValidationError<'_>) -> Option<&'a Value> {
    let mut path = place::segments(error.schema_path().as_str());
    path.pop();
    place::at(&judge.copy, &path)
}

/// Where in the value.
pub(super) fn pointer_of(error: &ValidationError<'_>) -> Vec<String> {
    place::segments(error.instance_path().as_str())
}

pub(super) fn violation(pointer: Vec<String>, expected: String, found: String) -> Violation {
    let place =
        if pointer.is_empty() { "the value".to_owned() } else { cut(&place::pointer(&pointer), 3 * SHOWN) };
    let (expected, found) = (clean(&expected), clean(&found));
    let message = format!("{}: expected {expected}, found {found}", clean(&place));
    Violation { pointer, expected, found, message }
}

fn no_property(judge: &Judge, error: &ValidationError<'_>, name: &str) -> Violation {
    let schema = around(judge, error);
    let declared = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let given = error.instance().as_object();
    let free = declared
        .into_iter()
        .flat_map(|map| map.keys())
        .filter(|name| given.is_none_or(|given| !given.contains_key(name.as_str())));
    let near = keyword::near(name, free.map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    let value = given.and_then(|given| given.get(name)).map_or_else(|| "it".to_owned(), shown);
    let mut pointer = pointer_of(error);
    pointer.push(name.to_owned());
    violation(pointer, format!("no property `{}`{hint}", cut(name, SHOWN)), value)
}

fn missing(error: &ValidationError<'_>, name: &str) -> Violation {
    let names: Vec<_> = error.instance().as_object().into_iter().flat_map(|map| map.keys()).collect();
    let found = if names.is_empty() {
        "an empty object".to_owned()
    } else {
        let shown: Vec<_> = names.iter().take(8).map(|name| format!("`{}`", cut(name, 40))).collect();
        let more = if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
        format!("only {}{more}", shown.join(", "))
    };
    violation(pointer_of(error), format!("the property `{name}`"), found)
}

fn simple(judge: &Judge, error: &ValidationError<'_>) -> Violation {
    let (keyword, held) = keyword_of(judge, error);
    let value = error.instance().as_ref();
    let found = found(&keyword, value);
    violation(pointer_of(error), expected(error.kind(), &keyword, held, value), found)
}

/// What a keyword wants, in words.
fn expected(kind: &Kind, keyword: &str, held: Option<&Value>, value: &Value) -> String {
    if matches!(kind, Kind::FalseSchema) {
        return "nothing here: the schema forbids it".to_owned();
    }
    let Some(held) = held else { return "a value that fits the schema".to_owned() };
    let number = held.as_u64();
    let of = |one: &str, many: &str| format!("{held} {}", if number == Some(1) { one } else { many });
    match keyword {
        "type" => types(held),
        "enum" => one_of(held.as_array().map(Vec::as_slice).unwrap_or_default(), value),
        "const" => shown(held),
        "minimum" => format!("a number that is at least {}", shown(held)),
        "maximum" => format!("a number that is at most {}", shown(held)),
        "exclusiveMinimum" => format!("a number above {}", shown(held)),
        "exclusiveMaximum" => format!("a number below {}", shown(held)),
        "multipleOf" => format!("a multiple of {}", shown(held)),
        "minLength" => format!("text of at least {}", of("character", "characters")),
        "maxLength" => format!("text of at most {}", of("character", "characters")),
        "minItems" => format!("a list of at least {}", of("item", "items")),
        "maxItems" => format!("a list of at most {}", of("item", "items")),
        "minProperties" => format!("an object of at least {}", of("property", "properties")),
        "maxProperties" => format!("an object of at most {}", of("property", "properties")),
        "pattern" if matches!(kind, Kind::Pattern { .. }) => {
            format!("text that matches `{}`", cut(held.as_str().unwrap_or_default(), SHOWN))
        }
        "pattern" => "text that the pattern can be tried on".to_owned(),
        "uniqueItems" => "a list of items that all differ".to_owned(),
        "contains" => "a list with an item that fits `contains`".to_owned(),
        "minContains" => format!("a list with at least {} that fit `contains`", of("item", "items")),
        "maxContains" => format!("a list with at most {} that fit `contains`", of("item", "items")),
        "not" => format!("anything but {}", negated(held)),
        _ => "a value that fits the schema".to_owned(),
    }
}

fn found(keyword: &str, value: &Value) -> String {
    let of = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    match (keyword, value) {
        ("minLength" | "maxLength", Value::String(text)) => {
            format!("{} ({})", shown(value), of(text.chars().count(), "character", "characters"))
        }
        ("minItems" | "maxItems", Value::Array(items)) => {
            format!("a list of {}", of(items.len(), "item", "items"))
        }
        ("minProperties" | "maxProperties", Value::Object(map)) => {
            format!("an object of {}", of(map.len(), "property", "properties"))
        }
        ("uniqueItems", Value::Array(items)) => match judge::twins(items) {
            Some((a, b)) => format!("{} at {a} and at {b}", items.get(a).map(shown).unwrap_or_default()),
            None => shown(value),
        },
        (_, _) => shown(value),
    }
}

fn negated(held: &Value) -> String {
    if let Some(types) = held.get("type") {
        return self::types(types);
    }
    if let Some(value) = held.get("const") {
        return shown(value);
    }
    match held.get("enum").and_then(Value::as_array) {
        Some(values) => list(values),
        None => "what fits `not`".to_owned(),
    }
}

/// `a string or null`.
pub(super) fn types(held: &Value) -> String {
    let several = held.as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(held));
    let names: Vec<_> = several.iter().filter_map(Value::as_str).map(article).collect();
    joined(&names, "or")
}

/// A type with its article.
pub(super) fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "a whole number".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        other => format!("a {other}"),
    }
}

/// `one of "a", "b"`, with the nearest to what stands there.
pub(super) fn one_of(values: &[Value], given: &Value) -> String {
    if let [only] = values {
        return shown(only);
    }
    let texts = values.iter().filter_map(Value::as_str);
    let near = given.as_str().and_then(|given| keyword::near(given, texts));
    let hint = near.map_or_else(String::new, |near| format!(" (did you mean \"{}\"?)", cut(near, SHOWN)));
    format!("one of {}{hint}", list(values))
}

fn list(values: &[Value]) -> String {
    let mut out = String::new();
    for (i, value) in values.iter().enumerate() {
        if i >= 12 || out.chars().count() > 2 * SHOWN {
            return format!("{out} and {} more", values.len() - i);
        }
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&shown(value));
    }
    out
}

/// `a, b or c`.
pub(super) fn joined(names: &[String], word: &str) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} {word} {last}", all.join(", ")),
    }
}

/// A value in a sentence: whole if it is short.
pub(super) fn shown(value: &Value) -> String {
    cut(&value.to_string(), SHOWN)
}

/// At most so many characters of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Without characters that drive a terminal or hide from the reader.
fn clean(text: &str) -> String {
    crate::escape::visible(text).into_owned()
}
