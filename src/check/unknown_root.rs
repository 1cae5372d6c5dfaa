//! `unknown-root`: the first name of a binding is none of the roots.

use super::Context;
use crate::diagnostic::{Diagnostic, Fix, Rule, Severity, nearest};
use crate::source::Span;

/// A binding begins with a name that is no root.
pub static RULE: Rule = Rule {
    name: "unknown-root",
    severity: Severity::Error,
    summary: "A binding begins with a name that is no root",
    page: include_str!("../../docs/diagnostics/unknown-root.md"),
};

const ROOTS: [&str; 6] = ["inputs", "steps", "loop", "session", "candidate", "previous"];

/// The finding for `root`.
#[must_use]
pub fn fault(cx: &Context<'_, '_>, root: &str, span: Span) -> Box<Diagnostic> {
    let symbols = &cx.resolved.symbols;
    let found = Diagnostic::new(&RULE, span, format!("`{root}` is no root of bindings")).note("unknown root");
    let whole = if symbols.steps.contains_key(root) {
        Some(format!("steps.{root}"))
    } else if symbols.inputs.contains_key(root) {
        Some(format!("inputs.{root}"))
    } else {
        None
    };
    let list = "a binding begins with `inputs`, `steps`, `loop`, `session`, or `candidate` in a gate";
    Box::new(match whole {
        Some(whole) => {
            let fix = Fix::replace(format!("write `{whole}`"), span, whole.as_str());
            found.help(format!("did you mean `{whole}`?")).fix(fix)
        }
        None => match nearest(root, ROOTS) {
            Some(near) => found.suggest(root, Some(near), span),
            None => found.help(list),
        },
    })
}
