//! What the cases of a workflow have visited: steps, and the edges between them.
//!
//! What leads to `hold`, and what leads on from there when a person resumes, does not count: nearly every step has
//! such edges without a word of the author.

use super::stage::Happened;
use crate::engine::workflow::event::Event;
use crate::ir::{self, Digest, EdgeKind, NodeKind};

/// The steps and edges of one workflow, and which of them were visited.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The path of the workflow as it is shown.
    pub workflow: String,
    /// What it was then.
    pub digest: Digest,
    /// Names of steps and ends, and whether a case came there.
    pub steps: Vec<(String, bool)>,
    /// Edges, and whether a case took them.
    pub edges: Vec<(Way, bool)>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The step that it leaves.
    pub from: String,
    /// Where it leads.
    pub to: String,
    /// When it is taken.
    pub kind: EdgeKind,
}

impl Way {
    /// `verdict → stop-1 (failed)`.
    #[must_use]
    pub fn label(&self) -> String {
        let when = match &self.kind {
            EdgeKind::Next => return format!("{} → {}", self.from, self.to),
            EdgeKind::Choice(value) | EdgeKind::Case(value) => value.clone(),
            EdgeKind::Default => "otherwise".to_owned(),
            EdgeKind::Body => "each time".to_owned(),
            EdgeKind::On(outcome) => outcome.word().to_owned(),
            EdgeKind::GateAborted(gate) => format!("abort at gate {}", gate.saturating_add(1)),
            EdgeKind::GateDeadline(gate) => format!("deadline of gate {}", gate.saturating_add(1)),
            EdgeKind::Deadline => "deadline".to_owned(),
            EdgeKind::Exhausted => "exhausted".to_owned(),
            EdgeKind::Resume => "resume".to_owned(),
        };
        format!("{} → {} ({when})", self.from, self.to)
    }
}

impl Coverage {
    /// Nothing visited yet.
    pub(super) fn of(workflow: String, ir: &ir::Workflow) -> Self {
        // An end that nothing leads to, as behind a loop without end, cannot be visited.
        let is_dead_end = |node: &ir::Node| {
            matches!(node.kind, NodeKind::End) && !ir.graph().edges().any(|(_, to, _)| to.name == node.name)
        };
        let counted = |node: &ir::Node| !matches!(node.kind, NodeKind::Hold) && !is_dead_end(node);
        let nodes = ir.graph().nodes().filter(|(_, node)| counted(node));
        let counts =
            |to: &ir::Node, kind: &EdgeKind| !matches!(to.kind, NodeKind::Hold) && *kind != EdgeKind::Resume;
        let edges = ir.graph().edges().filter(|(_, to, edge)| counts(to, &edge.kind));
        Self {
            workflow,
            digest: ir.digest().clone(),
            steps: nodes.map(|(_, node)| (node.name.clone(), false)).collect(),
            edges: edges
                .map(|(from, to, edge)| {
                    let (from, to) = (from.name.clone(), to.name.clone());
                    (Way { from, to, kind: edge.kind.clone() }, false)
                })
                .collect(),
        }
    }

    /// Marks what these events have visited.
    pub(super) fn take(&mut self, events: &[Happened]) {
        for happened in events.iter().filter(|happened| happened.is_workflow) {
            let Ok(event) = serde_json::from_value::<Event>(happened.event.clone()) else { continue };
            if let Event::StepEntered { node, .. } = &event {
                self.visit(node);
            }
            if let Event::StepLeft { node, exit, .. } = &event {
                self.follow(node, exit);
            }
        }
    }

    fn follow(&mut self, node: &str, exit: &EdgeKind) {
        let way = self.edges.iter_mut().find(|(way, _)| way.from == node && way.kind == *exit);
        let to = way.map(|(way, seen)| {
            *seen = true;
            way.to.clone()
        });
        if let Some(to) = to {
            self.visit(&to);
        }
    }

    fn visit(&mut self, node: &str) {
        for (_, seen) in self.steps.iter_mut().filter(|(name, _)| name == node) {
            *seen = true;
        }
    }

    /// Adds what another file has visited of the same workflow.
    pub fn join(&mut self, other: &Self) {
        for ((_, seen), (_, more)) in self.steps.iter_mut().zip(&other.steps) {
            *seen |= more;
        }
        for ((_, seen), (_, more)) in self.edges.iter_mut().zip(&other.edges) {
            *seen |= more;
        }
    }

    /// Steps visited and all steps.
    #[must_use]
    pub fn steps_of(&self) -> (usize, usize) {
        (self.steps.iter().filter(|(_, seen)| *seen).count(), self.steps.len())
    }

    /// Edges taken and all edges.
    #[must_use]
    pub fn edges_of(&self) -> (usize, usize) {
        (self.edges.iter().filter(|(_, seen)| *seen).count(), self.edges.len())
    }

    /// Whole percent of steps and edges together, rounded down.
    #[must_use]
    pub fn percent(&self) -> usize {
        let ((steps, all_steps), (edges, all_edges)) = (self.steps_of(), self.edges_of());
        ((steps + edges) * 100).checked_div(all_steps + all_edges).unwrap_or(100)
    }
}
