//! The effects of a rehearsal: one reply that was put ready, and tools that never run.

use crate::engine::agent::command::Answer;
use crate::engine::agent::event::{SUBMIT_TOOL, Spec};
use crate::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest};
use crate::ir;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an agent says when it is asked.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// A call of the submit tool with these arguments.
    Submit(Value),
    /// Text alone.
    Say(String),
    /// No answer.
    Crash(String),
}

/// Plays all agents.
#[derive(Debug, Default)]
pub(super) struct Actor {
    ready: Mutex<Option<Reply>>,
}

impl Actor {
    /// Puts the next reply ready.
    pub(super) fn prepare(&self, reply: Reply) {
        *self.lock() = Some(reply);
    }

    /// Takes the reply back; none if it was given.
    pub(super) fn take(&self) -> Option<Reply> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Reply>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Perform for Actor {
    fn call_model(&self, _request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let fault = |message: String| ModelFault { message, retryable: false, retry_after_ms: None };
        let answer = match self.take() {
            Some(Reply::Submit(arguments)) => {
                let calls = vec![(String::new(), SUBMIT_TOOL.to_owned(), arguments.to_string())];
                Ok(Answer { calls, ..Answer::default() })
            }
            Some(Reply::Say(text)) => Ok(Answer { text, ..Answer::default() }),
            Some(Reply::Crash(message)) => Err(fault(message)),
            None => Err(fault("the rehearsal has no reply for this".to_owned())),
        };
        Box::pin(async move { answer })
    }

    fn run_tool(&self, _request: ToolRequest) -> Doing<Output> {
        Box::pin(async { Output::Failed("no tool runs in a rehearsal".to_owned()) })
    }

    fn repeatable(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, _tool: String) -> Doing<bool> {
        Box::pin(async { false })
    }
}
