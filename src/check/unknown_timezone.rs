//! `unknown-timezone`: a name that is no IANA time zone.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::{is_zone, nearest_zone};
use crate::source::Spanned;

/// A time zone does not exist.
pub static RULE: Rule = Rule {
    name: "unknown-timezone",
    severity: Severity::Error,
    summary: "A time zone does not exist",
    page: include_str!("../../docs/diagnostics/unknown-timezone.md"),
};

/// Reports a zone that does not exist.
pub fn check(zone: &Spanned<String>, out: &mut Vec<Diagnostic>) {
    if is_zone(&zone.value) {
        return;
    }
    let found = Diagnostic::new(&RULE, zone.span, format!("there is no time zone `{}`", zone.value));
    out.push(match nearest_zone(&zone.value) {
        Some(near) => found.suggest(&zone.value, Some(near), zone.span),
        None => found.help("write an IANA name such as `Europe/Berlin`, or `UTC`"),
    });
}
