//! `unknown-rule`: a rule is named that does not exist. Found by `verdict` and `settings`, which says it.

use crate::diagnostic::{Rule, Severity};

/// A rule is named that does not exist.
pub static RULE: Rule = Rule {
    name: "unknown-rule",
    severity: Severity::Warning,
    summary: "A rule is named that does not exist",
    page: include_str!("../../docs/diagnostics/unknown-rule.md"),
};
