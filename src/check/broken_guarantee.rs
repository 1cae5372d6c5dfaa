//! `broken-guarantee`: a guarantee that does not hold, with the path that breaks it.

use super::{Context, unknown_guarantee_step};
use crate::ast::{Guarantee, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::ir::EdgeKind;
use crate::resolve::flow::{Edge, Flow, NodeIndex, has_human_gate, is_chosen_by_deadline};
use crate::resolve::path::{Leg, names, shortest, tell, way};
use crate::source::{Span, Spanned};

/// A path breaks a guarantee.
pub static RULE: Rule = Rule {
    name: "broken-guarantee",
    severity: Severity::Error,
    summary: "A path breaks a guarantee",
    page: include_str!("../../docs/diagnostics/broken-guarantee.md"),
};

/// Proves or refutes each guarantee.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for guarantee in &cx.resolved.ast.guarantees {
        let found = match guarantee {
            Guarantee::Accepted { span, before, accepted, by_human } => {
                check_accepted(cx, *span, before, accepted, *by_human)
            }
            Guarantee::Answered { span, before, answered, choice } => {
                check_answered(cx, *span, before, answered, choice)
            }
            Guarantee::AgentRunsBetweenWaits { most, .. } => check_runs(cx, most),
        };
        if let Err(found) = found {
            out.push(*found);
        }
    }
}

fn check_accepted(
    cx: &Context<'_, '_>,
    span: Span,
    before: &Spanned<String>,
    accepted: &Spanned<String>,
    by_human: bool,
) -> Result<(), Box<Diagnostic>> {
    let (goal, _) = unknown_guarantee_step::step(cx, before)?;
    let (node, step) = unknown_guarantee_step::step(cx, accepted)?;
    let reviews = match &step.kind {
        StepKind::Agent(stage) if by_human => has_human_gate(stage),
        StepKind::Agent(stage) => stage.reviewed,
        StepKind::Hole => return Ok(()),
        StepKind::Cron(_)
        | StepKind::Question(_)
        | StepKind::Loop(_)
        | StepKind::Switch(_)
        | StepKind::Pick(_)
        | StepKind::Stop(_) => false,
    };
    if !reviews {
        let by = if by_human { "review by a person" } else { "review" };
        let message = format!("`{}` has no {by}, so nothing of it is ever accepted", accepted.value);
        return Err(Box::new(unknown_guarantee_step::misfit(accepted.span, message, step)));
    }
    let what = format!("an accepted review of `{}`", accepted.value);
    refute(cx, span, goal, &what, |from, edge| from == node && edge.kind == EdgeKind::Next)
}

fn check_answered(
    cx: &Context<'_, '_>,
    span: Span,
    before: &Spanned<String>,
    answered: &Spanned<String>,
    choice: &Spanned<String>,
) -> Result<(), Box<Diagnostic>> {
    let (goal, _) = unknown_guarantee_step::step(cx, before)?;
    let (node, step) = unknown_guarantee_step::step(cx, answered)?;
    let StepKind::Question(question) = &step.kind else {
        if matches!(step.kind, StepKind::Hole) {
            return Ok(());
        }
        let message = format!("`{}` is no question, so nobody answers it", answered.value);
        return Err(Box::new(unknown_guarantee_step::misfit(answered.span, message, step)));
    };
    let values = || question.choices.iter().map(|choice| choice.value.value.as_str());
    if !values().any(|value| value == choice.value) {
        let message = format!("the question `{}` has no choice `{}`", answered.value, choice.value);
        let found = unknown_guarantee_step::misfit(choice.span, message, step);
        return Err(Box::new(found.suggest(&choice.value, nearest(&choice.value, values()), choice.span)));
    }
    let what = format!("the answer `{}` to `{}`", choice.value, answered.value);
    refute(cx, span, goal, &what, |from, edge| {
        from == node
            && edge.kind == EdgeKind::Choice(choice.value.clone())
            && !is_chosen_by_deadline(question, &choice.value)
    })
}

/// The finding with a path to `goal` that takes no edge which proves `what`, if there is one.
fn refute(
    cx: &Context<'_, '_>,
    span: Span,
    goal: NodeIndex,
    what: &str,
    proves: impl Fn(NodeIndex, &Edge) -> bool,
) -> Result<(), Box<Diagnostic>> {
    let flow = &cx.resolved.flow;
    let Some(entry) = flow.entry() else { return Ok(()) };
    let name = flow.node(goal).map(|node| node.name.as_str()).unwrap_or_default();
    let message = format!("`{name}` can be reached without {what}");
    let found = Diagnostic::new(&RULE, span, message).help("change the path that is shown, or the guarantee");
    if goal == entry {
        return Err(Box::new(found.note("the session begins there")));
    }
    let Some(legs) = shortest(flow, entry, goal, |from, edge, _| !proves(from, edge)) else { return Ok(()) };
    let way = names(flow, &legs, goal);
    Err(Box::new(tell(found.note(format!("broken by {way}")), flow, &legs)))
}

fn check_runs(cx: &Context<'_, '_>, most: &Spanned<u32>) -> Result<(), Box<Diagnostic>> {
    let flow = &cx.resolved.flow;
    let (actual, note) = match cx.bound.runs {
        Some(actual) if actual <= u64::from(most.value) => return Ok(()),
        Some(actual) => (up_to(actual), "exceeded on"),
        None => ("an unbounded number of agent runs".to_owned(), "without bound on"),
    };
    let message = format!("there can be {actual} between two waits, not at most {}", most.value);
    let help = "lower `max_revisions` or `repeat`, or let a person or a cron step come between";
    let mut found = Diagnostic::new(&RULE, most.span, message).help(help);
    let legs: Vec<_> = cx.bound.legs.iter().map(|(leg, _)| *leg).collect();
    if let Some((last, own)) = cx.bound.last {
        found = found.note(format!("{note} {}", names(flow, &legs, last)));
        let mut sum = 0_u64;
        for (i, (leg, runs)) in cx.bound.legs.iter().enumerate() {
            sum = sum.saturating_add(*runs);
            found = tell_runs(found, flow, i + 1, *leg, *runs, sum);
        }
        if let Some(node) = flow.node(last).filter(|_| own > 0) {
            let total = sum.saturating_add(own);
            let text = format!("{}. `{}` begins: {}, in all {total}", legs.len() + 1, node.name, up_to(own));
            found = found.label(node.span, text);
        }
    }
    Err(Box::new(found))
}

fn up_to(runs: u64) -> String {
    if runs == 1 { "1 agent run".to_owned() } else { format!("up to {runs} agent runs") }
}

fn tell_runs(
    found: Diagnostic,
    flow: &Flow<'_>,
    number: usize,
    leg: Leg,
    runs: u64,
    sum: u64,
) -> Diagnostic {
    let (Some(node), Some(edge)) = (flow.node(leg.from), flow.graph().edge_weight(leg.edge)) else {
        return found;
    };
    let mut text = format!("{number}. `{}` {}", node.name, way(&edge.kind));
    if runs > 0 {
        text.push_str(&format!(": {}, in all {sum}", up_to(runs)));
    }
    found.label(edge.span.unwrap_or(node.span), text)
}
