//! Names of a test file against the workflow that it plays: steps, agents, inputs, outputs.

use crate::ast::rehearsal::{Expect, Rehearsal, StepKind};
use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::{self, NodeKind};
use crate::parse::rules;
use crate::source::{Span, Spanned};

/// Reports each name that the workflow does not have.
pub(super) fn check(rehearsal: &Rehearsal, ir: &ir::Workflow, diagnostics: &mut Vec<Diagnostic>) {
    let mut names = Names { ir, diagnostics };
    for entry in rehearsal.inputs.iter().chain(rehearsal.cases.iter().flat_map(|case| &case.inputs)) {
        let known: Vec<&str> = ir.inputs().keys().map(String::as_str).collect();
        names.known(&entry.key.value, entry.key.span, &known, "input");
    }
    for case in &rehearsal.cases {
        for step in &case.steps {
            names.step(&step.kind);
        }
        if let Some(expected) = &case.expect {
            names.expect(expected);
        }
    }
}

struct Names<'a> {
    ir: &'a ir::Workflow,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Names<'a> {
    fn known(&mut self, name: &str, span: Span, known: &[&str], what: &str) {
        if known.contains(&name) {
            return;
        }
        let message = format!("`{name}` is no {what} of the workflow `{}`", self.ir.name());
        let found = Diagnostic::new(&rules::BAD_VALUE, span, message);
        let near = nearest(name, known.iter().copied());
        let found = found.suggest(name, near, span);
        let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        let found = match (near, listed.is_empty()) {
            (None, false) => found.help(format!("there is {}", listed.join(", "))),
            (Some(_), _) | (None, true) => found,
        };
        self.diagnostics.push(found);
    }

    fn steps(&self, holds: impl Fn(&NodeKind) -> bool) -> Vec<&'a str> {
        let nodes = self.ir.graph().nodes().filter(|(_, node)| holds(&node.kind));
        nodes.map(|(_, node)| node.name.as_str()).collect()
    }

    /// Agents by slug, and the steps that they work at.
    fn agents(&self) -> Vec<&'a str> {
        let slugs = self.ir.agents().values().map(|agent| agent.slug.as_str());
        slugs.chain(self.steps(|kind| matches!(kind, NodeKind::Agent(_)))).collect()
    }

    fn named(&mut self, name: Option<&Spanned<String>>, known: &[&str], what: &str) {
        if let Some(name) = name {
            self.known(&name.value, name.span, known, what);
        }
    }

    fn step(&mut self, kind: &StepKind) {
        match kind {
            StepKind::Agent { name, .. } | StepKind::Message { to: name, .. } => {
                let agents = self.agents();
                self.named(Some(name), &agents, "agent and no agent step");
            }
            StepKind::Expect(expected) => self.expect(expected),
            StepKind::Answer { step, .. } => {
                let known = self.steps(|kind| matches!(kind, NodeKind::Question(_)));
                self.named(step.as_ref(), &known, "question");
            }
            StepKind::Decide { step, .. } => {
                let known = self.steps(|kind| kind.as_agent().is_some_and(|stage| stage.reviewed));
                self.named(step.as_ref(), &known, "reviewed step");
            }
            StepKind::Operate { .. } | StepKind::Clock(_) => {}
        }
    }

    fn expect(&mut self, expected: &Expect) {
        let all = self.steps(|_| true);
        let agents: Vec<&str> = all.iter().copied().chain(self.agents()).collect();
        self.named(expected.waits_for.as_ref(), &agents, "step and no agent");
        for name in &expected.never {
            self.known(&name.value, name.span, &all, "step");
        }
        if let Some(visits) = &expected.visits {
            let visited = self.steps(|kind| {
                !matches!(
                    kind,
                    NodeKind::End | NodeKind::Hold | NodeKind::Stop { .. } | NodeKind::Loop { .. }
                )
            });
            for name in &visits.value {
                self.known(name, visits.span, &visited, "step that is visited");
            }
        }
        let outputs: Vec<&str> = self.ir.outputs().keys().map(String::as_str).collect();
        for entry in &expected.outputs {
            self.known(&entry.key.value, entry.key.span, &outputs, "output");
        }
    }
}
