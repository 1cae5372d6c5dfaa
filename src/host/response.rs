//! Responses of tools in the form of session files, read and written. Knows the form alone: keeps and runs nothing.

use super::perform::Output;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A response of any of the four types, or one of the older form; none if the value is not one.
#[must_use]
pub fn read(value: &Value) -> Option<Output> {
    let map = value.as_object()?;
    if let (Some(older), 1) = (map.get("_userToolResponse"), map.len()) {
        return Some(match older {
            Value::String(text) => Output::Text(text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Output::Json(older.clone())
            }
        });
    }
    match map.get("type")?.as_str()? {
        "text" => Some(Output::Text(map.get("content")?.as_str()?.to_owned())),
        "json" => Some(Output::Json(map.get("content")?.clone())),
        "media" => Some(Output::Media {
            mime: map.get("mimeType")?.as_str()?.to_owned(),
            bytes: STANDARD.decode(map.get("base64Data")?.as_str()?).ok()?,
            name: map.get("filename").and_then(Value::as_str).map(str::to_owned),
        }),
        "mixed" => {
            let parts: Option<Vec<Output>> = map.get("parts")?.as_array()?.iter().map(read).collect();
            Some(Output::Mixed(parts?))
        }
        _ => None,
    }
}

/// What a program printed: a response if it is one, else text.
#[must_use]
pub fn from_text(text: String) -> Output {
    let value = serde_json::from_str::<Value>(&text).ok();
    value.and_then(|value| read(&value)).unwrap_or(Output::Text(text))
}

/// The form of media.
#[must_use]
pub fn media(mime: &str, bytes: &[u8], name: Option<&str>) -> Value {
    let mut value = json!({ "type": "media", "mimeType": mime, "base64Data": STANDARD.encode(bytes) });
    if let (Some(name), Some(map)) = (name, value.as_object_mut()) {
        map.insert("filename".to_owned(), name.into());
    }
    value
}
