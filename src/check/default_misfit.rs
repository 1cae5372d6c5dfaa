//! `default-misfit`: a `default` that its schema refuses.

use super::Context;
use crate::diagnostic::{Diagnostic, Edit, Fix, Rule, Severity};
use crate::source::Span;
use crate::tree::Value;

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
            let mut found = Diagnostic::new(&RULE, at.span, message).label(input.name.span, "the input");
            if violation.expected == "a string" && matches!(at.value, Value::Number(_) | Value::Bool(_)) {
                found = found.help("quote it if it is meant as text").fix(quote(at.span));
            }
            out.push(found);
        }
    }
}

/// Quotation marks around a scalar, whose digits stay as they are written: `01234` and `1.10` are texts with theirs.
fn quote(span: Span) -> Fix {
    let end = Span::new(span.file, span.end as usize, span.end as usize);
    let edits = [span.at_start(), end].map(|span| Edit { span, text: "\"".to_owned() });
    Fix { title: "quote it".to_owned(), safe: true, edits: edits.to_vec() }
}
