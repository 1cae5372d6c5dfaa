//! `unbounded-loop`: a cycle that waits for nobody and has no bound.

use super::Context;
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::NodeIndex;
use crate::resolve::path::{names, shortest, tell};
use std::collections::HashSet;

/// A loop can run for ever without waiting.
pub static RULE: Rule = Rule {
    name: "unbounded-loop",
    severity: Severity::Error,
    summary: "A loop can run for ever without waiting",
    page: include_str!("../../docs/diagnostics/unbounded-loop.md"),
};

/// Reports each innermost loop that has such a cycle, with the cycle.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let flow = &cx.resolved.flow;
    if cx.resolved.ast.deadline.is_some() {
        return;
    }
    let mut loops: Vec<_> = flow.steps().filter(|(index, _)| cx.reachable.contains(index)).collect();
    loops.sort_by_key(|(index, _)| std::cmp::Reverse(flow.node(*index).map_or(0, |node| node.scope.len())));
    let mut reported: HashSet<NodeIndex> = HashSet::new();
    for (a_loop, step) in loops {
        if !matches!(step.kind, StepKind::Loop(_)) || is_bounded(cx, a_loop) {
            continue;
        }
        let inside = |node| node == a_loop || flow.node(node).is_some_and(|node| node.scope.contains(&a_loop));
        let Some(legs) = shortest(flow, a_loop, a_loop, |from, edge, to| {
            inside(from) && inside(to) && !flow.awaits(from, edge)
        }) else {
            continue;
        };
        if legs.iter().any(|leg| reported.contains(&leg.from)) {
            continue;
        }
        reported.insert(a_loop);
        let message = format!("the loop `{}` can run for ever without waiting for anything", step.name);
        let cycle = names(flow, &legs, a_loop);
        let found = Diagnostic::new(&RULE, step.head, message)
            .note(format!("{cycle} waits for nobody"))
            .help(
                "give the loop a number of iterations or a deadline, or let each path round it wait for a cron step \
                 or a person",
            );
        out.push(tell(found, flow, &legs));
    }
}

/// Counted, or under a deadline of its own or of a loop around it.
fn is_bounded(cx: &Context<'_, '_>, a_loop: NodeIndex) -> bool {
    let flow = &cx.resolved.flow;
    let written = |index: NodeIndex| flow.step(index)?.kind.as_loop();
    let counted = written(a_loop).and_then(|own| own.repeat.as_ref()).map(|repeat| repeat.value)
        != Some(ast::Repeat::UntilStopped);
    let outer = flow.node(a_loop).map(|node| node.scope.as_slice()).unwrap_or_default();
    let mut around = outer.iter().copied().chain([a_loop]);
    counted || around.any(|index| written(index).is_some_and(|written| written.deadline.is_some()))
}
