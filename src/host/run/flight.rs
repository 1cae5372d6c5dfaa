//! Effects under way in this process, and which further ones may begin. Stores and decides nothing.

use super::dispatch::Landed;
use crate::engine::SessionId;
use crate::engine::agent::command::Command as Owed;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use tokio::task::{AbortHandle, JoinSet};

/// Effects under way.
pub(super) struct Flight {
    pub(super) running: JoinSet<Landed>,
    pub(super) known: HashMap<String, AbortHandle>,
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
            known: HashMap::new(),
            begun: 0,
            handed: Vec::new(),
            called: HashSet::new(),
        }
    }

    /// Whether anything has been begun or handed over.
    pub(super) fn has_stepped(&self) -> bool {
        self.begun > 0 || !self.handed.is_empty()
    }

    pub(super) fn begin(&mut self, command: String, doing: impl Future<Output = Landed> + Send + 'static) {
        self.begun += 1;
        let handle = self.running.spawn(doing);
        self.known.insert(command, handle);
    }

    /// Ends the effect whose command id begins so; gives the admission number at its end.
    pub(super) fn abort(&mut self, prefix: &str) -> Option<u32> {
        let command = self.known.keys().find(|command| command.starts_with(prefix)).cloned()?;
        if let Some(handle) = self.known.remove(&command) {
            handle.abort();
        }
        command.rsplit('/').next()?.parse().ok()
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
