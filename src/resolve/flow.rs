//! The control flow of a definition: one node a step, one edge for each way out of it.
//!
//! Edges mean exactly what `ir::EdgeKind` says. Transitions that could not be read have no edge; `has_holes` tells
//! that something may be reachable which the graph does not show. Nothing here looks at bindings or agents.

mod draw;

use crate::ast::{self, OnDeadline, StepKind, Transition};
use crate::ir::{EdgeKind, Turn};
use crate::source::{Span, Spanned};
use petgraph::Direction;
use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;
use std::cell::Cell;
use std::collections::HashSet;

pub use petgraph::graph::{EdgeIndex, NodeIndex};

/// The flow of one definition.
#[derive(Debug)]
pub struct Flow<'a> {
    graph: DiGraph<Node<'a>, Edge>,
    entry: Option<NodeIndex>,
    end: NodeIndex,
    hold: NodeIndex,
    /// Whether some way out could not be read.
    pub has_holes: bool,
    /// `break` and `next` outside of any loop: the place and the word.
    pub misplaced: Vec<(Span, &'static str)>,
    /// Edges that were looked at, see [`Flow::work`].
    visits: Cell<u64>,
}

/// A step or a place of rest.
#[derive(Debug)]
pub struct Node<'a> {
    /// Name in the frozen graph.
    pub name: String,
    /// The loops around it, outermost first.
    pub scope: Vec<NodeIndex>,
    /// What it is.
    pub place: Place<'a>,
    /// Short place to point at.
    pub span: Span,
}

/// What a node of the flow is.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A step.
    Step(&'a ast::Step),
    /// A transition `{stop: …}`.
    Stop(&'a ast::Stop),
    /// The end of the list.
    End,
    /// Needs attention.
    Hold,
}

/// A way from one node to another.
#[derive(Clone, Debug)]
pub struct Edge {
    /// When it is taken.
    pub kind: EdgeKind,
    /// How it was written.
    pub turn: Turn,
    /// Where it was written; `None` for a default.
    pub span: Option<Span>,
}

impl<'a> Flow<'a> {
    pub(super) fn draw(ast: &'a ast::Workflow) -> Self {
        draw::Drawing::new(ast).finish(ast)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &DiGraph<Node<'a>, Edge> {
        &self.graph
    }

    /// Where a session begins; `None` without steps.
    #[must_use]
    pub fn entry(&self) -> Option<NodeIndex> {
        self.entry
    }

    /// The node `end`.
    #[must_use]
    pub fn end(&self) -> NodeIndex {
        self.end
    }

    /// The node `hold`.
    #[must_use]
    pub fn hold(&self) -> NodeIndex {
        self.hold
    }

    /// The node behind an index.
    #[must_use]
    pub fn node(&self, index: NodeIndex) -> Option<&Node<'a>> {
        self.graph.node_weight(index)
    }

    /// The step behind an index.
    #[must_use]
    pub fn step(&self, index: NodeIndex) -> Option<&'a ast::Step> {
        match self.node(index)?.place {
            Place::Step(step) => Some(step),
            Place::Stop(_) | Place::End | Place::Hold => None,
        }
    }

    /// All steps in document order.
    pub fn steps(&self) -> impl Iterator<Item = (NodeIndex, &'a ast::Step)> {
        self.graph.node_indices().filter_map(|index| Some((index, self.step(index)?)))
    }

    /// The edges out of a node in the order they were drawn: index, edge, target.
    #[must_use]
    pub fn leaving(&self, from: NodeIndex) -> Vec<(EdgeIndex, &Edge, NodeIndex)> {
        let mut found: Vec<_> =
            self.graph.edges(from).map(|edge| (edge.id(), edge.weight(), edge.target())).collect();
        found.sort_by_key(|(id, _, _)| *id);
        self.count(found.len());
        found
    }

    /// The edges into a node: index, edge, source.
    #[must_use]
    pub fn entering(&self, to: NodeIndex) -> Vec<(EdgeIndex, &Edge, NodeIndex)> {
        let edges = self.graph.edges_directed(to, Direction::Incoming);
        let mut found: Vec<_> = edges.map(|edge| (edge.id(), edge.weight(), edge.source())).collect();
        found.sort_by_key(|(id, _, _)| *id);
        self.count(found.len());
        found
    }

    /// How many edges have been looked at since the flow was drawn: the measure of what a rule costs.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.visits.get()
    }

    fn count(&self, edges: usize) {
        self.visits.set(self.visits.get().saturating_add(u64::try_from(edges).unwrap_or(u64::MAX)));
    }

    /// Whether an edge from `from` to `to` closes an iteration of the loop `to`.
    #[must_use]
    pub fn is_back(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.node(from).is_some_and(|node| node.scope.contains(&to))
    }

    /// Whether taking this edge out of `from` means that a cron occurrence came or a person acted.
    #[must_use]
    pub fn awaits(&self, from: NodeIndex, edge: &Edge) -> bool {
        let Some(step) = self.step(from) else { return false };
        match (&step.kind, &edge.kind) {
            (StepKind::Hole, _) | (_, EdgeKind::Resume | EdgeKind::GateAborted(_)) => true,
            (StepKind::Cron(_), kind) => *kind == EdgeKind::Next,
            (StepKind::Question(question), EdgeKind::Choice(value)) => {
                !is_chosen_by_deadline(question, value)
            }
            (StepKind::Agent(stage), EdgeKind::Next) => has_human_gate(stage),
            (
                StepKind::Question(_)
                | StepKind::Agent(_)
                | StepKind::Loop(_)
                | StepKind::Switch(_)
                | StepKind::Pick(_)
                | StepKind::Stop(_),
                _,
            ) => false,
        }
    }

    /// What can be reached from the entry.
    #[must_use]
    pub fn reachable(&self) -> HashSet<NodeIndex> {
        let mut seen = HashSet::new();
        let mut open: Vec<_> = self.entry.into_iter().collect();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(self.leaving(at).into_iter().map(|(_, _, to)| to));
            }
        }
        seen
    }

    /// The nodes from which `goal` can be reached over the edges that `may` allows, `goal` included.
    pub fn leading_to(
        &self,
        goal: NodeIndex,
        may: impl Fn(NodeIndex, &Edge, NodeIndex) -> bool,
    ) -> HashSet<NodeIndex> {
        let mut seen = HashSet::from([goal]);
        let mut open = vec![goal];
        while let Some(at) = open.pop() {
            for (_, edge, from) in self.entering(at) {
                if may(from, edge, at) && seen.insert(from) {
                    open.push(from);
                }
            }
        }
        seen
    }
}

