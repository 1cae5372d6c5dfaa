//! The largest number of agent invocations between two waits, and a path on which it is reached.
//!
//! A wait is a cron occurrence or a person. Counted loops multiply; a cycle that runs agents, waits for nobody and
//! has no count is without bound. This file proves a number and reports nothing.

use crate::ast::{self, StepKind};
use crate::ir::EdgeKind;
use crate::resolve::flow::{Edge, EdgeIndex, Flow, NodeIndex};
use crate::resolve::path::Leg;
use crate::resolve::{self, Resolved};
use std::collections::HashMap;

/// What was proved.
#[derive(Debug, Default)]
pub struct Bound {
    /// The number; `None` if there is none.
    pub runs: Option<u64>,
    /// A path on which so many runs happen, or the cycle that has no bound: each leg with the runs on it.
    pub legs: Vec<(Leg, u64)>,
    /// Where the path ends, and the runs there; for a cycle the loop.
    pub last: Option<(NodeIndex, u64)>,
}

/// The proved bound.
#[must_use]
pub fn agent_runs(resolved: &Resolved<'_>) -> Bound {
    let flow = &resolved.flow;
    let mut count = Count::new(resolved);
    let mut loops: Vec<_> = flow
        .steps()
        .filter(|(_, step)| matches!(step.kind, StepKind::Loop(_)))
        .map(|(node, _)| node)
        .collect();
    loops.sort_by_key(|node| std::cmp::Reverse(flow.node(*node).map_or(0, |node| node.scope.len())));
    for a_loop in loops {
        if let Err(legs) = count.close(a_loop) {
            return Bound { runs: None, legs: count.weigh(legs), last: Some((a_loop, 0)) };
        }
    }
    let Some(start) = flow.entry() else { return Bound::default() };
    let arrivals = count.longest(Some(start), None, true);
    let mut most: Option<(u64, NodeIndex)> = None;
    for node in &count.order {
        let Some(arrival) = arrivals.get(node) else { continue };
        let runs = arrival.runs.saturating_add(count.runs(*node));
        if most.is_none_or(|(most, _)| runs > most) {
            most = Some((runs, *node));
        }
    }
    let Some((runs, last)) = most else { return Bound { runs: Some(0), ..Bound::default() } };
    let legs = count.trace(&arrivals, last);
    Bound { runs: Some(runs), legs: count.weigh(legs), last: Some((last, count.runs(last))) }
}

/// With how many runs since the last wait a node is entered, and how.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    runs: u64,
    came: Came,
}

#[derive(Clone, Copy, Debug)]
enum Came {
    /// The count begins here.
    Start,
    /// From another node.
    By(Leg),
    /// From a node that waited; the count began there.
    Waited(Leg),
    /// From an iteration of this loop that waited.
    Tail,
}

struct Count<'a, 'r> {
    resolved: &'r Resolved<'a>,
    /// All nodes, a node before those that it leads to.
    order: Vec<NodeIndex>,
    /// The nodes of each loop in the same order, the loop first.
    members: HashMap<NodeIndex, Vec<NodeIndex>>,
    /// Agent runs of all full iterations of a loop that never waits, and of all but the last.
    around: HashMap<NodeIndex, (u64, u64)>,
    /// Runs since the last wait at the end of an iteration that waited, and the way from that wait.
    tail: HashMap<NodeIndex, (u64, Vec<Leg>)>,
}

impl<'a, 'r> Count<'a, 'r> {
    fn new(resolved: &'r Resolved<'a>) -> Self {
        let order = order(&resolved.flow);
        let mut members: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for node in &order {
            members.entry(*node).or_default().push(*node);
            for outer in resolved.flow.node(*node).into_iter().flat_map(|node| &node.scope) {
                members.entry(*outer).or_default().push(*node);
            }
        }
        Self { resolved, order, members, around: HashMap::new(), tail: HashMap::new() }
    }

    /// Reckons a loop whose inner loops are reckoned.
    ///
    /// # Errors
    /// The way round it, if it is without bound.
    fn close(&mut self, a_loop: NodeIndex) -> Result<(), Vec<Leg>> {
        let dry = self.longest(Some(a_loop), Some(a_loop), false);
        if let Some((once, leg)) = self.end_of(a_loop, &dry, false).filter(|(once, _)| *once > 0) {
            let Some(times) = times(self.resolved.flow.step(a_loop)).map(u64::from) else {
                let mut legs = self.trace(&dry, leg.from);
                legs.push(leg);
                return Err(legs);
            };
            self.around
                .insert(a_loop, (once.saturating_mul(times), once.saturating_mul(times.saturating_sub(1))));
        }
        let wet = self.longest(None, Some(a_loop), true);
        if let Some((tail, leg)) = self.end_of(a_loop, &wet, true) {
            let waits = self
                .resolved
                .flow
                .graph()
                .edge_weight(leg.edge)
                .is_some_and(|edge| self.resolved.flow.awaits(leg.from, edge));
            let mut legs = if waits { Vec::new() } else { self.trace(&wet, leg.from) };
            legs.push(leg);
            self.tail.insert(a_loop, (tail, legs));
        }
        Ok(())
    }

