//! `idle-default`: the cases cover every value already.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// A switch has a default that is never taken.
pub static RULE: Rule = Rule {
    name: "idle-default",
    severity: Severity::Hint,
    summary: "A switch has a default that is never taken",
    page: include_str!("../../docs/diagnostics/idle-default.md"),
};

/// The finding.
#[must_use]
pub fn fault(default: Span, cases: Span) -> Diagnostic {
    Diagnostic::new(&RULE, default, "the `default` is never taken: the cases cover every value")
        .label(cases.at_start(), "every value has a case")
        .help("remove the `default`; then a value that comes to the schema later is pointed out")
}
