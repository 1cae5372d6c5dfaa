//! `unknown-base`: `base` must name a base of this version.

use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};

/// An agent names a base that does not exist.
pub static RULE: Rule = Rule {
    name: "unknown-base",
    severity: Severity::Error,
    summary: "An agent names a base that does not exist",
    page: include_str!("../../docs/diagnostics/unknown-base.md"),
};

/// The bases of this version.
const BASES: [&str; 1] = ["workflow-agent@1"];

/// Reports an unknown base in its file.
pub fn check_agent(agent: &ast::Agent, out: &mut Vec<Diagnostic>) {
    let Some(base) = &agent.base else { return };
    if BASES.contains(&base.value.as_str()) {
        return;
    }
    let near = nearest(&base.value, BASES).or(base.value.starts_with("workflow").then_some("workflow-agent@1"));
    let found = Diagnostic::new(&RULE, base.span, format!("there is no base `{}`", base.value));
    out.push(match near {
        Some(near) => found.suggest(&base.value, Some(near), base.span),
        None => found.help("the base for workflows is `workflow-agent@1`"),
    });
}
