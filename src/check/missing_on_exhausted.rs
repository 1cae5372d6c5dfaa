//! `missing-on-exhausted`: `on_exhausted` must be written where the body can `break`, for the two ends mean
//! different things.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::ir::Turn;
use crate::source::Spanned;

/// a counted loop that can break does not say what happens after its last iteration.
pub static RULE: Rule = Rule {
    name: "missing-on-exhausted",
    severity: Severity::Error,
    summary: "a counted loop that can break does not say what happens after its last iteration",
    page: include_str!("../../docs/diagnostics/missing-on-exhausted.md"),
};

/// Reports counted loops with a `break` and without `on_exhausted`.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    for (index, step) in flow.steps() {
        let StepKind::Loop(written) = &step.kind else { continue };
        let Some(Spanned { value: ast::Repeat::Times(times), span }) = &written.repeat else { continue };
        if written.on_exhausted.is_some() {
            continue;
        }
        let graph = flow.graph();
        let leaves = graph.edge_indices().find_map(|edge| {
            let (from, _) = graph.edge_endpoints(edge)?;
            let weight = graph.edge_weight(edge)?;
            let inside = flow.node(from)?.scope.last() == Some(&index);
            (inside && weight.turn == Turn::Break).then_some((from, weight.span))
        });
        let Some((from, span_of_break)) = leaves else { continue };
        let message =
            format!("the loop `{}` can break, but does not say what happens after its {times} iterations", step.name);
        let place = span_of_break.or_else(|| flow.node(from).map(|node| node.span));
        let mut found = Diagnostic::new(&RULE, *span, message)
            .help("write `on_exhausted`, for example `on_exhausted: { stop: failed }` or `on_exhausted: continue`");
        if let Some(place) = place {
            found = found.label(place, "breaks out of the loop");
        }
        out.push(found);
    }
}
