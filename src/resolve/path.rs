//! Paths through the flow, for messages: the shortest way to a node that keeps off certain edges, told step by step.

use super::flow::{Edge, EdgeIndex, Flow, NodeIndex};
use crate::diagnostic::Diagnostic;
use crate::ir::EdgeKind;
use std::collections::{HashMap, VecDeque};

/// One step of a path: the node that is left, and by which edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// The node.
    pub from: NodeIndex,
    /// The edge out of it.
    pub edge: EdgeIndex,
}

/// A shortest path from `start` to `goal` (at least one edge) over the edges that `may` allows.
///
/// A counted loop is never left as exhausted before its body has been walked.
pub fn shortest(
    flow: &Flow<'_>,
    start: NodeIndex,
    goal: NodeIndex,
    may: impl Fn(NodeIndex, &Edge, NodeIndex) -> bool,
) -> Option<Vec<Leg>> {
    type State = (NodeIndex, bool);
    let first: State = (start, false);
    let mut came: HashMap<State, (State, EdgeIndex)> = HashMap::new();
    let mut open = VecDeque::from([first]);
    let mut seen = std::collections::HashSet::from([first]);
    while let Some(state) = open.pop_front() {
        for (id, edge, to) in flow.leaving(state.0) {
            if (edge.kind == EdgeKind::Exhausted && !state.1) || !may(state.0, edge, to) {
                continue;
            }
            let next: State = (to, flow.is_back(state.0, to));
            if to == goal {
                let mut legs = vec![Leg { from: state.0, edge: id }];
                let mut at = state;
                while let Some((before, edge)) = came.get(&at) {
                    legs.push(Leg { from: before.0, edge: *edge });
                    at = *before;
                }
                legs.reverse();
                return Some(legs);
            }
            if seen.insert(next) {
                came.insert(next, (state, id));
                open.push_back(next);
            }
        }
    }
    None
}

/// Adds the path to a finding: one label a leg, in order.
#[must_use]
pub fn tell(mut diagnostic: Diagnostic, flow: &Flow<'_>, legs: &[Leg]) -> Diagnostic {
    for (i, leg) in legs.iter().enumerate() {
        let (Some(node), Some(edge)) = (flow.node(leg.from), flow.graph().edge_weight(leg.edge)) else {
            continue;
        };
        let text = format!("{}. `{}` {}", i + 1, node.name, way(&edge.kind));
        diagnostic = diagnostic.label(edge.span.unwrap_or(node.span), text);
    }
    diagnostic
}

/// The leg of a path to `goal` that decides: the last at which another way still led to `other` without going round
/// a loop. None if `goal` itself still leads there.
#[must_use]
pub fn branching(flow: &Flow<'_>, legs: &[Leg], goal: NodeIndex, other: NodeIndex) -> Option<Leg> {
    let leading = flow.leading_to(other, |from, _, to| !flow.is_back(from, to));
    if leading.contains(&goal) {
        return None;
    }
    legs.iter().rev().copied().find(|leg| leading.contains(&leg.from))
}

/// The names along a path with the end, `a → b → c`.
#[must_use]
pub fn names(flow: &Flow<'_>, legs: &[Leg], goal: NodeIndex) -> String {
    let nodes = legs.iter().map(|leg| leg.from).chain([goal]);
    let names: Vec<_> = nodes.filter_map(|index| flow.node(index)).map(|node| node.name.as_str()).collect();
    names.join(" → ")
}

/// How a node is left, in words.
#[must_use]
pub fn way(kind: &EdgeKind) -> String {
    match kind {
        EdgeKind::Next => "goes on".to_owned(),
        EdgeKind::Choice(value) => format!("is answered `{value}`"),
        EdgeKind::Case(value) => format!("finds `{value}`"),
        EdgeKind::Default => "finds none of its cases".to_owned(),
        EdgeKind::Body => "begins an iteration".to_owned(),
        EdgeKind::On(outcome) => format!("ends {}", word(*outcome)),
        EdgeKind::GateAborted(gate) => format!("is aborted at gate {}", gate + 1),
        EdgeKind::GateDeadline(gate) => format!("finds nobody at gate {} in time", gate + 1),
        EdgeKind::Deadline => "passes its deadline".to_owned(),
        EdgeKind::Exhausted => "has no iteration left".to_owned(),
        EdgeKind::Resume => "is resumed by a person".to_owned(),
    }
}

fn word(outcome: crate::ir::Outcome) -> &'static str {
    use crate::ir::Outcome;
    match outcome {
        Outcome::Blocked => "blocked",
        Outcome::Failed => "failed",
        Outcome::Deadline => "by its deadline",
        Outcome::Exhausted => "without a revision left",
    }
}
