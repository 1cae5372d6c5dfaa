//! `loop-never-repeats`: a loop whose body is always left, or that is counted to one.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Spanned;

/// a loop never begins a second iteration.
pub static RULE: Rule = Rule {
    name: "loop-never-repeats",
    severity: Severity::Warning,
    summary: "a loop never begins a second iteration",
    page: include_str!("../../docs/diagnostics/loop-never-repeats.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    for (index, step) in flow.steps().filter(|(index, _)| cx.reachable.contains(index)) {
        let StepKind::Loop(written) = &step.kind else { continue };
        if let Some(Spanned { value: ast::Repeat::Times(1), span }) = &written.repeat {
            let message = format!("the loop `{}` runs once, so it is no loop", step.name);
            let help = "raise the number, or write its steps in place of it";
            let mut found = Diagnostic::new(&RULE, *span, message).help(help);
            found.severity = Severity::Hint;
            out.push(found);
            continue;
        }
        let comes_back = |from| flow.is_back(from, index) && cx.reachable.contains(&from);
        if flow.has_holes
            || written.steps.is_empty()
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
