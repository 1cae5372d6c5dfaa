//! `loose-schema`: a result schema that asks for nothing; mostly `required` was forgotten.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;
use crate::tree::Node;

/// An empty object satisfies the schema of a result.
pub static RULE: Rule = Rule {
    name: "loose-schema",
    severity: Severity::Warning,
    summary: "An empty object satisfies the schema of a result",
    page: include_str!("../../docs/diagnostics/loose-schema.md"),
};

/// Reports each result schema that an empty object satisfies.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (node, step) in cx.resolved.flow.steps() {
        let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind else { continue };
        let Some(schema) = cx.schemas.results.get(&node) else { continue };
        if !schema.is_loose() {
            continue;
        }
        let declared = schema.target().get("properties").and_then(serde_json::Value::as_object);
        let names: Vec<_> = declared.into_iter().flatten().take(8).map(|(name, _)| name.as_str()).collect();
        let message = format!("an empty object satisfies the result of `{}`", step.name);
        let help = if names.is_empty() {
            "declare `properties` and list those that must be there under `required`".to_owned()
        } else {
            format!("list what must be there, such as `required: [{}]`", names.join(", "))
        };
        out.push(Diagnostic::new(&RULE, head(result), message).help(help));
    }
}

/// A short place in a schema.
fn head(schema: &Node) -> Span {
    schema.entries().first().map_or(schema.span, |entry| entry.key.span)
}
