//! OpenAI-compatible chat completions: one request, one whole answer, no retries inside.

use super::keys::Keys;
use crate::engine::agent::command::{Answer, Said};
use crate::engine::agent::event::Usage;
use crate::host::perform::{Blobs, ModelFault, ModelRequest, ToolSpec};
use crate::time::Millis;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(600);
/// An answer larger than this is refused: no model writes it, a broken server does.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Asks once.
///
/// # Errors
/// What went wrong and whether asking again can help.
pub async fn answer(
    client: &OnceLock<reqwest::Client>,
    keys: &Keys,
    request: &ModelRequest,
    tools: &[ToolSpec],
) -> Result<Answer, ModelFault> {
    let agent = &request.agent;
    let url = endpoint(agent.model_url.as_deref().unwrap_or_default()).map_err(fatal)?;
    let client = match client.get() {
        Some(client) => client,
        None => {
            let built = build_client().map_err(fatal)?;
            client.get_or_init(|| built)
        }
    };
    let mut call = client.post(url.clone()).header("Idempotency-Key", &request.idempotency_key);
    if let Some(id) = &agent.api_key_id {
        match keys.get(id) {
            Some(key) => call = call.bearer_auth(key),
            None if is_loopback(&url) => {}
            None => {
                return Err(fatal(format!(
                    "there is no key `{id}`: put it into the secret-keys file or set FLOWRIGHT_KEY_… for it"
                )));
            }
        }
    }
    let response = call
        .header("Content-Type", "application/json")
        .body(body(request, tools).to_string())
        .send()
        .await
        .map_err(|error| transport(&url, &error))?;
    let status = response.status();
    let retry_after_ms =
        response.headers().get("retry-after").and_then(|value| retry_after(value.to_str().ok()?));
    let text = read_bounded(response, &url).await?;
    if !status.is_success() {
        let retryable = matches!(status.as_u16(), 408 | 409 | 425 | 429) || status.is_server_error();
        let message = format!("the model server answered {status}: {}", excerpt(&text));
        return Err(ModelFault { message, retryable, retry_after_ms });
    }
    read_answer(&text)
}

fn build_client() -> Result<reqwest::Client, String> {
    // Another part of the process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("flowright/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("the HTTP client cannot be built: {error}"))
}

fn endpoint(base: &str) -> Result<reqwest::Url, String> {
    let base = base.trim_end_matches('/');
    let whole = if base.ends_with("/chat/completions") {
        base.to_owned()
    } else {
        format!("{base}/chat/completions")
    };
    let url = reqwest::Url::parse(&whole).map_err(|error| format!("modelUrl `{base}` is no URL: {error}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("modelUrl `{base}` has the scheme `{other}`; it takes http, https or script")),
    }
}

fn is_loopback(url: &reqwest::Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]" | "::1"))
}

/// The request body; numbers keep their digits.
fn body(request: &ModelRequest, tools: &[ToolSpec]) -> Value {
    let agent = &request.agent;
    let mut body = Map::new();
    body.insert("model".to_owned(), agent.model_name.clone().unwrap_or_default().into());
    body.insert(
        "messages".to_owned(),
        request.messages.iter().map(|said| message(said, &request.blobs)).collect(),
    );
    if !tools.is_empty() {
        let tools: Vec<Value> = tools
            .iter()
            .map(|tool| {
                json!({ "type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
            })
            .collect();
        body.insert("tools".to_owned(), tools.into());
        if let Some(choice) = &agent.tool_choice {
            body.insert("tool_choice".to_owned(), choice.clone().into());
        }
    }
    if let Some(temperature) = &agent.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Some(most) = agent.max_tokens {
        body.insert("max_tokens".to_owned(), most.into());
    }
    body.insert("stream".to_owned(), false.into());
    Value::Object(body)
}

fn message(said: &Said, blobs: &Blobs) -> Value {
    match said {
        Said::System(text) => json!({ "role": "system", "content": text }),
        Said::User { text, .. } => json!({ "role": "user", "content": text }),
        Said::Assistant { text, calls, .. } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Said::Assistant { text, calls, .. } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    json!({ "id": call.id, "type": "function",
                        "function": { "name": call.name, "arguments": call.arguments } })
                })
                .collect();
            let content = if text.is_empty() { Value::Null } else { text.clone().into() };
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Said::Tool { call, name, content, .. } => {
            let content: Vec<String> = content.iter().map(|part| blobs.text(part)).collect();
            let content = content.join("\n");
            json!({ "role": "tool", "tool_call_id": call, "name": name, "content": content })
        }
    }
}

async fn read_bounded(mut response: reqwest::Response, url: &reqwest::Url) -> Result<String, ModelFault> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| transport(url, &error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > ANSWER_LIMIT_BYTES {
            return Err(fatal(format!(
                "the model server's answer is longer than {ANSWER_LIMIT_BYTES} bytes"
            )));
        }
    }
    String::from_utf8(bytes).map_err(|_| ModelFault {
        message: "the model server's answer is not UTF-8".to_owned(),
        retryable: true,
        retry_after_ms: None,
    })
}

/// Reads a whole answer. One that is not of the protocol's shape may be a passing fault of a proxy: asked again.
fn read_answer(text: &str) -> Result<Answer, ModelFault> {
    let broken = |what: &str| ModelFault {
        message: format!("the model server's answer {what}: {}", excerpt(text)),
        retryable: true,
        retry_after_ms: None,
    };
    let value: Value = serde_json::from_str(text).map_err(|_| broken("is no JSON"))?;
    let choice = value.pointer("/choices/0").ok_or_else(|| broken("has no choice in it"))?;
    let message = choice.get("message").ok_or_else(|| broken("has no message in it"))?;
    let text_of = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut thinking = text_of("reasoning_content");
    if thinking.is_empty() {
        thinking = text_of("reasoning");
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let calls = calls.iter().map(read_call).collect();
    let count = |path: &str| value.pointer(path).and_then(Value::as_u64);
    let usage = count("/usage/prompt_tokens").map(|input| Usage {
        input,
        output: count("/usage/completion_tokens").unwrap_or_default(),
        ..Usage::default()
    });
    let cut_off = choice.get("finish_reason").and_then(Value::as_str) == Some("length");
    Ok(Answer { text: text_of("content"), thinking, calls, usage, cut_off, carry: None })
}

fn read_call(call: &Value) -> (String, String, String) {
    let id = call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    (id, name, arguments)
}

/// `Retry-After`: seconds or an HTTP date. A date is left to our own backoff.
fn retry_after(value: &str) -> Option<Millis> {
    value.trim().parse::<i64>().ok().filter(|seconds| *seconds >= 0).map(Millis::from_secs)
}

fn fatal(message: String) -> ModelFault {
    ModelFault { message, retryable: false, retry_after_ms: None }
}

fn transport(url: &reqwest::Url, error: &reqwest::Error) -> ModelFault {
    let host = url.host_str().unwrap_or_default();
    let what = if error.is_connect() {
        "cannot be reached"
    } else if error.is_timeout() {
        "did not answer in time"
    } else {
        "broke the connection"
    };
    ModelFault {
        message: format!("the model server at {host} {what}"),
        retryable: true,
        retry_after_ms: None,
    }
}

fn excerpt(text: &str) -> String {
    let text: String = text.trim().chars().take(300).collect();
    if text.is_empty() { "(nothing)".to_owned() } else { text }
}
