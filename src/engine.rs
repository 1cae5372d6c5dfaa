//! The pure core: what happened, what follows, what is owed. No clock, no randomness, no I/O, no panic.
//!
//! Two kinds of session, each with `decide`, `evolve` and `pending`:
//!
//! ```text
//! decide (&ir, &State, At, Notification) -> Result<Vec<Event>, Rejection>   what happened, or why it may not
//! evolve (&mut State, At, &Event)                                           the only way state changes
//! pending(&ir, &State) -> Vec<Command>                                      what is owed now, derived, never stored
//! ```
//!
//! An event is never re-interpreted: `evolve` reads every event ever written.

pub mod agent;
pub mod policy;
pub mod workflow;

use crate::ir::Digest;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Id of a session: a UUID in lower case text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text id that follows from its causes alone: the first 128 bits of SHA-256 over the parts, as a UUID of version 8.
#[must_use]
pub fn derived_id(parts: &[&str]) -> String {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    let digest = Digest::of(&bytes);
    let hex: Vec<char> = digest.as_str().chars().skip("sha256:".len()).take(32).collect();
    let mut out = String::with_capacity(36);
    for (i, digit) in hex.into_iter().enumerate() {
        if matches!(i, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(match i {
            12 => '8',
            16 => 'a',
            _ => digit,
        });
    }
    out
}

/// A person who answers or decides, as the host has established it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Name, without prefix.
    pub user: String,
    /// Roles that the operator's configuration gives.
    pub roles: Vec<String>,
    /// Where it was said: `cli`, `web`, `test`.
    pub via: String,
}

/// Why a notification changes nothing. Exit code 4 on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The kind, for machines; stable.
    pub code: RejectionCode,
    /// One sentence for people.
    pub message: String,
}

/// Kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RejectionCode {
    /// It speaks of a revision, occurrence, token or admission that is no longer open.
    Stale,
    /// It contradicts what was settled before.
    Conflict,
    /// The principal may not do this.
    NotAllowed,
    /// Nothing here waits for it.
    NotWaiting,
    /// The session has ended.
    Ended,
    /// The words of it are wrong (an unknown choice, missing feedback, a required input).
    Invalid,
}

impl RejectionCode {
    /// snake_case, for `--json`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Conflict => "conflict",
            Self::NotAllowed => "not_allowed",
            Self::NotWaiting => "not_waiting",
            Self::Ended => "ended",
            Self::Invalid => "invalid",
        }
    }
}

impl Rejection {
    /// Joins kind and sentence.
    #[must_use]
    pub fn new(code: RejectionCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Which kind of session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A conversation with tools; the meaning of an omitted kind (R64).
    Agent,
    /// A controller without a model.
    Workflow,
}

/// What a list shows of a session. Written with every append; stores derive nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRow {
    /// Which kind.
    pub kind: SessionKind,
    /// Name of the workflow, or slug of the agent.
    pub title: String,
    /// Fine state, one of the words of `docs/runtime.md` (`awaiting_review`, `waiting_external` …).
    pub status: String,
    /// One line: where it stands or why it waits.
    pub detail: String,
    /// When it must be looked at again.
    pub wake_at: Option<Timestamp>,
    /// Tokens of deferred calls.
    pub tokens: Vec<String>,
    /// Whose child it is.
    pub parent: Option<SessionId>,
    /// Who owns it.
    pub owner: String,
    /// Whether `pending` owes something that a host can do now.
    pub owes_work: bool,
    /// Whether it has come to its end.
    pub ended: bool,
}
