//! `installed-agent`: `package/agent@1.2.0` names an agent of an installed package.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// Agents of installed packages are not supported yet.
pub static RULE: Rule = Rule {
    name: "installed-agent",
    severity: Severity::Error,
    summary: "Agents of installed packages are not supported yet",
    page: include_str!("../../docs/diagnostics/installed-agent.md"),
};

/// The finding for a reference.
#[must_use]
pub fn fault(written: &str, span: Span) -> Diagnostic {
    let message = format!("`{written}` names an agent of an installed package, which is not supported yet");
    Diagnostic::new(&RULE, span, message).help("copy the agent file into this package and name its path")
}
