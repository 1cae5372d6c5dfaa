//! `bad-setting`: the settings cannot be read, or one has a wrong value. Found by `settings`, which says it.

use crate::diagnostic::{Rule, Severity};

/// The settings cannot be read, or one has a wrong value.
pub static RULE: Rule = Rule {
    name: "bad-setting",
    severity: Severity::Error,
    summary: "The settings cannot be read, or one has a wrong value",
    page: include_str!("../../docs/diagnostics/bad-setting.md"),
};
