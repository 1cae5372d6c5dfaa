//! The state of an agent session: the fold of its events.

use super::event::{CallMade, Envelope, Media, Message, Spec, ToolResult, Usage};
use crate::engine::SessionId;
use crate::ir;
use crate::ir::Digest;
use crate::time::Timestamp;
use indexmap::IndexMap;
use rpds::{HashTrieSetSync, VectorSync};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything an agent session is. `State::default()` is a session that has not begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What it was started with.
    pub spec: Option<Spec>,
    /// When it began.
    pub started_at: Timestamp,
    /// The largest stamp so far.
    pub now: Timestamp,
    /// Number of events folded.
    pub sequence: u64,
    /// The conversation so far, oldest first.
    pub turns: VectorSync<Turn>,
    /// Replies so far.
    pub replies: u32,
    /// Messages that came while a turn was open; they join when it closes.
    pub waiting_messages: Vec<Message>,
    /// Ids of all messages taken, to acknowledge repeats.
    pub known_messages: HashTrieSetSync<String>,
    /// The model call that is owed or runs.
    pub asking: Option<Asking>,
    /// Submissions so far, with the call that made each.
    pub submissions: Vec<(String, Envelope)>,
    /// Whether the last submission stands and nothing was said since.
    pub submitted: bool,
    /// Invalid submissions in a row.
    pub refused_in_a_row: u32,
    /// Tool calls so far.
    pub calls_made: u32,
    /// Reports to the parent not yet acknowledged, in order: id and what.
    pub owed_reports: Vec<(String, super::command::Report)>,
    /// Whether it was told to stop.
    pub stopping: bool,
    /// Whether it has stopped.
    pub stopped: bool,
    /// Why it cannot go on.
    pub failed: Option<String>,
    /// Completed tokens, to answer repeats (at most the last 256).
    pub used_tokens: Vec<(String, ToolResult)>,
    /// Tokens that were settled otherwise than by a result, to answer repeats (at most the last 256).
    #[serde(default)]
    pub settled_tokens: Vec<(String, Settled)>,
    /// What is known of open calls beside where they stand, by id.
    #[serde(default)]
    pub notes: IndexMap<String, Note>,
    /// Calls whose results equal calls share, by what makes them equal (at most the last 1,024).
    #[serde(default)]
    pub shared: IndexMap<String, String>,
    /// The agent that a person has put in the place of the one that the session began with.
    #[serde(default)]
    pub agent: Option<Digest>,
    /// Whether the call that this session answers has its answer.
    #[serde(default)]
    pub answered: bool,
}

impl State {
    /// The call with this id.
    #[must_use]
    pub fn call(&self, id: &str) -> Option<&Call> {
        super::track::find(self, id)
    }

    /// The calls of the last turn, if it is a reply.
    #[must_use]
    pub fn last_calls(&self) -> &[Call] {
        super::track::last_calls(self)
    }
}

/// What became of a deferred call that got no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// A person let it run.
    Approved,
    /// A person refused it, in these words.
    Refused(String),
    /// A host that can isolate it has taken it.
    Isolated,
    /// The call was put to people anew, under another token.
    Replaced,
}

/// What is known of an open call beside where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Why nobody knows what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Of the definition of its tool, as the person saw it that decided about the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// Something said from outside: the prompt or a message.
    Said {
        /// The words.
        text: String,
        /// Pictures and other files that go with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        media: Vec<Media>,
        /// When.
        at: Timestamp,
    },
    /// A reply of the model and everything that became of its calls.
    Reply {
        /// Number, from 1.
        reply: u32,
        /// Text.
        text: String,
        /// Thinking.
        thinking: String,
        /// Calls in order.
        calls: Vec<Call>,
        /// Token counts.
        usage: Option<Usage>,
        /// What the server wants back with this reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carry: Option<Value>,
        /// When.
        at: Timestamp,
    },
}

/// A tracked call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// As the model made it.
    pub made: CallMade,
    /// Where it stands.
    pub state: CallState,
    /// Admissions so far.
    pub admissions: u32,
    /// Times its holder was lost.
    pub losses: u32,
    /// Known failures so far.
    #[serde(default)]
    pub failures: u32,
    /// Digest of tool and arguments that a person let run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Digest>,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Not yet judged or owed.
    Ready,
    /// Runs.
    Running {
        /// In which process.
        holder: String,
        /// Whether it may run again.
        repeatable: bool,
        /// What was admitted.
        digest: Digest,
        /// Since when.
        since: Timestamp,
    },
    /// Waits for an outside result.
    Deferred {
        /// Names it.
        token: String,
        /// For whoever completes it.
        reason: String,
        /// What was deferred.
        digest: Digest,
        /// Where it is to run, if it waits for a host that can isolate it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<ir::Isolation>,
    },
    /// Another agent answers it in a session of its own.
    Delegated {
        /// That session.
        child: SessionId,
        /// Whether it is there.
        #[serde(default)]
        started: bool,
    },
    /// Nobody knows whether it had its effect.
    Unknown,
    /// Ended with a result.
    Completed(ToolResult),
    /// Ended without one, in words for the model.
    Failed(String),
}

impl CallState {
    /// Whether nothing more is to come.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Completed(_) | Self::Failed(_) => true,
            Self::Ready
            | Self::Running { .. }
            | Self::Deferred { .. }
            | Self::Delegated { .. }
            | Self::Unknown => false,
        }
    }
}

/// A model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asking {
    /// Number of the reply asked for.
    pub reply: u32,
    /// Admissions so far.
    pub admissions: u32,
    /// Failures so far.
    pub failures: u32,
    /// Which process asks now.
    pub holder: Option<String>,
    /// Not before.
    pub not_before: Option<Timestamp>,
}
