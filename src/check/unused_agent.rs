//! `unused-agent`: an entry under `agents` that no step names.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::{agent_references, local};

/// An agent name is declared and never used.
pub static RULE: Rule = Rule {
    name: "unused-agent",
    severity: Severity::Warning,
    summary: "An agent name is declared and never used",
    page: include_str!("../../docs/diagnostics/unused-agent.md"),
};

/// Reports each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // Without steps that could be read nothing is known of what they use.
    if cx.resolved.ast.steps.is_empty() {
        return;
    }
    let steps: Vec<_> = cx.resolved.flow.steps().map(|(_, step)| step).collect();
    let used: Vec<_> =
        agent_references(cx.resolved.ast, &steps).into_iter().skip(cx.resolved.ast.agents.len()).collect();
    for entry in &cx.resolved.ast.agents {
        // A misspelt reference is reported where it stands; the agent that was meant is then not unused as well.
        let is_meant = |written: &str| {
            cx.resolved.symbols.agents.find(local(cx.resolved.ast, written)).is_none()
                && nearest(written, [entry.name.value.as_str()]).is_some()
        };
        if !used.iter().any(|(written, _)| *written == entry.name.value || is_meant(written)) {
            let message = format!("the agent name `{}` is never used", entry.name.value);
            out.push(Diagnostic::new(&RULE, entry.name.span, message).help("remove it, or name it at a step"));
        }
    }
}
