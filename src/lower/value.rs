//! Templates, data and bindings in their frozen form.

use crate::{ast, ir};
use indexmap::IndexMap;

pub(super) fn text(template: &ast::Template) -> ir::Text {
    let pieces = template.parts.iter().map(|part| match part {
        ast::Part::Text(text) => ir::Piece::Text(text.clone()),
        ast::Part::Binding(binding) => ir::Piece::Path(path(binding)),
    });
    ir::Text(pieces.collect())
}

/// A scalar that is exactly one binding keeps the JSON type.
pub(super) fn of_template(template: &ast::Template) -> ir::Data {
    match (template.sole_binding(), template.literal()) {
        (Some(binding), _) => ir::Data::Path(path(binding)),
        (None, Some(literal)) => ir::Data::Literal(literal.into()),
        (None, None) => ir::Data::Text(text(template)),
    }
}

pub(super) fn sole_path(template: &ast::Template) -> ir::Path {
    template.sole_binding().map_or(ir::Path { root: ir::Root::SessionId, rest: Vec::new() }, path)
}

pub(super) fn arguments(arguments: &[ast::Argument]) -> IndexMap<String, ir::Data> {
    arguments.iter().map(|argument| (argument.name.value.clone(), data(&argument.value))).collect()
}

fn data(value: &ast::Data) -> ir::Data {
    match value {
        ast::Data::Template(template) => of_template(template),
        ast::Data::Literal(node) => ir::Data::Literal(node.to_json()),
        ast::Data::List(_, items) => ir::Data::List(items.iter().map(data).collect()),
        ast::Data::Map(_, entries) => ir::Data::Map(arguments(entries)),
    }
}

/// INVARIANT: every root and output has been checked; an impossible one reads the session's id.
fn path(binding: &ast::Binding) -> ir::Path {
    let name = |i: usize| match binding.path.get(i).map(|segment| &segment.value) {
        Some(ast::Segment::Name(name)) => name.clone(),
        Some(ast::Segment::Index(_)) | None => String::new(),
    };
    let first = name(0);
    let (root, used) = match (binding.root.value.as_str(), first.as_str()) {
        ("inputs", _) => (ir::Root::Input(first), 1),
        ("steps", _) => (ir::Root::Step { node: first, output: name(1) }, 2),
        ("previous", _) => (ir::Root::Previous { node: first, output: name(1) }, 2),
        ("loop", _) => (ir::Root::LoopIteration, 1),
        ("candidate", "summary") => (ir::Root::CandidateSummary, 1),
        ("candidate", _) => (ir::Root::CandidateResult, 1),
        ("session", "started_at") => (ir::Root::SessionStartedAt, 1),
        ("session", "owner") => (ir::Root::SessionOwner, 1),
        (_, _) => (ir::Root::SessionId, 1),
    };
    let rest = binding.path.iter().skip(used).map(|segment| match &segment.value {
        ast::Segment::Name(name) => ir::Segment::Name(name.clone()),
        ast::Segment::Index(index) => ir::Segment::Index(*index),
    });
    ir::Path { root, rest: rest.collect() }
}
