//! From a resolved definition without errors to the frozen workflow. Total: it never reports and never refuses.
//!
//! Called only when nothing is an error, so every part is there; where one is missing all the same, the default of
//! the language stands in. All defaults of the language are applied here, so that the frozen form has none.

mod agent;
mod value;

use crate::ast::{self, StepKind};
use crate::ir;
use crate::resolve::flow::{NodeIndex, Place};
use crate::resolve::{self, Resolved};
use crate::time::Millis;
use indexmap::IndexMap;
use petgraph::visit::EdgeRef;
use std::collections::HashMap;

pub use agent::freeze as freeze_agent;

/// Retention where none is written.
pub const RETENTION: Millis = Millis::from_secs(90 * 24 * 60 * 60);

/// Freezes a definition. `agent_runs` is the proved bound of agent runs between two waits.
#[must_use]
pub fn lower(resolved: &Resolved<'_>, agent_runs: Option<u64>) -> ir::Workflow {
    let ast = resolved.ast;
    let retention_ms = match &ast.retention {
        Some(written) => written.value,
        None => Some(RETENTION),
    };
    let outputs = ast
        .outputs
        .iter()
        .map(|output| (output.name.value.clone(), value::of_template(&output.value)))
        .collect();
    ir::Workflow::new(ir::Parts {
        name: ast.name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
        title: ast.title.as_ref().map(|title| title.value.clone()),
        description: ast.description.as_ref().map(|text| text.value.clone()),
        inputs: ast.inputs.iter().map(|input| (input.name.value.clone(), input_of(input))).collect(),
        outputs,
        agents: agents(resolved),
        deadline_ms: ast.deadline.as_ref().map(|deadline| deadline.value),
        retention_ms,
        agent_runs_between_waits: agent_runs,
        graph: graph(resolved),
    })
}

fn input_of(input: &ast::Input) -> ir::Input {
    let schema = input.schema.to_json();
    let default = input.schema.get("default").map(crate::tree::Node::to_json);
    ir::Input { schema, default }
}

/// The agents that steps and gates use, by package path, in the order of their first use.
fn agents(resolved: &Resolved<'_>) -> IndexMap<String, ir::Agent> {
    let steps: Vec<_> = resolved.flow.steps().map(|(_, step)| step).collect();
    let mut frozen = IndexMap::new();
    for reference in used_references(&steps) {
        if let Some((path, file)) = resolved.agent(reference) {
            frozen
                .entry(path.to_owned())
                .or_insert_with(|| freeze_agent(&file.agent, path, Some(&file.around)));
        }
    }
    frozen.sort_keys();
    frozen
}

fn used_references<'a>(steps: &[&'a ast::Step]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for step in steps {
        let StepKind::Agent(stage) = &step.kind else { continue };
        found.extend(stage.agent.as_ref().map(|agent| agent.value.as_str()));
        for gate in &stage.review {
            if let ast::GateKind::Agent { agent: Some(agent), .. } = &gate.kind {
                found.push(agent.value.as_str());
            }
        }
    }
    found
}

fn graph(resolved: &Resolved<'_>) -> ir::Graph {
    let flow = &resolved.flow;
    let inner = flow.graph();
    let mut frozen = ir::Graph::new();
    let mut ids: HashMap<NodeIndex, ir::NodeId> = HashMap::new();
    for index in inner.node_indices() {
        let Some(node) = flow.node(index) else { continue };
        if index == flow.hold() && inner.neighbors_directed(index, petgraph::Incoming).next().is_none() {
            continue;
        }
        let scope =
            node.scope.iter().filter_map(|a_loop| flow.node(*a_loop)).map(|node| node.name.clone()).collect();
        let (title, description, kind) = match node.place {
            Place::End => (None, None, ir::NodeKind::End),
            Place::Hold => (None, None, ir::NodeKind::Hold),
            Place::Stop(stop) => (None, None, stop_kind(stop)),
            Place::Step(step) => {
                let text =
                    |text: &Option<crate::source::Spanned<String>>| text.as_ref().map(|t| t.value.clone());
                (text(&step.title), text(&step.description), kind_of(resolved, step))
            }
        };
        ids.insert(index, frozen.add(ir::Node { name: node.name.clone(), title, description, scope, kind }));
    }
    for edge in inner.edge_references() {
        if let (Some(from), Some(to)) = (ids.get(&edge.source()), ids.get(&edge.target())) {
            let written = edge.weight();
            frozen.connect(*from, *to, ir::Edge { kind: written.kind.clone(), turn: written.turn });
        }
    }
    frozen
}

