//! `unattended-approval`: behind a cron step a person is awaited without a deadline.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::path::shortest;
use crate::source::Span;

/// a schedule can start work that then waits for a person for ever.
pub static RULE: Rule = Rule {
    name: "unattended-approval",
    severity: Severity::Warning,
    summary: "a schedule can start work that then waits for a person for ever",
    page: include_str!("../../docs/diagnostics/unattended-approval.md"),
};

/// Reports questions and human gates without a deadline that a cron step leads to.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    let crons: Vec<_> = flow
        .steps()
        .filter(|(index, step)| matches!(step.kind, StepKind::Cron(_)) && cx.reachable.contains(index))
        .collect();
    for (index, step) in flow.steps() {
        let Some(span) = waits_for_ever(step) else { continue };
        let before = crons.iter().find(|(cron, _)| shortest(flow, *cron, index, |_, _, _| true).is_some());
        if let Some((_, cron)) = before {
            let message = format!("`{}` can wait for a person for ever in a flow that a schedule drives", step.name);
            out.push(
                Diagnostic::new(&RULE, span, message)
                    .note("no deadline")
                    .label(cron.head, "the schedule")
                    .help("give it a `deadline` and say what happens then with `on_deadline`"),
            );
        }
    }
}

fn waits_for_ever(step: &ast::Step) -> Option<Span> {
    match &step.kind {
        StepKind::Question(question) if question.deadline.is_none() => Some(step.head),
        StepKind::Agent(stage) => stage
            .review
            .iter()
            .find(|gate| matches!(gate.kind, ast::GateKind::Human { .. }) && gate.deadline.is_none())
            .map(|gate| match &gate.kind {
                ast::GateKind::Human { text, .. } => text.span,
                ast::GateKind::Agent { .. } | ast::GateKind::Hole => gate.span,
            }),
        StepKind::Question(_)
        | StepKind::Cron(_)
        | StepKind::Loop(_)
        | StepKind::Switch(_)
        | StepKind::Pick(_)
        | StepKind::Stop(_)
        | StepKind::Hole => None,
    }
}
