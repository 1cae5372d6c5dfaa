//! `misfit-choose`: `on_deadline: {choose: …}` with an unknown choice or one that requires feedback.

use super::Context;
use crate::ast::{Feedback, OnDeadline, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::Spanned;

/// A deadline chooses what it cannot choose.
pub static RULE: Rule = Rule {
    name: "misfit-choose",
    severity: Severity::Error,
    summary: "A deadline chooses what it cannot choose",
    page: include_str!("../../docs/diagnostics/misfit-choose.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Question(question) = &step.kind else { continue };
        let Some(Spanned { value: OnDeadline::Choose(chosen), .. }) = &question.on_deadline else { continue };
        let choice = question.choices.iter().find(|choice| choice.value.value == chosen.value);
        match choice {
            None => {
                let near = nearest(&chosen.value, question.choices.iter().map(|choice| choice.value.value.as_str()));
                let message = format!("the question has no choice `{}`", chosen.value);
                out.push(
                    Diagnostic::new(&RULE, chosen.span, message)
                        .label(question.choices_span, "the choices")
                        .suggest(&chosen.value, near, chosen.span),
                );
            }
            Some(choice) if choice.feedback == Feedback::Required => {
                let message = format!("`{}` requires feedback, which a deadline cannot give", chosen.value);
                out.push(
                    Diagnostic::new(&RULE, chosen.span, message)
                        .label(choice.value.span, "requires feedback")
                        .help("choose another one, make its feedback optional, or write a transition"),
                );
            }
            Some(_) => {}
        }
    }
}
