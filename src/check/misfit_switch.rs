//! `misfit-switch`: a switch compares strings, booleans and integers only.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// A switch looks at a value that has no cases.
pub static RULE: Rule = Rule {
    name: "misfit-switch",
    severity: Severity::Error,
    summary: "A switch looks at a value that has no cases",
    page: include_str!("../../docs/diagnostics/misfit-switch.md"),
};

/// The finding.
#[must_use]
pub fn fault(span: Span, what: &str) -> Diagnostic {
    let message = format!("a switch takes a string, a boolean or an integer, and this is of type {what}");
    Diagnostic::new(&RULE, span, message)
        .help("take a part of it that is one of those")
}
