//! `unknown-input`: an input that is not declared under `inputs`.

use super::Context;
use crate::ast::Binding;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::source::Span;

/// A binding names an input that is not declared.
pub static RULE: Rule = Rule {
    name: "unknown-input",
    severity: Severity::Error,
    summary: "A binding names an input that is not declared",
    page: include_str!("../../docs/diagnostics/unknown-input.md"),
};

/// The finding for the name `input`.
#[must_use]
pub fn fault(cx: &Context<'_, '_>, input: &str, span: Span) -> Box<Diagnostic> {
    let names = cx.resolved.ast.inputs.iter().map(|input| input.name.value.as_str());
    let near = nearest(input, names);
    let found = Diagnostic::new(&RULE, span, format!("no input is named `{input}`")).note("unknown input");
    Box::new(match near {
        Some(near) => found.suggest(input, Some(near), span),
        None => found.help(format!("declare `{input}` under `inputs`")),
    })
}

/// The finding for `${{ inputs }}` alone.
#[must_use]
pub fn bare(cx: &Context<'_, '_>, binding: &Binding) -> Box<Diagnostic> {
    let example = cx.resolved.ast.inputs.first().map_or("name", |input| input.name.value.as_str());
    let found = Diagnostic::new(&RULE, binding.span, "the binding names no input");
    Box::new(found.help(format!("write one, such as `inputs.{example}`")))
}
