//! The form of a schema: known keywords hold what they must, references stay inside, nothing is too deep.

use super::SchemaFault;
use serde_json::{Map, Value};

const DEPTH: usize = 32;
const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(super) fn check(schema: &Value) -> Vec<SchemaFault> {
    let mut walk = Walk { root: schema, faults: Vec::new(), path: Vec::new() };
    walk.schema(schema);
    walk.faults
}

struct Walk<'a> {
    root: &'a Value,
    faults: Vec<SchemaFault>,
    path: Vec<String>,
}

impl Walk<'_> {
    fn fault(&mut self, message: impl Into<String>) {
        self.faults.push(SchemaFault { pointer: self.path.clone(), message: message.into() });
    }

    fn demand(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fault(message());
        }
    }

    fn at(&mut self, segment: &str, f: impl FnOnce(&mut Self)) {
        self.path.push(segment.to_owned());
        f(self);
        self.path.pop();
    }

    fn schema(&mut self, schema: &Value) {
        if self.path.len() > 2 * DEPTH {
            self.fault(format!("the schema is nested deeper than {DEPTH} levels"));
            return;
        }
        match schema {
            Value::Bool(_) => {}
            Value::Object(map) => {
                for (key, value) in map {
                    self.at(key, |walk| walk.keyword(key, value, map));
                }
            }
            Value::Null => {
                self.fault("a schema is an object, this is null; quote the word if a type was meant")
            }
            Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.fault("a schema is an object such as { type: string }");
            }
        }
    }

    fn keyword(&mut self, key: &str, value: &Value, around: &Map<String, Value>) {
        match key {
            "type" => self.types(value),
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                self.schema_map(key, value);
            }
            "items"
            | "additionalProperties"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => self.schema(value),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.schema_list(value),
            "required" => self.required(value, around),
            "enum" => match value.as_array() {
                Some(items) => {
                    self.demand(!items.is_empty(), || "`enum` lists no value, so nothing can fit".to_owned())
                }
                None => self.fault("`enum` is a list of values"),
            },
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
            | "minContains" | "maxContains" => {
                self.demand(value.as_u64().is_some(), || format!("`{key}` is a whole number from 0"))
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                self.demand(value.is_number(), || format!("`{key}` is a number"));
            }
            "multipleOf" => {
                let above = value.as_f64().is_some_and(|number| number > 0.0);
                self.demand(above, || "`multipleOf` is a number above 0".to_owned());
            }
            "uniqueItems" => self.demand(value.is_boolean(), || "`uniqueItems` is true or false".to_owned()),
            "pattern" => self.pattern(value),
            "title" | "description" | "format" | "$comment" | "$id" | "$anchor" => {
                self.demand(value.is_string(), || format!("`{key}` is text"));
            }
            "$schema" => {
                let ours = value.as_str().map(|text| text.trim_end_matches('#')) == Some(DIALECT);
                self.demand(ours, || format!("schemas are draft 2020-12 ({DIALECT})"));
            }
            "$ref" => self.reference(value),
            _ => {}
        }
    }

    fn types(&mut self, value: &Value) {
        let one = |walk: &mut Self, value: &Value| match value.as_str() {
            Some(name) if TYPES.contains(&name) => {}
            Some(name) => {
                let hint =
                    nearest(name).map_or_else(|| TYPES.join(", "), |near| format!("did you mean `{near}`?"));
                walk.fault(format!("`{name}` is no type: {hint}"));
            }
            None if value.is_null() => {
                walk.fault("this is an empty value, not the type `null`: quote it, \"null\"");
            }
            None => walk.fault(format!("a type is one of {}", TYPES.join(", "))),
        };
        let Some(items) = value.as_array() else { return one(self, value) };
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| one(walk, item));
        }
    }

    fn schema_map(&mut self, key: &str, value: &Value) {
        let Value::Object(map) = value else {
            self.fault(format!("`{key}` is a map of schemas"));
            return;
        };
        for (name, schema) in map {
            self.at(name, |walk| walk.schema(schema));
        }
    }

    fn schema_list(&mut self, value: &Value) {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        self.demand(!items.is_empty(), || "this is a list of at least one schema".to_owned());
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| walk.schema(item));
        }
    }

    fn required(&mut self, value: &Value, around: &Map<String, Value>) {
        let Value::Array(items) = value else {
            self.fault("`required` is a list of property names");
            return;
        };
        let closed = around.get("additionalProperties") == Some(&Value::Bool(false));
        let known = around.get("properties").and_then(Value::as_object);
        for (i, item) in items.iter().enumerate() {
            self.at(&i.to_string(), |walk| {
                let Some(name) = item.as_str() else { return walk.fault("a property name is text") };
                let missing = known.is_none_or(|known| !known.contains_key(name));
                if closed && missing && !around.contains_key("patternProperties") {
                    walk.fault(format!("`{name}` is required, but no such property is allowed"));
                }
            });
        }
    }

    fn pattern(&mut self, value: &Value) {
        let Some(text) = value.as_str() else {
            self.fault("`pattern` is a regular expression as text");
            return;
        };
        let probe = serde_json::json!({ "pattern": text });
        if let Err(error) = jsonschema::draft202012::options().build(&probe) {
            self.fault(format!("`pattern` is no regular expression: {error}"));
        }
    }

    fn reference(&mut self, value: &Value) {
        let Some(text) = value.as_str() else {
            self.fault("`$ref` is text such as \"#/$defs/name\"");
            return;
        };
        let Some(pointer) = text.strip_prefix('#') else {
            self.fault(format!(
                "`{text}` points out of the schema; only references such as \"#/$defs/name\" are followed"
            ));
            return;
        };
        match self.root.pointer(pointer) {
            None => self.fault(format!("`{text}` points to nothing")),
            Some(target) if circles(self.root, target) => {
                self.fault(format!("`{text}` leads back to itself without a value in between"));
            }
            Some(_) => {}
        }
    }
}

/// Whether following `$ref` alone from here never comes to a schema of its own.
fn circles<'a>(root: &'a Value, mut at: &'a Value) -> bool {
    for _ in 0..64 {
        let next =
            at.get("$ref").and_then(Value::as_str).and_then(|text| root.pointer(text.strip_prefix('#')?));
        match next {
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}

fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    if let Some(known) = [
        ("str", "string"),
        ("int", "integer"),
        ("bool", "boolean"),
        ("list", "array"),
        ("map", "object"),
        ("dict", "object"),
        ("float", "number"),
    ]
    .iter()
    .find(|(short, _)| *short == lower)
    {
        return Some(known.1);
    }
    TYPES.iter().copied().find(|known| strsim::damerau_levenshtein(&lower, known) <= 2)
}
