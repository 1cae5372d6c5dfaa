//! What happens if nobody answers: each wait for a person in a step, what ends it, and where the session goes then.

use super::{Outcome, Route, Silence, hoped_for, route};
use crate::ast::{self, GateKind, OnDeadline, StepKind};
use crate::ir::EdgeKind;
use crate::resolve::Resolved;
use crate::resolve::flow::{Flow, NodeIndex, has_human_gate};
use crate::resolve::path::Leg;
use crate::source::{Span, Spanned};
use crate::time::Millis;

pub(super) fn of(resolved: &Resolved<'_>, at: NodeIndex) -> Vec<Silence> {
    let Some(step) = resolved.flow.step(at) else { return Vec::new() };
    match &step.kind {
        StepKind::Question(question) => vec![question_of(resolved, at, step, question)],
        StepKind::Agent(stage) => gates(resolved, at, stage),
        StepKind::Cron(_)
        | StepKind::Loop(_)
        | StepKind::Switch(_)
        | StepKind::Pick(_)
        | StepKind::Stop(_)
        | StepKind::Hole => Vec::new(),
    }
}

fn question_of(
    resolved: &Resolved<'_>,
    at: NodeIndex,
    step: &ast::Step,
    question: &ast::Question,
) -> Silence {
    let what = format!("the question `{}` waits for an answer", step.name);
    let ends = match &question.deadline {
        None => around(resolved, at),
        Some(deadline) => {
            let chosen = match question.on_deadline.as_ref().map(|on| &on.value) {
                Some(OnDeadline::Choose(choice)) => Some(choice.value.clone()),
                Some(OnDeadline::Transition(_)) | None => None,
            };
            let by = match &chosen {
                Some(choice) => format!("after {} `{choice}` is chosen by itself", deadline.value),
                None => format!("after {} its deadline passes", deadline.value),
            };
            let kind = chosen.map_or(EdgeKind::Deadline, EdgeKind::Choice);
            Some(Outcome { by, span: deadline.span, route: onward(&resolved.flow, at, &kind) })
        }
    };
    Silence { what, span: step.head, ends }
}

fn gates(resolved: &Resolved<'_>, at: NodeIndex, stage: &ast::AgentStep) -> Vec<Silence> {
    let mut found = Vec::new();
    for (i, gate) in (0_u32..).zip(&stage.review) {
        if !matches!(gate.kind, GateKind::Human { .. }) {
            continue;
        }
        let what = format!("gate {} waits for a person", i.saturating_add(1));
        let ends = match &gate.deadline {
            None => around(resolved, at),
            Some(deadline) => Some(Outcome {
                by: format!("after {} nobody has decided in time", deadline.value),
                span: deadline.span,
                route: onward(&resolved.flow, at, &EdgeKind::GateDeadline(i)),
            }),
        };
        found.push(Silence { what, span: gate.span, ends });
    }
    found
}

/// A deadline of a loop around it or of the session: the shortest one passes first.
fn around(resolved: &Resolved<'_>, at: NodeIndex) -> Option<Outcome> {
    let flow = &resolved.flow;
    let mut found: Vec<(Millis, Span, Option<NodeIndex>, String)> = Vec::new();
    if let Some(Spanned { value, span }) = &resolved.ast.deadline {
        found.push((*value, *span, None, format!("the session's deadline of {value} ends it as failed")));
    }
    for a_loop in flow.node(at).map(|node| node.scope.as_slice()).unwrap_or_default() {
        let Some(step) = flow.step(*a_loop) else { continue };
        if let StepKind::Loop(ast::Loop { deadline: Some(deadline), .. }) = &step.kind {
            let by = format!("the deadline of {} of the loop `{}` passes", deadline.value, step.name);
            found.push((deadline.value, deadline.span, Some(*a_loop), by));
        }
    }
    let (_, span, a_loop, by) = found.into_iter().min_by_key(|(deadline, ..)| *deadline)?;
    Some(Outcome { by, span, route: a_loop.and_then(|at| onward(flow, at, &EdgeKind::Deadline)) })
}

/// The edge of this kind, and on to the next place where a session rests or waits.
fn onward(flow: &Flow<'_>, at: NodeIndex, kind: &EdgeKind) -> Option<Route> {
    let (edge, to) =
        flow.leaving(at).into_iter().find(|(_, edge, _)| edge.kind == *kind).map(|(id, _, to)| (id, to))?;
    let first = Leg { from: at, edge };
    if stays(flow, to) {
        return Some(route(flow, &[first], to));
    }
    let goals = flow.graph().node_indices().filter(|goal| stays(flow, *goal));
    let paths = goals.filter_map(|goal| Some((hoped_for(flow, to, goal)?, goal)));
    let (legs, goal) = paths.min_by_key(|(legs, _)| legs.len())?;
    let legs: Vec<Leg> = std::iter::once(first).chain(legs).collect();
    Some(route(flow, &legs, goal))
}

/// Whether a session rests or waits there.
fn stays(flow: &Flow<'_>, at: NodeIndex) -> bool {
    flow.step(at).is_none_or(|step| match &step.kind {
        StepKind::Question(_) | StepKind::Cron(_) | StepKind::Stop(_) | StepKind::Hole => true,
        StepKind::Agent(stage) => has_human_gate(stage),
        StepKind::Loop(_) | StepKind::Switch(_) | StepKind::Pick(_) => false,
    })
}
