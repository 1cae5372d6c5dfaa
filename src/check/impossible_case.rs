//! `impossible-case`: a case that the schema of the value excludes.

use crate::diagnostic::{Diagnostic, Fix, Rule, Severity, nearest};
use crate::parse::yes_no_word;
use crate::source::Spanned;

/// A switch has a case that the value can never be.
pub static RULE: Rule = Rule {
    name: "impossible-case",
    severity: Severity::Error,
    summary: "A switch has a case that the value can never be",
    page: include_str!("../../docs/diagnostics/impossible-case.md"),
};

/// The finding.
#[must_use]
pub fn fault(case: &Spanned<String>, possible: &[String]) -> Diagnostic {
    let found = Diagnostic::new(&RULE, case.span, format!("the value can never be `{}`", case.value));
    let meant = yes_no_word(&case.value).map(|meant| meant.to_string());
    if let Some(meant) = meant.filter(|meant| possible.contains(meant)) {
        let help = format!("`{}` is text in YAML 1.2; write `{meant}`", case.value);
        let fix = Fix::replace(format!("write `{meant}`"), case.span, meant);
        return found.note("text, not true or false").help(help).fix(fix);
    }
    match nearest(&case.value, possible.iter().map(String::as_str)) {
        Some(near) => found.suggest(&case.value, Some(near), case.span),
        None => {
            let values: Vec<_> = possible.iter().take(8).map(|value| format!("`{value}`")).collect();
            found.help(format!("it can be {}", values.join(", ")))
        }
    }
}
