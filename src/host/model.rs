//! Asking models: adapters to servers that speak one of two protocols, and the scripted model for demos and tests.
//! Each request asks once and repeats nothing: retries are the engine's, which records them.

mod anthropic;
mod fault;
mod flavor;
mod ids;
pub mod keys;
mod media;
mod names;
mod openai;
pub(in crate::host) mod raw;
mod redact;
pub mod script;
pub mod sse;
mod told;
pub(in crate::host) mod wire;

use crate::engine::agent::command::Answer;
use crate::host::perform::{ModelFault, ModelRequest, ToolSpec};
use flavor::Flavor;
use keys::Keys;
use names::Names;
use redact::Secrets;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::sync::OnceLock;
use std::time::Duration;
use told::Told;

pub use wire::client;

/// The variable that says how long a stream may be silent, in seconds.
const IDLE_VARIABLE: &str = "FLOWRIGHT_MODEL_IDLE_SECONDS";

/// How long a server is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a whole answer; of a stream for its first sign of life.
    pub answer: Duration,
    /// For the next piece of a stream.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { answer: Duration::from_secs(600), idle: Duration::from_secs(300) }
    }
}

impl Limits {
    /// As the operator's environment says. What is no number of seconds from 1 counts as not said.
    #[must_use]
    pub fn of_operator() -> Self {
        let mut limits = Self::default();
        let said = std::env::var(IDLE_VARIABLE).ok().and_then(|seconds| seconds.trim().parse().ok());
        if let Some(seconds) = said.filter(|seconds| *seconds > 0) {
            limits.idle = Duration::from_secs(seconds);
        }
        limits
    }
}

/// Asks once, for a stream if somebody watches.
///
/// # Errors
/// What went wrong, without secrets, and whether asking again can help.
pub async fn ask(
    cell: &OnceLock<reqwest::Client>,
    keys: &Keys,
    limits: Limits,
    request: &ModelRequest,
    tools: &[ToolSpec],
) -> Result<Answer, ModelFault> {
    let flavor = Flavor::of(request.agent.flavor.as_deref());
    let url =
        flavor.endpoint(request.agent.model_url.as_deref().unwrap_or_default()).map_err(fault::fatal)?;
    let key = key(keys, request, &url).await?;
    let secrets = Secrets::of(key.as_deref(), &url);
    let names = Names::of(tools, &request.messages);
    let asked = Asked { flavor, request, tools, names: &names };
    let body = match flavor {
        Flavor::OpenAi | Flavor::Mistral | Flavor::Kimi => openai::body(&asked, &url).to_string(),
        Flavor::Claude => anthropic::body(&asked),
    };
    let headers = headers(flavor, request, key.as_deref()).map_err(fault::fatal)?;
    let call = wire::Call { url: &url, headers, body, limits, streams: asked.streams() };
    let mut told = Told::new(request.watcher.as_ref(), &secrets);
    let model = request.agent.model_name.as_deref().unwrap_or_default();
    let answered = match wire::client(cell) {
        Err(message) => Err(wire::Failure::from(fault::fatal(message))),
        Ok(client) => match flavor {
            Flavor::OpenAi | Flavor::Mistral | Flavor::Kimi => {
                wire::converse(client, call, openai::Reply::new(model), &mut told).await
            }
            Flavor::Claude => wire::converse(client, call, anthropic::Reply::new(model), &mut told).await,
        },
    };
    match answered {
        Ok(mut answer) => {
            keys.taken(request.agent.api_key_id.as_deref().unwrap_or_default());
            names.restore(&mut answer);
            secrets.hide_in_answer(&mut answer);
            Ok(answer)
        }
        Err(wire::Failure { mut fault, status }) => {
            if status == Some(401) && keys.renew(request.agent.api_key_id.as_deref().unwrap_or_default()) {
                fault.retryable = true;
            }
            fault.message = secrets.hide(&fault.message);
            Err(fault)
        }
    }
}

/// One question, as the protocols write it.
struct Asked<'a> {
    flavor: Flavor,
    request: &'a ModelRequest,
    tools: &'a [ToolSpec],
    names: &'a Names,
}

impl Asked<'_> {
    fn streams(&self) -> bool {
        self.request.watcher.is_some()
    }
}

async fn key(keys: &Keys, request: &ModelRequest, url: &Url) -> Result<Option<String>, ModelFault> {
    let Some(id) = &request.agent.api_key_id else { return Ok(None) };
    let found = keys.find(id).await.map_err(fault::fatal)?;
    if found.is_none() && !is_loopback(url) {
        return Err(fault::fatal(format!(
            "there is no key `{id}`: put it into the secret-keys file or set {} for it",
            keys::variable(id)
        )));
    }
    Ok(found)
}

fn headers(flavor: Flavor, request: &ModelRequest, key: Option<&str>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(value) = HeaderValue::from_str(&request.idempotency_key) {
        headers.insert(HeaderName::from_static("idempotency-key"), value);
    }
    if flavor == Flavor::Claude {
        headers.insert(
            HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static(anthropic::VERSION),
        );
    }
    if let Some(key) = key {
        let (name, value) = match flavor {
            Flavor::OpenAi | Flavor::Mistral | Flavor::Kimi => ("authorization", format!("Bearer {key}")),
            Flavor::Claude => ("x-api-key", key.to_owned()),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let id = request.agent.api_key_id.as_deref().unwrap_or_default();
            format!("the key `{id}` holds characters that cannot be sent")
        })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    Ok(headers)
}

fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]" | "::1"))
}
