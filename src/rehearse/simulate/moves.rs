//! What can happen in a state, each tried on the engine: choices, decisions, results, and time that passes.

use super::sample::Made;
use super::time;
use crate::engine::agent::event::{Envelope, EnvelopeOutcome};
use crate::engine::workflow::command::{Command, Decision, Notification};
use crate::engine::workflow::event::{Event, Spec};
use crate::engine::workflow::state::{Hold, Stage, StagePhase, State, Work};
use crate::engine::workflow::{decide, evolve, pending};
use crate::engine::{Principal, SessionId};
use crate::ir::{self, Digest, Feedback, NodeKind, StopStatus};
use crate::time::Timestamp;
use indexmap::IndexMap;
use serde_json::{Value, json};

/// A Monday morning, 2026-01-05T09:00:00Z.
const START: Timestamp = Timestamp(1_767_603_600_000);
/// Messages that are passed on between two moves at most.
const MESSAGES: u32 = 1000;
const OWNER: &str = "owner";

/// A state on a path.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub state: State,
    pub at: Timestamp,
    /// The place of rest that it has come to.
    end: Option<String>,
}

impl Position {
    /// The open step, or the place of rest.
    pub(super) fn step(&self) -> String {
        if let Some(end) = &self.end {
            return end.clone();
        }
        if let Hold::NeedsAttention { node, .. } = &self.state.hold {
            return node.clone();
        }
        self.state.position.as_ref().map(|position| position.node.clone()).unwrap_or_default()
    }

    /// Whether it is held, the word of it and why; none while the path goes on.
    pub(super) fn rest(&self) -> Option<(bool, &'static str, String)> {
        if let Some(ending) = &self.state.ended {
            let word = match ending.status {
                StopStatus::Succeeded => "completed",
                StopStatus::Failed => "failed",
                StopStatus::Cancelled => "cancelled",
            };
            return Some((false, word, ending.reason.clone()));
        }
        match &self.state.hold {
            Hold::NeedsAttention { reason, .. } => Some((true, "needs_attention", reason.clone())),
            Hold::None | Hold::Paused | Hold::Cancelling { .. } => None,
        }
    }

    /// Tells it, and passes on what is owed between sessions; none if the engine refuses.
    pub(super) fn told(&self, ir: &ir::Workflow, notification: Notification) -> Option<Self> {
        let mut next = self.clone();
        next.take(ir, notification)?;
        for _ in 0..MESSAGES {
            let owed = pending::pending(ir, &next.state).into_iter().next();
            let Some(owed) = owed else { return Some(next) };
            next.take(
                ir,
                match owed {
                    Command::StartChild { spec } => Notification::ChildStarted { child: spec.session },
                    Command::Tell { message, .. } => {
                        Notification::MessageAcknowledged { message: message.id }
                    }
                    Command::StopWork { child } => Notification::WorkSettled { child },
                },
            )?;
        }
        Some(next)
    }

    fn take(&mut self, ir: &ir::Workflow, notification: Notification) -> Option<()> {
        let events = decide::decide(ir, &self.state, self.at, notification).ok()?;
        let mut left = None;
        for event in &events {
            if let Event::StepLeft { node, exit, .. } = event {
                left = ir.graph().follow(node, exit).map(|target| target.name.clone());
            }
            if let Event::Ended { .. } = event {
                self.end = Some(left.clone().unwrap_or_else(|| "session".to_owned()));
            }
            evolve::evolve(&mut self.state, self.at, event);
        }
        Some(())
    }
}

/// The sessions that can be started, by what they are given.
pub(super) fn starts(ir: &ir::Workflow, made: &mut Made) -> Vec<(String, Position)> {
    let start = |inputs: IndexMap<String, Value>| {
        let nothing = Position { state: State::default(), at: START, end: None };
        let spec = Spec {
            session: SessionId("simulation".to_owned()),
            workflow: ir.name().to_owned(),
            definition: Digest::of(b""),
            root: ".".to_owned(),
            source: None,
            inputs,
            owner: OWNER.to_owned(),
        };
        nothing.told(ir, Notification::Start(spec))
    };
    let all = made.inputs(ir);
    let found: Vec<_> = all.into_iter().filter_map(|inputs| Some((String::new(), start(inputs)?))).collect();
    if found.is_empty() {
        made.miss("no inputs can be made up that fit their schemas, so nothing is walked".to_owned());
    }
    found
}

