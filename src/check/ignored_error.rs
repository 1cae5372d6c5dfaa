//! `ignored-error`: an error is to be ignored. Found by `verdict` and `settings`, which says it.

use crate::diagnostic::{Rule, Severity};

/// An error is to be ignored.
pub static RULE: Rule = Rule {
    name: "ignored-error",
    severity: Severity::Error,
    summary: "An error is to be ignored",
    page: include_str!("../../docs/diagnostics/ignored-error.md"),
};
