//! `id-like-output`: an id that reads like an output: `steps.result.result`.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::outputs_of;

/// An id is also the name of an output.
pub static RULE: Rule = Rule {
    name: "id-like-output",
    severity: Severity::Hint,
    summary: "An id is also the name of an output",
    page: include_str!("../../docs/diagnostics/id-like-output.md"),
};

/// Reports each id that its own kind of step has as an output.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in cx.resolved.flow.steps() {
        let Some(id) = &step.id else { continue };
        if outputs_of(&step.kind).contains(&id.value.as_str()) {
            let message = format!("the id `{0}` is also the name of an output: `steps.{0}.{0}`", id.value);
            let help = "name the step after what it does";
            out.push(Diagnostic::new(&RULE, id.span, message).help(help));
        }
    }
}
