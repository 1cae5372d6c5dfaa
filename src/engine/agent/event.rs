//! What happened to an agent session. Names and meanings are for ever: every event ever written is read again.

use crate::engine::{Principal, SessionId};
use crate::ir::Digest;
use crate::time::Timestamp;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name of the tool through which results are submitted. Reserved.
pub const SUBMIT_TOOL: &str = "submit_workflow_result";

/// What a session was started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Its id.
    pub session: SessionId,
    /// Slug of the agent.
    pub slug: String,
    /// Digest of the frozen agent; its bytes are a blob of the store.
    pub agent: Digest,
    /// Package root folder on this machine.
    pub root: String,
    /// Who owns it.
    pub owner: String,
    /// The first message: prompt or assignment, as text.
    pub prompt: String,
    /// Named inputs that go with it.
    pub with: IndexMap<String, Value>,
    /// What must be submitted, for children of workflows.
    pub contract: Option<Contract>,
}

/// What a child of a workflow owes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// The workflow session.
    pub parent: SessionId,
    /// The invocation or round it works for: bound by the runtime, never an argument (R86).
    pub invocation: String,
    /// JSON Schema of `result`; any object without one.
    pub schema: Option<Value>,
    /// Whether it judges a candidate of another child (then `result` is an evaluation).
    pub evaluator: bool,
}

/// Something said to a session from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// From its cause; a known id is acknowledged again without effect.
    pub id: String,
    /// Why.
    pub kind: MessageKind,
    /// The words.
    pub text: String,
}

/// Why something is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// A candidate must be corrected: reopens the session for a submission.
    Feedback,
    /// It went idle without a submission.
    Reminder,
    /// A person speaks.
    Person,
}

/// The submitted envelope (R85).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// How the assignment ended.
    pub outcome: EnvelopeOutcome,
    /// The agent's words.
    pub summary: String,
    /// The result; null unless `succeeded`.
    pub result: Value,
}

/// How an assignment ended, in the agent's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvelopeOutcome {
    /// With a result.
    Succeeded,
    /// It cannot go on without something from outside.
    Blocked,
    /// It cannot be done.
    Failed,
}

/// A call that a model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallMade {
    /// Our id, unique in the session: derived from session, reply and index. What goes back to a model is this id.
    pub id: String,
    /// The provider's id, which may repeat or be empty.
    pub provider_id: String,
    /// Tool name.
    pub name: String,
    /// JSON text exactly as the model wrote it.
    pub arguments: String,
}

/// Token counts of one reply, where the server tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
}

/// What a tool gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    /// Text. Bytes that are no UTF-8 stand as U+FFFD, and the host has said so in it.
    Text(String),
    /// A JSON value.
    Json(Value),
    /// It failed, in words for the model.
    Error(String),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The session began; its prompt is the first user turn.
    Started(Spec),
    /// A message became part of the conversation.
    MessageTaken(Message),
    /// The model is asked by this holder.
    ModelCallAdmitted {
        /// Number of the reply asked for, from 1.
        reply: u32,
        /// From 1; more than 1 after failures and lost holders.
        admission: u32,
        /// Which process.
        holder: String,
    },
    /// The model answered.
    ModelReplied {
        /// Number of the reply.
        reply: u32,
        /// Its text.
        text: String,
        /// Its thinking, where shown; never sent back.
        thinking: String,
        /// Its calls, in order.
        calls: Vec<CallMade>,
        /// Token counts.
        usage: Option<Usage>,
    },
    /// The model did not answer.
    ModelFailed {
        /// Number of the reply asked for.
        reply: u32,
        /// Which admission.
        admission: u32,
        /// What went wrong.
        error: String,
        /// When it is asked again; `None`: not again.
        retry_at: Option<Timestamp>,
    },
    /// The wait after a failure is over: the model is owed again.
    ModelCallDue {
        /// Number of the reply asked for.
        reply: u32,
    },
    /// The holder of a model call is gone; the call is owed again.
    ModelCallLost {
        /// Number of the reply.
        reply: u32,
        /// Which admission.
        admission: u32,
    },
    /// A tool call is run by this holder.
    CallAdmitted {
        /// Which call.
        call: String,
        /// From 1.
        admission: u32,
        /// Which process.
        holder: String,
        /// Whether it may run again if the holder is lost.
        repeatable: bool,
        /// Of tool name and canonical arguments: what was admitted is what runs.
        digest: Digest,
    },
    /// A tool call waits for an outside result.
    CallDeferred {
        /// Which call.
        call: String,
        /// Names it from outside.
        token: String,
        /// For whoever completes it.
        reason: String,
        /// Of tool name and canonical arguments.
        digest: Digest,
    },
    /// A call ended without having run (denied by policy, unreadable arguments, over a bound).
    CallRefused {
        /// Which call.
        call: String,
        /// In words for the model.
        reason: String,
    },
    /// A call ended.
    CallReported {
        /// Which call.
        call: String,
        /// Which admission; 0 for a deferred call completed from outside.
        admission: u32,
        /// What it gave.
        result: ToolResult,
        /// The person that completed it, where one did.
        by: Option<Principal>,
    },
    /// The holder of a repeatable call is gone; the call is owed again.
    CallLost {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
    },
    /// The holder of a call that may not be repeated is gone: nobody knows whether it had its effect.
    CallUnknown {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
    },
    /// A person decided that an unknown call runs again. Its effects may repeat.
    CallRetried {
        /// Which call.
        call: String,
        /// Who.
        by: Principal,
    },
    /// A valid envelope was submitted; the session yields.
    Submitted {
        /// Which call.
        call: String,
        /// Number of the submission, from 1.
        submission: u32,
        /// What.
        envelope: Envelope,
    },
    /// A submission was not valid.
    SubmissionRefused {
        /// Which call.
        call: String,
        /// Every fault with path, expected and found, in words for the model.
        reason: String,
    },
    /// The model ended its turn without a call: the session is idle.
    Yielded {
        /// Number of the reply.
        reply: u32,
    },
    /// The parent has taken a report.
    ReportAcknowledged {
        /// Id of the report.
        report: String,
    },
    /// No new call is admitted; running ones are stopped.
    StopRequested,
    /// Nothing runs any more.
    Stopped,
    /// It cannot go on.
    Failed {
        /// Why.
        reason: String,
    },
}
