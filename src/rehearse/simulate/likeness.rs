//! What makes two states one: all that decides where a path goes, and nothing that only names, times or words it.

use super::moves::Position;
use crate::engine::workflow::state::{Hold, StagePhase, State, Work};
use crate::ir::{self, NodeKind};
use std::fmt::Write;

/// Outputs that a switch or a pick can read and that are no words of people.
const DECIDING: [&str; 4] = ["result", "choice", "value", "outcome"];

/// Equal for states that go on alike.
pub(super) fn key(ir: &ir::Workflow, at: &Position) -> String {
    let state = &at.state;
    let mut key = String::new();
    // Writing into a text cannot fail.
    let _ = place(ir, at, &mut key);
    let _ = work(state, &mut key);
    if let Some(ending) = &state.ended {
        let _ = write!(key, "|ended {} {} {}", at.step(), ending.status.word(), ending.reason);
        return key;
    }
    if let Some(spec) = &state.spec {
        let _ = write!(key, "|{}", serde_json::to_string(&spec.inputs).unwrap_or_default());
    }
    let _ = records(ir, state, &mut key);
    key
}

fn place(ir: &ir::Workflow, at: &Position, key: &mut String) -> std::fmt::Result {
    let state = &at.state;
    let Some(position) = &state.position else { return Ok(()) };
    write!(key, "{}", position.node)?;
    for frame in &position.frames {
        let iteration = if is_counted(ir, &frame.node) { frame.iteration } else { frame.iteration.min(2) };
        let late = if frame.deadline_at.is_some_and(|due| due <= at.at) { " late" } else { "" };
        write!(key, "/{}#{iteration}{late}", frame.node)?;
    }
    match &state.hold {
        Hold::None => Ok(()),
        Hold::Paused => write!(key, "|paused"),
        Hold::NeedsAttention { node, reason, .. } => write!(key, "|held {node} {reason}"),
        Hold::Cancelling { reason, .. } => write!(key, "|cancelling {reason}"),
    }
}

/// Whether the number of its iteration decides when it ends.
fn is_counted(ir: &ir::Workflow, name: &str) -> bool {
    ir.graph().by_name(name).is_some_and(|node| matches!(node.kind, NodeKind::Loop { times: Some(_), .. }))
}

fn work(state: &State, key: &mut String) -> std::fmt::Result {
    match &state.work {
        Work::None => write!(key, "|none"),
        Work::Cron { .. } => write!(key, "|cron"),
        Work::Question(_) => write!(key, "|question"),
        Work::Stage(stage) => {
            match &stage.phase {
                StagePhase::Producing => write!(key, "|producing")?,
                StagePhase::HumanGate { gate, .. } => write!(key, "|person {gate}")?,
                StagePhase::MachineGate { gate, .. } => write!(key, "|agent {gate}")?,
                StagePhase::CorrectionDue => write!(key, "|correction")?,
                StagePhase::Unsuccessful { outcome, .. } => write!(key, "|{}", outcome.word())?,
            }
            write!(key, "|{} {:?} {}", stage.candidates.len(), stage.rounds, stage.reminded_after.is_some())?;
            match stage.candidate() {
                Some(candidate) => write!(key, "|{}", candidate.result),
                None => Ok(()),
            }
        }
    }
}

fn records(ir: &ir::Workflow, state: &State, key: &mut String) -> std::fmt::Result {
    let frames = state.position.as_ref().map(|position| position.frames.as_slice()).unwrap_or_default();
    for (node, records) in &state.records {
        for record in records {
            write!(key, "|{node}")?;
            for frame in &record.frames {
                let open = frames.iter().find(|open| open.node == frame.node);
                let back = open.map(|open| i64::from(open.iteration) - i64::from(frame.iteration));
                // Further back than the preceding iteration nothing reads.
                let back = back.map_or(-1, |back| back.min(2));
                write!(key, "/{}-{back}", frame.node)?;
            }
            for name in DECIDING {
                if let Some(value) = record.outputs.get(name).filter(|_| decides(ir, node)) {
                    write!(key, " {name}={value}")?;
                }
            }
        }
    }
    Ok(())
}

/// Whether a switch or a pick of the workflow may read the step.
fn decides(ir: &ir::Workflow, name: &str) -> bool {
    let reads = |path: &ir::Path| match &path.root {
        ir::Root::Step { node, .. } | ir::Root::Previous { node, .. } => node == name,
        ir::Root::Input(_)
        | ir::Root::LoopIteration
        | ir::Root::SessionId
        | ir::Root::SessionStartedAt
        | ir::Root::SessionOwner
        | ir::Root::CandidateResult
        | ir::Root::CandidateSummary => false,
    };
    ir.graph().nodes().any(|(_, node)| match &node.kind {
        NodeKind::Switch { on } => reads(on),
        NodeKind::Pick { from } => from.iter().any(reads),
        NodeKind::End
        | NodeKind::Hold
        | NodeKind::Stop { .. }
        | NodeKind::Cron { .. }
        | NodeKind::Question(_)
        | NodeKind::Agent(_)
        | NodeKind::Loop { .. } => false,
    })
}
