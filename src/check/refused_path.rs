//! `refused-path`: a path that may not be used.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// A path leaves the package or cannot be read.
pub static RULE: Rule = Rule {
    name: "refused-path",
    severity: Severity::Error,
    summary: "A path leaves the package or cannot be read",
    page: include_str!("../../docs/diagnostics/refused-path.md"),
};

/// The finding for a reference.
#[must_use]
pub fn fault(written: &str, span: Span, why: &str) -> Diagnostic {
    Diagnostic::new(&RULE, span, format!("the file `{written}` is not read: {why}"))
        .help("write a path inside the package, such as `./agents/planner.json`")
}
