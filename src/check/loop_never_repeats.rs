//! `loop-never-repeats`: a loop whose body is always left.

use super::Context;
use crate::ast::{Repeat, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// A loop never begins a second iteration.
pub static RULE: Rule = Rule {
    name: "loop-never-repeats",
    severity: Severity::Warning,
    summary: "A loop never begins a second iteration",
    page: include_str!("../../docs/diagnostics/loop-never-repeats.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    for (index, step) in flow.steps().filter(|(index, _)| cx.reachable.contains(index)) {
        let StepKind::Loop(written) = &step.kind else { continue };
        let comes_back = |from| flow.is_back(from, index) && cx.reachable.contains(&from);
        if flow.has_holes
            || written.steps.is_empty()
            // Whoever counts to one wants no second iteration.
            || written.repeat.as_ref().is_some_and(|repeat| repeat.value == Repeat::Times(1))
            || flow.entering(index).into_iter().any(|(_, _, from)| comes_back(from))
        {
            continue;
        }
        let message = format!("the loop `{}` never begins a second iteration: every path leaves it", step.name);
        out.push(
            Diagnostic::new(&RULE, step.head, message)
                .note("runs once at most")
                .help("let a path reach the end of the loop or say `next`, or write its steps in place of it"),
        );
    }
}
