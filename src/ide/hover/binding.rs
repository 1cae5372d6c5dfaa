//! Bindings: what each name of a path stands for, its type, and where it is declared.

use super::describe;
use crate::ast::{Segment, StepKind};
use crate::check::Context;
use crate::check::bindings::{Use, name_of};
use crate::ide::names::origins;
use crate::ide::{Analysis, Hover, scope, words};
use crate::schema::Schema;
use crate::source::Span;

/// The text for a place inside of a binding.
pub(super) fn hover<'a>(
    analysis: &Analysis,
    cx: &Context<'a, '_>,
    one: &Use<'a>,
    offset: usize,
) -> Option<Hover> {
    let binding = one.binding;
    // The last name that the place touches, so that a dot belongs to the name behind it.
    let at = binding.path.iter().rposition(|segment| segment.span.touches(offset));
    let (span, count) = match at {
        Some(at) => (binding.path.get(at)?.span, at + 1),
        None if binding.root.span.touches(offset) => (binding.root.span, 0),
        None => (binding.span, binding.path.len()),
    };
    let cut = crate::ast::Binding {
        span: binding.span,
        root: binding.root.clone(),
        path: binding.path.get(..count).unwrap_or_default().to_vec(),
    };
    let markdown = match (binding.root.value.as_str(), count) {
        ("steps" | "previous", 1) => {
            let node = cx.resolved.symbols.steps.get(name_of(cut.path.first()?))?;
            describe::step(cx.resolved, *node)?
        }
        (root, 0) => root_doc(root)?.to_owned(),
        _ => value(analysis, cx, one, count)?,
    };
    Some(Hover { span, markdown })
}

fn root_doc(root: &str) -> Option<&'static str> {
    ROOTS.iter().find(|(name, _)| *name == root).map(|(_, doc)| *doc)
}

/// The roots of bindings.
pub(in crate::ide) static ROOTS: [(&str, &str); 6] = [
    ("inputs", "The values that the session started with"),
    ("steps", "The outputs of steps, by id: `steps.ID.OUTPUT`"),
    ("session", "The session: `id`, `started_at`, `owner`"),
    ("loop", "The innermost loop around: `loop.iteration` counts from 1"),
    ("candidate", "In a gate, what is judged: `candidate.result`, `candidate.summary`"),
    ("previous", "In a pick, the iteration before of the innermost loop: `previous.ID.OUTPUT`"),
];

fn value<'a>(analysis: &Analysis, cx: &Context<'a, '_>, one: &Use<'a>, count: usize) -> Option<String> {
    let path = one.binding.path.get(..count)?;
    let mut written = one.binding.root.value.clone();
    for segment in path {
        match &segment.value {
            Segment::Name(name) => written.push_str(&format!(".{name}")),
            Segment::Index(index) => written.push_str(&format!("[{index}]")),
        }
    }
    let schemas = shortened(cx, one, count);
    let mut out = format!("**`{written}`**: `{}`", types(&schemas));
    for text in schemas.iter().filter_map(|schema| schema.json().get("description")?.as_str()) {
        out.push_str(&format!("\n\n{}", text.trim()));
    }
    if let Some(default) = schemas.iter().find_map(Schema::default_value) {
        out.push_str(&format!("\n\nDefault: `{default}`."));
    }
    if let Some(sure) = assigned(cx, one) {
        out.push_str(sure);
    }
    let declared: Vec<String> = origins(cx.resolved, one)
        .into_iter()
        .filter_map(|(schema, _, _)| place(analysis, schema.span))
        .collect();
    if !declared.is_empty() {
        out.push_str(&format!("\n\nDeclared in {}.", words::joined(declared.into_iter(), ", ")));
    }
    Some(out)
}

/// The schemas of the first part of a path.
fn shortened<'a>(cx: &Context<'a, '_>, one: &Use<'a>, count: usize) -> Vec<Schema> {
    let whole = crate::check::types::taken(cx, one);
    let beyond = one.binding.path.len() - count.min(one.binding.path.len());
    let kept = whole.rest.len().saturating_sub(beyond);
    if whole.rest.len() < beyond {
        return Vec::new();
    }
    scope::below(whole.whole, whole.rest.get(..kept).unwrap_or_default())
}

/// Several types as one text.
pub(super) fn types(schemas: &[Schema]) -> String {
    let mut all: Vec<String> = schemas.iter().map(words::type_of).collect();
    all.dedup();
    if all.is_empty() { "anything".to_owned() } else { words::joined(all.into_iter(), " | ") }
}

/// Whether the output surely has a value where it is read.
fn assigned(cx: &Context<'_, '_>, one: &Use<'_>) -> Option<&'static str> {
    if one.binding.root.value != "steps" {
        return None;
    }
    let node = *cx.resolved.symbols.steps.get(name_of(one.binding.path.first()?))?;
    let output = name_of(one.binding.path.get(1)?);
    let step = cx.resolved.flow.step(node)?;
    if matches!(step.kind, StepKind::Hole) {
        return None;
    }
    let sure = one.readers.iter().all(|reader| cx.facts.sure(&cx.resolved.flow, *reader, node, output));
    Some(if sure { "\n\nSurely has a value here." } else { "\n\nMay have no value here." })
}

/// A place as `file:line`.
fn place(analysis: &Analysis, span: Span) -> Option<String> {
    let source = analysis.sources().get(span.file)?;
    Some(format!("`{}:{}`", source.name(), source.position(span.range().start).line))
}
