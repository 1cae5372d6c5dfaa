//! What a workflow session owes the world, what the world reports to it.

use crate::engine::agent;
use crate::engine::{Principal, SessionId};
use crate::ir::Digest;
use serde_json::Value;

/// Owed now. Ids follow from causes, so the same command has the same id after a crash.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Create the child. Closed by `ChildStarted`.
    StartChild {
        /// Everything it starts with.
        spec: agent::event::Spec,
    },
    /// Give the child a message. Closed by `MessageAcknowledged`.
    Tell {
        /// To whom.
        child: SessionId,
        /// What.
        message: agent::event::Message,
    },
    /// Stop the child. Closed by `WorkSettled`.
    StopWork {
        /// Which.
        child: SessionId,
    },
}

impl Command {
    /// Deterministic id.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::StartChild { spec } => format!("start/{}", spec.session),
            Self::Tell { message, .. } => format!("tell/{}", message.id),
            Self::StopWork { child } => format!("stop/{child}"),
        }
    }
}

/// What the world reports. `decide` first expires everything that is due at the stamp, then judges.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    /// Begin.
    Start(super::event::Spec),
    /// Time has passed.
    Tick,
    /// A child exists (created now or found with the same spec).
    ChildStarted {
        /// Which.
        child: SessionId,
    },
    /// A child submitted a valid envelope.
    Submitted {
        /// Which child.
        child: SessionId,
        /// Number of the submission within the child, from 1.
        submission: u32,
        /// What it submitted.
        envelope: agent::event::Envelope,
    },
    /// A child went idle without a submission.
    Yielded {
        /// Which child.
        child: SessionId,
        /// Number of its turn.
        turn: u32,
    },
    /// A child cannot go on (model error after its retries, five invalid submissions, a refused agent).
    ChildFailed {
        /// Which child.
        child: SessionId,
        /// Why.
        reason: String,
    },
    /// A child has taken a message.
    MessageAcknowledged {
        /// Id of the message.
        message: String,
    },
    /// A child that was told to stop has come to rest.
    WorkSettled {
        /// Which child.
        child: SessionId,
    },
    /// A person answers the open question.
    Answer {
        /// Which asking; `None` takes the open one.
        occurrence: Option<u32>,
        /// The choice.
        choice: String,
        /// Free text, or empty.
        feedback: String,
        /// Who.
        by: Principal,
    },
    /// A person decides at the open human gate.
    Decide {
        /// Which revision; `None` only where `digest` names it.
        revision: Option<u32>,
        /// Digest of the candidate, or a prefix of at least 8 digits after `sha256:`.
        digest: Option<String>,
        /// Index of the gate, from 0; `None` takes the open one, unless the same person has passed the same candidate
        /// at an earlier gate already (then the decision may be a repeat and must say which gate it means).
        gate: Option<u32>,
        /// `<node>/<visit>/<attempt>` whose candidate it is; `None` takes the open one. With it a decision that comes
        /// twice is known again also where the next stage asks the same person about its revision of the same number.
        invocation: Option<String>,
        /// Accept, reject or abort.
        decision: Decision,
        /// Who.
        by: Principal,
    },
    /// A person has the held step tried again.
    Retry {
        /// Who.
        by: Principal,
    },
    /// A person has the session go on (from `hold`, or from a pause).
    Resume {
        /// Who.
        by: Principal,
    },
    /// A person has seen to a marked iteration.
    Dismiss {
        /// Number of the mark; `None` takes all that there are.
        mark: Option<u32>,
        /// Who.
        by: Principal,
    },
    /// A person pauses.
    Pause {
        /// Who.
        by: Principal,
    },
    /// A person cancels.
    Cancel {
        /// Who.
        by: Principal,
        /// Why, or empty.
        reason: String,
    },
}

/// Of one candidate at one gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It passes.
    Accept,
    /// The same child corrects it.
    Reject {
        /// What to change; not empty.
        feedback: String,
    },
    /// The stage is given up.
    Abort {
        /// Why, or empty.
        reason: String,
    },
}

/// What a machine gate's envelope carries in `result`.
#[must_use]
pub fn evaluation_schema() -> Value {
    serde_json::json!({
        "type": "object",
        "required": ["decision", "feedback"],
        "additionalProperties": false,
        "properties": {
            "decision": { "type": "string", "enum": ["accept", "reject"] },
            "feedback": { "type": "string" }
        }
    })
}

/// Digest of a result's canonical bytes.
#[must_use]
pub fn result_digest(result: &Value) -> Digest {
    Digest::of_json(result)
}
