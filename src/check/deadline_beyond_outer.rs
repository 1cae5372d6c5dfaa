//! `deadline-beyond-outer`: a deadline that one around it always forestalls: that of a loop, or of the session.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Spanned;
use crate::time::Millis;

/// A deadline is longer than one around it.
pub static RULE: Rule = Rule {
    name: "deadline-beyond-outer",
    severity: Severity::Warning,
    summary: "A deadline is longer than one around it",
    page: include_str!("../../docs/diagnostics/deadline-beyond-outer.md"),
};

/// Reports written deadlines that cannot be the first to pass.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    for (index, step) in flow.steps() {
        let around = flow.node(index).map(|node| node.scope.as_slice()).unwrap_or_default();
        let loops = around.iter().filter_map(|outer| match &flow.step(*outer)?.kind {
            StepKind::Loop(written) => written.deadline.as_ref().map(|deadline| (deadline, "of the loop around it")),
            StepKind::Cron(_)
            | StepKind::Question(_)
            | StepKind::Agent(_)
            | StepKind::Switch(_)
            | StepKind::Pick(_)
            | StepKind::Stop(_)
            | StepKind::Hole => None,
        });
        let session = cx.resolved.ast.deadline.as_ref().map(|deadline| (deadline, "of the session"));
        let Some((outer, whose)) = loops.chain(session).min_by_key(|(deadline, _)| deadline.value) else { continue };
        for own in own(&step.kind).into_iter().filter(|own| own.value > outer.value) {
            let message = format!(
                "the deadline of `{}` never passes: {} is longer than the {} {whose}",
                step.name, own.value, outer.value
            );
            out.push(
                Diagnostic::new(&RULE, own.span, message)
                    .label(outer.span, "passes first")
                    .help("shorten the inner deadline, or lengthen the outer one"),
            );
        }
    }
}

fn own(kind: &StepKind) -> Vec<&Spanned<Millis>> {
    match kind {
        StepKind::Question(question) => question.deadline.iter().collect(),
        // The time in which a stage waits for a person does not count, so with a human gate it may pass later.
        StepKind::Agent(stage) => {
            let gates = stage.review.iter().filter_map(|gate: &ast::Gate| gate.deadline.as_ref());
            stage.deadline.iter().chain(gates).collect()
        }
        StepKind::Loop(written) => written.deadline.iter().collect(),
        StepKind::Cron(_) | StepKind::Switch(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => Vec::new(),
    }
}
