//! Iterations that are left from a failure by `next` or `continue`: the session goes on, and the iteration stays marked
//! until a person has seen to it.

use super::event::Event;
use super::people::refuse;
use super::state::{Mark, State};
use super::walk::Turn;
use crate::engine::{Principal, Rejection, RejectionCode};
use crate::ir::{EdgeKind, NodeKind, Outcome};
use crate::time::Timestamp;

/// Marks that are kept; with more the oldest give way.
const MARKS: usize = 1000;

impl Turn<'_> {
    /// Whether leaving this step so marks the iteration around it: it did not end well, and the loop goes on.
    pub(super) fn is_marked(&self, node: &str, exit: &EdgeKind) -> bool {
        if !is_failure(exit) {
            return false;
        }
        let graph = self.ir.graph();
        let (Some(node), Some(target)) = (graph.by_name(node), graph.follow(node, exit)) else {
            return false;
        };
        let Some(innermost) = self.frames_of(node).pop() else { return false };
        let goes_on = target.name == innermost.node || target.scope.contains(&innermost.node);
        goes_on && !matches!(target.kind, NodeKind::Hold | NodeKind::Stop { .. })
    }

    /// A person has seen to a mark, or to all of them.
    pub(super) fn dismiss(&mut self, mark: Option<u32>, by: Principal) -> Result<(), Rejection> {
        self.owner_only(&by)?;
        self.open()?;
        let marks: Vec<u32> = self
            .state
            .marks
            .iter()
            .map(|known| known.number)
            .filter(|number| mark.is_none_or(|wanted| wanted == *number))
            .collect();
        if !marks.is_empty() {
            self.emit(Event::Dismissed { marks, by });
        } else if let Some(number) = mark.filter(|number| !(1..=self.state.marked).contains(number)) {
            return refuse(RejectionCode::NotWaiting, format!("there is no mark {number}"));
        }
        Ok(())
    }
}

/// The edges that `on_failed`, `on_blocked` and `on_deadline` write.
fn is_failure(exit: &EdgeKind) -> bool {
    match exit {
        EdgeKind::On(Outcome::Blocked | Outcome::Failed | Outcome::Deadline)
        | EdgeKind::GateDeadline(_)
        | EdgeKind::Deadline => true,
        EdgeKind::On(Outcome::Exhausted)
        | EdgeKind::Next
        | EdgeKind::Choice(_)
        | EdgeKind::Case(_)
        | EdgeKind::Default
        | EdgeKind::Body
        | EdgeKind::GateAborted(_)
        | EdgeKind::Exhausted
        | EdgeKind::Resume => false,
    }
}

/// Folds a mark in.
pub(super) fn mark(state: &mut State, at: Timestamp, node: &str, visit: u32, reason: &str) {
    state.marked = state.marked.saturating_add(1);
    let frames = state.position.as_ref().map(|position| position.frames.as_slice()).unwrap_or_default();
    // A loop that is left is no iteration of itself: what is marked is the loop around it.
    let frame = frames.iter().take_while(|frame| frame.node != node).last();
    let (repeat, iteration) = frame.map(|frame| (frame.node.clone(), frame.iteration)).unwrap_or_default();
    if state.marks.len() >= MARKS {
        state.marks.remove(0);
    }
    let (number, node, reason) = (state.marked, node.to_owned(), reason.to_owned());
    state.marks.push(Mark { number, node, visit, repeat, iteration, reason, at });
}
