//! `unknown-setting`: a setting is unknown. Found by `settings`, which says it.

use crate::diagnostic::{Rule, Severity};

/// A setting is unknown.
pub static RULE: Rule = Rule {
    name: "unknown-setting",
    severity: Severity::Warning,
    summary: "A setting is unknown",
    page: include_str!("../../docs/diagnostics/unknown-setting.md"),
};
