//! `deadline-beyond-outer`: a deadline that one around it always forestalls: that of a loop, or of the session.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};

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
        let loops = around.iter().filter_map(|outer| {
            let deadline = flow.step(*outer)?.kind.as_loop()?.deadline.as_ref()?;
            Some((deadline, "of the loop around it"))
        });
        let session = cx.resolved.ast.deadline.as_ref().map(|deadline| (deadline, "of the session"));
        let Some((outer, whose)) = loops.chain(session).min_by_key(|(deadline, _)| deadline.value) else { continue };
        // The time in which a stage waits for a person does not count: its deadline passes even later than it says.
        let own = step.kind.as_loop().and_then(|own| own.deadline.as_ref());
        for own in step.kind.deadlines().chain(own).filter(|own| own.value > outer.value) {
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
