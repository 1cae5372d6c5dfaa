//! `unreachable-step`: a step that nothing leads to. Only the first of a row is reported.

use super::{Context, idle_key};
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::nested;
use std::collections::HashMap;

/// No path leads to a step.
pub static RULE: Rule = Rule {
    name: "unreachable-step",
    severity: Severity::Error,
    summary: "No path leads to a step",
    page: include_str!("../../docs/diagnostics/unreachable-step.md"),
};

/// Reports the first step of each part of the flow that nothing leads to.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    if flow.has_holes {
        return;
    }
    let idle = idle_key::transitions(cx);
    let is_idle = |step: &ast::Step| {
        idle.iter().any(|(span, ..)| span.start <= step.span.start && step.span.end <= span.end)
    };
    let mut previous = HashMap::new();
    for (index, step) in flow.steps() {
        let led_to = flow.entering(index).iter().any(|(_, _, from)| !flow.is_back(*from, index));
        if cx.reachable.contains(&index) || led_to || is_idle(step) {
            continue;
        }
        let mut found = Diagnostic::new(&RULE, step.head, format!("no path leads to the step `{}`", step.name))
            .note("never reached");
        if previous.is_empty() {
            before(&cx.resolved.ast.steps, &mut previous);
        }
        if let Some(before) = previous.get(&std::ptr::from_ref(step)) {
            let why = match &before.kind {
                StepKind::Stop(_) => "ends the session here",
                StepKind::Loop(_) => "never ends, and nothing breaks out of it",
                StepKind::Cron(_)
                | StepKind::Question(_)
                | StepKind::Agent(_)
                | StepKind::Switch(_)
                | StepKind::Pick(_)
                | StepKind::Hole => "never goes on to the next step",
            };
            found = found.label(before.head, format!("`{}` {why}", before.name));
        }
        out.push(found.help("remove the step, or let a transition before it continue"));
    }
}

/// The step right before each step of a list, by the place of the step in memory.
fn before<'a>(steps: &'a [ast::Step], found: &mut HashMap<*const ast::Step, &'a ast::Step>) {
    let mut last = None;
    for one in steps {
        found.extend(last.map(|last| (std::ptr::from_ref(one), last)));
        nested(one, &mut |list| before(list, found));
        last = Some(one);
    }
}
