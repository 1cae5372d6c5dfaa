//! `missing-schema`: a `$ref` to a file that is not there.

use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::Span;

/// A `$ref` names a file that is not there.
pub static RULE: Rule = Rule {
    name: "missing-schema",
    severity: Severity::Error,
    summary: "A `$ref` names a file that is not there",
    page: include_str!("../../docs/diagnostics/missing-schema.md"),
};

/// The finding for a reference; `text` is the place of the path without quotes, `known` the files beside it.
#[must_use]
pub fn fault(written: &str, span: Span, text: Span, known: &[String]) -> Diagnostic {
    let found = Diagnostic::new(&RULE, span, format!("there is no file `{written}`")).note("no such file");
    match nearest(written, known.iter().map(String::as_str)) {
        Some(near) => found.suggest(written, Some(near), text),
        None => found.help(format!(
            "create `{written}`; paths count from the package root, in a schema file from its folder"
        )),
    }
}
