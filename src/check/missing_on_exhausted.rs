//! `missing-on-exhausted`: `on_exhausted` must be written where the body can `break`, for the two ends mean
//! different things.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::ir::Turn;
use crate::resolve::flow::{Flow, NodeIndex};
use crate::source::{Span, Spanned};
use petgraph::visit::EdgeRef as _;
use std::collections::HashMap;

/// A counted loop that can break does not say what happens after its last iteration.
pub static RULE: Rule = Rule {
    name: "missing-on-exhausted",
    severity: Severity::Error,
    summary: "A counted loop that can break does not say what happens after its last iteration",
    page: include_str!("../../docs/diagnostics/missing-on-exhausted.md"),
};

/// Reports counted loops with a `break` and without `on_exhausted`.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    let breaks = breaks(flow);
    for (index, step) in flow.steps() {
        let StepKind::Loop(written) = &step.kind else { continue };
        let Some(Spanned { value: ast::Repeat::Times(times), span }) = &written.repeat else { continue };
        if written.on_exhausted.is_some() {
            continue;
        }
        let Some(place) = breaks.get(&index) else { continue };
        let message =
            format!("the loop `{}` can break, but does not say what happens after its {times} iterations", step.name);
        out.push(
            Diagnostic::new(&RULE, *span, message)
                .label(*place, "breaks out of the loop")
                .help("write `on_exhausted`, for example `on_exhausted: { stop: failed }` or `on_exhausted: continue`"),
        );
    }
}

/// The first `break` out of each loop.
fn breaks(flow: &Flow<'_>) -> HashMap<NodeIndex, Span> {
    let graph = flow.graph();
    let mut found = HashMap::new();
    for edge in graph.edge_references().filter(|edge| edge.weight().turn == Turn::Break) {
        let Some(node) = flow.node(edge.source()) else { continue };
        if let Some(a_loop) = node.scope.last() {
            found.entry(*a_loop).or_insert(edge.weight().span.unwrap_or(node.span));
        }
    }
    found
}