/// Whether a passed deadline takes this choice without a person.
#[must_use]
pub fn is_chosen_by_deadline(question: &ast::Question, value: &str) -> bool {
    question.deadline.is_some()
        && question.on_deadline.as_ref().is_some_and(|on| match &on.value {
            OnDeadline::Choose(chosen) => chosen.value == value,
            OnDeadline::Transition(_) => false,
        })
}

/// Whether a person must accept before the stage ends well.
#[must_use]
pub fn has_human_gate(stage: &ast::AgentStep) -> bool {
    stage.review.iter().any(|gate| matches!(gate.kind, ast::GateKind::Human { .. } | ast::GateKind::Hole))
}

/// The lists of steps nested in a step, in an order that does not depend on the order of its keys.
pub fn nested<'a>(step: &'a ast::Step, visit: &mut impl FnMut(&'a [ast::Step])) {
    fn go<'a>(transition: &'a Transition, visit: &mut impl FnMut(&'a [ast::Step])) {
        if let Transition::Steps { steps, then } = transition {
            visit(steps);
            if let Some(then) = then {
                go(&then.value, visit);
            }
        }
    }
    if let StepKind::Loop(a_loop) = &step.kind {
        visit(&a_loop.steps);
    }
    for transition in transitions(step) {
        go(transition.value, visit);
    }
}

/// The written transitions of a step, in an order that does not depend on the order of its keys.
#[must_use]
pub fn transitions(step: &ast::Step) -> Vec<Spanned<&Transition>> {
    fn some<'a>(list: &mut Vec<Spanned<&'a Transition>>, one: Option<&'a Spanned<Transition>>) {
        list.extend(one.map(Spanned::as_ref));
    }
    let mut list = Vec::new();
    match &step.kind {
        StepKind::Question(question) => {
            for choice in &question.choices {
                some(&mut list, choice.then.as_ref());
            }
            if let Some(Spanned { value: OnDeadline::Transition(transition), span }) = &question.on_deadline {
                list.push(Spanned::new(transition, *span));
            }
        }
        StepKind::Agent(stage) => {
            for gate in &stage.review {
                if let ast::GateKind::Human { on_deadline, on_abort, .. } = &gate.kind {
                    some(&mut list, on_abort.as_ref());
                    some(&mut list, on_deadline.as_ref());
                }
            }
            for on in [&stage.on_blocked, &stage.on_failed, &stage.on_deadline, &stage.on_exhausted] {
                some(&mut list, on.as_ref());
            }
        }
        StepKind::Loop(a_loop) => {
            some(&mut list, a_loop.on_exhausted.as_ref());
            some(&mut list, a_loop.on_deadline.as_ref());
        }
        StepKind::Switch(switch) => {
            for case in sorted_cases(switch) {
                some(&mut list, Some(&case.then));
            }
            some(&mut list, switch.default.as_ref());
        }
        StepKind::Cron(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => {}
    }
    list
}

fn sorted_cases(switch: &ast::Switch) -> Vec<&ast::Case> {
    let mut cases: Vec<_> = switch.cases.iter().collect();
    cases.sort_by(|a, b| a.value.value.cmp(&b.value.value));
    cases
}

/// All steps below a list, in document order as far as it does not depend on the order of keys.
#[must_use]
pub fn all_steps(steps: &[ast::Step]) -> Vec<&ast::Step> {
    fn go<'a>(steps: &'a [ast::Step], found: &mut Vec<&'a ast::Step>) {
        for step in steps {
            found.push(step);
            nested(step, &mut |list| go(list, found));
        }
    }
    let mut found = Vec::new();
    go(steps, &mut found);
    found
}
