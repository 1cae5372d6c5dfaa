//! `agent-without-base`: an agent without a `base` does not know how to finish a task.

use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Span;

/// A workflow names a conversational agent.
pub static RULE: Rule = Rule {
    name: "agent-without-base",
    severity: Severity::Error,
    summary: "A workflow names a conversational agent",
    page: include_str!("../../docs/diagnostics/agent-without-base.md"),
};

/// Reports an agent file that names no base, at the place that uses it.
pub fn check(written: &str, span: Span, agent: &ast::Agent, out: &mut Vec<Diagnostic>) {
    if agent.base.is_some() {
        return;
    }
    let place = agent.slug.as_ref().map_or(agent.span.at_start(), |slug| slug.span);
    let message = format!("the agent `{written}` has no `base`, so a workflow cannot use it");
    out.push(
        Diagnostic::new(&RULE, span, message)
            .note("a conversational agent")
            .label(place, "declared here, without a `base`")
            .help("add `\"base\": \"workflow-agent@1\"` to the agent file"),
    );
}
