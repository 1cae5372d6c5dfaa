//! JSON Schema, draft 2020-12: checking a schema itself, validating values, walking to a field.
//!
//! The form of a schema is checked here, so that each fault has its place; values are judged by the jsonschema
//! library, numbers by their digits. Nothing is ever fetched: only references inside the same document are followed.

mod blame;
mod circle;
mod empty;
mod form;
mod hint;
mod judge;
pub mod keyword;
mod number;
mod place;
mod step;
mod violation;
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
    /// The whole document: references in any part of it count from here.
    root: Arc<Value>,
    /// The place of this schema in it.
    at: Vec<String>,
    judge: OnceLock<Result<judge::Judge, String>>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Schema({})", self.json())
    }
}

/// What is wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where in the schema, as the segments of a JSON pointer.
    pub pointer: Vec<String>,
    /// Whether the name at the place is wrong and not what stands under it.
    pub is_name: bool,
    /// One sentence.
    pub message: String,
    /// The text that was surely meant instead of the one at the place.
    pub meant: Option<String>,
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

/// The place that a reference within a document means, as a JSON pointer; `None` if it leads nowhere in it.
#[must_use]
pub fn locate(document: &Value, reference: &str) -> Option<String> {
    place::of_reference(document, reference).ok().map(|segments| place::pointer(&segments))
}

/// `#` and a JSON pointer as the text of a reference: what may not stand there is percent-encoded.
#[must_use]
pub fn fragment(reference: &str) -> String {
    format!("#{}", place::encoded(reference.strip_prefix('#').unwrap_or(reference)))
}

impl Schema {
    /// Takes a schema whose form is right.
    ///
    /// # Errors
    /// Every fault with its place.
    pub fn compile(json: &Value) -> Result<Self, Vec<SchemaFault>> {
        Self::of(Arc::new(json.clone()))
    }

    /// As [`Schema::compile`], of a document that is shared.
    ///
    /// # Errors
    /// Every fault with its place.
    pub fn of(json: Arc<Value>) -> Result<Self, Vec<SchemaFault>> {
        let mut found = form::check(&json);
        if !found.faults.is_empty() {
            found.try_expressions();
            return Err(found.faults);
        }
        let schema = Self::part(&json, Vec::new());
        // The library has the last word wherever it does more than look at one value.
        if found.is_intricate
            && let Err(error) = schema.judge()
        {
            found.try_expressions();
            if found.faults.is_empty() {
                let message = format!("the schema cannot be used: {}", violation::cut(error, 200));
                found.faults.push(SchemaFault { pointer: Vec::new(), is_name: false, message, meant: None });
            }
            return Err(found.faults);
        }
        Ok(schema)
    }

    /// The part of a document that is right as a whole.
    fn part(root: &Arc<Value>, at: Vec<String>) -> Self {
        Self { inner: Arc::new(Inner { root: Arc::clone(root), at, judge: OnceLock::new() }) }
    }

    fn judge(&self) -> &Result<judge::Judge, String> {
        self.inner.judge.get_or_init(|| judge::build(&self.inner.root, &self.inner.at))
    }

    /// The schema as it was given. Its references count from [`Self::document`].
    #[must_use]
    pub fn json(&self) -> &Value {
        place::at(&self.inner.root, &self.inner.at).unwrap_or(&Value::Null)
    }

    /// The whole document that the schema is a part of.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.inner.root
    }

    /// The schema that it is after following a `$ref` at its top: what has the `properties`.
    #[must_use]
    pub fn target(&self) -> &Value {
        walk::follow(&self.inner.root, self.json())
    }

    /// Every way in which a value does not fit, at most twenty; empty if it fits.
    #[must_use]
    pub fn validate(&self, value: &Value) -> Vec<Violation> {
        match self.judge() {
            Ok(judge) => {
                let mut found = Vec::new();
                for error in judge.validator.iter_errors(value).take(MOST_VIOLATIONS) {
                    violation::tell(judge, &error, &mut found);
                }
                found.dedup();
                found.truncate(MOST_VIOLATIONS);
                found
            }
            // INVARIANT: what has passed `compile` can be built; said all the same, never a panic.
            Err(error) => vec![Violation {
                pointer: Vec::new(),
                expected: "a schema that can be used".to_owned(),
                found: violation::cut(error, 200),
                message: format!("the schema cannot be used: {}", violation::cut(error, 200)),
            }],
        }
    }

    /// Whether an empty object satisfies it: then it asks nothing of a result.
    #[must_use]
    pub fn is_loose(&self) -> bool {
        empty::satisfies(self.json())
            .unwrap_or_else(|| self.validate(&Value::Object(serde_json::Map::new())).is_empty())
    }

    /// Its `default`, if it has one.
    #[must_use]
    pub fn default_value(&self) -> Option<&Value> {
        self.json().get("default")
    }
}
