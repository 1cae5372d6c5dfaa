//! Effects behind one small trait, so that tests and rehearsal bring a second implementation.

use crate::engine::agent::command::{Answer, Part, Said};
use crate::engine::agent::event::{CallMade, Contract, Media, Spec};
use crate::host::tool::toolbox::Listing;
use crate::ir;
use crate::time::Millis;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future.
pub type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Bytes of the store that a request refers to, verified.
#[derive(Clone, Debug, Default)]
pub struct Blobs(HashMap<ir::Digest, Arc<Vec<u8>>>);

impl Blobs {
    /// Takes bytes in.
    pub fn insert(&mut self, digest: ir::Digest, bytes: Vec<u8>) {
        self.0.insert(digest, Arc::new(bytes));
    }

    /// The bytes of a digest.
    #[must_use]
    pub fn get(&self, digest: &ir::Digest) -> Option<&[u8]> {
        self.0.get(digest).map(|bytes| bytes.as_slice())
    }

    /// A part of an answer as text; media give a line that says what stands there.
    #[must_use]
    pub fn text(&self, part: &Part) -> String {
        match part {
            Part::Text(text) => text.clone(),
            Part::Kept(kept) => match self.get(&kept.digest) {
                Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                None => format!("{}\n[flowright: the rest is not kept any more]", kept.head),
            },
            Part::Media(media) => described(media),
        }
    }

    /// Media as base64; none if the bytes are gone.
    #[must_use]
    pub fn base64(&self, media: &Media) -> Option<String> {
        use base64::Engine as _;
        Some(base64::engine::general_purpose::STANDARD.encode(self.get(&media.digest)?))
    }
}

/// A line that stands for media where only text can stand.
#[must_use]
pub fn described(media: &Media) -> String {
    let name = media.name.as_deref().map(|name| format!(" `{name}`")).unwrap_or_default();
    format!("[{}{name}, {} bytes]", media.mime, media.length)
}

/// A piece of a reply as it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Of the text.
    Text(&'a str),
    /// Of the thinking.
    Thinking(&'a str),
}

/// Is told of the pieces of a reply. What it was told counts for nothing until the reply is whole.
#[derive(Clone)]
pub struct Watcher(pub Arc<dyn Fn(Delta<'_>) + Send + Sync>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}

/// Everything a model call needs.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The frozen agent.
    pub agent: Arc<ir::Agent>,
    /// The session: root folder, contract.
    pub spec: Arc<Spec>,
    /// The conversation, system prompt first.
    pub messages: Vec<Said>,
    /// Number of the reply asked for, from 1.
    pub reply: u32,
    /// Sent as idempotency key where the server takes one.
    pub idempotency_key: String,
    /// The bytes that the messages refer to.
    pub blobs: Blobs,
    /// Told of the reply as it comes in; with one, the reply is asked for as a stream.
    pub watcher: Option<Watcher>,
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFault {
    /// One sentence, without secrets.
    pub message: String,
    /// Whether asking again can help.
    pub retryable: bool,
    /// The server's own `Retry-After`.
    pub retry_after_ms: Option<Millis>,
}

/// Everything a tool call needs.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// The frozen agent.
    pub agent: Arc<ir::Agent>,
    /// The session.
    pub spec: Arc<Spec>,
    /// The call.
    pub call: CallMade,
    /// Number of the reply that made it.
    pub reply: u32,
    /// What wraps it, outermost first.
    pub decorators: Vec<ir::Decorator>,
    /// Where it runs instead of in its toolbox.
    pub isolation: Option<ir::Isolation>,
    /// Which admission it runs under.
    pub admission: u32,
    /// The token of a deferred call that is run in isolation.
    pub token: Option<String>,
}

/// What a tool gave, with its bytes. The host keeps long texts and media as blobs.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Text. Bytes that are no UTF-8 stand as U+FFFD, and the tool has said so in it.
    Text(String),
    /// A JSON value.
    Json(serde_json::Value),
    /// A picture or another file.
    Media {
        /// MIME type.
        mime: String,
        /// The bytes.
        bytes: Vec<u8>,
        /// File name, where there is one.
        name: Option<String>,
    },
    /// Several of these, in order; none of them mixed, failed or unknown.
    Mixed(Vec<Output>),
    /// It failed, and it is known that it did, in words for the model. May be tried again where the policy says so.
    Failed(String),
    /// It was begun, and nobody knows whether it had its effect; what is known, in words for people.
    Unknown(String),
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Full name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: serde_json::Value,
    /// Whether an interrupted call may run again.
    pub repeatable: bool,
}

impl ToolSpec {
    /// Digest of what a model and a person see of it.
    #[must_use]
    pub fn digest(&self) -> ir::Digest {
        ir::Digest::of_json(&serde_json::json!({
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }))
    }
}

/// The submit tool for a contract.
#[must_use]
pub fn submit_tool(contract: &Contract) -> ToolSpec {
    let result = match &contract.schema {
        Some(schema) => schema.clone(),
        None => serde_json::json!({ "type": "object" }),
    };
    ToolSpec {
        name: crate::engine::agent::event::SUBMIT_TOOL.to_owned(),
        description: "Submit the result of your assignment. Call it once, when the work is done, then stop. \
                      `outcome` is succeeded, blocked (you need something from outside) or failed (it cannot be \
                      done); `result` is required with succeeded."
            .to_owned(),
        parameters: serde_json::json!({
            "type": "object",
            "required": ["outcome", "summary"],
            "additionalProperties": false,
            "properties": {
                "outcome": { "type": "string", "enum": ["succeeded", "blocked", "failed"] },
                "summary": { "type": "string", "maxLength": 4000 },
                "result": result
            }
        }),
        repeatable: true,
    }
}

/// The effects of agent sessions.
pub trait Perform: Send + Sync {
    /// Asks a model once; no retries inside.
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>>;

    /// Runs a tool once. Dropping the future kills what runs. A fault is `Output::Failed` or `Output::Unknown`.
    fn run_tool(&self, request: ToolRequest) -> Doing<Output>;

    /// The tools of an agent whose package is at `root`, and why others are not there.
    fn tools(&self, agent: Arc<ir::Agent>, root: PathBuf) -> Doing<Listing> {
        let _ = (agent, root);
        Box::pin(async { Listing::default() })
    }

    /// Whether this host can isolate a call so; what is missing, in words for people.
    fn can_isolate(
        &self,
        agent: Arc<ir::Agent>,
        spec: Arc<Spec>,
        place: ir::Isolation,
    ) -> Doing<Result<(), String>> {
        let _ = (agent, spec, place);
        Box::pin(async { Ok(()) })
    }

    /// A tool as it is now; none where it is not there or cannot be known.
    fn definition(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<Option<ToolSpec>> {
        let _ = (agent, spec, tool);
        Box::pin(async { None })
    }

    /// Whether the tool declares itself repeatable.
    fn repeatable(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<bool>;
}
