//! What a service answered as the result of a call. A key that the service repeats is hidden.

use super::exchange::{Answered, Trouble};
use crate::escape;
use crate::host::perform::Output;
use crate::secret;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use serde_json::{Map, Value, json};

/// Of the body of an error so much is shown.
const MOST_SAID_CHARS: usize = 400;
const HIDDEN: &str = "•••";
/// In answers only what is surely a key is hidden: a short one may be a word.
const LEAST_CHARS_IN_ANSWERS: usize = 16;

/// Of a call that was answered.
#[must_use]
pub fn of(answered: &Answered, method: &str, place: &str, key: Option<&str>) -> Output {
    let status = answered.status;
    if !status.is_success() {
        let said = String::from_utf8_lossy(&answered.bytes);
        return Output::Failed(format!(
            "the service at {place} answered with status {}: {}",
            status.as_u16(),
            without_key(&excerpt(&said), key)
        ));
    }
    if method == Method::HEAD.as_str() {
        return Output::Json(json!({ "status": status.as_u16(), "headers": headers(answered, key) }));
    }
    if answered.bytes.is_empty() {
        let to = answered.headers.get(LOCATION).and_then(|to| to.to_str().ok());
        let to = to.map(|to| format!(", location {to}")).unwrap_or_default();
        return Output::Text(in_answer(&format!("status {status}, no content{to}"), key));
    }
    if answered.is_cut {
        let most = answered.bytes.len();
        let what = format!("the answer is longer than {most} bytes and is left out");
        let is_reading = method == Method::GET.as_str();
        return if is_reading {
            Output::Failed(format!("{what}; ask for less"))
        } else {
            Output::Text(format!("status {status}; {what}"))
        };
    }
    body(answered, key)
}

fn body(answered: &Answered, key: Option<&str>) -> Output {
    let kind = answered.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind == "application/json" || kind.ends_with("+json");
    let is_text = is_json
        || kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("xml")
        || kind.ends_with("yaml")
        || matches!(kind.as_str(), "application/javascript" | "application/x-ndjson");
    let media = || Output::Media { mime: kind.clone(), bytes: answered.bytes.clone(), name: None };
    if !is_text && kind.contains('/') {
        return media();
    }
    let Ok(text) = std::str::from_utf8(&answered.bytes) else {
        return Output::Text(format!(
            "{}\n[flowright: bytes that are no UTF-8 stand as U+FFFD]",
            in_answer(&String::from_utf8_lossy(&answered.bytes), key)
        ));
    };
    let text = in_answer(text.trim_start_matches('\u{feff}'), key);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) if is_json => Output::Json(value),
        Ok(_) | Err(_) => Output::Text(text),
    }
}

/// Of a call that was not answered, or not whole.
#[must_use]
pub fn of_trouble(trouble: &Trouble, place: &str, is_repeatable: bool) -> Output {
    let what = format!("the service at {place} {}", trouble.what);
    if trouble.is_sent && !is_repeatable {
        Output::Unknown(format!("{what}; the request may have had its effect"))
    } else {
        Output::Failed(what)
    }
}

fn headers(answered: &Answered, key: Option<&str>) -> Map<String, Value> {
    let told = answered.headers.iter().filter(|(name, _)| **name != SET_COOKIE);
    told.map(|(name, value)| {
        (name.as_str().to_owned(), in_answer(&String::from_utf8_lossy(value.as_bytes()), key).into())
    })
    .collect()
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(MOST_SAID_CHARS).collect();
    if line.is_empty() { "(nothing)".to_owned() } else { escape::visible(&line).into_owned() }
}

/// A sentence for people: without the key, and without others that look like keys.
fn without_key(text: &str, key: Option<&str>) -> String {
    let text = match key {
        Some(key) if !key.is_empty() => text.replace(key, HIDDEN),
        Some(_) | None => text.to_owned(),
    };
    secret::masked(&text)
}

fn in_answer(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if key.len() >= LEAST_CHARS_IN_ANSWERS => text.replace(key, HIDDEN),
        Some(_) | None => text.to_owned(),
    }
}
