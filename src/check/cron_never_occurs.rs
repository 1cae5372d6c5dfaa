//! `cron-never-occurs`: an expression such as 30 February.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// A cron expression never occurs.
pub static RULE: Rule = Rule {
    name: "cron-never-occurs",
    severity: Severity::Error,
    summary: "A cron expression never occurs",
    page: include_str!("../../docs/diagnostics/cron-never-occurs.md"),
};

/// The finding.
#[must_use]
pub fn fault(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(&RULE, span, message).help("name a day that one of the months has")
}
