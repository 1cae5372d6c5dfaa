//! One call as an HTTP request: URL, headers, body. Nothing that an argument holds reaches another host or leaves its
//! place in the path. Sends nothing.

use super::operation::{Body, Form, Operation, Parameter, Place, Style};
use crate::escape;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// What stands for itself in a URL.
const KEPT: &[u8] = b"-._~";

/// A request, but for what the definition adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// Where it goes.
    pub url: Url,
    /// What arguments set.
    pub headers: HeaderMap,
    /// MIME type and bytes.
    pub body: Option<(String, Vec<u8>)>,
}

/// The request of a call.
///
/// # Errors
/// One sentence for the model.
pub fn build(base: &Url, operation: &Operation, given: &Map<String, Value>) -> Result<Built, String> {
    known(operation, given)?;
    let mut path = operation.path.clone();
    let mut query: Vec<String> = base.query().map(str::to_owned).into_iter().collect();
    let mut headers = HeaderMap::new();
    for parameter in &operation.parameters {
        let argument = &parameter.argument;
        let value = match given.get(argument).filter(|value| !value.is_null()) {
            Some(value) => value,
            None if parameter.is_required => return Err(format!("the argument `{argument}` is missing")),
            None => continue,
        };
        match parameter.place {
            Place::Path => {
                let text = in_path(parameter, value)?;
                path = path.replace(&format!("{{{}}}", parameter.name), &text);
            }
            Place::Query => query.extend(in_query(parameter, value)),
            Place::Header => {
                let bad = || format!("the argument `{argument}` cannot be sent as a header");
                let name = HeaderName::from_bytes(parameter.name.as_bytes()).map_err(|_| bad())?;
                let text = joined(parameter, value, &|text| text.to_owned());
                headers.insert(name, HeaderValue::from_str(&text).map_err(|_| bad())?);
            }
        }
    }
    let url = url(base, &path, &query)?;
    let body = match &operation.body {
        Some(body) => bytes(body, given)?,
        None => None,
    };
    Ok(Built { url, headers, body })
}

fn known(operation: &Operation, given: &Map<String, Value>) -> Result<(), String> {
    let parameters = operation.parameters.iter().map(|parameter| parameter.argument.as_str());
    let known: Vec<&str> =
        parameters.chain(operation.body.iter().map(|body| body.argument.as_str())).collect();
    match given.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) if known.is_empty() => Err(format!("there is no argument `{name}`; the tool takes none")),
        Some(name) => Err(format!("there is no argument `{name}`; the tool takes: {}", known.join(", "))),
    }
}

fn url(base: &Url, path: &str, query: &[String]) -> Result<Url, String> {
    let dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(dots) {
        return Err("the arguments make a path that leads elsewhere, which is refused".to_owned());
    }
    let mut url = base.clone();
    let root = base.path().trim_end_matches('/');
    url.set_path(&format!("{root}{path}"));
    url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    url.set_fragment(None);
    // What was encoded is not decoded again, so this holds; it is the last guard.
    if url.origin() != base.origin() || !url.path().starts_with(root) {
        return Err("the arguments make a URL that leads elsewhere, which is refused".to_owned());
    }
    Ok(url)
}

/// A value for one place of the path.
fn in_path(parameter: &Parameter, value: &Value) -> Result<String, String> {
    let plain = joined(parameter, value, &|text| text.to_owned());
    let argument = &parameter.argument;
    if plain.is_empty() {
        return Err(format!("the argument `{argument}` is empty, and it stands in the path"));
    }
    if plain.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
        return Err(format!("the argument `{argument}` is refused: it leads out of its place in the path"));
    }
    Ok(joined(parameter, value, &encoded))
}

fn in_query(parameter: &Parameter, value: &Value) -> Vec<String> {
    let name = encoded(&parameter.name);
    let pair = |name: &str, value: &Value| format!("{name}={}", encoded(&text(value)));
    match (parameter.style, value) {
        (Style::Deep, Value::Object(map)) => {
            map.iter().map(|(key, value)| pair(&format!("{name}%5B{}%5D", encoded(key)), value)).collect()
        }
        (Style::Joined(_), Value::Object(map)) if parameter.explode => {
            map.iter().map(|(key, value)| pair(&encoded(key), value)).collect()
        }
        (Style::Joined(_) | Style::Deep, Value::Array(items)) if parameter.explode => {
            items.iter().map(|item| pair(&name, item)).collect()
        }
        (
            Style::Joined(_) | Style::Deep | Style::Json,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
        ) => vec![format!("{name}={}", joined(parameter, value, &encoded))],
    }
}

/// A value as one text, its parts written by `write`.
fn joined(parameter: &Parameter, value: &Value, write: &dyn Fn(&str) -> String) -> String {
    let between = match parameter.style {
        Style::Json => return write(&value.to_string()),
        Style::Joined(between) => between,
        Style::Deep => ",",
    };
    // In a query only the comma may stand for itself.
    let between = if between == "," { between.to_owned() } else { write(between) };
    match value {
        Value::Array(items) => items.iter().map(|item| write(&text(item))).collect::<Vec<_>>().join(&between),
        Value::Object(map) => {
            let inner = if parameter.explode { "=" } else { between.as_str() };
            let pairs =
                map.iter().map(|(key, value)| format!("{}{inner}{}", write(key), write(&text(value))));
            pairs.collect::<Vec<_>>().join(&between)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => write(&text(value)),
    }
}

fn bytes(body: &Body, given: &Map<String, Value>) -> Result<Option<(String, Vec<u8>)>, String> {
    let argument = &body.argument;
    let value = match given.get(argument) {
        Some(value) if !value.is_null() || (body.is_required && body.form == Form::Json) => value,
        Some(_) | None if body.is_required => return Err(format!("the argument `{argument}` is missing")),
        Some(_) | None => return Ok(None),
    };
    let text = match (body.form, value) {
        (Form::Json, value) => value.to_string(),
        (Form::Text, value) => text(value),
        (Form::Fields, Value::Object(map)) => fields(map),
        (
            Form::Fields,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => return Err(format!("the argument `{argument}` must be a map")),
    };
    Ok(Some((body.mime.clone(), text.into_bytes())))
}

fn fields(map: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (key, value) in map {
        let key = encoded(key);
        match value {
            Value::Array(items) => {
                pairs.extend(items.iter().map(|item| format!("{key}={}", encoded(&text(item)))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                pairs.push(format!("{key}={}", encoded(&text(value))));
            }
        }
    }
    pairs.join("&")
}

/// A single value as text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn encoded(text: &str) -> String {
    escape::percent_encoded(text, KEPT)
}
