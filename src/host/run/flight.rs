//! Effects under way in this process, and which further ones may begin. Stores and decides nothing.

use super::dispatch::{Landed, STOPPED};
use crate::engine::SessionId;
use crate::engine::agent::command::{Command as Owed, Notification as AgentNews};
use crate::engine::agent::event::ToolResult;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use tokio::task::{AbortHandle, Id, JoinSet};

/// What an effect is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A question to a model.
    Model { reply: u32, admission: u32 },
    /// A tool call.
    Call { call: String, admission: u32 },
}

/// An effect under way.
struct Task {
    session: SessionId,
    command: String,
    effect: Effect,
    abort: AbortHandle,
}

/// Effects under way.
pub(super) struct Flight {
    running: JoinSet<AgentNews>,
    tasks: HashMap<Id, Task>,
    pub(super) begun: u64,
    /// Calls that were handed to processes of their own.
    pub(super) handed: Vec<String>,
    /// Sessions of which calls have begun.
    pub(super) called: HashSet<SessionId>,
}

impl Flight {
    pub(super) fn new() -> Self {
        Self {
            running: JoinSet::new(),
            tasks: HashMap::new(),
            begun: 0,
            handed: Vec::new(),
            called: HashSet::new(),
        }
    }

    /// Whether anything has been begun or handed over.
    pub(super) fn has_stepped(&self) -> bool {
        self.begun > 0 || !self.handed.is_empty()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn knows(&self, command: &str) -> bool {
        self.tasks.values().any(|task| task.command == command)
    }

    pub(super) fn begin(
        &mut self,
        session: &SessionId,
        command: String,
        effect: Effect,
        doing: impl Future<Output = AgentNews> + Send + 'static,
    ) {
        self.begun += 1;
        let abort = self.running.spawn(doing);
        self.tasks.insert(abort.id(), Task { session: session.clone(), command, effect, abort });
    }

    /// Drops what runs of a call, which kills its processes. It lands when it is gone, or with what it came to if it
    /// was quicker.
    pub(super) fn abort(&self, session: &SessionId, call: &str) {
        for task in self.tasks.values().filter(|task| task.session == *session) {
            if matches!(&task.effect, Effect::Call { call: known, .. } if known == call) {
                task.abort.abort();
            }
        }
    }

    pub(super) fn abort_all(&mut self) {
        self.running.abort_all();
    }

    /// The next effect that has ended; none: nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Landed> {
        loop {
            let (id, outcome) = match self.running.join_next_with_id().await? {
                Ok((id, news)) => (id, Ok(news)),
                Err(error) => (error.id(), Err(error.is_cancelled())),
            };
            if let Some(task) = self.tasks.remove(&id) {
                let news = outcome.unwrap_or_else(|stopped| ended(task.effect, stopped));
                return Some(Landed { session: task.session, news });
            }
        }
    }
}

/// What is told of an effect that ended without a word: it was stopped, or its own code failed.
fn ended(effect: Effect, stopped: bool) -> AgentNews {
    const FAULT: &str = "a fault inside Flowright ended it";
    match effect {
        Effect::Model { reply, admission } => {
            let error = FAULT.to_owned();
            AgentNews::ModelFailed { reply, admission, error, retryable: false, retry_after_ms: None }
        }
        Effect::Call { call, admission } if stopped => {
            let result = ToolResult::Error(STOPPED.to_owned());
            AgentNews::CallReported { call, admission, result }
        }
        Effect::Call { call, admission } => {
            AgentNews::CallUncertain { call, admission, reason: FAULT.to_owned() }
        }
    }
}

/// Which effects may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// All that are owed.
    Open,
    /// The rest of a step: further calls of the turns whose calls have begun.
    Calls(HashSet<SessionId>),
    /// None.
    Closed,
}

impl Gate {
    pub(super) fn lets(&self, session: &SessionId, owed: &Owed) -> bool {
        match (self, owed) {
            (Self::Open, _) => true,
            (Self::Calls(sessions), Owed::RunTool { .. }) => sessions.contains(session),
            (Self::Calls(_) | Self::Closed, Owed::CallModel { .. })
            | (Self::Closed, Owed::RunTool { .. }) => false,
            // Messages between sessions and the end of what runs are no effects.
            (
                Self::Calls(_) | Self::Closed,
                Owed::KillCall { .. }
                | Owed::StartAgent { .. }
                | Owed::StopAgent { .. }
                | Owed::Report { .. },
            ) => true,
        }
    }
}

/// Names an effect under way: ids of commands are unique within their session only.
pub(super) fn flight_key(session: &SessionId, owed: &Owed) -> String {
    format!("{session} {}", owed.id())
}