fn kind_of(resolved: &Resolved<'_>, step: &ast::Step) -> ir::NodeKind {
    let defaults = &resolved.ast.defaults;
    match &step.kind {
        StepKind::Cron(cron) => ir::NodeKind::Cron {
            expression: cron.expression.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            timezone: cron
                .timezone
                .as_ref()
                .or(defaults.timezone.as_ref())
                .map_or_else(|| "UTC".to_owned(), |zone| zone.value.clone()),
        },
        StepKind::Question(question) => ir::NodeKind::Question(question_of(question, defaults)),
        StepKind::Agent(stage) => ir::NodeKind::Agent(stage_of(resolved, stage)),
        StepKind::Loop(a_loop) => ir::NodeKind::Loop {
            times: a_loop.repeat.as_ref().and_then(|repeat| match repeat.value {
                ast::Repeat::UntilStopped => None,
                ast::Repeat::Times(times) => Some(times),
            }),
            deadline_ms: a_loop.deadline.as_ref().map(|deadline| deadline.value),
        },
        StepKind::Switch(switch) => ir::NodeKind::Switch { on: value::sole_path(&switch.on) },
        StepKind::Pick(pick) => ir::NodeKind::Pick { from: pick.from.iter().map(value::sole_path).collect() },
        StepKind::Stop(stop) => stop_kind(stop),
        // INVARIANT: a hole has been reported as an error, and then nothing is lowered.
        StepKind::Hole => ir::NodeKind::Stop { status: ir::StopStatus::Failed, reason: None },
    }
}

fn question_of(question: &ast::Question, defaults: &ast::Defaults) -> ir::Question {
    let choose_on_deadline = question.on_deadline.as_ref().and_then(|on| match &on.value {
        ast::OnDeadline::Choose(value) => Some(value.value.clone()),
        ast::OnDeadline::Transition(_) => None,
    });
    let choices = question.choices.iter().map(|choice| ir::Choice {
        value: choice.value.value.clone(),
        label: value::text(&choice.label),
        description: choice.description.as_ref().map(|text| text.value.clone()),
        feedback: match choice.feedback {
            ast::Feedback::None => ir::Feedback::None,
            ast::Feedback::Optional => ir::Feedback::Optional,
            ast::Feedback::Required => ir::Feedback::Required,
        },
    });
    ir::Question {
        text: value::text(&question.text),
        choices: choices.collect(),
        respondents: respondents(question.respondents.as_deref(), defaults),
        deadline_ms: question.deadline.as_ref().map(|deadline| deadline.value),
        choose_on_deadline: choose_on_deadline.filter(|_| question.deadline.is_some()),
    }
}

fn respondents(own: Option<&[ast::Template]>, defaults: &ast::Defaults) -> Vec<ir::Text> {
    match own.or(defaults.respondents.as_deref()) {
        Some(list) if !list.is_empty() => list.iter().map(value::text).collect(),
        Some(_) | None => vec![ir::Text::literal("owner")],
    }
}

fn stage_of(resolved: &Resolved<'_>, stage: &ast::AgentStep) -> ir::Stage {
    let defaults = &resolved.ast.defaults;
    let revisions = stage.max_revisions.as_ref().or(defaults.max_revisions.as_ref());
    let deadline = stage.deadline.as_ref().or(defaults.deadline.as_ref());
    ir::Stage {
        agent: agent_key(resolved, stage.agent.as_ref()),
        task: stage.task.as_ref().map(value::text).unwrap_or_default(),
        with: value::arguments(&stage.with),
        result: stage.result.as_ref().map(crate::tree::Node::to_json),
        reviewed: stage.reviewed,
        gates: stage.review.iter().filter_map(|gate| gate_of(resolved, gate)).collect(),
        max_revisions: revisions.map_or(resolve::MAX_REVISIONS, |revisions| revisions.value),
        deadline_ms: deadline.map_or(resolve::STAGE_DEADLINE, |deadline| deadline.value),
    }
}

fn agent_key(resolved: &Resolved<'_>, reference: Option<&crate::source::Spanned<String>>) -> String {
    let found = reference.and_then(|reference| resolved.agent(&reference.value));
    found.map(|(path, _)| path.to_owned()).unwrap_or_default()
}

fn gate_of(resolved: &Resolved<'_>, gate: &ast::Gate) -> Option<ir::Gate> {
    let kind = match &gate.kind {
        ast::GateKind::Human { text, respondents: own, .. } => ir::GateKind::Human {
            text: value::text(text),
            respondents: respondents(own.as_deref(), &resolved.ast.defaults),
        },
        ast::GateKind::Agent { agent, task, with, max_rounds } => ir::GateKind::Agent {
            agent: agent_key(resolved, agent.as_ref()),
            task: task.as_ref().map(value::text).unwrap_or_default(),
            with: value::arguments(with),
            max_rounds: max_rounds.as_ref().map(|rounds| rounds.value),
        },
        ast::GateKind::Hole => return None,
    };
    Some(ir::Gate { deadline_ms: gate.deadline.as_ref().map(|deadline| deadline.value), kind })
}

fn stop_kind(stop: &ast::Stop) -> ir::NodeKind {
    let status = match stop.status.as_ref().map(|status| status.value) {
        Some(ast::StopStatus::Succeeded) => ir::StopStatus::Succeeded,
        Some(ast::StopStatus::Cancelled) => ir::StopStatus::Cancelled,
        Some(ast::StopStatus::Failed) | None => ir::StopStatus::Failed,
    };
    ir::NodeKind::Stop { status, reason: stop.reason.as_ref().map(value::text) }
}
