//! `misspelt-required`: `required` names a property that is not declared, while one of nearly that name is.

use super::unknown_schema_keyword::each_schema;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::tree::{Entry, Node, Value};

/// `required` names a property that is not declared, nearly another one.
pub static RULE: Rule = Rule {
    name: "misspelt-required",
    severity: Severity::Warning,
    summary: "`required` names a property that is not declared, nearly another one",
    page: include_str!("../../docs/diagnostics/misspelt-required.md"),
};

/// Looks at one schema and at those within it.
pub fn check_schema(schema: &Node, out: &mut Vec<Diagnostic>) {
    each_schema(schema, &mut |schema| {
        // Where other names are forbidden, `invalid-schema` speaks.
        let is_closed = schema.get("additionalProperties").is_some_and(|more| more.value == Value::Bool(false));
        let declared = schema.get("properties").map(Node::entries).unwrap_or_default();
        if is_closed || declared.is_empty() {
            return;
        }
        let Some(Value::List(names)) = schema.get("required").map(|required| &required.value) else { return };
        out.extend(names.iter().filter_map(|name| fault(name, names, declared)));
    });
}

fn fault(node: &Node, names: &[Node], declared: &[Entry]) -> Option<Diagnostic> {
    let text = node.text()?;
    let name = text.value.as_str();
    if declared.iter().any(|entry| entry.key.value == name) {
        return None;
    }
    let is_required = |known: &str| names.iter().filter_map(Node::text).any(|other| other.value == known);
    let free = declared.iter().map(|entry| entry.key.value.as_str()).filter(|known| !is_required(known));
    let near = nearest(name, free)?;
    let place = declared.iter().find(|entry| entry.key.value == near)?;
    let message = format!("`{name}` is required, but not declared; `{near}` is declared and not required");
    let found = Diagnostic::new(&RULE, node.span, message).label(place.key.span, "the property");
    Some(found.suggest(name, Some(near), text.span_of(0..name.len())))
}
