//! Schemas of what bindings read: those that the author wrote, and those that the language gives its own outputs.
//!
//! It reports nothing. What has no schema, or a broken one, has no type here, and nothing is said of it.

use super::Context;
use super::bindings::{self, Meaning, Use, Where, name_of};
use crate::ast::{self, Segment, StepKind};
use crate::resolve::Resolved;
use crate::resolve::flow::NodeIndex;
use crate::schema::{Schema, Step, Walk};
use crate::source::Spanned;
use crate::tree;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Compiled schemas of a definition and its agents; broken ones are left out.
#[derive(Debug, Default)]
pub struct Schemas {
    /// Of the inputs, by name.
    pub inputs: HashMap<String, Schema>,
    /// Of the results, by step.
    pub results: HashMap<NodeIndex, Schema>,
    /// Of what agents must be given, by package path.
    pub agents: HashMap<String, Schema>,
}

/// Compiles what was written.
#[must_use]
pub fn compile(resolved: &Resolved<'_>) -> Schemas {
    let one =
        |node: &tree::Node| (!has_hole(node)).then(|| Schema::of(Arc::new(node.to_json())).ok()).flatten();
    let mut schemas = Schemas::default();
    for input in &resolved.ast.inputs {
        schemas.inputs.extend(one(&input.schema).map(|schema| (input.name.value.clone(), schema)));
    }
    for (node, step) in resolved.flow.steps() {
        if let StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &step.kind {
            schemas.results.extend(one(result).map(|schema| (node, schema)));
        }
    }
    for (path, file) in &resolved.symbols.agents.files {
        let schema = file.agent.inputs.as_ref().and_then(one);
        schemas.agents.extend(schema.map(|schema| (path.clone(), schema)));
    }
    schemas
}

/// Whether some part of a tree could not be read.
#[must_use]
pub fn has_hole(node: &tree::Node) -> bool {
    match &node.value {
        tree::Value::Hole => true,
        tree::Value::List(items) => items.iter().any(has_hole),
        tree::Value::Map(entries) => entries.iter().any(|entry| has_hole(&entry.value)),
        tree::Value::Null | tree::Value::Bool(_) | tree::Value::Number(_) | tree::Value::Text(_) => false,
    }
}

/// A whole value and what is taken of it.
#[derive(Debug)]
pub struct Taken<'a> {
    /// What is known of the whole value.
    pub whole: Known,
    /// What is taken.
    pub rest: &'a [Spanned<Segment>],
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub enum Known {
    /// Its schema.
    Schema(Schema),
    /// Nothing was declared, so it may be any object.
    AnyObject,
    /// One of several.
    OneOf(Vec<Known>),
    /// A fault has been reported, or it cannot be said.
    Nothing,
}

/// What a binding takes; `Known::Nothing` where its path is faulty.
#[must_use]
pub fn taken<'a>(cx: &Context<'a, '_>, one: &Use<'a>) -> Taken<'a> {
    let nothing = Taken { whole: Known::Nothing, rest: &[] };
    match bindings::meaning(cx, one) {
        Ok(Meaning::Input(input, rest)) => {
            let schema = cx.schemas.inputs.get(&input.name.value).cloned();
            Taken { whole: schema.map_or(Known::Nothing, Known::Schema), rest }
        }
        Ok(Meaning::Step { node, step, output, rest, .. }) => {
            Taken { whole: output_of(cx, node, step, name_of(output)), rest }
        }
        Ok(Meaning::CandidateResult(rest)) => {
            let node = one.readers.first().copied().unwrap_or_default();
            let step = cx.resolved.flow.step(node);
            Taken { whole: step.map_or(Known::Nothing, |step| result_of(cx, node, step)), rest }
        }
        Ok(Meaning::Scalar(rest)) => {
            let name = one.binding.path.first().map(name_of).unwrap_or_default();
            let kind = if name == "iteration" { "integer" } else { "string" };
            Taken { whole: own(json!({ "type": kind })), rest }
        }
        Ok(Meaning::Unknown) | Err(_) => nothing,
    }
}

