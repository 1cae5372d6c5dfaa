//! Draws the flow of a definition: nodes first, in an order that no order of keys changes, then the ways out of each.
//!
//! It looks only at steps and transitions, and reports nothing.

use super::{Edge, Flow, Node, NodeIndex, Place, all_steps, sorted_cases};
use crate::ast::{self, OnDeadline, StepKind, Transition};
use crate::ir::{EdgeKind, Outcome, Turn};
use crate::source::{Span, Spanned};
use petgraph::graph::DiGraph;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy)]
struct Target {
    node: NodeIndex,
    turn: Turn,
}

#[derive(Clone)]
struct Around {
    scope: Vec<NodeIndex>,
    after_loop: Option<Target>,
}

pub(super) struct Drawing<'a> {
    flow: Flow<'a>,
    by_step: HashMap<*const ast::Step, NodeIndex>,
    names: HashSet<String>,
    stops: usize,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(ast: &'a ast::Workflow) -> Self {
        let steps = all_steps(&ast.steps);
        let mut graph = DiGraph::new();
        let mut by_step = HashMap::new();
        let mut names = HashSet::new();
        for step in &steps {
            let place = Place::Step(step);
            let node = Node { name: step.name.clone(), scope: Vec::new(), place, span: step.head };
            names.insert(step.name.clone());
            by_step.insert(std::ptr::from_ref(*step), graph.add_node(node));
        }
        let rest =
            |name: &str, place| Node { name: name.to_owned(), scope: Vec::new(), place, span: ast.span };
        let end = graph.add_node(rest("end", Place::End));
        let hold = graph.add_node(rest("hold", Place::Hold));
        let stops = steps.iter().filter(|step| matches!(step.kind, StepKind::Stop(_))).count();
        let flow = Flow {
            graph,
            entry: None,
            end,
            hold,
            has_holes: false,
            misplaced: Vec::new(),
            visits: Cell::new(0),
        };
        Self { flow, by_step, names, stops }
    }

    pub(super) fn finish(mut self, ast: &'a ast::Workflow) -> Flow<'a> {
        let around = Around { scope: Vec::new(), after_loop: None };
        let end = Target { node: self.flow.end, turn: Turn::Forward };
        self.flow.entry = self.list(&ast.steps, &around, end).map(|first| first.node);
        self.flow
    }

    /// Draws a list and gives its first step.
    fn list(&mut self, steps: &'a [ast::Step], around: &Around, after: Target) -> Option<Target> {
        let nodes: Vec<Target> = steps
            .iter()
            .filter_map(|step| self.by_step.get(&std::ptr::from_ref(step)))
            .map(|node| Target { node: *node, turn: Turn::Forward })
            .collect();
        for (i, (step, at)) in steps.iter().zip(&nodes).enumerate() {
            let next = nodes.get(i + 1).copied().unwrap_or(after);
            if let Some(node) = self.flow.graph.node_weight_mut(at.node) {
                node.scope.clone_from(&around.scope);
            }
            self.step(step, at.node, around, next);
        }
        nodes.first().copied()
    }

    fn step(&mut self, step: &'a ast::Step, at: NodeIndex, around: &Around, next: Target) {
        match &step.kind {
            StepKind::Cron(_) | StepKind::Pick(_) | StepKind::Hole => {
                self.edge(at, EdgeKind::Next, next, None)
            }
            StepKind::Stop(_) => {}
            StepKind::Question(question) => self.question(question, at, around, next),
            StepKind::Agent(stage) => self.stage(stage, at, around, next),
            StepKind::Loop(a_loop) => self.a_loop(a_loop, at, around, next),
            StepKind::Switch(switch) => {
                for case in sorted_cases(switch) {
                    let kind = EdgeKind::Case(case.value.value.clone());
                    self.go(at, kind, Some(&case.then), Transition::Hole, around, next);
                }
                if let Some(default) = &switch.default {
                    self.go(at, EdgeKind::Default, Some(default), Transition::Hole, around, next);
                }
                self.resume(at, next);
            }
        }
    }

    fn question(&mut self, question: &'a ast::Question, at: NodeIndex, around: &Around, next: Target) {
        for choice in &question.choices {
            let kind = EdgeKind::Choice(choice.value.value.clone());
            self.go(at, kind, choice.then.as_ref(), Transition::Continue, around, next);
        }
        self.resume(at, next);
        if question.deadline.is_none() {
            return;
        }
        match &question.on_deadline {
            None => self.edge(at, EdgeKind::Deadline, self.hold(), None),
            Some(Spanned { value: OnDeadline::Choose(_), .. }) => {}
            Some(Spanned { value: OnDeadline::Transition(transition), span }) => {
                let to = self.target(Spanned::new(transition, *span), around, next);
                self.edge_to(at, EdgeKind::Deadline, to, Some(*span));
            }
        }
    }

    fn stage(&mut self, stage: &'a ast::AgentStep, at: NodeIndex, around: &Around, next: Target) {
        self.edge(at, EdgeKind::Next, next, None);
        for (i, gate) in stage.review.iter().enumerate() {
            let i = u32::try_from(i).unwrap_or(u32::MAX);
            if let ast::GateKind::Human { on_deadline, on_abort, .. } = &gate.kind {
                self.go(at, EdgeKind::GateAborted(i), on_abort.as_ref(), Transition::Hold, around, next);
                if gate.deadline.is_some() {
                    let kind = EdgeKind::GateDeadline(i);
                    self.go(at, kind, on_deadline.as_ref(), Transition::Hold, around, next);
                }
            }
        }
        for (outcome, on) in [
            (Outcome::Blocked, &stage.on_blocked),
            (Outcome::Failed, &stage.on_failed),
            (Outcome::Deadline, &stage.on_deadline),
            (Outcome::Exhausted, &stage.on_exhausted),
        ] {
            // Without a review nothing can be rejected, so revisions cannot run out; the edge is still there, for
            // five invalid submissions count as failed and not as exhausted.
            self.go(at, EdgeKind::On(outcome), on.as_ref(), Transition::Hold, around, next);
        }
    }

    fn a_loop(&mut self, a_loop: &'a ast::Loop, at: NodeIndex, around: &Around, next: Target) {
        let mut inside = around.clone();
        inside.scope.push(at);
        inside.after_loop = Some(next);
        let again = Target { node: at, turn: Turn::Again };
        match self.list(&a_loop.steps, &inside, again) {
            Some(first) => self.edge(at, EdgeKind::Body, first, None),
            None => self.flow.has_holes = true,
        }
        match &a_loop.repeat {
            Some(Spanned { value: ast::Repeat::UntilStopped, .. }) => {}
            Some(Spanned { value: ast::Repeat::Times(_), .. }) => {
                self.go(
                    at,
                    EdgeKind::Exhausted,
                    a_loop.on_exhausted.as_ref(),
                    Transition::Continue,
                    around,
                    next,
                );
            }
            None => self.flow.has_holes = true,
        }
        if a_loop.deadline.is_some() {
            self.go(at, EdgeKind::Deadline, a_loop.on_deadline.as_ref(), Transition::Hold, around, next);
        }
        self.resume(at, next);
    }

    /// A person resumes a held step at its normal successor, where what it gave is definite.
    fn resume(&mut self, at: NodeIndex, next: Target) {
        if self.flow.leaving(at).iter().any(|(_, _, to)| *to == self.flow.hold) {
            self.edge(at, EdgeKind::Resume, next, None);
        }
    }

    fn hold(&self) -> Target {
        Target { node: self.flow.hold, turn: Turn::Hold }
    }

    fn go(
        &mut self,
        at: NodeIndex,
        kind: EdgeKind,
        written: Option<&'a Spanned<Transition>>,
        default: Transition,
        around: &Around,
        next: Target,
    ) {
        match written {
            Some(written) => {
                let to = self.target(written.as_ref(), around, next);
                self.edge_to(at, kind, to, Some(written.span));
            }
            None if default == Transition::Continue => self.edge(at, kind, next, None),
            None => self.edge(at, kind, self.hold(), None),
        }
    }

    fn target(&mut self, to: Spanned<&'a Transition>, around: &Around, next: Target) -> Option<Target> {
        match to.value {
            Transition::Continue => Some(next),
            Transition::Hold => Some(self.hold()),
            Transition::Hole => None,
            Transition::Break => match around.after_loop {
                Some(after) if after.node == self.flow.hold => Some(after),
                Some(after) => Some(Target { turn: Turn::Break, ..after }),
                None => self.outside(to.span, "break"),
            },
            Transition::Next => match around.scope.last() {
                Some(a_loop) => Some(Target { node: *a_loop, turn: Turn::Again }),
                None => self.outside(to.span, "next"),
            },
            Transition::Stop(stop) => {
                let node = self.stop(stop, to.span, around);
                Some(Target { node, turn: Turn::Stop })
            }
            Transition::Steps { steps, then } => {
                let after = match then {
                    None => Some(next),
                    Some(then) => self.target((**then).as_ref(), around, next),
                };
                let Some(after) = after else {
                    // What follows is unknown; the steps themselves are still drawn.
                    let unknown = Target { node: self.flow.hold, turn: Turn::Hold };
                    self.flow.has_holes = true;
                    return self.list(steps, around, unknown);
                };
                Some(self.list(steps, around, after).unwrap_or(after))
            }
        }
    }

    fn outside(&mut self, span: Span, word: &'static str) -> Option<Target> {
        self.flow.misplaced.push((span, word));
        None
    }

    fn stop(&mut self, stop: &'a ast::Stop, span: Span, around: &Around) -> NodeIndex {
        let name = loop {
            self.stops += 1;
            let name = format!("stop-{}", self.stops);
            if self.names.insert(name.clone()) {
                break name;
            }
        };
        let scope = around.scope.clone();
        self.flow.graph.add_node(Node { name, scope, place: Place::Stop(stop), span })
    }

    fn edge_to(&mut self, from: NodeIndex, kind: EdgeKind, to: Option<Target>, span: Option<Span>) {
        match to {
            Some(to) => self.edge(from, kind, to, span),
            None => self.flow.has_holes = true,
        }
    }

    fn edge(&mut self, from: NodeIndex, kind: EdgeKind, to: Target, span: Option<Span>) {
        self.flow.graph.add_edge(from, to.node, Edge { kind, turn: to.turn, span });
    }
}
