//! Why a definition can do what it can do: answers as paths with places. Works on the flow of what was written, so
//! also where the compile found errors.
//!
//! What leads to a step, what it can reach, what happens if nobody answers, and why it can run for ever. Nothing here
//! judges: findings are `check`'s; nothing here asks a clock or a file.

mod forever;
mod print;
mod silence;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::ir;
use crate::resolve::Resolved;
use crate::resolve::flow::{Flow, NodeIndex, Place};
use crate::resolve::path::{self, Leg, shortest};
use crate::resolve::word_of;
use crate::source::Span;

pub use print::{findings_json, findings_text, json, text};

/// Which questions are asked of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Questions {
    /// What leads to it, and what it can reach.
    pub reach: bool,
    /// What happens if nobody answers.
    pub nobody_answers: bool,
    /// Why it can run for ever.
    pub forever: bool,
}

impl Questions {
    /// All of them.
    pub const ALL: Self = Self { reach: true, nobody_answers: true, forever: true };
}

/// What can be said of one node of the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its name.
    pub name: String,
    /// Its kind: a kind key of the language, `stop`, `end` or `hold`.
    pub kind: &'static str,
    /// Where it is written.
    pub span: Span,
    /// What leads to it; `None` if it was not asked.
    pub leads: Option<Leads>,
    /// What it can reach: steps by distance, then places of rest; `None` if it was not asked.
    pub reaches: Option<Vec<Route>>,
    /// What happens if nobody answers, one entry for each wait for a person; `None` if it was not asked.
    pub silence: Option<Vec<Silence>>,
    /// The cycles through it, from the innermost loop outward; `None` if it was not asked.
    pub cycles: Option<Vec<Cycle>>,
}

/// What leads to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// A session begins there.
    Start,
    /// A shortest path from the start.
    Path(Route),
    /// Nothing does.
    Nothing,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Each node that is left, and how.
    pub legs: Vec<Step>,
    /// Where it ends.
    pub to: String,
    /// The kind of the node where it ends.
    pub kind: &'static str,
    /// Whether a session rests there.
    pub rests: bool,
}

/// One node of a path, and how it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node's name.
    pub from: String,
    /// How it is left, in words that follow the name.
    pub way: String,
    /// Where that is written.
    pub span: Span,
    /// Whether this waits for a schedule or a person.
    pub awaits: bool,
}

/// What a wait for a person does when nobody comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// What is waited for, in words.
    pub what: String,
    /// Where it is written.
    pub span: Span,
    /// When the waiting ends; `None` if never by itself.
    pub ends: Option<Outcome>,
}

/// How a wait ends without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What ends it, with the time: a sentence.
    pub by: String,
    /// Where that is written.
    pub span: Span,
    /// Where the session goes then, up to the next wait or place of rest.
    pub route: Option<Route>,
}

/// A cycle, and what holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The loop around it.
    pub of: String,
    /// A shortest way round through the step.
    pub route: Route,
    /// What bounds it: counts and deadlines, each a sentence with its place.
    pub bounds: Vec<(String, Span)>,
    /// A way round that waits for nobody, if there is one.
    pub unawaited: Option<Route>,
}

/// Answers the questions about the node with this name; `None` if there is none.
#[must_use]
pub fn answer(resolved: &Resolved<'_>, name: &str, questions: Questions) -> Option<Answer> {
    let flow = &resolved.flow;
    let at = find(flow, name)?;
    let node = flow.node(at)?;
    Some(Answer {
        name: node.name.clone(),
        kind: kind(&node.place),
        span: node.span,
        leads: questions.reach.then(|| leads(flow, at)),
        reaches: questions.reach.then(|| reaches(flow, at)),
        silence: questions.nobody_answers.then(|| silence::of(resolved, at)),
        cycles: questions.forever.then(|| forever::of(resolved, at)),
    })
}

/// Names that can be asked about, in the order of the flow.
#[must_use]
pub fn names<'r>(resolved: &'r Resolved<'_>) -> Vec<&'r str> {
    let graph = resolved.flow.graph();
    graph.node_weights().map(|node| node.name.as_str()).collect()
}

