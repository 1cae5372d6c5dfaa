//! Why a step can run for ever: the cycles through it, what bounds each, and a way round that waits for nobody.

use super::{Cycle, Route, route};
use crate::ast::{self, Repeat};
use crate::resolve::Resolved;
use crate::resolve::flow::{Edge, Flow, NodeIndex};
use crate::resolve::path::shortest;
use crate::source::Span;

pub(super) fn of(resolved: &Resolved<'_>, at: NodeIndex) -> Vec<Cycle> {
    let flow = &resolved.flow;
    let scope = flow.node(at).map(|node| node.scope.as_slice()).unwrap_or_default();
    let own = Some(at).filter(|at| loop_of(flow, *at).is_some());
    let mut cycles = Vec::new();
    for a_loop in scope.iter().copied().chain(own).rev() {
        if let Some(cycle) = cycle(resolved, at, a_loop) {
            cycles.push(cycle);
        }
    }
    cycles
}

fn cycle(resolved: &Resolved<'_>, at: NodeIndex, a_loop: NodeIndex) -> Option<Cycle> {
    let flow = &resolved.flow;
    let round = round(flow, at, a_loop, |_, _| true)?;
    let unawaited = self::round(flow, at, a_loop, |from, edge| !flow.awaits(from, edge));
    let of = flow.node(a_loop).map(|node| node.name.clone()).unwrap_or_default();
    Some(Cycle { of, route: round, bounds: bounds(resolved, a_loop), unawaited })
}

/// A shortest way round the loop through the step that keeps to the body. With the step not the head itself, it is
/// the way to the head and from there back to the step.
fn round(
    flow: &Flow<'_>,
    at: NodeIndex,
    a_loop: NodeIndex,
    may: impl Fn(NodeIndex, &Edge) -> bool,
) -> Option<Route> {
    let inside =
        |node: NodeIndex| node == a_loop || flow.node(node).is_some_and(|node| node.scope.contains(&a_loop));
    let legs = |from: NodeIndex, to: NodeIndex| {
        shortest(flow, from, to, |from, edge, to| inside(from) && inside(to) && may(from, edge))
    };
    let mut round = legs(a_loop, at)?;
    if at != a_loop {
        round.extend(legs(at, a_loop)?);
    }
    Some(route(flow, &round, a_loop))
}

/// Counts and deadlines that end the loop: its own, those of loops around it, and the session's.
fn bounds(resolved: &Resolved<'_>, a_loop: NodeIndex) -> Vec<(String, Span)> {
    let flow = &resolved.flow;
    let mut bounds = Vec::new();
    let scope = flow.node(a_loop).map(|node| node.scope.as_slice()).unwrap_or_default();
    for at in std::iter::once(a_loop).chain(scope.iter().rev().copied()) {
        let Some((name, written)) = loop_of(flow, at) else { continue };
        if let Some(repeat) = written.repeat.as_ref().filter(|_| at == a_loop)
            && let Repeat::Times(times) = repeat.value
        {
            bounds.push((format!("`{name}` repeats at most {times} times"), repeat.span));
        }
        if let Some(deadline) = &written.deadline {
            bounds.push((format!("`{name}` has a deadline of {}", deadline.value), deadline.span));
        }
    }
    if let Some(deadline) = &resolved.ast.deadline {
        bounds.push((format!("the session has a deadline of {}", deadline.value), deadline.span));
    }
    bounds
}

fn loop_of<'a>(flow: &Flow<'a>, at: NodeIndex) -> Option<(&'a str, &'a ast::Loop)> {
    let step = flow.step(at)?;
    Some((&step.name, step.kind.as_loop()?))
}