/// The schema of what a binding takes, if it is known.
#[must_use]
pub fn schema_of<'a>(cx: &Context<'a, '_>, one: &Use<'a>) -> Option<Schema> {
    let taken = taken(cx, one);
    let Known::Schema(whole) = taken.whole else { return None };
    match whole.field(&steps(taken.rest)) {
        Walk::Found { schema, .. } => Some(schema),
        Walk::Unknown { .. } | Walk::NotAContainer { .. } | Walk::Open => None,
    }
}

/// The segments of a path for walking a schema.
#[must_use]
pub fn steps(path: &[Spanned<Segment>]) -> Vec<Step<'_>> {
    let step = |segment| match segment {
        &Segment::Index(index) => Step::Index(index),
        Segment::Name(name) => Step::Name(name),
    };
    path.iter().map(|segment| step(&segment.value)).collect()
}

fn own(json: Value) -> Known {
    Schema::compile(&json).map_or(Known::Nothing, Known::Schema)
}

fn result_of(cx: &Context<'_, '_>, node: NodeIndex, step: &ast::Step) -> Known {
    if let StepKind::Agent(ast::AgentStep { result: None, .. }) = &step.kind {
        return Known::AnyObject;
    }
    cx.schemas.results.get(&node).cloned().map_or(Known::Nothing, Known::Schema)
}

fn output_of<'a>(cx: &Context<'a, '_>, node: NodeIndex, step: &'a ast::Step, output: &str) -> Known {
    match (&step.kind, output) {
        (StepKind::Agent(_), "result") => result_of(cx, node, step),
        (StepKind::Agent(_), "outcome") => own(json!({
            "type": "string",
            "enum": ["succeeded", "blocked", "failed", "deadline", "exhausted", "aborted"],
        })),
        (StepKind::Question(question), "choice") => {
            let values: Vec<_> = question.choices.iter().map(|choice| choice.value.value.as_str()).collect();
            own(json!({ "type": "string", "enum": values }))
        }
        (StepKind::Pick(pick), _) => pick_of(cx, node, pick),
        (StepKind::Hole, _) => Known::Nothing,
        _ => own(json!({ "type": "string" })),
    }
}

/// Alternatives of one value that are looked at.
const ALTERNATIVES: usize = 64;

/// Kept, for picks may read picks; while it is reckoned nothing is known of it, which ends a cycle of picks.
fn pick_of<'a>(cx: &Context<'a, '_>, node: NodeIndex, pick: &'a ast::Pick) -> Known {
    if let Some(known) = cx.picks.borrow().get(&node) {
        return known.clone();
    }
    cx.picks.borrow_mut().insert(node, Known::Nothing);
    let mut all = Vec::new();
    for binding in pick.from.iter().filter_map(ast::Template::sole_binding) {
        let taken = taken(cx, &Use { binding, readers: vec![node], place: Where::Pick { last: false } });
        match below(taken.whole, taken.rest) {
            Known::OneOf(more) => all.extend(more),
            one @ (Known::Schema(_) | Known::AnyObject | Known::Nothing) => all.push(one),
        }
        all.truncate(ALTERNATIVES);
    }
    let known = Known::OneOf(all);
    cx.picks.borrow_mut().insert(node, known.clone());
    known
}

fn below(whole: Known, rest: &[Spanned<Segment>]) -> Known {
    match whole {
        Known::Schema(schema) => match schema.field(&steps(rest)) {
            Walk::Found { schema, .. } => Known::Schema(schema),
            Walk::Unknown { .. } | Walk::NotAContainer { .. } | Walk::Open => Known::Nothing,
        },
        Known::AnyObject if rest.is_empty() => Known::AnyObject,
        Known::OneOf(all) => Known::OneOf(all.into_iter().map(|one| below(one, rest)).collect()),
        Known::AnyObject | Known::Nothing => Known::Nothing,
    }
}
