//! What happened to an agent session. Names and meanings are for ever: every event ever written is read again.

use crate::engine::{Principal, SessionId};
use crate::ir;
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
    /// Pictures and other files that go with the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
    /// Which call of which agent session this one answers, for agents that other agents call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// The session that it was copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<SessionId>,
}

/// Whose call an agent session answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The calling session.
    pub session: SessionId,
    /// Its call.
    pub call: String,
    /// Agents above this one, from 1; at most 4 (invariant 18).
    pub depth: u32,
}

/// Bytes that are no text: a picture, a document. The bytes are a blob of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// MIME type.
    pub mime: String,
    /// Of the bytes.
    pub digest: Digest,
    /// Bytes.
    pub length: u64,
    /// File name, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A text too long to stand in an event: its bytes are a blob of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Of the bytes, which are UTF-8.
    pub digest: Digest,
    /// Bytes.
    pub length: u64,
    /// Whether it is JSON text.
    pub json: bool,
    /// How it begins, for people.
    pub head: String,
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
    /// Pictures and other files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Media>,
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
    /// Of the tokens read, those that the server had kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// Of the tokens written, those that were thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
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
    /// A long text.
    Kept(Kept),
    /// A picture or another file.
    Media(Media),
    /// Several of these, in order; none of them mixed or an error.
    Mixed(Vec<ToolResult>),
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
        /// What the server wants back with this reply, as it was given: signed thinking and the like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carry: Option<Value>,
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
        /// Where it is to run, if it waits for a host that can isolate it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        isolation: Option<ir::Isolation>,
    },
    /// A person let a deferred call run: exactly the call of this digest.
    CallApproved {
        /// Which call.
        call: String,
        /// Of tool name and canonical arguments.
        digest: Digest,
        /// Who.
        by: Principal,
    },
    /// A call failed in a known way and is tried again.
    CallFailed {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
        /// What went wrong.
        error: String,
    },
    /// An equal call of this session had this result, and the policy lets them share it.
    CallCached {
        /// Which call.
        call: String,
        /// The call whose result it shares.
        from: String,
        /// That result.
        result: ToolResult,
    },
    /// A call is answered by another agent, in a session of its own.
    CallDelegated {
        /// Which call.
        call: String,
        /// The session that answers it.
        child: SessionId,
    },
    /// The session that answers a call is there.
    AgentStarted {
        /// Which call.
        call: String,
    },
    /// What the tool of a deferred call is, as the person sees it that decides about the call.
    CallDefined {
        /// Which call.
        call: String,
        /// Of the definition of the tool.
        definition: Digest,
    },
    /// The session goes on with another agent than it began with, since a person said so.
    AgentChanged {
        /// Digest of the frozen agent; its bytes are a blob of the store.
        agent: Digest,
        /// Root of its package, where it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        /// Who.
        by: Principal,
    },
    /// The history of the session was taken from elsewhere or edited: these turns stand instead of what was there.
    Imported {
        /// Oldest first.
        turns: Vec<super::state::Turn>,
        /// Where it came from, for people.
        from: String,
        /// Who.
        by: Principal,
    },
    /// A call ended without having run (denied by policy, unreadable arguments, over a bound).
    CallRefused {
        /// Which call.
        call: String,
        /// In words for the model.
        reason: String,
        /// The person that refused it, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Principal>,
    },
    /// A call ended.
    CallReported {
        /// Which call.
        call: String,
        /// Which admission; 0 for a call completed from outside or answered by another agent.
        admission: u32,
        /// What it gave.
        result: ToolResult,
        /// The person that completed it, where one did.
        by: Option<Principal>,
        /// Under what equal calls find this result, where the policy lets them share it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache: Option<Digest>,
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
        /// What is known of it, for people; nothing where its holder was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
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
