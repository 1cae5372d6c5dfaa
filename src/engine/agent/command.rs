//! What an agent session owes the world, what the world reports to it.

use super::event::{CallMade, Envelope, Kept, Media, Message, Spec, ToolResult, Usage};
use crate::engine::{Principal, SessionId};
use crate::ir::{Decorator, Isolation};
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// Owed now.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Ask the model. Admitted by `AdmitModelCall`, closed by `ModelReplied` or `ModelFailed`.
    CallModel {
        /// Number of the reply asked for.
        reply: u32,
        /// The admission that this will be.
        admission: u32,
    },
    /// Run a tool. Admitted by `AdmitCall`, closed by `CallReported`.
    RunTool {
        /// The call.
        call: CallMade,
        /// The admission that this will be.
        admission: u32,
        /// What wraps it, outermost first.
        decorators: Vec<Decorator>,
        /// Where it runs, if not in this process's own way.
        isolation: Option<Isolation>,
        /// Whether it runs in the background: the turn may yield meanwhile.
        background: bool,
    },
    /// Kill what runs of this call. Closed by `CallReported`.
    KillCall {
        /// Which call.
        call: String,
    },
    /// Start the agent that answers a call, in a session of its own. Closed by `AgentStarted`, or by `CallReported` of
    /// that call if it cannot be started.
    StartAgent {
        /// The call.
        call: CallMade,
        /// The agent as the caller names it.
        slug: String,
        /// Id of the session.
        child: SessionId,
        /// Agents above that session.
        depth: u32,
    },
    /// Stop the agent that answers a call. Closed by `CallReported` of that call.
    StopAgent {
        /// Its session.
        child: SessionId,
    },
    /// Tell the parent. Closed by `ReportAcknowledged`.
    Report {
        /// To whom.
        parent: SessionId,
        /// From its cause.
        id: String,
        /// What.
        report: Report,
    },
}

impl Command {
    /// Deterministic id.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::CallModel { reply, admission } => format!("model/{reply}/{admission}"),
            Self::RunTool { call, admission, .. } => format!("call/{}/{admission}", call.id),
            Self::KillCall { call } => format!("kill/{call}"),
            Self::StartAgent { child, .. } => format!("start/{child}"),
            Self::StopAgent { child } => format!("stop/{child}"),
            Self::Report { id, .. } => format!("report/{id}"),
        }
    }
}

/// What a child tells its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// A valid envelope.
    Submitted {
        /// Number of the submission.
        submission: u32,
        /// What.
        envelope: Envelope,
    },
    /// Idle without a submission.
    Yielded {
        /// Number of the reply.
        reply: u32,
    },
    /// It cannot go on.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was told to stop and has come to rest.
    Settled,
    /// The answer to the call of another agent.
    Answered {
        /// The call.
        call: String,
        /// The answer.
        result: ToolResult,
    },
}

