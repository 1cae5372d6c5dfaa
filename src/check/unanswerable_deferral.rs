//! `unanswerable-deferral`: `defer` in an agent that cannot wait for an answer: one that runs synchronously, or that
//! judges at a machine gate without a deadline of the gate.

use super::Context;
use crate::ast::{self, Agent, Disposition, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::{Span, Spanned};
use std::collections::HashSet;

/// A tool call is deferred where nobody can answer it in time.
pub static RULE: Rule = Rule {
    name: "unanswerable-deferral",
    severity: Severity::Warning,
    summary: "A tool call is deferred where nobody can answer it in time",
    page: include_str!("../../docs/diagnostics/unanswerable-deferral.md"),
};

/// Reports deferrals of an agent that answers while its caller waits.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let Some(Spanned { value: false, span }) = &agent.asynchronous else { return };
    let Some((what, place)) = deferral(agent) else { return };
    let message = format!("{what} are deferred, but the agent runs synchronously, so no answer can come in later");
    out.push(
        Diagnostic::new(&RULE, place, message)
            .note("waits for an answer from outside")
            .label(*span, "while whoever called it waits")
            .help("write `\"executionMode\": \"asynchronous\"`, or let the call run"),
    );
}

/// Reports machine gates without a deadline whose agent defers calls.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let mut judged = HashSet::new();
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Agent(stage) = &step.kind else { continue };
        for gate in stage.review.iter().filter(|gate| gate.deadline.is_none()) {
            let ast::GateKind::Agent { agent: Some(reference), .. } = &gate.kind else { continue };
            let Some((path, file)) = cx.resolved.agent(&reference.value) else { continue };
            let Some((what, place)) = deferral(&file.agent) else { continue };
            let runs_along = file.agent.asynchronous.as_ref().is_none_or(|mode| mode.value);
            if !runs_along || !judged.insert((path, step.name.as_str())) {
                continue;
            }
            let message = format!(
                "the gate of `{}` can wait for an answer from outside until the whole step fails",
                step.name
            );
            out.push(
                Diagnostic::new(&RULE, reference.span, message)
                    .note("no deadline of its own")
                    .label(place, format!("{what} are deferred here"))
                    .help("give the gate a `deadline`, or judge with an agent that defers nothing"),
            );
        }
    }
}

/// What an agent defers first, and where that is written.
fn deferral(agent: &Agent) -> Option<(String, Span)> {
    let policy = agent.policy.as_ref()?;
    for rule in &policy.rules {
        if defers(&rule.disposition.value) {
            return Some((format!("calls of `{}`", rule.tool.value), rule.disposition.span));
        }
    }
    let default = policy.default.as_ref().filter(|default| defers(&default.value))?;
    Some(("calls".to_owned(), default.span))
}

fn defers(disposition: &Disposition) -> bool {
    match disposition {
        Disposition::Defer { .. } => true,
        Disposition::Decorate { inner, .. } => defers(inner),
        Disposition::RunSync
        | Disposition::RunAsync
        | Disposition::Deny { .. }
        | Disposition::RunIsolated(_)
        | Disposition::Hole => false,
    }
}
