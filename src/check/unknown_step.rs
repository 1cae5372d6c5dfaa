//! `unknown-step`: a step id that no step carries.

use super::Context;
use crate::ast::Binding;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::Span;

/// A binding names a step that does not exist.
pub static RULE: Rule = Rule {
    name: "unknown-step",
    severity: Severity::Error,
    summary: "A binding names a step that does not exist",
    page: include_str!("../../docs/diagnostics/unknown-step.md"),
};

/// The finding for the name `id`.
#[must_use]
pub fn fault(cx: &Context<'_, '_>, id: &str, span: Span) -> Box<Diagnostic> {
    let near = nearest(id, cx.resolved.symbols.steps.keys().copied());
    let found = Diagnostic::new(&RULE, span, format!("no step has the id `{id}`")).note("unknown step");
    let nameless = cx.resolved.flow.steps().any(|(_, step)| step.id.is_none() && step.name == id);
    Box::new(match near {
        _ if nameless => found.help(format!("give that step an id: `id: {id}`")),
        Some(near) => found.suggest(id, Some(near), span),
        None => found.help(known(cx)),
    })
}

/// The finding for `${{ steps }}` alone.
#[must_use]
pub fn bare(cx: &Context<'_, '_>, binding: &Binding) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(&RULE, binding.span, "the binding names no step").help(known(cx)))
}

fn known(cx: &Context<'_, '_>) -> String {
    let names: Vec<_> = cx.resolved.symbols.steps.keys().take(8).map(|id| format!("`{id}`")).collect();
    if names.is_empty() {
        return "no step of this definition has an id".to_owned();
    }
    format!("steps with an id are {}", names.join(", "))
}
