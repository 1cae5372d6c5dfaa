//! `default-misfit`: a `default` that its schema refuses.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// The default of an input does not fit its own schema.
pub static RULE: Rule = Rule {
    name: "default-misfit",
    severity: Severity::Error,
    summary: "The default of an input does not fit its own schema",
    page: include_str!("../../docs/diagnostics/default-misfit.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for input in &cx.resolved.ast.inputs {
        let Some(schema) = cx.schemas.inputs.get(&input.name.value) else { continue };
        let Some(default) = input.schema.get("default") else { continue };
        for violation in schema.validate(&default.to_json()) {
            let at = default.nearest(violation.pointer.iter().map(String::as_str));
            let message = format!(
                "the default of `{}` does not fit its schema: {} is expected, this is {}",
                input.name.value, violation.expected, violation.found
            );
            out.push(Diagnostic::new(&RULE, at.span, message).label(input.name.span, "the input"));
        }
    }
}
