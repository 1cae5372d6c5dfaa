//! For editors: a definition that was read again after a change takes over what an earlier compile brought into its
//! schemas from files, so that no file need be read again. It reads nothing and reports nothing.

use super::steps;
use crate::ast::{AgentStep, StepKind, Workflow};
use crate::resolve::flow::all_steps;
use crate::tree::{Node, Value};
use std::collections::HashMap;

/// Takes the schemas of inputs and results that refer to files from the earlier compile, by their names.
pub fn relink(ast: &mut Workflow, earlier: &Workflow) {
    let inputs: HashMap<&str, &Node> =
        earlier.inputs.iter().map(|input| (input.name.value.as_str(), &input.schema)).collect();
    for input in ast.inputs.iter_mut().filter(|input| refers_to_file(&input.schema)) {
        if let Some(schema) = inputs.get(input.name.value.as_str()) {
            input.schema = (*schema).clone();
        }
    }
    let mut results: HashMap<&str, &Node> = HashMap::new();
    for step in all_steps(&earlier.steps) {
        if let StepKind::Agent(AgentStep { result: Some(result), .. }) = &step.kind {
            results.insert(&step.name, result);
        }
    }
    steps::each(&mut ast.steps, &mut |step| {
        if let StepKind::Agent(AgentStep { result: Some(result), .. }) = &mut step.kind
            && refers_to_file(result)
            && let Some(linked) = results.get(step.name.as_str())
        {
            *result = (*linked).clone();
        }
    });
}

fn refers_to_file(node: &Node) -> bool {
    let own = node.get("$ref").and_then(Node::text).is_some_and(|text| !text.value.starts_with('#'));
    own || match &node.value {
        Value::Map(entries) => entries.iter().any(|entry| refers_to_file(&entry.value)),
        Value::List(items) => items.iter().any(refers_to_file),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => false,
    }
}
