//! Time on a path. How long anything takes is not known, so any deadline may pass wherever it runs, whichever of them
//! is the nearest: the deadline is brought to the present, and the engine is told that time has passed.

use super::moves::Position;
use crate::engine::workflow::command::Notification;
use crate::engine::workflow::state::{StagePhase, Work};
use crate::ir;
use crate::time::Millis;

/// As it is when the awaited occurrence of a schedule comes. All deadlines that run move with it.
pub(super) fn due(ir: &ir::Workflow, position: &Position) -> Option<Position> {
    let Work::Cron { at: Some(due), .. } = &position.state.work else { return None };
    let mut later = position.clone();
    let passed = due.since(position.at);
    later.at = *due;
    later.state.started_at = later.state.started_at.plus(passed);
    for frame in later.state.position.iter_mut().flat_map(|place| &mut place.frames) {
        // One that has passed stays so.
        frame.deadline_at = frame
            .deadline_at
            .map(|deadline| if deadline > position.at { deadline.plus(passed) } else { deadline });
    }
    later.told(ir, Notification::Tick)
}

/// Each deadline that runs, and as it is when that one passes.
pub(super) fn deadlines(ir: &ir::Workflow, position: &Position) -> Vec<(String, Position)> {
    let mut all = Vec::new();
    let mut pass = |label: String, changed: Position| {
        all.extend(changed.told(ir, Notification::Tick).map(|next| (label, next)));
    };
    let node = position.step();
    if let Some(own) = own(position) {
        pass(format!("{node}: its deadline passes"), own);
    }
    let frames = position.state.position.as_ref().map(|place| place.frames.as_slice()).unwrap_or_default();
    for (number, frame) in frames.iter().enumerate() {
        if frame.deadline_at.is_some_and(|deadline| deadline > position.at) {
            let mut changed = position.clone();
            let places = changed.state.position.iter_mut().flat_map(|place| &mut place.frames);
            if let Some(frame) = places.skip(number).take(1).next() {
                frame.deadline_at = Some(position.at);
            }
            pass(format!("{}: its deadline passes", frame.node), changed);
        }
    }
    if let Some(deadline) = ir.deadline_ms() {
        let mut changed = position.clone();
        changed.state.started_at.0 = position.at.0.saturating_sub(deadline.0);
        pass("the deadline of the session passes".to_owned(), changed);
    }
    all
}

/// With the deadline of the open step in the present.
fn own(position: &Position) -> Option<Position> {
    let mut changed = position.clone();
    let now = position.at;
    match &mut changed.state.work {
        Work::Question(asking) => {
            asking.deadline_at?;
            asking.deadline_at = Some(now);
        }
        Work::Stage(stage) => match &mut stage.phase {
            StagePhase::HumanGate { deadline_at, .. } => {
                (*deadline_at)?;
                *deadline_at = Some(now);
            }
            StagePhase::Producing | StagePhase::MachineGate { .. } | StagePhase::CorrectionDue => {
                stage.left_ms = Millis(0);
                stage.running_since = Some(now);
            }
            StagePhase::Unsuccessful { .. } => return None,
        },
        Work::Cron { .. } | Work::None => return None,
    }
    Some(changed)
}
