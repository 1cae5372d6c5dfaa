//! The largest number of agent invocations between two waits.
//!
//! A wait is a cron occurrence or a person. Counted loops multiply; a cycle that runs agents, waits for nobody and
//! has no count is without bound. This file proves a number and reports nothing.

use crate::ast::{self, StepKind};
use crate::ir::EdgeKind;
use crate::resolve::flow::{Edge, Flow, NodeIndex};
use crate::resolve::{self, Resolved};
use std::collections::HashMap;

/// The proved bound; `None` if there is none.
#[must_use]
pub fn agent_runs(resolved: &Resolved<'_>) -> Option<u64> {
    let flow = &resolved.flow;
    let mut count = Count { resolved, order: order(flow), around: HashMap::new(), tail: HashMap::new() };
    let mut loops: Vec<_> = flow
        .steps()
        .filter(|(_, step)| matches!(step.kind, StepKind::Loop(_)))
        .map(|(node, _)| node)
        .collect();
    loops.sort_by_key(|node| std::cmp::Reverse(flow.node(*node).map_or(0, |node| node.scope.len())));
    for a_loop in loops {
        count.close(a_loop)?;
    }
    let start = flow.entry()?;
    let arrivals = count.longest(Some(start), None, true);
    let most = arrivals.iter().map(|(node, runs)| runs.saturating_add(count.runs(*node)));
    Some(most.max().unwrap_or(0))
}

struct Count<'a, 'r> {
    resolved: &'r Resolved<'a>,
    order: Vec<NodeIndex>,
    /// Agent runs of all full iterations of a loop that never waits, and of all but the last.
    around: HashMap<NodeIndex, (u64, u64)>,
    /// Runs since the last wait at the end of an iteration that waited.
    tail: HashMap<NodeIndex, u64>,
}

impl Count<'_, '_> {
    /// Reckons a loop whose inner loops are reckoned. `None` means without bound.
    fn close(&mut self, a_loop: NodeIndex) -> Option<()> {
        let ends = |count: &Self, arrivals: &HashMap<NodeIndex, u64>, waited: bool| {
            let flow = &count.resolved.flow;
            let back = flow.entering(a_loop).into_iter().filter(|(_, _, from)| flow.is_back(*from, a_loop));
            back.filter_map(|(_, edge, from)| {
                let at = arrivals.get(&from).copied();
                if flow.awaits(from, edge) {
                    return waited.then(|| count.after_wait(from));
                }
                Some(at?.saturating_add(count.runs(from)).saturating_add(count.extra(from, edge)))
            })
            .max()
        };
        let dry = self.longest(Some(a_loop), Some(a_loop), false);
        if let Some(once) = ends(self, &dry, false).filter(|once| *once > 0) {
            let times = u64::from(times(self.resolved.flow.step(a_loop))?);
            self.around
                .insert(a_loop, (once.saturating_mul(times), once.saturating_mul(times.saturating_sub(1))));
        }
        let wet = self.longest(None, Some(a_loop), true);
        if let Some(tail) = ends(self, &wet, true) {
            self.tail.insert(a_loop, tail);
        }
        Some(())
    }

    /// Largest number of runs since the last wait with which each node is entered, back edges left out. `within`
    /// keeps to the body of a loop; `waits` lets a wait begin the count anew, else a path ends there.
    fn longest(
        &self,
        start: Option<NodeIndex>,
        within: Option<NodeIndex>,
        waits: bool,
    ) -> HashMap<NodeIndex, u64> {
        let flow = &self.resolved.flow;
        let inside = |node: NodeIndex| {
            within.is_none_or(|outer| {
                node == outer || flow.node(node).is_some_and(|n| n.scope.contains(&outer))
            })
        };
        let mut arrivals: HashMap<NodeIndex, u64> = start.map(|start| (start, 0)).into_iter().collect();
        for from in self.order.iter().copied().filter(|node| inside(*node)) {
            let carried = self.tail.get(&from).copied().filter(|_| waits && within != Some(from));
            let at = arrivals.get(&from).copied().max(carried);
            if let (Some(at), true) = (at, carried.is_some()) {
                arrivals.insert(from, at);
            }
            for (_, edge, to) in flow.leaving(from) {
                if flow.is_back(from, to) || !inside(to) || within == Some(to) {
                    continue;
                }
                if within == Some(from) && edge.kind != EdgeKind::Body {
                    continue;
                }
                let value = if flow.awaits(from, edge) {
                    waits.then(|| self.after_wait(from))
                } else {
                    at.map(|at| at.saturating_add(self.runs(from)).saturating_add(self.extra(from, edge)))
                };
                if let Some(value) = value {
                    let best = arrivals.entry(to).or_insert(value);
                    *best = (*best).max(value);
                }
            }
        }
        arrivals
    }