    /// The largest number of runs with which an iteration ends, and the edge that ends it.
    fn end_of(
        &self,
        a_loop: NodeIndex,
        arrivals: &HashMap<NodeIndex, Arrival>,
        waited: bool,
    ) -> Option<(u64, Leg)> {
        let flow = &self.resolved.flow;
        let back = flow.entering(a_loop).into_iter().filter(|(_, _, from)| flow.is_back(*from, a_loop));
        let ends = back.filter_map(|(id, edge, from)| {
            let leg = Leg { from, edge: id };
            if flow.awaits(from, edge) {
                return waited.then(|| (self.after_wait(from), leg));
            }
            Some((arrivals.get(&from)?.runs.saturating_add(self.weight(from, edge)), leg))
        });
        ends.max_by_key(|(runs, leg)| (*runs, std::cmp::Reverse(leg.edge)))
    }

    /// Largest number of runs since the last wait with which each node is entered, back edges left out. `within`
    /// keeps to the body of a loop; `waits` lets a wait begin the count anew, else a path ends there.
    fn longest(
        &self,
        start: Option<NodeIndex>,
        within: Option<NodeIndex>,
        waits: bool,
    ) -> HashMap<NodeIndex, Arrival> {
        let flow = &self.resolved.flow;
        let inside = |node: NodeIndex| {
            within.is_none_or(|outer| {
                node == outer || flow.node(node).is_some_and(|n| n.scope.contains(&outer))
            })
        };
        let nodes = within.map_or(Some(&self.order), |outer| self.members.get(&outer));
        let first = Arrival { runs: 0, came: Came::Start };
        let mut arrivals: HashMap<NodeIndex, Arrival> =
            start.map(|start| (start, first)).into_iter().collect();
        for from in nodes.into_iter().flatten().copied() {
            let tail = self.tail.get(&from).filter(|_| waits && within != Some(from));
            if let Some((runs, _)) = tail {
                raise(&mut arrivals, from, Arrival { runs: *runs, came: Came::Tail });
            }
            let at = arrivals.get(&from).copied();
            for (id, edge, to) in flow.leaving(from) {
                if flow.is_back(from, to) || !inside(to) || within == Some(to) {
                    continue;
                }
                if within == Some(from) && edge.kind != EdgeKind::Body {
                    continue;
                }
                let leg = Leg { from, edge: id };
                let next = if flow.awaits(from, edge) {
                    waits.then(|| Arrival { runs: self.after_wait(from), came: Came::Waited(leg) })
                } else {
                    at.map(|at| Arrival {
                        // Within a loop its own iterations are counted once, by whoever asks.
                        runs: at.runs.saturating_add(self.weight(from, edge)),
                        came: Came::By(leg),
                    })
                };
                if let Some(next) = next {
                    raise(&mut arrivals, to, next);
                }
            }
        }
        arrivals
    }

    /// The way to a node since the count began.
    fn trace(&self, arrivals: &HashMap<NodeIndex, Arrival>, node: NodeIndex) -> Vec<Leg> {
        let mut legs = Vec::new();
        let mut at = node;
        // INVARIANT: without back edges there is no cycle, so this ends.
        while let Some(arrival) = arrivals.get(&at) {
            match arrival.came {
                Came::Start => break,
                Came::By(leg) => {
                    legs.push(leg);
                    at = leg.from;
                }
                Came::Waited(leg) => {
                    legs.push(leg);
                    break;
                }
                Came::Tail => {
                    let tail = self.tail.get(&at).map(|(_, legs)| legs.as_slice()).unwrap_or_default();
                    legs.extend(tail.iter().rev());
                    break;
                }
            }
        }
        legs.reverse();
        legs
    }

    /// Each leg with the runs that happen on it.
    fn weigh(&self, legs: Vec<Leg>) -> Vec<(Leg, u64)> {
        let flow = &self.resolved.flow;
        let weight = |leg: Leg| match flow.graph().edge_weight(leg.edge) {
            Some(edge) if flow.awaits(leg.from, edge) => self.after_wait(leg.from),
            Some(edge) => self.weight(leg.from, edge),
            None => 0,
        };
        legs.into_iter().map(|leg| (leg, weight(leg))).collect()
    }

    /// Runs from the entry of a node to the end of this edge, if no wait comes between.
    fn weight(&self, from: NodeIndex, edge: &Edge) -> u64 {
        self.runs(from).saturating_add(self.extra(from, edge))
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

/// Keeps the larger of two arrivals; the earlier of two equal ones.
fn raise(arrivals: &mut HashMap<NodeIndex, Arrival>, node: NodeIndex, next: Arrival) {
    let best = arrivals.entry(node).or_insert(next);
    if next.runs > best.runs {
        *best = next;
    }
}

fn times(step: Option<&ast::Step>) -> Option<u32> {
    match step?.kind.as_loop()?.repeat.as_ref()?.value {
        ast::Repeat::Times(times) => Some(times),
        ast::Repeat::UntilStopped => None,
    }
}

/// A topological order of the nodes without back edges.
fn order(flow: &Flow<'_>) -> Vec<NodeIndex> {
    let forward = flow.graph().filter_map(
        |_, _| Some(()),
        |edge: EdgeIndex, _| {
            let (from, to) = flow.graph().edge_endpoints(edge)?;
            (!flow.is_back(from, to)).then_some(())
        },
    );
    // INVARIANT: transitions lead forward, out of loops, or back to a loop around them; without the last kind
    // there is no cycle.
    petgraph::algo::toposort(&forward, None).unwrap_or_else(|_| forward.node_indices().collect())
}
