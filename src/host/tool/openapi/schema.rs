//! Schemas of OpenAPI documents as JSON Schema that stands alone: references put in place, circles cut, and what
//! OpenAPI 3.0 writes in a way of its own brought to JSON Schema. Judges no value.

use super::document::Document;
use serde_json::{Map, Value, json};

/// Schemas inside one another.
const MOST_DEPTH: usize = 48;
/// Schemas of one tool; what lies beyond may be anything.
const MOST_SCHEMAS: usize = 4_000;

/// What is said for people and other programs only.
const DROPPED: &[&str] =
    &["xml", "discriminator", "externalDocs", "example", "nullable", "readOnly", "writeOnly", "deprecated"];

/// Brings schemas of one tool into place.
#[derive(Debug)]
pub struct Inliner<'a> {
    document: &'a Document,
    /// References that are being put in place.
    open: Vec<String>,
    depth: usize,
    left: usize,
    /// The first reference that leads nowhere, as a sentence.
    pub broken: Option<String>,
}

impl<'a> Inliner<'a> {
    /// For the schemas of one tool.
    #[must_use]
    pub fn new(document: &'a Document) -> Self {
        Self { document, open: Vec::new(), depth: 0, left: MOST_SCHEMAS, broken: None }
    }

    /// The schema, standing alone. A schema inside itself may be anything, and so may what lies too deep.
    pub fn schema(&mut self, written: &Value) -> Value {
        if self.depth >= MOST_DEPTH || self.left == 0 {
            return anything();
        }
        self.depth += 1;
        self.left -= 1;
        let schema = match written {
            Value::Object(map) => match map.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.referred(reference, map),
                None => Value::Object(self.keywords(map)),
            },
            Value::Bool(truth) => Value::Bool(*truth),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => anything(),
        };
        self.depth -= 1;
        schema
    }

    fn referred(&mut self, reference: &str, beside: &Map<String, Value>) -> Value {
        if self.open.iter().any(|open| open == reference) {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return json!({ "description": format!("another `{name}`") });
        }
        let found = match self.document.at(reference) {
            Ok(found) => found,
            Err(why) => {
                self.broken.get_or_insert(why);
                return anything();
            }
        };
        self.open.push(reference.to_owned());
        let mut schema = self.schema(found);
        self.open.pop();
        if let Value::Object(schema) = &mut schema {
            let rest: Map<String, Value> = beside
                .iter()
                .filter(|(key, _)| *key != "$ref")
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            schema.extend(self.keywords(&rest));
        }
        schema
    }

    fn keywords(&mut self, written: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (key, value) in written {
            let taken = match key.as_str() {
                "properties" | "patternProperties" | "$defs" | "dependentSchemas" => self.map(value),
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties" => self.schema(value),
                "allOf" | "anyOf" | "oneOf" | "prefixItems" => match value {
                    Value::Array(parts) => parts.iter().map(|part| self.schema(part)).collect(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                        continue;
                    }
                },
                "$id" | "$schema" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" => continue,
                key if DROPPED.contains(&key) || key.starts_with("x-") => continue,
                _ => value.clone(),
            };
            out.insert(key.clone(), taken);
        }
        self.without_read_only(written, &mut out);
        older(written, &mut out);
        out
    }

    fn map(&mut self, written: &Value) -> Value {
        match written {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), self.schema(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                anything()
            }
        }
    }

    /// Properties that only answers hold are not asked for.
    fn without_read_only(&self, written: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(Value::Object(properties)) = written.get("properties") else { return };
        for (name, property) in properties {
            let property = self.document.followed(property).unwrap_or(property);
            if property.get("readOnly") != Some(&Value::Bool(true)) {
                continue;
            }
            if let Some(Value::Object(kept)) = out.get_mut("properties") {
                kept.shift_remove(name);
            }
            if let Some(Value::Array(required)) = out.get_mut("required") {
                required.retain(|required| required.as_str() != Some(name));
            }
        }
    }
}

/// What OpenAPI 3.0 has instead of JSON Schema: `nullable`, and bounds that are switches.
fn older(written: &Map<String, Value>, out: &mut Map<String, Value>) {
    if written.get("nullable") == Some(&Value::Bool(true)) {
        if let Some(Value::String(kind)) = out.get("type") {
            out.insert("type".to_owned(), json!([kind, "null"]));
        }
        if let Some(Value::Array(values)) = out.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    for (switch, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(is_on)) = written.get(switch) {
            out.shift_remove(switch);
            if let (true, Some(value)) = (*is_on, out.shift_remove(bound)) {
                out.insert(switch.to_owned(), value);
            }
        }
    }
}

fn anything() -> Value {
    Value::Object(Map::new())
}
