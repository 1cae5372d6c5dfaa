//! The state of a workflow session: the fold of its events.

use super::event::{Decider, Frame, Remedy, Spec};
use crate::engine::agent::event::Message;
use crate::engine::{Principal, SessionId};
use crate::ir::{Digest, Outcome, StopStatus};
use crate::time::{Millis, Timestamp};
use indexmap::IndexMap;
use serde_json::Value;

/// Everything a workflow session is. `State::default()` is a session that has not begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// What it was started with.
    pub spec: Option<Spec>,
    /// When it began.
    pub started_at: Timestamp,
    /// The largest stamp so far.
    pub now: Timestamp,
    /// Number of events folded.
    pub sequence: u64,
    /// What keeps it from going on, beside its wait.
    pub hold: Hold,
    /// How it ended.
    pub ended: Option<Ending>,
    /// The open visit.
    pub position: Option<Position>,
    /// What the open visit waits for or works at.
    pub work: Work,
    /// Visits per node so far.
    pub visits: IndexMap<String, u32>,
    /// Completed visits per node, newest last: the last one, and per loop around it the last of an earlier iteration.
    pub records: IndexMap<String, Vec<Record>>,
    /// Askings so far.
    pub occurrences: u32,
    /// When each cron step last fired.
    pub fired: IndexMap<String, Timestamp>,
    /// Children that are owed, running or stopping; settled ones are gone from here.
    pub children: IndexMap<SessionId, Child>,
    /// Messages to children not yet acknowledged, in order.
    pub owed_messages: Vec<(SessionId, Message)>,
    /// Iterations that went on after a failure and that nobody has seen to, oldest first (at most the last 1000).
    pub marks: Vec<Mark>,
    /// Marks so far.
    pub marked: u32,
    /// Settled decisions and answers of the session, newest last, to answer repeats (at most the last 64).
    pub settled: Vec<Settled>,
}

/// What keeps a session from going on.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Hold {
    /// Nothing.
    #[default]
    None,
    /// A person paused it.
    Paused,
    /// A person must act.
    NeedsAttention {
        /// Node name.
        node: String,
        /// Why.
        reason: String,
        /// What can be done.
        remedies: Vec<Remedy>,
    },
    /// Work is settling; then it is cancelled.
    Cancelling {
        /// Why.
        reason: String,
        /// How it will have ended.
        status: StopStatus,
    },
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// How.
    pub status: StopStatus,
    /// Why, or empty.
    pub reason: String,
    /// Declared outputs.
    pub outputs: IndexMap<String, Value>,
    /// When.
    pub at: Timestamp,
}

/// The open visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// Node name.
    pub node: String,
    /// Which visit of it.
    pub visit: u32,
    /// Loops around it.
    pub frames: Vec<Frame>,
    /// When it was entered.
    pub entered_at: Timestamp,
}

/// One completed visit.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Which visit.
    pub visit: u32,
    /// Iterations of the loops around it at that time.
    pub frames: Vec<Frame>,
    /// What it gives to readers.
    pub outputs: IndexMap<String, Value>,
}

/// An iteration that went on after a failure, until a person dismisses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// From 1 within the session.
    pub number: u32,
    /// The step that did not end well.
    pub node: String,
    /// Which visit of it.
    pub visit: u32,
    /// The innermost loop around it.
    pub repeat: String,
    /// Which iteration of that loop.
    pub iteration: u32,
    /// Why, one sentence.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// A child that is not settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Everything it starts with.
    pub spec: crate::engine::agent::event::Spec,
    /// Whether it is known to exist.
    pub started: bool,
    /// Whether it was told to stop.
    pub stopping: bool,
}

/// What the open visit waits for or works at.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Work {
    /// Nothing yet, or nothing any more.
    #[default]
    None,
    /// A cron step.
    Cron {
        /// The awaited occurrence; `None` until it is computed.
        at: Option<Timestamp>,
        /// The one before.
        previous_at: Timestamp,
    },
    /// A question.
    Question(Asking),
    /// An agent step.
    Stage(Stage),
}

/// An open question.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// Its number.
    pub occurrence: u32,
    /// The text as shown.
    pub text: String,
    /// Values and labels as shown.
    pub choices: Vec<(String, String)>,
    /// Who may answer.
    pub respondents: Vec<String>,
    /// When nobody is waited for any more.
    pub deadline_at: Option<Timestamp>,
}

