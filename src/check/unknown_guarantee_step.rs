//! `unknown-guarantee-step`: a guarantee about a step, review or choice that is not there.

use super::Context;
use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::flow::NodeIndex;
use crate::source::{Span, Spanned};

/// A guarantee names a step or choice that does not exist.
pub static RULE: Rule = Rule {
    name: "unknown-guarantee-step",
    severity: Severity::Error,
    summary: "A guarantee names a step or choice that does not exist",
    page: include_str!("../../docs/diagnostics/unknown-guarantee-step.md"),
};

/// The step behind an id, or the finding.
///
/// # Errors
/// The finding.
pub fn step<'a>(cx: &Context<'a, '_>, id: &Spanned<String>) -> Result<(NodeIndex, &'a ast::Step), Box<Diagnostic>> {
    let node = cx.resolved.symbols.steps.get(id.value.as_str()).copied();
    if let Some((node, step)) = node.and_then(|node| Some((node, cx.resolved.flow.step(node)?))) {
        return Ok((node, step));
    }
    let near = nearest(&id.value, cx.resolved.symbols.steps.keys().copied());
    let found = Diagnostic::new(&RULE, id.span, format!("no step has the id `{}`", id.value));
    Err(Box::new(found.note("unknown step").suggest(&id.value, near, id.span)))
}

/// The finding for a step of the wrong kind, or a choice that a question does not have.
#[must_use]
pub fn misfit(span: Span, message: String, step: &ast::Step) -> Diagnostic {
    Diagnostic::new(&RULE, span, message).label(step.head, "this step")
}
