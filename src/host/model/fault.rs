//! Why a server did not answer: whether asking again can help, when it asked to be asked again, and what to tell
//! people. Repeats nothing itself.

use crate::host::perform::ModelFault;
use crate::time::Millis;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;

/// Characters of a server's words that are passed on.
const EXCERPT_CHARS: usize = 300;

/// Kinds of errors that stay however often one asks, by the names that servers give them.
const LASTING: [&str; 15] = [
    "authentication_error",
    "billing_error",
    "content_filter",
    "context_length_exceeded",
    "exceeded_current_quota_error",
    "insufficient_quota",
    "invalid_api_key",
    "invalid_authentication_error",
    "invalid_request_error",
    "model_not_found",
    "not_found_error",
    "permission_denied_error",
    "permission_error",
    "request_too_large",
    "unsupported_parameter",
];
/// Of these, those that some servers send with a status that otherwise means "later".
const UNPAID: [&str; 3] = ["billing_error", "exceeded_current_quota_error", "insufficient_quota"];
/// What is said with whatever status by a server that has too much to do.
const OVERLOADED: [&str; 2] = ["overloaded_error", "engine_overloaded_error"];

/// Asking again cannot help.
pub(super) fn fatal(message: String) -> ModelFault {
    ModelFault { message, retryable: false, retry_after_ms: None }
}

/// Asking again may help.
pub(super) fn passing(message: String) -> ModelFault {
    ModelFault { message, retryable: true, retry_after_ms: None }
}

/// An answer that is not of the protocol's shape may be a passing fault of what stands between.
pub(super) fn broken(what: &str, text: &str) -> ModelFault {
    passing(format!("the model server's answer {what}: {}", excerpt(text)))
}

/// An answer with a status other than success.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str, now_ms: i64) -> ModelFault {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let kinds = value.as_ref().map(kinds).unwrap_or_default();
    let says = |names: &[&str]| kinds.iter().any(|kind| names.contains(&kind.as_str()));
    let refused = headers.get("x-should-retry").is_some_and(|value| value.as_bytes() == b"false");
    let passes = is_passing(status.as_u16()) && !says(&UNPAID) && !refused;
    let said = value.as_ref().and_then(words).unwrap_or_else(|| body.to_owned());
    let mut message = format!("the model server answered {status}: {}", excerpt(&said));
    if status.is_redirection() {
        message.push_str(" (redirects are not followed, so that a key goes to no other host)");
    }
    if let Some(id) = request_id(headers) {
        message.push_str(&format!(" (request {id})"));
    }
    let retryable = passes || says(&OVERLOADED);
    ModelFault { message, retryable, retry_after_ms: retry_after(headers, now_ms).filter(|_| retryable) }
}

/// An error that stands where an answer should: in a whole body with a status of success, or inside a stream.
pub(super) fn of_error(value: &Value, headers: &HeaderMap, now_ms: i64) -> ModelFault {
    let kinds = kinds(value);
    let said = words(value).unwrap_or_else(|| value.to_string());
    let status = kinds.iter().find_map(|kind| kind.parse::<u16>().ok().filter(|it| (400..600).contains(it)));
    let lasting = kinds.iter().any(|kind| LASTING.contains(&kind.as_str()));
    let overloaded = kinds.iter().any(|kind| OVERLOADED.contains(&kind.as_str()));
    let retryable = overloaded || (!lasting && status.is_none_or(is_passing));
    let message = format!("the model server reported an error: {}", excerpt(&said));
    ModelFault { message, retryable, retry_after_ms: retry_after(headers, now_ms).filter(|_| retryable) }
}

fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

/// The error itself, wherever a server puts it.
fn error_of(value: &Value) -> &Value {
    value.get("error").filter(|error| !error.is_null()).unwrap_or(value)
}

/// What a server calls the error.
fn kinds(value: &Value) -> Vec<String> {
    let error = error_of(value);
    let named = ["type", "code", "status"].iter().filter_map(|key| error.get(*key));
    named
        .filter_map(|name| match name {
            Value::String(text) => Some(text.to_lowercase()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
        .collect()
}

/// What a server says of the error.
fn words(value: &Value) -> Option<String> {
    let error = error_of(value);
    let said = match error {
        Value::String(text) => return Some(text.clone()),
        Value::Object(_) => ["message", "detail", "error_message"].iter().find_map(|key| error.get(*key))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let kind = error.get("type").and_then(Value::as_str).filter(|kind| *kind != "error");
    let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
    Some(kind.map_or_else(|| said.clone(), |kind| format!("{said} ({kind})")))
}

fn request_id(headers: &HeaderMap) -> Option<&str> {
    let id = ["request-id", "x-request-id"].iter().find_map(|name| headers.get(*name))?.to_str().ok()?;
    let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (plain && !id.is_empty() && id.len() <= 64).then_some(id)
}

/// When the server wants to be asked again: `retry-after-ms`, or `Retry-After` as seconds or as a date, which counts
/// from the server's own clock where it tells that.
pub(super) fn retry_after(headers: &HeaderMap, now_ms: i64) -> Option<Millis> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|ms| whole_ms(ms, 1.0)) {
        return Some(wait);
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Some(wait) = whole_ms(asked, 1000.0) {
        return Some(wait);
    }
    let until = date_ms(asked)?;
    let now = text(DATE.as_str()).and_then(date_ms).unwrap_or(now_ms);
    Some(Millis(until.saturating_sub(now).max(0)))
}

fn whole_ms(text: &str, unit: f64) -> Option<Millis> {
    let count: f64 = text.parse().ok().filter(|count: &f64| count.is_finite() && *count >= 0.0)?;
    // A float beyond the bounds of an integer becomes the nearest one.
    Some(Millis((count * unit).ceil() as i64))
}

fn date_ms(text: &str) -> Option<i64> {
    chrono::DateTime::parse_from_rfc2822(text).ok().map(|at| at.timestamp_millis())
}

/// A connection that failed.
pub(super) fn transport(url: &Url, error: &reqwest::Error) -> ModelFault {
    let place = place(url);
    if error.is_builder() {
        return fatal(format!("the request to the model server at {place} cannot be built"));
    }
    let what = if error.is_timeout() {
        "did not answer in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "broke the connection"
    };
    passing(format!("the model server at {place} {what}"))
}

/// Host and port: of a URL all that may be shown.
pub(super) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The beginning of a server's words, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let most: String = text.chars().take(EXCERPT_CHARS * 4).collect();
    let line = most.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(EXCERPT_CHARS).collect();
    if line.is_empty() { "(nothing)".to_owned() } else { line }
}
