//! `odd-cron`: an expression that is right and easily misread.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::Schedule;
use crate::source::Spanned;

/// a cron expression may not mean what it seems to.
pub static RULE: Rule = Rule {
    name: "odd-cron",
    severity: Severity::Hint,
    summary: "a cron expression may not mean what it seems to",
    page: include_str!("../../docs/diagnostics/odd-cron.md"),
};

/// Reports what the schedule finds odd.
pub fn check(expression: &Spanned<String>, schedule: &Schedule, out: &mut Vec<Diagnostic>) {
    for lint in schedule.lints() {
        out.push(Diagnostic::new(&RULE, expression.span, lint.clone()));
    }
}
