//! `misplaced-root`: `loop` outside of a loop, `candidate` outside of a gate, `previous` outside of a pick in a loop.

use super::Context;
use super::bindings::{Use, Where};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::NodeIndex;

/// A binding reads something that does not exist at its place.
pub static RULE: Rule = Rule {
    name: "misplaced-root",
    severity: Severity::Error,
    summary: "A binding reads something that does not exist at its place",
    page: include_str!("../../docs/diagnostics/misplaced-root.md"),
};

/// `loop` is readable inside of a loop.
///
/// # Errors
/// The finding.
pub fn check_loop(cx: &Context<'_, '_>, one: &Use<'_>) -> Result<(), Box<Diagnostic>> {
    let inside = |reader: &NodeIndex| cx.resolved.flow.node(*reader).is_some_and(|node| !node.scope.is_empty());
    if one.place != Where::Output && one.readers.iter().all(inside) {
        return Ok(());
    }
    fault(one, "`loop` is readable only inside of a loop", "count in a step of the loop, and read that step's output")
}

/// `candidate` is readable inside of a gate.
///
/// # Errors
/// The finding.
pub fn check_candidate(one: &Use<'_>) -> Result<(), Box<Diagnostic>> {
    if one.place == Where::Gate {
        return Ok(());
    }
    let help = "elsewhere read the accepted result: `steps.<id>.result`";
    fault(one, "`candidate` is readable only inside of a gate", help)
}

/// `previous` is readable in a pick, for steps of the innermost loop around the pick.
///
/// # Errors
/// The finding.
pub fn check_previous(cx: &Context<'_, '_>, one: &Use<'_>, step: NodeIndex) -> Result<(), Box<Diagnostic>> {
    if !matches!(one.place, Where::Pick { .. }) {
        let help = "add a `pick` step that takes it, and read the value of that step";
        return fault(one, "`previous` is readable only in a `pick`", help);
    }
    let flow = &cx.resolved.flow;
    let innermost = one.readers.first().and_then(|reader| flow.node(*reader)?.scope.last().copied());
    let Some(innermost) = innermost else {
        return fault(one, "`previous` is readable only inside of a loop", "outside of a loop write `steps`");
    };
    if flow.node(step).is_some_and(|node| node.scope.contains(&innermost)) {
        return Ok(());
    }
    let name = flow.node(innermost).map(|node| node.name.as_str()).unwrap_or_default();
    let message = format!("`previous` reads steps of the loop `{name}`, and this step stands outside of it");
    fault(one, &message, "write `steps` for a step outside of the loop")
}

fn fault(one: &Use<'_>, message: &str, help: &str) -> Result<(), Box<Diagnostic>> {
    Err(Box::new(Diagnostic::new(&RULE, one.binding.root.span, message).note("not readable here").help(help)))
}
