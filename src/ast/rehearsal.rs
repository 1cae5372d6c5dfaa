//! What the author of a rehearsal wrote: cases, their steps and what is expected of them. Names are not resolved.

use crate::source::{Span, Spanned};
use crate::time::{Millis, Timestamp};
use crate::tree::{Entry, Node};

/// A whole test file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// The document.
    pub span: Span,
    /// `workflow`: a path from the folder of the file; without it the workflow beside it.
    pub workflow: Option<Spanned<String>>,
    /// `owner`: who owns the sessions.
    pub owner: Option<Spanned<String>>,
    /// `people`: names and their roles.
    pub people: Vec<(Spanned<String>, Vec<String>)>,
    /// `inputs` of every case.
    pub inputs: Vec<Entry>,
    /// `start_at`: when every case begins.
    pub start_at: Option<Spanned<Timestamp>>,
    /// `cases`.
    pub cases: Vec<Case>,
}

/// One session that is played through.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// `name`.
    pub name: Spanned<String>,
    /// `inputs`, over those of the file.
    pub inputs: Vec<Entry>,
    /// `start_at`, instead of that of the file.
    pub start_at: Option<Spanned<Timestamp>>,
    /// `steps`.
    pub steps: Vec<Step>,
    /// `expect`: what holds at the end.
    pub expect: Option<Expect>,
}

/// One thing that happens, or is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The key that says what it is, and what stands beside it on its line.
    pub span: Span,
    /// What it is.
    pub kind: StepKind,
    /// `refused`: it must be refused; a text must stand in the reason.
    pub refused: Option<Spanned<Option<String>>>,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `agent`: the agent that is at work replies.
    Agent {
        /// Its slug, or the step that it works at.
        name: Spanned<String>,
        /// What it does.
        act: Act,
        /// Where that is written.
        span: Span,
    },
    /// `expect`.
    Expect(Expect),
    /// `answer`.
    Answer {
        /// The question.
        step: Option<Spanned<String>>,
        /// The choice.
        choice: Spanned<String>,
        /// Free text, or empty.
        feedback: String,
        /// Who.
        by: Option<Spanned<String>>,
    },
    /// `accept`, `reject`, `abort`.
    Decide {
        /// The stage.
        step: Option<Spanned<String>>,
        /// What is decided.
        decision: Decision,
        /// Which revision; the one under review without it.
        revision: Option<Spanned<u32>>,
        /// Which gate, from 1; the open one without it.
        gate: Option<Spanned<u32>>,
        /// Who.
        by: Option<Spanned<String>>,
    },
    /// `message`: a person speaks to the agent that is at work.
    Message {
        /// Its slug, or the step that it works at.
        to: Spanned<String>,
        /// The words.
        text: String,
    },
    /// `pause`, `resume`, `retry`, `cancel`.
    Operate {
        /// Which.
        operation: Operation,
        /// Who.
        by: Option<Spanned<String>>,
        /// Why, or empty.
        reason: String,
    },
    /// `advance`, `until`, `down`.
    Clock(Move),
}

/// What an agent does when it is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `submit`: a result.
    Submit {
        /// Its words.
        summary: String,
        /// The result.
        result: Option<Node>,
    },
    /// `block`: it needs something from outside.
    Block(String),
    /// `fail`: it cannot be done.
    Fail(String),
    /// `crash`: its model gives no answer.
    Crash(String),
    /// `say`: it answers without a submission.
    Say(String),
    /// `judge`: it accepts a candidate or, with feedback, does not.
    Judge {
        /// Whether it accepts.
        accepts: bool,
        /// What to change.
        feedback: String,
    },
}

/// What a person decides at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It passes.
    Accept,
    /// It is corrected.
    Reject(String),
    /// It is given up.
    Abort(String),
}

/// What a person does with the whole session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing new is begun.
    Pause,
    /// It goes on.
    Resume,
    /// What is held is tried again.
    Retry,
    /// It is given up.
    Cancel,
}

/// How the clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// So long; what comes due on the way happens.
    Advance(Millis),
    /// To then; what comes due on the way happens.
    Until(Timestamp),
    /// So long, and nobody is there: what comes due meanwhile is found afterwards.
    Down(Millis),
}

/// What must hold. What is not written is not looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// `status`: a word of the runtime, or `waiting`.
    pub status: Option<Spanned<&'static str>>,
    /// `waits_for`: the open step, or the agent at work.
    pub waits_for: Option<Spanned<String>>,
    /// `visits`: all visits so far, in order, loops left out.
    pub visits: Option<Spanned<Vec<String>>>,
    /// `never`: steps that were not visited.
    pub never: Vec<Spanned<String>>,
    /// `outputs`: declared outputs, those that are named.
    pub outputs: Vec<Entry>,
    /// `reason`: part of why it ended, or is held.
    pub reason: Option<Spanned<String>>,
    /// `asks`: part of what the person that is waited for reads.
    pub asks: Option<Spanned<String>>,
    /// `task`: part of what the agent at work is to do.
    pub task: Option<Spanned<String>>,
    /// `given`: what the agent at work is given, the names that are written.
    pub given: Vec<Entry>,
    /// `revision`: of the stage that is open.
    pub revision: Option<Spanned<u32>>,
    /// `wakes_at`: when the session must be looked at again.
    pub wakes_at: Option<Spanned<Timestamp>>,
}

impl Act {
    /// The key that it is written under.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Submit { .. } => "submit",
            Self::Block(_) => "block",
            Self::Fail(_) => "fail",
            Self::Crash(_) => "crash",
            Self::Say(_) => "say",
            Self::Judge { .. } => "judge",
        }
    }
}
