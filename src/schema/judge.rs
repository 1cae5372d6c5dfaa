//! Builds the validator of a schema: a copy of the document in which every reference is a plain pointer, and the
//! keywords that look at numbers done exactly. Nothing is fetched: the copy refers to nothing outside itself.

use super::form;
use super::keyword::{self, Shape};
use super::number::{Decimal, equal};
use super::place;
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError, Validator};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Where the document stands in the copy if only a part of it judges.
const WHOLE: &str = "/$defs/whole";

/// A validator with the document that it was made of.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) validator: Validator,
    /// The copy that places of findings count in.
    pub(super) copy: Value,
}

/// The validator of the part of `root` at `part`.
pub(super) fn build(root: &Value, part: &[String]) -> Result<Judge, String> {
    let schemas = form::check(root).schemas;
    let copy = if part.is_empty() {
        Copy { root, schemas: &schemas, before: "" }.of(root)
    } else {
        serde_json::json!({ "$ref": whole_reference(part), "$defs": { "whole": copy_of(root, &schemas) } })
    };
    let validator = options().build(&copy).map_err(|error| error.to_string())?;
    Ok(Judge { validator, copy })
}

/// A reference to a part of a document that stands under `$defs/whole`.
pub(super) fn whole_reference(part: &[String]) -> String {
    format!("#{WHOLE}{}", place::encoded(&place::pointer(part)))
}

/// A copy of a document that is to stand under `$defs/whole`; `schemas` are the addresses of its schemas.
pub(super) fn copy_of(root: &Value, schemas: &HashSet<usize>) -> Value {
    Copy { root, schemas, before: WHOLE }.of(root)
}

/// Whether a text is a regular expression.
pub(super) fn is_expression(text: &str) -> bool {
    jsonschema::draft202012::options().build(&serde_json::json!({ "pattern": text })).is_ok()
}

struct Copy<'a> {
    root: &'a Value,
    schemas: &'a HashSet<usize>,
    before: &'a str,
}

impl Copy<'_> {
    fn of(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.of(item)).collect(),
            Value::Object(map) if self.schemas.contains(&form::address(value)) => {
                let mut copy: Map<String, Value> = map
                    .iter()
                    .filter_map(|(key, value)| Some((key.clone(), self.keyword(key, value)?)))
                    .collect();
                // Without `properties` the library names only the first property, and not its place.
                if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                    copy.entry("properties").or_insert_with(|| Value::Object(Map::new()));
                }
                Value::Object(copy)
            }
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), self.of(value))).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn keyword(&self, key: &str, value: &Value) -> Option<Value> {
        match keyword::find(key).map(|keyword| keyword.shape) {
            Some(Shape::Reference) => {
                let path = place::of_reference(self.root, value.as_str()?).ok()?;
                Some(format!("#{}{}", self.before, place::encoded(&place::pointer(&path))).into())
            }
            Some(Shape::Count) => Some(value.as_number().map(Decimal::of)?.count()?.into()),
            // What names a document or a place in it has done its work.
            Some(Shape::Id | Shape::Anchor | Shape::Dialect | Shape::Refused(_)) => None,
            Some(Shape::Values | Shape::Any | Shape::List) => Some(value.clone()),
            Some(_) | None => Some(self.of(value)),
        }
    }
}

fn options() -> jsonschema::ValidationOptions<'static> {
    let mut options = jsonschema::draft202012::options().should_validate_formats(false);
    for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] {
        options = options.with_keyword(key, move |_, value, _| Ok(bound(key, value)));
    }
    options
        .with_keyword("type", |_, value, _| Ok(Box::new(Types(value.clone()))))
        .with_keyword("const", |_, value, _| Ok(Box::new(OneOf(vec![value.clone()]))))
        .with_keyword("enum", values)
        .with_keyword("uniqueItems", |_, value, _| Ok(Box::new(Unique(value == &Value::Bool(true)))))
}

fn values<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    Ok(Box::new(OneOf(value.as_array().cloned().unwrap_or_default())))
}

fn bound(key: &'static str, value: &Value) -> Box<dyn for<'i> Keyword<'i>> {
    let limit = value.as_number().map(Decimal::of);
    Box::new(Bound { key, limit })
}

/// A bound of numbers.
struct Bound {
    key: &'static str,
    limit: Option<Decimal>,
}

impl Bound {
    fn holds(&self, value: &Value) -> bool {
        let (Some(number), Some(limit)) = (value.as_number(), &self.limit) else { return true };
        let number = Decimal::of(number);
        match self.key {
            "minimum" => number >= *limit,
            "maximum" => number <= *limit,
            "exclusiveMinimum" => number > *limit,
            "exclusiveMaximum" => number < *limit,
            // What takes too many digits to divide is no multiple that anybody wants.
            _ => number.is_multiple_of(limit).unwrap_or(false),
        }
    }
}

/// The kinds of JSON that are allowed.
struct Types(Value);

impl Types {
    fn holds(&self, value: &Value) -> bool {
        match &self.0 {
            Value::String(name) => is_of(name, value),
            Value::Array(names) => names.iter().filter_map(Value::as_str).any(|name| is_of(name, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
        }
    }
}

/// Whether a value is of a type.
pub(super) fn is_of(name: &str, value: &Value) -> bool {
    match (name, value) {
        ("integer", Value::Number(number)) => Decimal::of(number).is_whole(),
        ("number", Value::Number(_))
        | ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        (_, _) => false,
    }
}

/// `enum` and `const`.
struct OneOf(Vec<Value>);

/// `uniqueItems`.
struct Unique(bool);

/// The first two equal items of a list.
pub(super) fn twins(items: &[Value]) -> Option<(usize, usize)> {
    let mut seen: std::collections::HashMap<String, Vec<usize>> = std::collections::HashMap::new();
    for (i, item) in items.iter().enumerate() {
        // Only what is alike in the rough is compared in full.
        let alike = seen.entry(rough(item)).or_default();
        let first = alike.iter().find(|other| items.get(**other).is_some_and(|other| equal(other, item)));
        if let Some(first) = first {
            return Some((*first, i));
        }
        alike.push(i);
    }
    None
}

/// A text that equal values share.
fn rough(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:?}", Decimal::of(number)),
        Value::Array(items) => format!("[{}]", items.iter().map(rough).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let mut parts: Vec<_> =
                map.iter().map(|(key, value)| format!("{key:?}:{}", rough(value))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

macro_rules! judged {
    ($kind:ident, $holds:expr) => {
        impl<'i> Keyword<'i> for $kind {
            fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
                // The sentence is made elsewhere, from the keyword and the place.
                if self.is_valid(instance) { Ok(()) } else { Err(ValidationError::custom("")) }
            }

            fn is_valid(&self, instance: &'i Value) -> bool {
                let holds: fn(&Self, &Value) -> bool = $holds;
                holds(self, instance)
            }
        }
    };
}

judged!(Bound, Bound::holds);
judged!(Types, Types::holds);
judged!(OneOf, |one_of, value| one_of.0.iter().any(|known| equal(known, value)));
judged!(Unique, |unique, value| !unique.0 || value.as_array().is_none_or(|items| twins(items).is_none()));
