//! Circles of schemas that lead back to themselves without a value in between, and alternatives that multiply.
//! It looks at documents whose references all lead somewhere, and judges no value.

use super::SchemaFault;
use super::form::address;
use super::place;
use serde_json::Value;
use std::collections::HashMap;

/// Schemas that one value may be held against, references followed each time.
const MOST: u64 = 100_000;

/// What is known of a schema.
#[derive(Clone, Copy)]
enum Mark {
    /// On the way that is being followed.
    Open,
    /// How many schemas a value is held against.
    Done(u64),
}

struct Frame<'a> {
    schema: &'a Value,
    left: Vec<&'a Value>,
    sum: u64,
}

/// The first fault of this kind among all schemas of a document, if there is one.
pub(super) fn find(root: &Value, all: &[(&Value, Vec<String>)]) -> Option<SchemaFault> {
    let mut marks: HashMap<usize, Mark> = HashMap::new();
    all.iter().find_map(|(schema, path)| {
        let message = follow(root, schema, &mut marks)?;
        let mut pointer = path.clone();
        if schema.get("$ref").is_some() {
            pointer.push("$ref".to_owned());
        }
        Some(SchemaFault { pointer, is_name: false, message, meant: None })
    })
}

/// Depth first with a stack of its own: chains of references may be long.
fn follow<'a>(root: &'a Value, schema: &'a Value, marks: &mut HashMap<usize, Mark>) -> Option<String> {
    let frame = |schema: &'a Value| Frame { schema, left: place::in_place(root, schema), sum: 1 };
    if matches!(marks.get(&address(schema)), Some(Mark::Done(_))) {
        return None;
    }
    marks.insert(address(schema), Mark::Open);
    let mut stack = vec![frame(schema)];
    while let Some(top) = stack.last_mut() {
        let Some(next) = top.left.pop() else {
            let sum = top.sum;
            marks.insert(address(top.schema), Mark::Done(sum));
            stack.pop();
            if let Some(below) = stack.last_mut() {
                below.sum = below.sum.saturating_add(sum);
            }
            if sum > MOST {
                return Some(format!(
                    "its references and alternatives multiply: one value would be held against more than {MOST} \
                     schemas"
                ));
            }
            continue;
        };
        match marks.get(&address(next)) {
            Some(Mark::Done(sum)) => top.sum = top.sum.saturating_add(*sum),
            Some(Mark::Open) => {
                let written = next_reference(top.schema);
                return Some(match written {
                    Some(text) => format!("`{text}` leads back to itself without a value in between"),
                    None => "it leads back to itself without a value in between".to_owned(),
                });
            }
            None => {
                marks.insert(address(next), Mark::Open);
                let next = frame(next);
                stack.push(next);
            }
        }
    }
    None
}

fn next_reference(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}
