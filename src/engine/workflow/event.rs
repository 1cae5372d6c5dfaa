//! What happened to a workflow session. Names and meanings are for ever: every event ever written is read again.

use crate::engine::agent;
use crate::engine::{Principal, SessionId};
use crate::ir::{Digest, EdgeKind, Outcome, StopStatus};
use crate::time::{Millis, Timestamp};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a session was started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Its id.
    pub session: SessionId,
    /// `name` of the definition.
    pub workflow: String,
    /// Digest of the frozen definition; its bytes are a blob of the store.
    pub definition: Digest,
    /// Package root folder on this machine: tools and scripts are looked for below it.
    pub root: String,
    /// Path of the definition file as given, to say whether it differs from what runs; `None` for others.
    pub source: Option<String>,
    /// Inputs, defaults already filled in.
    pub inputs: IndexMap<String, Value>,
    /// Who owns it.
    pub owner: String,
}

/// One iteration of one loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Name of the loop node.
    pub node: String,
    /// From 1.
    pub iteration: u32,
    /// When the loop was entered (iteration 1); its deadline counts from here.
    pub entered_at: Timestamp,
    /// When its deadline passes.
    pub deadline_at: Option<Timestamp>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The session began.
    Started(Spec),
    /// A step was entered; loops left or begun show in `frames` (outermost first).
    StepEntered {
        /// Node name.
        node: String,
        /// Visits of this node so far, this one included.
        visit: u32,
        /// Loops around the node, with their iterations.
        frames: Vec<Frame>,
    },
    /// A cron step waits for this occurrence.
    OccurrenceAwaited {
        /// When it is due.
        at: Timestamp,
        /// The occurrence at which the step last fired, at first the start of the session.
        previous_at: Timestamp,
    },
    /// A due occurrence was not taken (down, paused, busy).
    OccurrenceSkipped {
        /// When it was due.
        at: Timestamp,
        /// Why.
        reason: String,
    },
    /// The awaited occurrence fired.
    OccurrenceFired {
        /// When it was due.
        at: Timestamp,
    },
    /// A question was put.
    QuestionAsked {
        /// Number of the asking within the session, from 1: what an answer names.
        occurrence: u32,
        /// The text as shown.
        text: String,
        /// Values and labels as shown, in order.
        choices: Vec<(String, String)>,
        /// Who may answer, resolved.
        respondents: Vec<String>,
        /// When nobody is waited for any more.
        deadline_at: Option<Timestamp>,
    },
    /// It was answered, by a person or (`by` is none) by its deadline's `choose`.
    QuestionAnswered {
        /// Which asking.
        occurrence: u32,
        /// The choice.
        choice: String,
        /// Free text, or empty.
        feedback: String,
        /// Who.
        by: Option<Principal>,
    },
    /// Nobody answered in time.
    QuestionExpired {
        /// Which asking.
        occurrence: u32,
    },
    /// A producing child is owed: its id and everything it starts with.
    InvocationAdmitted {
        /// `<node>/<visit>/<attempt>`.
        invocation: String,
        /// From 1; more than 1 after a deliberate retry.
        attempt: u32,
        /// What the child starts with; its session id is in it.
        child: agent::event::Spec,
        /// Time that the stage may run, people's time not counted.
        deadline_ms: Millis,
    },
    /// The child exists.
    ChildStarted {
        /// Which.
        child: SessionId,
    },
    /// A valid result was submitted and kept.
    CandidateSealed {
        /// Whose.
        invocation: String,
        /// From 1.
        revision: u32,
        /// Of the canonical bytes of `result`.
        digest: Digest,
        /// The agent's words.
        summary: String,
        /// The result.
        result: Value,
        /// Number of the submission within the child, where it is another one than the revision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        submission: Option<u32>,
    },
    /// The agent ended without a result, or its session failed.
    StageUnsuccessful {
        /// Whose.
        invocation: String,
        /// How.
        outcome: Outcome,
        /// The agent's or the runtime's words.
        summary: String,
    },
    /// The child went idle without a submission; the one reminder is owed.
    ReminderOwed {
        /// Whose.
        invocation: String,
        /// The turn of the child that ended so.
        turn: u32,
    },
    /// The child went idle once more, after its reminder, while the session was paused: attention is due on resume.
    FellSilent {
        /// Whose.
        invocation: String,
        /// The turn of the child that ended so.
        turn: u32,
    },
    /// A gate waits for a person.
    GateOpened {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Index of the gate, from 0.
        gate: u32,
        /// The question as shown.
        text: String,
        /// Who may decide, resolved.
        respondents: Vec<String>,
        /// When nobody is waited for any more.
        deadline_at: Option<Timestamp>,
    },
    /// A fresh evaluator child is owed.
    RoundAdmitted {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Index of the gate, from 0.
        gate: u32,
        /// From 1, per gate.
        round: u32,
        /// What the evaluator starts with.
        child: agent::event::Spec,
        /// When it is given up.
        deadline_at: Option<Timestamp>,
    },
    /// The candidate passed this gate.
    Accepted {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Its digest.
        digest: Digest,
        /// Index of the gate.
        gate: u32,
        /// Who.
        by: Decider,
    },
    /// The candidate must be corrected.
    Rejected {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Its digest.
        digest: Digest,
        /// Index of the gate.
        gate: u32,
        /// Who.
        by: Decider,
        /// What to change.
        feedback: String,
    },
    /// A person gave the stage up at a gate.
    Aborted {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Index of the gate.
        gate: u32,
        /// Who.
        by: Principal,
        /// Why, or empty.
        reason: String,
    },
    /// Nobody decided at a gate in time. It is never an acceptance.
    GateExpired {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Index of the gate.
        gate: u32,
    },
    /// The child has taken a message (feedback or reminder).
    MessageAcknowledged {
        /// Id of the message.
        message: String,
    },
    /// A child is to stop.
    StopOwed {
        /// Which.
        child: SessionId,
    },
    /// A stopped child has come to rest.
    WorkSettled {
        /// Which.
        child: SessionId,
    },
    /// A step was left.
    StepLeft {
        /// Node name.
        node: String,
        /// Which visit.
        visit: u32,
        /// The edge taken.
        exit: EdgeKind,
        /// What the step gives to readers.
        outputs: IndexMap<String, Value>,
        /// Why the iteration stays marked as needing attention, though the session goes on; none where it does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marked: Option<String>,
    },
    /// A loop's deadline passed; the loop is left as soon as the running step has settled.
    LoopExpired {
        /// Name of the loop node.
        node: String,
    },
    /// A person must act.
    AttentionRaised {
        /// Node name.
        node: String,
        /// Why, one sentence.
        reason: String,
        /// What can be done: `retry`, `resume`, `cancel`.
        remedies: Vec<Remedy>,
    },
    /// A person had the held step tried again.
    Retried {
        /// Node name.
        node: String,
        /// Who.
        by: Principal,
    },
    /// A person had the session go on from a held step.
    Resumed {
        /// Node name.
        node: String,
        /// Who.
        by: Principal,
    },
    /// A person has seen to marked iterations.
    Dismissed {
        /// Numbers of the marks.
        marks: Vec<u32>,
        /// Who.
        by: Principal,
    },
    /// Nothing new is admitted.
    Paused {
        /// Who.
        by: Principal,
    },
    /// Goes on.
    Unpaused {
        /// Who.
        by: Principal,
    },
    /// Everything open is fenced; `cancelled` once all work has settled.
    CancelRequested {
        /// Who; none for the engine itself (session deadline).
        by: Option<Principal>,
        /// Why, or empty.
        reason: String,
    },
    /// The session came to its end.
    Ended {
        /// How.
        status: StopStatus,
        /// Why, or empty.
        reason: String,
        /// Declared outputs; null where not assigned.
        outputs: IndexMap<String, Value>,
    },
}

/// Who decided at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// A person.
    Person(Principal),
    /// The evaluator child of a machine gate.
    Evaluator {
        /// Its session.
        child: SessionId,
    },
}

/// What a person can do about a held step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Re-enter the step as a new attempt or occurrence. Effects may repeat.
    Retry,
    /// Take the step's normal successor; its outputs are definite.
    Resume,
    /// Give the session up.
    Cancel,
}
