//! `unused-input`: an entry under `inputs` that no binding reads.

use super::{Context, bindings};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};

/// An input is declared and never read.
pub static RULE: Rule = Rule {
    name: "unused-input",
    severity: Severity::Warning,
    summary: "An input is declared and never read",
    page: include_str!("../../docs/diagnostics/unused-input.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // Without steps that could be read nothing is known of what they use.
    if cx.resolved.ast.steps.is_empty() {
        return;
    }
    // A misspelt name is reported where it stands; the input that was meant is then not unused as well.
    let is_read = |name: &str| {
        cx.uses.iter().filter(|one| one.binding.root.value == "inputs").any(|one| {
            let first = one.binding.path.first().map(bindings::name_of).unwrap_or_default();
            first == name
                || (!cx.resolved.symbols.inputs.contains_key(first) && nearest(first, [name]).is_some())
        })
    };
    for input in &cx.resolved.ast.inputs {
        if !is_read(&input.name.value) {
            let message = format!("the input `{}` is never read", input.name.value);
            let help = format!("remove it, or read it as `inputs.{}`", input.name.value);
            out.push(Diagnostic::new(&RULE, input.name.span, message).help(help));
        }
    }
}