/// An open agent step.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// `<node>/<visit>/<attempt>`.
    pub invocation: String,
    /// From 1.
    pub attempt: u32,
    /// The producing child.
    pub child: SessionId,
    /// Where it stands.
    pub phase: StagePhase,
    /// Candidates so far, oldest first; `revision` is index + 1.
    pub candidates: Vec<Candidate>,
    /// The last submission of the child that became a candidate; earlier ones, and this one again, change nothing.
    pub taken: u32,
    /// Rounds so far, per gate.
    pub rounds: IndexMap<u32, u32>,
    /// The turn after which the one reminder was given; `None` until then and again after each message.
    pub reminded_after: Option<u32>,
    /// Whether it went idle after the reminder while the session was paused.
    pub silent: bool,
    /// Time that is left; counts only while nobody waits for a person.
    pub left_ms: Millis,
    /// Since when the time runs; `None` while it stands still.
    pub running_since: Option<Timestamp>,
}

/// Where a stage stands.
#[derive(Clone, Debug, PartialEq)]
pub enum StagePhase {
    /// The child works.
    Producing,
    /// A person is asked.
    HumanGate {
        /// Index of the gate.
        gate: u32,
        /// The question as shown.
        text: String,
        /// Who may decide.
        respondents: Vec<String>,
        /// When nobody is waited for any more.
        deadline_at: Option<Timestamp>,
    },
    /// An evaluator works.
    MachineGate {
        /// Index of the gate.
        gate: u32,
        /// From 1.
        round: u32,
        /// The evaluator.
        child: SessionId,
        /// When it is given up.
        deadline_at: Option<Timestamp>,
    },
    /// Feedback is on its way to the child.
    CorrectionDue,
    /// It ended without an accepted result, and has not been left yet (held, or paused).
    Unsuccessful {
        /// How.
        outcome: Outcome,
        /// In words.
        summary: String,
    },
}

/// One submitted result.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// From 1.
    pub revision: u32,
    /// Of its canonical bytes.
    pub digest: Digest,
    /// The agent's words.
    pub summary: String,
    /// The result.
    pub result: Value,
    /// When it was submitted.
    pub at: Timestamp,
    /// What was decided of it, oldest first.
    pub decisions: Vec<Decided>,
}

/// One decision of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Index of the gate.
    pub gate: u32,
    /// `accepted`, `rejected`, `aborted`.
    pub word: &'static str,
    /// Feedback or reason, or empty.
    pub text: String,
    /// Who.
    pub by: Decider,
    /// When.
    pub at: Timestamp,
}

/// An answer or decision that was settled, to tell a repeat from a conflict.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// An answer.
    Answer {
        /// Which asking.
        occurrence: u32,
        /// The choice; `None` where it expired.
        choice: Option<String>,
        /// Free text.
        feedback: String,
        /// Who.
        by: Option<Principal>,
    },
    /// A decision.
    Decision {
        /// Whose candidate.
        invocation: String,
        /// Which candidate.
        revision: u32,
        /// Its digest.
        digest: Digest,
        /// Index of the gate.
        gate: u32,
        /// `accepted`, `rejected`, `aborted`, `expired`.
        word: &'static str,
        /// Feedback or reason, or empty.
        text: String,
        /// Who.
        by: Option<Principal>,
    },
}

impl Stage {
    /// The candidate that counts.
    #[must_use]
    pub fn candidate(&self) -> Option<&Candidate> {
        self.candidates.last()
    }

    /// Whether a person gave the stage up, and it has not been left yet (as while paused).
    #[must_use]
    pub fn given_up(&self) -> Option<&Decided> {
        self.candidate()?.decisions.last().filter(|decided| decided.word == "aborted")
    }

    /// Stops the stage's clock.
    pub fn stop_clock(&mut self, at: Timestamp) {
        if let Some(since) = self.running_since.take() {
            self.left_ms = Millis(self.left_ms.0.saturating_sub(at.since(since).0));
        }
    }

    /// Lets the stage's clock run, if it stands.
    pub fn start_clock(&mut self, at: Timestamp) {
        self.running_since.get_or_insert(at);
    }

    /// When its deadline passes, if its clock runs.
    #[must_use]
    pub fn deadline_at(&self) -> Option<Timestamp> {
        self.running_since.map(|since| since.plus(self.left_ms))
    }
}
