//! An OpenAPI 3 document as one JSON value, and references inside it. Reads texts of JSON and YAML; opens no file and
//! follows no reference out of the document.

use crate::diagnostic::Severity;
use crate::escape;
use crate::parse;
use crate::source::{FileId, Source};
use serde_json::Value;

/// How many references may lead to one another.
const MOST_HOPS: usize = 32;

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document(Value);

impl Document {
    /// Reads a text; `name` is what people see, and its ending says what it is.
    ///
    /// # Errors
    /// One sentence without its subject, such as `is no OpenAPI 3 document`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let is_json = parse::is_json(name) || text.trim_start().starts_with('{');
        let value = if is_json { json(text) } else { yaml(name, text) }?;
        match value.get("openapi").and_then(Value::as_str) {
            Some(version) if version.starts_with("3.") => Ok(Self(value)),
            Some(version) => Err(format!(
                "is of OpenAPI {}; 3 can be read",
                escape::visible(version.get(..8).unwrap_or(version))
            )),
            None if value.get("swagger").is_some() => {
                Err("is of Swagger 2; convert it to OpenAPI 3".to_owned())
            }
            None => Err("is no OpenAPI 3 document: it has no text `openapi`".to_owned()),
        }
    }

    /// The value under a key of the document.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// What a reference such as `#/components/schemas/Pet` names.
    ///
    /// # Errors
    /// One sentence: it leads out of the document, or nowhere.
    pub fn at(&self, reference: &str) -> Result<&Value, String> {
        let shown = escape::visible(reference);
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("`{shown}` lies in another file, which is not read"));
        };
        escape::percent_decoded(pointer)
            .and_then(|pointer| self.0.pointer(&pointer))
            .ok_or_else(|| format!("`{shown}` names nothing in the document"))
    }

    /// A value, with references at its top followed.
    ///
    /// # Errors
    /// One sentence: a reference leads out of the document, nowhere, or round in a circle.
    pub fn followed<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut at = value;
        for _ in 0..MOST_HOPS {
            match at.get("$ref").and_then(Value::as_str) {
                None => return Ok(at),
                Some(reference) => at = self.at(reference)?,
            }
        }
        Err("a reference leads round in a circle".to_owned())
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("is no JSON: line {}, column {}", error.line(), error.column()))
}

fn yaml(name: &str, text: &str) -> Result<Value, String> {
    if text.len() > parse::MAX_DOCUMENT_BYTES {
        let most = parse::MAX_DOCUMENT_BYTES / 1024;
        return Err(format!("is larger than {most} KiB, the most that is read of YAML; save it as JSON"));
    }
    let source = Source::new(FileId::MAIN, name, text);
    let mut found = Vec::new();
    let tree = parse::yaml::read(&source, &mut found);
    match found.iter().find(|found| found.severity == Severity::Error) {
        None => Ok(tree.to_json()),
        Some(first) => {
            let at = source.position(first.span.start as usize);
            Err(format!("cannot be read: line {}, column {}: {}", at.line, at.column, first.message))
        }
    }
}
