//! What a workflow session owes now, when it must be looked at again, and how it shows in a list: all derived.

use super::command::Command;
use super::state::{Hold, StagePhase, State, Work};
use crate::engine::{IndexRow, SessionKind};
use crate::ir::{self, StopStatus};
use crate::time::Timestamp;
use std::collections::HashSet;

/// Commands that are owed now. A paused session admits nothing; an ended one only settles what it had started.
#[must_use]
pub fn pending(_ir: &ir::Workflow, state: &State) -> Vec<Command> {
    let mut owed = Vec::new();
    for (id, child) in &state.children {
        if child.stopping {
            owed.push(Command::StopWork { child: id.clone() });
        }
    }
    if state.ended.is_some() || matches!(state.hold, Hold::Paused | Hold::Cancelling { .. }) {
        return owed;
    }
    // A new attempt waits until everything of the one before has settled.
    if owed.is_empty() {
        for child in state.children.values().filter(|child| !child.started) {
            owed.push(Command::StartChild { spec: child.spec.clone() });
        }
    }
    let mut told = HashSet::new();
    for (child, message) in &state.owed_messages {
        let ready = state.children.get(child).is_some_and(|known| known.started && !known.stopping);
        if ready && told.insert(child) {
            owed.push(Command::Tell { child: child.clone(), message: message.clone() });
        }
    }
    owed
}

/// When something of the session's own becomes due.
#[must_use]
pub fn wake_at(ir: &ir::Workflow, state: &State) -> Option<Timestamp> {
    if state.spec.is_none()
        || state.ended.is_some()
        || matches!(state.hold, Hold::Paused | Hold::Cancelling { .. })
    {
        return None;
    }
    let session = ir.deadline_ms().map(|deadline| state.started_at.plus(deadline));
    let frames =
        state.position.iter().flat_map(|position| &position.frames).filter_map(|frame| frame.deadline_at);
    let open_wait = match &state.work {
        Work::Stage(stage) => matches!(stage.phase, StagePhase::HumanGate { .. }),
        Work::Cron { .. } | Work::Question(_) => true,
        Work::None => false,
    };
    let own = match &state.work {
        // A silent stage needs attention and still has its deadline.
        Work::Stage(stage) if state.hold != Hold::None && stage.phase == StagePhase::Producing => {
            stage.deadline_at()
        }
        _ if state.hold != Hold::None => None,
        Work::None => None,
        Work::Cron { at, .. } => *at,
        Work::Question(asking) => asking.deadline_at,
        Work::Stage(stage) => match &stage.phase {
            StagePhase::HumanGate { deadline_at, .. } => *deadline_at,
            StagePhase::MachineGate { deadline_at, .. } => earliest(*deadline_at, stage.deadline_at()),
            StagePhase::Producing | StagePhase::CorrectionDue => stage.deadline_at(),
            StagePhase::Unsuccessful { .. } => None,
        },
    };
    let loops = if open_wait && state.hold == Hold::None { frames.min() } else { None };
    earliest(session, earliest(own, loops))
}

/// The earlier of two instants, where there are any.
fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// What a list shows.
#[must_use]
pub fn index(ir: &ir::Workflow, state: &State) -> IndexRow {
    let (status, mut detail) = status(state);
    match state.marks.len() {
        0 => {}
        _ if state.ended.is_some() => {}
        1 => detail.push_str("; 1 iteration needs attention"),
        many => detail.push_str(&format!("; {many} iterations need attention")),
    }
    IndexRow {
        kind: SessionKind::Workflow,
        title: ir.name().to_owned(),
        status: status.to_owned(),
        detail,
        wake_at: wake_at(ir, state),
        tokens: Vec::new(),
        parent: None,
        owner: state.spec.as_ref().map(|spec| spec.owner.clone()).unwrap_or_default(),
        owes_work: !pending(ir, state).is_empty(),
        ended: state.ended.is_some(),
    }
}

fn status(state: &State) -> (&'static str, String) {
    if let Some(ending) = &state.ended {
        let word = match ending.status {
            StopStatus::Succeeded => "completed",
            StopStatus::Failed => "failed",
            StopStatus::Cancelled => "cancelled",
        };
        return (word, ending.reason.clone());
    }
    let node = state.position.as_ref().map(|position| position.node.as_str()).unwrap_or_default();
    match &state.hold {
        Hold::Paused => return ("paused", format!("paused at `{node}`")),
        Hold::NeedsAttention { node, reason, .. } => {
            return ("needs_attention", format!("`{node}`: {reason}"));
        }
        Hold::Cancelling { reason, .. } => return ("cancelling", reason.clone()),
        Hold::None => {}
    }
    match &state.work {
        Work::Cron { at, .. } => {
            let when = at.map(|at| at.to_string()).unwrap_or_default();
            ("waiting_for_schedule", format!("`{node}` waits until {when}"))
        }
        Work::Question(asking) => {
            ("awaiting_answer", format!("`{node}` asks {}: {}", asking.respondents.join(", "), asking.text))
        }
        Work::Stage(stage) => match &stage.phase {
            StagePhase::HumanGate { respondents, .. } => {
                let revision = stage.candidate().map_or(0, |candidate| candidate.revision);
                (
                    "awaiting_review",
                    format!("revision {revision} of `{node}` waits for {}", respondents.join(", ")),
                )
            }
            StagePhase::MachineGate { round, .. } => {
                ("agent_running", format!("`{node}` is evaluated, round {round}"))
            }
            StagePhase::Producing | StagePhase::CorrectionDue | StagePhase::Unsuccessful { .. } => {
                ("agent_running", format!("an agent works at `{node}`"))
            }
        },
        Work::None => ("agent_running", format!("at `{node}`")),
    }
}
