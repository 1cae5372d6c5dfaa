//! `invalid-schema`: a schema with a fault, at the part that is wrong.

use super::{Context, types};
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schema::Schema;
use crate::tree::Node;

/// a JSON Schema is not valid.
pub static RULE: Rule = Rule {
    name: "invalid-schema",
    severity: Severity::Error,
    summary: "a JSON Schema is not valid",
    page: include_str!("../../docs/diagnostics/invalid-schema.md"),
};

/// Judges every schema of the definition and of its agents.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for input in &cx.resolved.ast.inputs {
        judge(&input.schema, out);
    }
    for (_, step) in cx.resolved.flow.steps() {
        if let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind {
            judge(result, out);
        }
    }
    for file in cx.resolved.symbols.agents.files.values() {
        check_agent(&file.agent, out);
    }
}

/// Judges the schema of what an agent must be given.
pub fn check_agent(agent: &ast::Agent, out: &mut Vec<Diagnostic>) {
    if let Some(inputs) = &agent.inputs {
        judge(inputs, out);
    }
}

fn judge(schema: &Node, out: &mut Vec<Diagnostic>) {
    if types::has_hole(schema) {
        return;
    }
    for fault in Schema::compile(&schema.to_json()).err().into_iter().flatten() {
        let at = schema.nearest(fault.pointer.iter().map(String::as_str));
        out.push(Diagnostic::new(&RULE, at.span, fault.message));
    }
}
