//! `missing-timezone`: a time of day means nothing without a zone.

use super::Context;
use crate::ast::StepKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// A cron step has no time zone.
pub static RULE: Rule = Rule {
    name: "missing-timezone",
    severity: Severity::Error,
    summary: "A cron step has no time zone",
    page: include_str!("../../docs/diagnostics/missing-timezone.md"),
};

/// Reports cron steps without a zone of their own or in `defaults`.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    if cx.resolved.ast.defaults.timezone.is_some() {
        return;
    }
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Cron(cron) = &step.kind else { continue };
        if cron.timezone.is_none() {
            let message = format!("the cron step `{}` has no time zone", step.name);
            let help = "write `timezone: UTC` or a name such as `Europe/Berlin` at the step or under `defaults`";
            out.push(Diagnostic::new(&RULE, step.head, message).help(help));
        }
    }
}
