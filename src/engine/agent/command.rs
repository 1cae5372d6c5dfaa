//! What an agent session owes the world, what the world reports to it.

use super::event::{CallMade, Envelope, Message, Spec, ToolResult, Usage};
use crate::engine::{Principal, SessionId};
use crate::ir::Decorator;
use crate::time::Millis;

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
    },
    /// Kill what runs of this call. Closed by `CallReported`.
    KillCall {
        /// Which call.
        call: String,
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
            Self::Report { id, .. } => format!("report/{id}"),
        }
    }
}

/// What a child tells its parent.
#[derive(Clone, Debug, PartialEq)]
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
    /// Every holder but the one named here is gone.
    HoldersLost {
        /// The process that lives.
        living: String,
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
}

/// One message of the conversation as an adapter sends it.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// System prompt.
    System(String),
    /// User.
    User(String),
    /// Model.
    Assistant {
        /// Text.
        text: String,
        /// Calls; ids are ours.
        calls: Vec<CallMade>,
    },
    /// The one answer to one call.
    Tool {
        /// Our id of the call.
        call: String,
        /// Tool name.
        name: String,
        /// Text for the model.
        content: String,
    },
}