    fn extra(&self, from: NodeIndex, edge: &Edge) -> u64 {
        let Some((all, but_one)) = self.around.get(&from) else { return 0 };
        if edge.kind == EdgeKind::Body { *but_one } else { *all }
    }

    /// Agent invocations of one visit: the stage's own, and each machine gate once a candidate.
    fn runs(&self, node: NodeIndex) -> u64 {
        match self.resolved.flow.step(node).map(|step| &step.kind) {
            Some(StepKind::Agent(stage)) => self.gates(stage, 0).saturating_add(1),
            Some(
                StepKind::Cron(_)
                | StepKind::Question(_)
                | StepKind::Loop(_)
                | StepKind::Switch(_)
                | StepKind::Pick(_)
                | StepKind::Stop(_)
                | StepKind::Hole,
            )
            | None => 0,
        }
    }

    /// Invocations that may follow the last person within a stage.
    fn after_wait(&self, node: NodeIndex) -> u64 {
        let Some(StepKind::Agent(stage)) = self.resolved.flow.step(node).map(|step| &step.kind) else {
            return 0;
        };
        let last = stage.review.iter().rposition(|gate| matches!(gate.kind, ast::GateKind::Human { .. }));
        last.map_or(0, |last| self.gates(stage, last + 1))
    }

    fn gates(&self, stage: &ast::AgentStep, from: usize) -> u64 {
        let defaults = &self.resolved.ast.defaults;
        let revisions = stage.max_revisions.as_ref().or(defaults.max_revisions.as_ref());
        let revisions = u64::from(revisions.map_or(resolve::MAX_REVISIONS, |revisions| revisions.value));
        let rounds = stage.review.iter().skip(from).filter_map(|gate| match &gate.kind {
            ast::GateKind::Agent { max_rounds: Some(rounds), .. } => {
                Some(revisions.min(u64::from(rounds.value)))
            }
            ast::GateKind::Agent { max_rounds: None, .. } => Some(revisions),
            ast::GateKind::Human { .. } | ast::GateKind::Hole => None,
        });
        rounds.fold(0, u64::saturating_add)
    }
}

fn times(step: Option<&ast::Step>) -> Option<u32> {
    match &step?.kind {
        StepKind::Loop(a_loop) => match a_loop.repeat.as_ref()?.value {
            ast::Repeat::Times(times) => Some(times),
            ast::Repeat::UntilStopped => None,
        },
        StepKind::Cron(_)
        | StepKind::Question(_)
        | StepKind::Agent(_)
        | StepKind::Switch(_)
        | StepKind::Pick(_)
        | StepKind::Stop(_)
        | StepKind::Hole => None,
    }
}

/// A topological order of the nodes without back edges.
fn order(flow: &Flow<'_>) -> Vec<NodeIndex> {
    let forward = flow.graph().filter_map(
        |_, _| Some(()),
        |edge, _| {
            let (from, to) = flow.graph().edge_endpoints(edge)?;
            (!flow.is_back(from, to)).then_some(())
        },
    );
    // INVARIANT: transitions lead forward, out of loops, or back to a loop around them; without the last kind
    // there is no cycle.
    petgraph::algo::toposort(&forward, None).unwrap_or_else(|_| forward.node_indices().collect())
}
