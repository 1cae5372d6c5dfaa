//! `invalid-schema`: a schema with a fault, at the part that is wrong.

use super::{Context, types};
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Fix, Rule, Severity};
use crate::schema::Schema;
use crate::source::{Span, Spanned};
use crate::tree::Node;

/// A JSON Schema is not valid.
pub static RULE: Rule = Rule {
    name: "invalid-schema",
    severity: Severity::Error,
    summary: "A JSON Schema is not valid",
    page: include_str!("../../docs/diagnostics/invalid-schema.md"),
};

/// Judges every schema of the definition and of its agents.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // What was compiled for the types of bindings is right.
    let schemas = &cx.schemas;
    for input in cx.resolved.ast.inputs.iter().filter(|input| !schemas.inputs.contains_key(&input.name.value)) {
        judge(&input.schema, out);
    }
    for (node, step) in cx.resolved.flow.steps() {
        if let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind
            && !schemas.results.contains_key(&node)
        {
            judge(result, out);
        }
    }
    for (path, file) in &cx.resolved.symbols.agents.files {
        if !schemas.agents.contains_key(path) {
            check_agent(&file.agent, out);
        }
    }
}

/// Judges the schema of what an agent must be given.
pub fn check_agent(agent: &ast::Agent, out: &mut Vec<Diagnostic>) {
    if let Some(inputs) = &agent.inputs {
        judge(inputs, out);
    }
}

/// Calls for every schema of the definition and of its agents.
pub(super) fn each<'r>(cx: &'r Context<'_, '_>, f: &mut dyn FnMut(&'r Node)) {
    for input in &cx.resolved.ast.inputs {
        f(&input.schema);
    }
    for (_, step) in cx.resolved.flow.steps() {
        if let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind {
            f(result);
        }
    }
    for file in cx.resolved.symbols.agents.files.values() {
        if let Some(inputs) = &file.agent.inputs {
            f(inputs);
        }
    }
}

/// The place of a key without its quotes.
pub(super) fn inner(key: &Spanned<String>) -> Span {
    let span = key.span;
    if span.len() == key.value.len() + 2 {
        return Span::new(span.file, span.start as usize + 1, span.end as usize - 1);
    }
    span
}

fn judge(schema: &Node, out: &mut Vec<Diagnostic>) {
    if types::has_hole(schema) {
        return;
    }
    for fault in Schema::compile(&schema.to_json()).err().into_iter().flatten() {
        let at = schema.nearest(fault.pointer.iter().map(String::as_str));
        let name = fault.pointer.split_last().filter(|_| fault.is_name).and_then(|(last, before)| {
            let entries = schema.nearest(before.iter().map(String::as_str)).entries();
            entries.iter().find(|entry| entry.key.value == *last).map(|entry| entry.key.span)
        });
        let mut found = Diagnostic::new(&RULE, name.unwrap_or(at.span), fault.message);
        if let Some(reference) = reference_to(schema, &fault.pointer).filter(|_| at.span.file != schema.span.file) {
            found = found.label(reference, "referred to here");
        }
        let text = at.text().map(|text| text.span_of(0..text.value.len()));
        let place = text.unwrap_or(at.span);
        let written = at.text().map_or("", |text| text.value.as_str());
        out.push(match fault.meant.as_deref() {
            // There are few types, and words of other languages for them.
            Some(meant) if crate::schema::is_type(meant) => {
                let fix = Fix::replace(format!("write `{meant}`"), place, meant);
                found.help(format!("did you mean `{meant}`?")).fix(fix)
            }
            meant => found.suggest(written, meant, place),
        });
    }
}

/// Where the file is referred to that a place of a schema comes from.
fn reference_to(schema: &Node, pointer: &[String]) -> Option<Span> {
    let [defs, name, ..] = pointer else { return None };
    let entries = schema.get(defs).map(Node::entries).unwrap_or_default();
    entries.iter().find(|entry| entry.key.value == *name).map(|entry| entry.key.span)
}
