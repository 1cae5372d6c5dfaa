//! `ignore-without-reason`: an ignore comment gives no reason. Found by `verdict`, which says it.

use crate::diagnostic::{Rule, Severity};

/// An ignore comment gives no reason.
pub static RULE: Rule = Rule {
    name: "ignore-without-reason",
    severity: Severity::Warning,
    summary: "An ignore comment gives no reason",
    page: include_str!("../../docs/diagnostics/ignore-without-reason.md"),
};
