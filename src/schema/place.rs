//! Places in a schema document: what a reference in it points to. Nothing outside the document is known here.

use super::keyword::{self, Shape};
use crate::escape::{URI_PATH, percent_decoded, percent_encoded};
use serde_json::Value;

/// Why a reference leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It points out of the document.
    Outside,
    /// There is nothing at the place.
    Nothing,
}

/// The place that a reference of the document means, as an unescaped JSON pointer's segments.
pub(super) fn of_reference(root: &Value, text: &str) -> Result<Vec<String>, Lost> {
    let own = root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
    let rest = match own.filter(|own| !own.is_empty()).and_then(|own| text.strip_prefix(own)) {
        Some(rest) if rest.is_empty() || rest.starts_with('#') => rest,
        Some(_) | None => text,
    };
    if rest.is_empty() && !text.is_empty() {
        return Ok(Vec::new());
    }
    let fragment = rest.strip_prefix('#').ok_or(Lost::Outside)?;
    let fragment = percent_decoded(fragment).ok_or(Lost::Nothing)?;
    if fragment.is_empty() {
        return Ok(Vec::new());
    }
    if !fragment.starts_with('/') {
        return anchor(root, &fragment, &mut Vec::new()).ok_or(Lost::Nothing);
    }
    let segments = segments(&fragment);
    at(root, &segments).map(|_| segments).ok_or(Lost::Nothing)
}

/// The schema that a reference means, if there is one.
pub(super) fn target<'a>(root: &'a Value, text: &str) -> Option<&'a Value> {
    at(root, &of_reference(root, text).ok()?)
}

/// The value under the segments of a pointer.
pub(super) fn at<'a>(root: &'a Value, segments: &[String]) -> Option<&'a Value> {
    segments.iter().try_fold(root, |at, segment| match at {
        Value::Object(map) => map.get(segment),
        Value::Array(items) => {
            let is_index = segment == "0" || !segment.starts_with(['0', '+']);
            segment.parse::<usize>().ok().filter(|_| is_index).and_then(|i| items.get(i))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// The segments of a JSON pointer, unescaped.
pub(super) fn segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}

/// A JSON pointer of these segments.
pub(super) fn pointer(segments: &[String]) -> String {
    segments.iter().map(|segment| format!("/{}", segment.replace('~', "~0").replace('/', "~1"))).collect()
}

/// A pointer in a fragment: what may not stand there as it is, percent-encoded.
pub(super) fn encoded(pointer: &str) -> String {
    percent_encoded(pointer, URI_PATH)
}

/// Where a schema has this `$anchor`.
fn anchor(schema: &Value, name: &str, path: &mut Vec<String>) -> Option<Vec<String>> {
    if path.len() > 2 * super::form::DEPTH {
        return None;
    }
    if schema.get("$anchor").and_then(Value::as_str) == Some(name) {
        return Some(path.clone());
    }
    parts(schema).into_iter().find_map(|(segments, part)| {
        let before = path.len();
        path.extend(segments);
        let found = anchor(part, name, path);
        path.truncate(before);
        found
    })
}

/// The schemas directly inside a schema, each with the segments that lead to it.
pub(super) fn parts(schema: &Value) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (keyword::find(key).map(|keyword| keyword.shape), value) {
            (Some(Shape::Schema), _) => found.push((vec![key.clone()], value)),
            (Some(Shape::SchemaMap | Shape::PatternMap), Value::Object(map)) => {
                found.extend(map.iter().map(|(name, part)| (vec![key.clone(), name.clone()], part)));
            }
            (Some(Shape::SchemaList), Value::Array(items)) => {
                let numbered = items.iter().enumerate();
                found.extend(numbered.map(|(i, part)| (vec![key.clone(), i.to_string()], part)));
            }
            (Some(_) | None, _) => {}
        }
    }
    found
}

/// The schemas inside a schema that judge the same value as it does.
pub(super) fn in_place<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut found: Vec<_> =
        schema.get("$ref").and_then(Value::as_str).and_then(|text| target(root, text)).into_iter().collect();
    for (segments, part) in parts(schema) {
        let key = segments.first().map(String::as_str).unwrap_or_default();
        if matches!(key, "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas") {
            found.push(part);
        }
    }
    found
}
