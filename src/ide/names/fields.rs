//! Properties of the schemas as they are written: who declares them, and which bindings and arguments say them.

use super::{Name, Saying};
use crate::ast::{self, Segment, StepKind};
use crate::check::bindings::{Use, Where, name_of};
use crate::ide::place::{self, Role};
use crate::resolve::Resolved;
use crate::source::{Span, Spanned};
use crate::tree::{Node, Value};

/// A schema, what is taken of its value before the binding itself goes on, and what the binding takes.
pub(in crate::ide) type Origin<'a> = (&'a Node, Vec<&'a Segment>, &'a [Spanned<Segment>]);

/// References that are followed one after the other.
const HOPS: usize = 16;
/// Values that one pick may stand for.
const ORIGINS: usize = 32;

/// Every property of a schema, and each `required` that says it.
pub(super) fn declared<'a>(schema: &Node) -> Vec<Saying<'a>> {
    let mut found = Vec::new();
    place::visit(schema, Role::Schema, None, &mut |node, role, _| {
        let properties = node.get("properties").filter(|_| role == Role::Schema);
        let Some(properties) = properties else { return };
        for entry in properties.entries() {
            let span = entry.key.span;
            found.push(Saying { name: Name::Field(span), span, declares: true });
        }
        let Some(Node { value: Value::List(names), .. }) = node.get("required") else { return };
        for text in names.iter().filter_map(Node::text) {
            let entry = properties.entries().iter().find(|entry| entry.key.value == text.value);
            if let Some(entry) = entry {
                found.push(Saying { name: Name::Field(entry.key.span), span: text.span, declares: false });
            }
        }
    });
    found
}

/// The properties that a path says.
pub(super) fn path<'a>(
    schema: &'a Node,
    before: &[&'a Segment],
    rest: &'a [Spanned<Segment>],
    found: &mut Vec<Saying<'a>>,
) {
    let mut at = schema;
    for segment in before {
        match part(schema, at, segment) {
            Some((_, next)) => at = next,
            None => return,
        }
    }
    for segment in rest {
        let Some((key, next)) = part(schema, at, &segment.value) else { return };
        if let Some(key) = key {
            found.push(Saying { name: Name::Field(key), span: segment.span, declares: false });
        }
        at = next;
    }
}

/// The schema under a path, if each of its names is declared.
pub(in crate::ide) fn at_path<'a>(
    schema: &'a Node,
    path: impl IntoIterator<Item = &'a Segment>,
) -> Option<&'a Node> {
    let mut at = schema;
    for segment in path {
        at = part(schema, at, segment)?.1;
    }
    Some(follow(schema, at))
}

/// The properties that the names of arguments say.
pub(super) fn arguments<'a>(
    root: &'a Node,
    at: &'a Node,
    with: &'a [ast::Argument],
    found: &mut Vec<Saying<'a>>,
) {
    for argument in with {
        let Some((key, next)) = property(root, at, &argument.name.value, HOPS) else { continue };
        found.push(Saying { name: Name::Field(key), span: argument.name.span, declares: false });
        if let ast::Data::Map(_, inner) = &argument.value {
            arguments(root, next, inner, found);
        }
    }
}

/// One step into a value: the place of the property's name, if it is one, and its schema.
fn part<'a>(root: &'a Node, at: &'a Node, segment: &Segment) -> Option<(Option<Span>, &'a Node)> {
    match segment {
        Segment::Name(name) => property(root, at, name, HOPS).map(|(key, next)| (Some(key), next)),
        Segment::Index(index) => {
            let at = follow(root, at);
            let prefix = at.get("prefixItems").and_then(|node| match &node.value {
                Value::List(items) => items.get(usize::try_from(*index).ok()?),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::Map(_)
                | Value::Hole => None,
            });
            prefix.or_else(|| at.get("items")).map(|next| (None, next))
        }
    }
}

fn property<'a>(root: &'a Node, at: &'a Node, name: &str, left: usize) -> Option<(Span, &'a Node)> {
    let at = follow(root, at);
    let left = left.checked_sub(1)?;
    let own = at
        .get("properties")
        .and_then(|properties| properties.entries().iter().find(|entry| entry.key.value == name));
    if let Some(entry) = own {
        return Some((entry.key.span, &entry.value));
    }
    ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| at.get(key)).find_map(|node| match &node.value {
        Value::List(items) => items.iter().find_map(|item| property(root, item, name, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) | Value::Hole => {
            None
        }
    })
}

/// Follows references inside the schema.
fn follow<'a>(root: &'a Node, mut at: &'a Node) -> &'a Node {
    for _ in 0..HOPS {
        let pointer = at.get("$ref").and_then(Node::text).and_then(|text| text.value.strip_prefix("#/"));
        let Some(pointer) = pointer else { break };
        let mut next = root;
        for segment in pointer.split('/') {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            match next.get(&segment) {
                Some(inner) => next = inner,
                None => return at,
            }
        }
        at = next;
    }
    at
}

/// The schemas, as they are written, of what a binding reads.
pub(in crate::ide) fn origins<'a>(resolved: &Resolved<'a>, one: &Use<'a>) -> Vec<Origin<'a>> {
    let mut found = Vec::new();
    collect(resolved, one, HOPS, &mut found);
    found
}

fn collect<'a>(resolved: &Resolved<'a>, one: &Use<'a>, left: usize, found: &mut Vec<Origin<'a>>) {
    let path = one.binding.path.as_slice();
    let Some(first) = path.first() else { return };
    let rest = |from: usize| path.get(from..).unwrap_or_default();
    match one.binding.root.value.as_str() {
        "inputs" => {
            if let Some(input) = resolved.symbols.inputs.get(name_of(first)) {
                found.push((&input.schema, Vec::new(), rest(1)));
            }
        }
        "candidate" if name_of(first) == "result" => {
            let step = one.readers.first().and_then(|reader| resolved.flow.step(*reader));
            if let Some(StepKind::Agent(ast::AgentStep { result: Some(result), .. })) = step.map(|s| &s.kind)
            {
                found.push((result, Vec::new(), rest(1)));
            }
        }
        "steps" | "previous" => {
            let node = resolved.symbols.steps.get(name_of(first)).copied();
            let Some(step) = node.and_then(|node| resolved.flow.step(node)) else { return };
            let output = path.get(1).map(name_of);
            if let (StepKind::Agent(ast::AgentStep { result: Some(result), .. }), Some("result")) =
                (&step.kind, output)
            {
                found.push((result, Vec::new(), rest(2)));
            }
            if let (StepKind::Pick(pick), Some("value"), Some(left)) =
                (&step.kind, output, left.checked_sub(1))
            {
                let place = Where::Pick { last: false };
                let readers: Vec<_> = node.into_iter().collect();
                for binding in pick.from.iter().filter_map(ast::Template::sole_binding) {
                    if found.len() >= ORIGINS {
                        return;
                    }
                    let from = found.len();
                    collect(resolved, &Use { binding, readers: readers.clone(), place }, left, found);
                    for (_, before, taken) in found.iter_mut().skip(from) {
                        before.extend(taken.iter().map(|segment| &segment.value));
                        *taken = rest(2);
                    }
                }
            }
        }
        _ => {}
    }
}
