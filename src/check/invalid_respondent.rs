//! `invalid-respondent`: who may answer is `owner`, `user:<name>` or `role:<name>`.

use super::Context;
use crate::ast::{self, StepKind, Template};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};

/// A respondent is none of owner, user:x and role:x.
pub static RULE: Rule = Rule {
    name: "invalid-respondent",
    severity: Severity::Error,
    summary: "A respondent is none of owner, user:x and role:x",
    page: include_str!("../../docs/diagnostics/invalid-respondent.md"),
};

/// Reports each literal respondent that names nobody.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for one in cx.resolved.ast.defaults.respondents.iter().flatten() {
        judge(one, out);
    }
    for (_, step) in cx.resolved.flow.steps() {
        match &step.kind {
            StepKind::Question(question) => question.respondents.iter().flatten().for_each(|one| judge(one, out)),
            StepKind::Agent(stage) => {
                for gate in &stage.review {
                    if let ast::GateKind::Human { respondents, .. } = &gate.kind {
                        respondents.iter().flatten().for_each(|one| judge(one, out));
                    }
                }
            }
            StepKind::Cron(_)
            | StepKind::Loop(_)
            | StepKind::Switch(_)
            | StepKind::Pick(_)
            | StepKind::Stop(_)
            | StepKind::Hole => {}
        }
    }
}

fn judge(respondent: &Template, out: &mut Vec<Diagnostic>) {
    let Some(text) = respondent.literal() else { return };
    let names_one = |prefix| text.strip_prefix(prefix).is_some_and(|name: &str| !name.trim().is_empty());
    if text == "owner" || names_one("user:") || names_one("role:") {
        return;
    }
    let found = Diagnostic::new(&RULE, respondent.span, format!("`{text}` names nobody who could answer"));
    out.push(match nearest(text, ["owner"]) {
        Some(near) => found.suggest(text, Some(near), respondent.span),
        None => found.help("write `owner`, `user:<name>` or `role:<name>`"),
    });
}
