//! `unattended-approval`: behind a cron step a person is awaited without a deadline.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::NodeIndex;
use crate::source::Span;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// A schedule can start work that then waits for a person for ever.
pub static RULE: Rule = Rule {
    name: "unattended-approval",
    severity: Severity::Warning,
    summary: "A schedule can start work that then waits for a person for ever",
    page: include_str!("../../docs/diagnostics/unattended-approval.md"),
};

/// Reports questions and human gates without a deadline that a cron step leads to.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    let driven = driven(cx);
    for (index, step) in flow.steps() {
        let Some(span) = waits_for_ever(step) else { continue };
        if let Some(cron) = driven.get(&index).and_then(|cron| flow.step(*cron)) {
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

/// The nodes that a cron step leads to, each with such a step, the nearest. One walk from all of them at once.
fn driven(cx: &Context<'_, '_>) -> HashMap<NodeIndex, NodeIndex> {
    let flow = &cx.resolved.flow;
    let is_cron = |index: &NodeIndex, step: &ast::Step| {
        matches!(step.kind, StepKind::Cron(_)) && cx.reachable.contains(index)
    };
    let crons = flow.steps().filter(|(index, step)| is_cron(index, step));
    let mut open: VecDeque<_> = crons.map(|(index, _)| (index, index)).collect();
    let mut found = HashMap::new();
    while let Some((at, cron)) = open.pop_front() {
        for (_, _, to) in flow.leaving(at) {
            if let Entry::Vacant(place) = found.entry(to) {
                place.insert(cron);
                // A cron step has been walked from already.
                if !flow.step(to).is_some_and(|step| is_cron(&to, step)) {
                    open.push_back((to, cron));
                }
            }
        }
    }
    found
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