/// What can happen, and what comes of it.
pub(super) fn moves(ir: &ir::Workflow, made: &Made, position: &Position) -> Vec<(String, Position)> {
    if position.rest().is_some() {
        return Vec::new();
    }
    let state = &position.state;
    let node = position.step();
    let mut told: Vec<(String, Notification)> = Vec::new();
    match &state.work {
        Work::Question(asking) => {
            let by = respondent(&asking.respondents);
            told.extend(choices(ir, &node).into_iter().map(|(choice, feedback)| {
                let label = format!("{node}: {choice}");
                let by = by.clone();
                (label, Notification::Answer { occurrence: None, choice, feedback, by })
            }));
        }
        Work::Stage(stage) => told.extend(replies(made, &node, stage)),
        Work::Cron { .. } | Work::None => {}
    }
    let mut all: Vec<(String, Position)> = told
        .into_iter()
        .filter_map(|(label, notification)| Some((label, position.told(ir, notification)?)))
        .collect();
    all.extend(time::due(ir, position).map(|due| (format!("{node}: is due"), due)));
    all.extend(time::deadlines(ir, position));
    all.extend(silent(ir, position).map(|silent| (format!("{node}: silent"), silent)));
    all
}

/// As it is when the agent says nothing, also after its reminder.
fn silent(ir: &ir::Workflow, position: &Position) -> Option<Position> {
    let Work::Stage(stage) = &position.state.work else { return None };
    if stage.phase != StagePhase::Producing {
        return None;
    }
    let child = stage.child.clone();
    let reminded = position.told(ir, Notification::Yielded { child: child.clone(), turn: 1_000_001 })?;
    reminded.told(ir, Notification::Yielded { child, turn: 1_000_002 })
}

fn choices(ir: &ir::Workflow, node: &str) -> Vec<(String, String)> {
    let Some(NodeKind::Question(question)) = ir.graph().by_name(node).map(|node| &node.kind) else {
        return Vec::new();
    };
    let feedback = |of: Feedback| match of {
        Feedback::Required => "x".to_owned(),
        Feedback::None | Feedback::Optional => String::new(),
    };
    question.choices.iter().map(|choice| (choice.value.clone(), feedback(choice.feedback))).collect()
}

fn replies(made: &Made, node: &str, stage: &Stage) -> Vec<(String, Notification)> {
    let submitted = |child: &SessionId, outcome, result| Notification::Submitted {
        child: child.clone(),
        submission: u32::try_from(stage.candidates.len()).unwrap_or(u32::MAX).saturating_add(1),
        envelope: Envelope { outcome, summary: "(its words)".to_owned(), result },
    };
    match &stage.phase {
        StagePhase::Producing | StagePhase::CorrectionDue => {
            let child = &stage.child;
            let mut all: Vec<_> = made
                .results(node)
                .iter()
                .map(|(word, result)| {
                    let notification = submitted(child, EnvelopeOutcome::Succeeded, result.clone());
                    (format!("{node}: submits{word}"), notification)
                })
                .collect();
            let (blocked, failed) = (EnvelopeOutcome::Blocked, EnvelopeOutcome::Failed);
            all.push((format!("{node}: blocked"), submitted(child, blocked, Value::Null)));
            all.push((format!("{node}: failed"), submitted(child, failed, Value::Null)));
            all
        }
        StagePhase::MachineGate { child, gate, .. } => {
            let at = format!("{node}: gate {}", gate.saturating_add(1));
            let judged = |decision: &str| {
                let result = json!({ "decision": decision, "feedback": "x" });
                submitted(child, EnvelopeOutcome::Succeeded, result)
            };
            vec![
                (format!("{at} accepts"), judged("accept")),
                (format!("{at} rejects"), judged("reject")),
                (format!("{at} fails"), submitted(child, EnvelopeOutcome::Failed, Value::Null)),
            ]
        }
        StagePhase::HumanGate { gate, respondents, .. } => {
            let by = respondent(respondents);
            let revision = stage.candidate().map(|candidate| candidate.revision);
            let decide = |decision| {
                let (gate, by) = (Some(*gate), by.clone());
                Notification::Decide { revision, digest: None, gate, invocation: None, decision, by }
            };
            let feedback = "x".to_owned();
            vec![
                (format!("{node}: accepted"), decide(Decision::Accept)),
                (format!("{node}: rejected"), decide(Decision::Reject { feedback })),
                (format!("{node}: aborted"), decide(Decision::Abort { reason: String::new() })),
            ]
        }
        StagePhase::Unsuccessful { .. } => Vec::new(),
    }
}

/// Somebody who may answer, whoever of them is meant.
fn respondent(respondents: &[String]) -> Principal {
    let of_kind = |kind: &'static str| {
        respondents.iter().filter_map(move |one| one.strip_prefix(kind)?.strip_prefix(':').map(str::to_owned))
    };
    let is_owner = respondents.iter().any(|one| one == OWNER);
    let user = if is_owner { None } else { of_kind("user").next() };
    let user = user.unwrap_or_else(|| if is_owner { OWNER.to_owned() } else { "somebody".to_owned() });
    Principal { user, roles: of_kind("role").collect(), via: "test".to_owned() }
}
