//! `single-choice`: a question that leaves nothing to choose.

use super::Context;
use crate::ast::{Feedback, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// A question has only one choice.
pub static RULE: Rule = Rule {
    name: "single-choice",
    severity: Severity::Hint,
    summary: "A question has only one choice",
    page: include_str!("../../docs/diagnostics/single-choice.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Question(question) = &step.kind else { continue };
        // A lone choice that takes a text is how a person is asked for one.
        if let [only] = question.choices.as_slice()
            && only.feedback == Feedback::None
        {
            let value = &only.value.value;
            let message = format!("the question `{}` leaves nothing to choose: `{value}` is all", step.name);
            let help = "add another choice, such as one that stops; a lone choice can only be confirmed";
            out.push(Diagnostic::new(&RULE, only.value.span, message).help(help));
        }
    }
}