/// What the world reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    /// Begin.
    Start(Spec),
    /// Time has passed.
    Tick,
    /// Something is said to it.
    Take(Message),
    /// A host is about to ask the model.
    AdmitModelCall {
        /// Number of the reply.
        reply: u32,
        /// Which admission.
        admission: u32,
        /// Which process.
        holder: String,
    },
    /// The model answered.
    ModelReplied {
        /// Number of the reply.
        reply: u32,
        /// Which admission.
        admission: u32,
        /// What.
        answer: Answer,
    },
    /// The model did not answer.
    ModelFailed {
        /// Number of the reply.
        reply: u32,
        /// Which admission.
        admission: u32,
        /// What went wrong.
        error: String,
        /// Whether asking again can help.
        retryable: bool,
        /// The server's own `Retry-After`.
        retry_after_ms: Option<Millis>,
    },
    /// A host is about to run a call.
    AdmitCall {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
        /// Which process.
        holder: String,
        /// Whether the tool declares itself repeatable.
        repeatable: bool,
        /// Of the definition of the tool, where the host knows it: a call that a person let run is deferred again if
        /// the tool is no longer the one that the person saw.
        definition: Option<crate::ir::Digest>,
    },
    /// This host cannot isolate a call as its policy says: it waits for one that can.
    CannotIsolate {
        /// Which call.
        call: String,
        /// What is missing, for people.
        reason: String,
    },
    /// A host is about to run a deferred call in isolation (`run-isolated`).
    AdmitIsolated {
        /// Token of the call.
        token: String,
        /// Which process.
        holder: String,
    },
    /// A call was begun and nobody knows what became of it.
    CallUncertain {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
        /// What is known, for people.
        reason: String,
    },
    /// The session that answers a call is there.
    AgentStarted {
        /// Which call.
        call: String,
    },
    /// What the tool of a deferred call is now.
    Define {
        /// Token of the call.
        token: String,
        /// Of the definition of the tool.
        definition: crate::ir::Digest,
    },
    /// A person lets a deferred call run.
    Approve {
        /// Its token.
        token: String,
        /// Who.
        by: Principal,
    },
    /// A person refuses a deferred call.
    Refuse {
        /// Its token.
        token: String,
        /// Told to the model.
        reason: String,
        /// Who.
        by: Principal,
    },
    /// Go on with another agent.
    ChangeAgent {
        /// Digest of the frozen agent.
        agent: crate::ir::Digest,
        /// Root of its package, where it is another one.
        root: Option<String>,
        /// Who.
        by: Principal,
    },
    /// Put this history in the place of the one that is there; refused while anything is open.
    Import {
        /// Oldest first.
        turns: Vec<super::state::Turn>,
        /// Where it came from.
        from: String,
        /// Who.
        by: Principal,
    },
    /// A call ended.
    CallReported {
        /// Which call.
        call: String,
        /// Which admission.
        admission: u32,
        /// What it gave.
        result: ToolResult,
    },
    /// Every holder but those named here is gone.
    HoldersLost {
        /// The processes that live.
        living: Vec<String>,
    },
    /// An outside result for a deferred call.
    Complete {
        /// Its token.
        token: String,
        /// What it gave.
        result: ToolResult,
        /// Who.
        by: Principal,
    },
    /// A person settles an unknown call.
    Resolve {
        /// Which call.
        call: String,
        /// How.
        resolution: Resolution,
        /// Who.
        by: Principal,
    },
    /// The parent has taken a report.
    ReportAcknowledged {
        /// Id of the report.
        report: String,
    },
    /// Stop.
    Stop,
}

/// How a person settles an unknown call.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// It had its effect and gave this.
    Completed(ToolResult),
    /// It failed.
    Failed(String),
    /// Run it again.
    Retry,
}

/// A model's answer as an adapter hands it over; ids of calls are given by `decide`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Text.
    pub text: String,
    /// Thinking.
    pub thinking: String,
    /// Calls: provider id, name, arguments as written.
    pub calls: Vec<(String, String, String)>,
    /// Token counts.
    pub usage: Option<Usage>,
    /// Whether the reply was cut off by its length: its calls are never run (B45).
    pub cut_off: bool,
    /// What the server wants back with this reply.
    pub carry: Option<serde_json::Value>,
}

/// One message of the conversation as an adapter sends it.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// System prompt.
    System(String),
    /// User.
    User {
        /// Text.
        text: String,
        /// Pictures and other files.
        media: Vec<Media>,
    },
    /// Model.
    Assistant {
        /// Text.
        text: String,
        /// Calls; ids are ours.
        calls: Vec<CallMade>,
        /// Thinking; only for servers that want it back.
        thinking: String,
        /// What the server wants back with this reply.
        carry: Option<serde_json::Value>,
    },
    /// The one answer to one call.
    Tool {
        /// Our id of the call.
        call: String,
        /// Tool name.
        name: String,
        /// What it gave; long texts and media are blobs.
        content: Vec<Part>,
        /// Whether it is an error.
        is_error: bool,
    },
}

/// One part of an answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text, or JSON as text.
    Text(String),
    /// A long text.
    Kept(Kept),
    /// A picture or another file.
    Media(Media),
}
