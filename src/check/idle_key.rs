//! `idle-key`: a key that is written where nothing can come of it, such as `on_deadline` without a `deadline`.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::{Span, Spanned};

/// A key has no effect.
pub static RULE: Rule = Rule {
    name: "idle-key",
    severity: Severity::Warning,
    summary: "A key has no effect",
    page: include_str!("../../docs/diagnostics/idle-key.md"),
};

const NO_DEADLINE: &str = "there is no `deadline` that could pass";

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    out.extend(transitions(cx).into_iter().map(|(span, key, why)| {
        let found = finding(span, key, why);
        if why == NO_DEADLINE { found.missing("deadline") } else { found }
    }));
    let mut needs = Needs::default();
    for (_, step) in cx.resolved.flow.steps() {
        needs.see(step);
        if let StepKind::Agent(stage) = &step.kind
            && let (Some(most), false) = (&stage.max_revisions, stage.reviewed)
            && stage.completion_span.is_none()
            && stage.review.is_empty()
        {
            out.push(finding(most.span, "max_revisions", "without a review nothing is ever revised"));
        }
    }
    // Where part of the steps is lost, they may have needed it.
    if cx.resolved.flow.has_holes || needs.lost {
        return;
    }
    let defaults = &cx.resolved.ast.defaults;
    let respondents = defaults.respondents.as_ref().and_then(|list| list.first()).map(|first| first.span);
    for (span, needed, key, why) in [
        (
            defaults.timezone.as_ref().map(|zone| zone.span),
            needs.timezone,
            "timezone",
            "no cron step is without a time zone of its own",
        ),
        (
            defaults.deadline.as_ref().map(|deadline| deadline.span),
            needs.deadline,
            "deadline",
            "it is for agent steps, and none is without a deadline of its own",
        ),
        (
            defaults.max_revisions.as_ref().map(|most| most.span),
            needs.max_revisions,
            "max_revisions",
            "no reviewed step is without a bound of its own",
        ),
        (respondents, needs.respondents, "respondents", "no question or gate is without respondents of its own"),
    ] {
        if let (Some(span), false) = (span, needed) {
            out.push(finding(span, key, why));
        }
    }
}

/// The transitions that are never taken: place, key and reason. What stands in them is not said to be unreachable.
#[must_use]
pub fn transitions(cx: &Context<'_, '_>) -> Vec<(Span, &'static str, &'static str)> {
    let mut found = Vec::new();
    for (_, step) in cx.resolved.flow.steps() {
        match &step.kind {
            StepKind::Question(question) if question.deadline.is_none() => {
                found.extend(question.on_deadline.as_ref().map(|on| (on.span, "on_deadline", NO_DEADLINE)));
            }
            StepKind::Agent(stage) => {
                for gate in stage.review.iter().filter(|gate| gate.deadline.is_none()) {
                    if let ast::GateKind::Human { on_deadline: Some(on), .. } = &gate.kind {
                        found.push((on.span, "on_deadline", NO_DEADLINE));
                    }
                }
            }
            StepKind::Loop(written) => {
                if let (None, Some(on)) = (&written.deadline, &written.on_deadline) {
                    found.push((on.span, "on_deadline", NO_DEADLINE));
                }
                let endless = matches!(written.repeat, Some(Spanned { value: ast::Repeat::UntilStopped, .. }));
                if let (true, Some(on)) = (endless, &written.on_exhausted) {
                    found.push((on.span, "on_exhausted", "a loop that repeats `until_stopped` is never exhausted"));
                }
            }
            StepKind::Question(_)
            | StepKind::Cron(_)
            | StepKind::Switch(_)
            | StepKind::Pick(_)
            | StepKind::Stop(_)
            | StepKind::Hole => {}
        }
    }
    found
}

/// What steps take from `defaults`.
#[derive(Default)]
struct Needs {
    timezone: bool,
    deadline: bool,
    max_revisions: bool,
    respondents: bool,
    lost: bool,
}

impl Needs {
    fn see(&mut self, step: &ast::Step) {
        match &step.kind {
            StepKind::Cron(cron) => self.timezone |= cron.timezone.is_none(),
            StepKind::Question(question) => self.respondents |= question.respondents.is_none(),
            StepKind::Agent(stage) => {
                self.deadline |= stage.deadline.is_none();
                self.max_revisions |= stage.reviewed && stage.max_revisions.is_none();
                for gate in &stage.review {
                    match &gate.kind {
                        ast::GateKind::Human { respondents, .. } => self.respondents |= respondents.is_none(),
                        ast::GateKind::Agent { .. } => {}
                        ast::GateKind::Hole => self.lost = true,
                    }
                }
            }
            StepKind::Hole => self.lost = true,
            StepKind::Loop(_) | StepKind::Switch(_) | StepKind::Pick(_) | StepKind::Stop(_) => {}
        }
    }
}

fn finding(span: Span, key: &str, why: &str) -> Diagnostic {
    Diagnostic::new(&RULE, span, format!("`{key}` has no effect: {why}"))
        .help(format!("remove `{key}`, or add what it needs"))
}
