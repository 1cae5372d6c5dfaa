//! `unused-ignore`: an ignore comment ignores nothing. Found by `verdict`, which says it.

use crate::diagnostic::{Rule, Severity};

/// An ignore comment ignores nothing.
pub static RULE: Rule = Rule {
    name: "unused-ignore",
    severity: Severity::Warning,
    summary: "An ignore comment ignores nothing",
    page: include_str!("../../docs/diagnostics/unused-ignore.md"),
};