/// The findings of one rule.
#[must_use]
pub fn findings<'d>(diagnostics: &'d [Diagnostic], rule: &str) -> Vec<&'d Diagnostic> {
    diagnostics.iter().filter(|found| found.rule.name == rule).collect()
}

/// What the compile has proved of a definition without errors, one sentence each.
#[must_use]
pub fn proved(ast: &ast::Workflow, workflow: &ir::Workflow) -> Vec<String> {
    let mut proved = vec![
        "every step can be reached, and every binding has a value where it is read".to_owned(),
        "every cycle waits for a schedule or a person, or has a bound".to_owned(),
    ];
    proved.extend(workflow.agent_runs_between_waits().map(|runs| {
        let plural = if runs == 1 { "" } else { "s" };
        format!("never more than {runs} agent run{plural} between two waits")
    }));
    proved.extend(ast.guarantees.iter().map(|guarantee| match guarantee {
        ast::Guarantee::Accepted { before, accepted, by_human, .. } => {
            let who = if *by_human { "a person" } else { "a review" };
            format!("`{}` is never reached before {who} has accepted `{}`", before.value, accepted.value)
        }
        ast::Guarantee::Answered { before, answered, choice, .. } => format!(
            "`{}` is never reached before `{}` was answered `{}`",
            before.value, answered.value, choice.value
        ),
        ast::Guarantee::AgentRunsBetweenWaits { most, .. } => {
            format!("guaranteed: at most {} agent runs between two waits", most.value)
        }
    }));
    proved
}

fn find(flow: &Flow<'_>, name: &str) -> Option<NodeIndex> {
    flow.graph().node_indices().find(|index| flow.node(*index).is_some_and(|node| node.name == name))
}

fn kind(place: &Place<'_>) -> &'static str {
    match place {
        Place::Step(step) => word_of(&step.kind),
        Place::Stop(_) => "stop",
        Place::End => "end",
        Place::Hold => "hold",
    }
}

fn leads(flow: &Flow<'_>, at: NodeIndex) -> Leads {
    let Some(entry) = flow.entry() else { return Leads::Nothing };
    if entry == at {
        return Leads::Start;
    }
    hoped_for(flow, entry, at).map_or(Leads::Nothing, |legs| Leads::Path(route(flow, &legs, at)))
}

/// A shortest path; one that a person opens by resuming a held step only where there is no other.
fn hoped_for(flow: &Flow<'_>, from: NodeIndex, to: NodeIndex) -> Option<Vec<Leg>> {
    shortest(flow, from, to, |_, edge, _| edge.kind != ir::EdgeKind::Resume)
        .or_else(|| shortest(flow, from, to, |_, _, _| true))
}

/// A shortest path to everything that can be reached.
fn reaches(flow: &Flow<'_>, at: NodeIndex) -> Vec<Route> {
    let goals = flow.graph().node_indices();
    let found = goals.filter_map(|goal| Some(route(flow, &hoped_for(flow, at, goal)?, goal)));
    let mut found: Vec<Route> = found.collect();
    found.sort_by_key(|route| (route.rests, route.legs.len()));
    found
}

fn route(flow: &Flow<'_>, legs: &[Leg], to: NodeIndex) -> Route {
    let steps = legs.iter().filter_map(|leg| {
        let (node, edge) = (flow.node(leg.from)?, flow.graph().edge_weight(leg.edge)?);
        Some(Step {
            from: node.name.clone(),
            way: path::way(&edge.kind),
            span: edge.span.unwrap_or(node.span),
            awaits: flow.awaits(leg.from, edge),
        })
    });
    let legs = steps.collect();
    let end = flow.node(to);
    let kind = end.map_or("step", |node| kind(&node.place));
    let to = end.map(|node| node.name.clone()).unwrap_or_default();
    Route { legs, to, kind, rests: matches!(kind, "stop" | "end" | "hold") }
}
