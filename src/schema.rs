//! JSON Schema, draft 2020-12: checking a schema itself, validating values, walking to a field.
//!
//! The form of a schema is checked here, so that each fault has its place; values are judged by the jsonschema
//! library. Nothing is ever fetched: only references inside the same schema (`#/…`) are followed.

mod form;
mod walk;

pub use walk::{Fit, KindSet, Step, Walk};

use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A schema whose form is right. Cheap to clone; the validator is built when it is first needed.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Inner>,
}

struct Inner {
    json: Value,
    validator: OnceLock<Result<jsonschema::Validator, String>>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Schema({})", self.inner.json)
    }
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where in the schema, as the segments of a JSON pointer.
    pub pointer: Vec<String>,
    /// One sentence.
    pub message: String,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as the segments of a JSON pointer.
    pub pointer: Vec<String>,
    /// What the schema wants there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// Both in one sentence, the place in front.
    pub message: String,
}

/// Violations told at once.
const MOST_VIOLATIONS: usize = 20;

impl Schema {
    /// Takes a schema whose form is right.
    ///
    /// # Errors
    /// Every fault with its place.
    pub fn compile(json: &Value) -> Result<Self, Vec<SchemaFault>> {
        let faults = form::check(json);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { inner: Arc::new(Inner { json: json.clone(), validator: OnceLock::new() }) })
    }

    /// The schema as it was given.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.inner.json
    }

    /// Every way in which a value does not fit, at most twenty; empty if it fits.
    #[must_use]
    pub fn validate(&self, value: &Value) -> Vec<Violation> {
        let validator = self.inner.validator.get_or_init(|| {
            jsonschema::draft202012::options()
                .should_validate_formats(false)
                .build(&self.inner.json)
                .map_err(|error| error.to_string())
        });
        match validator {
            Ok(validator) => {
                validator.iter_errors(value).take(MOST_VIOLATIONS).map(|error| violation(&error)).collect()
            }
            Err(error) => vec![Violation {
                pointer: Vec::new(),
                expected: "a schema that can be used".to_owned(),
                found: error.clone(),
                message: format!("the schema cannot be used: {error}"),
            }],
        }
    }

    /// Whether an empty object satisfies it: then it asks nothing of a result.
    #[must_use]
    pub fn is_loose(&self) -> bool {
        self.validate(&Value::Object(serde_json::Map::new())).is_empty()
    }

    /// Its `default`, if it has one.
    #[must_use]
    pub fn default_value(&self) -> Option<&Value> {
        self.inner.json.get("default")
    }
}

fn violation(error: &jsonschema::ValidationError<'_>) -> Violation {
    let pointer: Vec<String> = error
        .instance_path()
        .as_str()
        .split('/')
        .skip(1)
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
        .collect();
    let found = shown(error.instance());
    let expected = expected(error);
    let place = if pointer.is_empty() { "the value".to_owned() } else { format!("/{}", pointer.join("/")) };
    let message = format!("{place}: expected {expected}, found {found}");
    Violation { pointer, expected, found, message }
}

fn expected(error: &jsonschema::ValidationError<'_>) -> String {
    use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
    if let Kind::Type { kind } = error.kind() {
        return match kind {
            TypeKind::Single(kind) => article(&kind.to_string()),
            TypeKind::Multiple(kinds) => {
                kinds.iter().map(|kind| article(&kind.to_string())).collect::<Vec<_>>().join(" or ")
            }
        };
    }
    if let Kind::Required { property } = error.kind() {
        return format!("the property {property}");
    }
    if let Kind::AdditionalProperties { unexpected } = error.kind() {
        let names: Vec<_> = unexpected.iter().map(|name| format!("`{name}`")).collect();
        return format!("no property {}", names.join(", "));
    }
    if let Kind::Enum { options } = error.kind() {
        return format!("one of {options}");
    }
    if let Kind::Constant { expected_value } = error.kind() {
        return format!("{expected_value}");
    }
    bound(error.kind()).unwrap_or_else(|| error.to_string())
}

/// What a keyword wants, as a thing.
fn bound(kind: &jsonschema::error::ValidationErrorKind) -> Option<String> {
    use jsonschema::error::ValidationErrorKind as Kind;
    if let Kind::Minimum { limit } = kind {
        return Some(format!("a number of at least {limit}"));
    }
    if let Kind::Maximum { limit } = kind {
        return Some(format!("a number of at most {limit}"));
    }
    if let Kind::ExclusiveMinimum { limit } = kind {
        return Some(format!("a number above {limit}"));
    }
    if let Kind::ExclusiveMaximum { limit } = kind {
        return Some(format!("a number below {limit}"));
    }
    if let Kind::MinLength { limit } = kind {
        return Some(format!("text of {limit} or more characters"));
    }
    if let Kind::MaxLength { limit } = kind {
        return Some(format!("text of {limit} or fewer characters"));
    }
    if let Kind::MinItems { limit } = kind {
        return Some(format!("a list of {limit} or more items"));
    }
    if let Kind::MaxItems { limit } = kind {
        return Some(format!("a list of {limit} or fewer items"));
    }
    if let Kind::Pattern { pattern } = kind {
        return Some(format!("text that the pattern `{pattern}` matches"));
    }
    if let Kind::Format { format } = kind {
        return Some(format!("text of the format `{format}`"));
    }
    let words = match kind.keyword() {
        "uniqueItems" => "a list of items that all differ",
        "anyOf" => "a value that fits a branch of `anyOf`",
        "oneOf" if matches!(kind, Kind::OneOfMultipleValid { .. }) => {
            "a value that fits only one branch of `oneOf`"
        }
        "oneOf" => "a value that fits a branch of `oneOf`",
        "falseSchema" => "nothing",
        _ => return None,
    };
    Some(words.to_owned())
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

/// A value in a message: whole if it is short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 80 {
        return text;
    }
    let cut: String = text.chars().take(80).collect();
    format!("{cut}…")
}
