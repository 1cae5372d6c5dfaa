//! Effects behind one small trait, so that tests and rehearsal bring a second implementation.

use crate::engine::agent::command::{Answer, Said};
use crate::engine::agent::event::{CallMade, Contract, Spec, ToolResult};
use crate::ir;
use crate::time::Millis;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future.
pub type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

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

    /// Runs a tool once. Dropping the future kills what runs. Never fails: a fault is `ToolResult::Error`.
    fn run_tool(&self, request: ToolRequest) -> Doing<ToolResult>;

    /// Whether the tool declares itself repeatable.
    fn repeatable(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<bool>;
}
