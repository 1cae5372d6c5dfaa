//! `odd-cron`: an expression that is right and easily misread.

use super::invalid_cron;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::Schedule;
use crate::source::Spanned;

/// A cron expression may not mean what it seems to.
pub static RULE: Rule = Rule {
    name: "odd-cron",
    severity: Severity::Hint,
    summary: "A cron expression may not mean what it seems to",
    page: include_str!("../../docs/diagnostics/odd-cron.md"),
};

/// Reports what the schedule finds odd.
pub fn check(expression: &Spanned<String>, schedule: &Schedule, out: &mut Vec<Diagnostic>) {
    for lint in schedule.lints() {
        let span = invalid_cron::within(expression, lint.range.clone());
        let found = Diagnostic::new(&RULE, span, lint.message.clone());
        out.push(match &lint.help {
            Some(help) => found.help(help.clone()),
            None => found,
        });
    }
}
