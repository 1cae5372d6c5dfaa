//! `bad-ignore`: a comment speaks to Flowright and cannot be read. Found by `verdict`, which says it.

use crate::diagnostic::{Rule, Severity};

/// A comment speaks to Flowright and cannot be read.
pub static RULE: Rule = Rule {
    name: "bad-ignore",
    severity: Severity::Warning,
    summary: "A comment speaks to Flowright and cannot be read",
    page: include_str!("../../docs/diagnostics/bad-ignore.md"),
};
