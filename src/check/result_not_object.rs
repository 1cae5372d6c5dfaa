//! `result-not-object`: an agent submits an object; its schema must be one of an object.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// The schema of a result is not that of an object.
pub static RULE: Rule = Rule {
    name: "result-not-object",
    severity: Severity::Error,
    summary: "The schema of a result is not that of an object",
    page: include_str!("../../docs/diagnostics/result-not-object.md"),
};

/// Reports each result schema whose `type` is another one.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (node, step) in cx.resolved.flow.steps() {
        let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind else { continue };
        let (Some(written), true) = (result.get("type"), cx.schemas.results.contains_key(&node)) else { continue };
        if let Some(text) = written.text()
            && text.value != "object"
        {
            let message = format!("a result is an object, and this schema wants `{}`", text.value);
            let help = "write `type: object` and put the value under a name in `properties`";
            out.push(Diagnostic::new(&RULE, written.span, message).help(help));
        }
    }
}
