//! `impossible-case`: a case that the schema of the value excludes.

use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::Spanned;

/// a switch has a case that the value can never be.
pub static RULE: Rule = Rule {
    name: "impossible-case",
    severity: Severity::Error,
    summary: "a switch has a case that the value can never be",
    page: include_str!("../../docs/diagnostics/impossible-case.md"),
};

/// The finding.
#[must_use]
pub fn fault(case: &Spanned<String>, possible: &[String]) -> Diagnostic {
    let found = Diagnostic::new(&RULE, case.span, format!("the value can never be `{}`", case.value));
    match nearest(&case.value, possible.iter().map(String::as_str)) {
        Some(near) => found.suggest(Some(near), case.span),
        None => {
            let values: Vec<_> = possible.iter().take(8).map(|value| format!("`{value}`")).collect();
            found.help(format!("it can be {}", values.join(", ")))
        }
    }
}
