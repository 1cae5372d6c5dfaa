//! Inside of `${{ … }}`: roots, steps, outputs, inputs and fields by schema; what surely has a value comes first.

use super::slot::{BINDING, Open, Shown, Writer};
use super::{Place, Read};
use crate::ast::{self, Binding, Segment, StepKind};
use crate::check::Context;
use crate::check::bindings::{self, Use, Where};
use crate::check::types;
use crate::ide::hover::ROOTS;
use crate::ide::{Completion, CompletionKind, scope, words};
use crate::resolve::flow::NodeIndex;
use crate::resolve::{outputs_of, resolve, word_of};
use crate::schema::{Schema, Step, Walk};
use crate::source::{FileId, Span, Spanned};
use serde_json::Value;

/// Bindings that are offered as a whole.
const WHOLE: usize = 200;

/// What can be written in a binding that is open at the place.
pub(super) fn complete(read: &Read<'_>, open: &Open) -> Vec<Completion> {
    let file = read.source.id();
    for (text, mark) in &open.tries {
        let Some(tree) = read.tree(text) else { continue };
        let Some((ast, agents)) = read.workflow(text, &tree) else { return Vec::new() };
        let resolved = resolve(&ast, agents);
        let asked = bindings::collect(&resolved)
            .into_iter()
            .find(|one| one.binding.span.start as usize == *mark && one.binding.span.len() == BINDING.len());
        let Some(asked) = asked else { continue };
        let Some(path) = Path::read(&open.path) else { return Vec::new() };
        let cx = Context::new(&resolved, read.analysis.as_of);
        let offered = offer(&cx, &asked, &path);
        return offered.into_iter().map(|one| one.at(file, open, &path)).collect();
    }
    Vec::new()
}

/// A path that is being written: the whole names of it.
struct Path {
    root: Option<String>,
    segments: Vec<Segment>,
    in_index: bool,
    /// The last character is the dot before the name that is being written.
    behind_dot: bool,
}

impl Path {
    fn read(text: &str) -> Option<Self> {
        let mut path =
            Self { root: None, segments: Vec::new(), in_index: false, behind_dot: text.ends_with('.') };
        let mut rest = text;
        while let Some(at) = rest.find(['.', '[', ']']) {
            let (piece, tail) = rest.split_at_checked(at)?;
            let mark = tail.chars().next()?;
            rest = tail.get(1..)?;
            if path.in_index {
                path.segments.push(Segment::Index(piece.parse().ok().filter(|_| mark == ']')?));
                path.in_index = false;
                continue;
            }
            match (&path.root, piece) {
                (None, root) => path.root = Some(root.to_owned()),
                // Behind an index there is no name before the next mark.
                (Some(_), "") if matches!(path.segments.last(), Some(Segment::Index(_))) => {}
                (Some(_), "") => return None,
                (Some(_), name) => path.segments.push(Segment::Name(name.to_owned())),
            }
            path.in_index = mark == '[';
            if mark == ']' {
                return None;
            }
        }
        // Behind a closed index a dot must come first.
        let is_closed = text.ends_with(']');
        (!is_closed).then_some(path)
    }
}

struct Offer {
    label: String,
    kind: CompletionKind,
    detail: String,
    doc: String,
    is_index: bool,
}

impl Offer {
    fn new(label: &str, kind: CompletionKind, detail: String) -> Self {
        Self { label: label.to_owned(), kind, detail, doc: String::new(), is_index: false }
    }

    fn doc(mut self, doc: &str) -> Self {
        doc.clone_into(&mut self.doc);
        self
    }

    fn at(self, file: FileId, open: &Open, path: &Path) -> Completion {
        let (mut start, end) = open.word;
        let mut text = self.label.clone();
        if self.is_index {
            // An index takes the place of the dot, or goes on behind the bracket.
            if path.in_index {
                text = text.trim_start_matches('[').to_owned();
            } else {
                start = start.saturating_sub(1);
            }
        }
        Completion {
            label: self.label,
            kind: self.kind,
            detail: self.detail,
            doc: self.doc,
            span: Span::new(file, start, end),
            text,
        }
    }
}

fn offer<'a>(cx: &Context<'a, '_>, asked: &Use<'a>, path: &Path) -> Vec<Offer> {
    let Some(root) = &path.root else { return roots(cx, asked) };
    let names = |names: &[(&str, &str)]| {
        let offers =
            names.iter().map(|(name, kind)| Offer::new(name, CompletionKind::Field, (*kind).to_owned()));
        offers.collect::<Vec<_>>()
    };
    match (root.as_str(), path.segments.as_slice()) {
        ("inputs", []) => inputs(cx),
        ("steps", []) => steps(cx, asked, false),
        ("previous", []) => steps(cx, asked, true),
        ("steps" | "previous", [Segment::Name(id)]) => outputs(cx, asked, id, root == "previous"),
        ("session", []) => names(&[("id", "string"), ("started_at", "string"), ("owner", "string")]),
        ("loop", []) => names(&[("iteration", "integer")]),
        ("candidate", []) if asked.place == Where::Gate => {
            let result = Offer::new("result", CompletionKind::Field, "the submitted result".to_owned());
            vec![result, Offer::new("summary", CompletionKind::Field, "string".to_owned())]
        }
        (root, segments) => fields(&schemas(cx, asked, root, segments), path),
    }
}

fn roots(cx: &Context<'_, '_>, asked: &Use<'_>) -> Vec<Offer> {
    let scope = asked.readers.first().and_then(|reader| cx.resolved.flow.node(*reader));
    let in_loop = asked.place != Where::Output && scope.is_some_and(|node| !node.scope.is_empty());
    let is_there = |root: &str| match root {
        "inputs" => !cx.resolved.ast.inputs.is_empty(),
        "loop" => in_loop,
        "candidate" => asked.place == Where::Gate,
        "previous" => in_loop && matches!(asked.place, Where::Pick { .. }),
        _ => true,
    };
    let there = ROOTS.iter().filter(|(root, _)| is_there(root));
    there.map(|(root, doc)| Offer::new(root, CompletionKind::Word, String::new()).doc(doc)).collect()
}

fn inputs(cx: &Context<'_, '_>) -> Vec<Offer> {
    let offer = |input: &ast::Input| {
        let json = input.schema.to_json();
        let doc = json.get("description").and_then(Value::as_str).unwrap_or_default();
        Offer::new(&input.name.value, CompletionKind::Input, words::type_text(&json)).doc(doc)
    };
    cx.resolved.ast.inputs.iter().map(offer).collect()
}

fn is_sure(cx: &Context<'_, '_>, asked: &Use<'_>, node: NodeIndex, output: &str) -> bool {
    // A pick takes the first that is there, so nothing but its last entry need be sure.
    matches!(asked.place, Where::Pick { .. })
        || asked.readers.iter().all(|reader| cx.facts.sure(&cx.resolved.flow, *reader, node, output))
}

const UNSURE: &str = "may have no value here";

fn steps(cx: &Context<'_, '_>, asked: &Use<'_>, previous: bool) -> Vec<Offer> {
    let flow = &cx.resolved.flow;
    let innermost = asked.readers.first().and_then(|reader| flow.node(*reader)?.scope.last().copied());
    let mut found: Vec<(bool, Offer)> = Vec::new();
    for (node, step) in flow.steps() {
        let Some(id) = &step.id else { continue };
        let outputs = outputs_of(&step.kind);
        let is_own = asked.readers.contains(&node) && asked.place != Where::Output && !previous;
        let is_outside = previous
            && !innermost
                .is_some_and(|outer| flow.node(node).is_some_and(|node| node.scope.contains(&outer)));
        let is_later =
            !matches!(cx.resolved.symbols.steps.get(id.value.as_str()), Some(first) if *first == node);
        if outputs.is_empty() || is_own || is_outside || is_later {
            continue;
        }
        let sure = outputs.iter().any(|output| is_sure(cx, asked, node, output));
        let mut detail = word_of(&step.kind).to_owned();
        if !sure {
            detail.push_str(&format!(", {UNSURE}"));
        }
        let title = step.title.as_ref().map(|title| title.value.as_str()).unwrap_or_default();
        found.push((!sure, Offer::new(&id.value, CompletionKind::Step, detail).doc(title)));
    }
    found.sort_by_key(|(unsure, _)| *unsure);
    found.into_iter().map(|(_, offer)| offer).collect()
}

fn outputs<'a>(cx: &Context<'a, '_>, asked: &Use<'a>, id: &str, previous: bool) -> Vec<Offer> {
    let Some(node) = cx.resolved.symbols.steps.get(id).copied() else { return Vec::new() };
    let Some(step) = cx.resolved.flow.step(node) else { return Vec::new() };
    let root = if previous { "previous" } else { "steps" };
    let mut found: Vec<(bool, Offer)> = Vec::new();
    for output in outputs_of(&step.kind) {
        let segments = [Segment::Name(id.to_owned()), Segment::Name((*output).to_owned())];
        let mut detail = typed(&schemas(cx, asked, root, &segments));
        let sure = is_sure(cx, asked, node, output);
        if !sure {
            detail.push_str(&format!(", {UNSURE}"));
        }
        found.push((!sure, Offer::new(output, CompletionKind::Field, detail)));
    }
    found.sort_by_key(|(unsure, _)| *unsure);
    found.into_iter().map(|(_, offer)| offer).collect()
}

fn typed(schemas: &[Schema]) -> String {
    let mut all: Vec<String> = schemas.iter().map(words::type_of).collect();
    all.dedup();
    if all.is_empty() { "anything".to_owned() } else { words::joined(all.into_iter(), " | ") }
}

/// The schemas at the end of a path that stands nowhere yet.
fn schemas(cx: &Context<'_, '_>, asked: &Use<'_>, root: &str, segments: &[Segment]) -> Vec<Schema> {
    let span = asked.binding.span;
    let path = segments.iter().map(|segment| Spanned::new(segment.clone(), span)).collect();
    let binding = Binding { span, root: Spanned::new(root.to_owned(), span), path };
    let one = Use { binding: &binding, readers: asked.readers.clone(), place: asked.place };
    let taken = types::taken(cx, &one);
    scope::below(taken.whole, taken.rest)
}

/// The parts of a value: required properties first. Which there are, the walk through the schema tells when it is asked
/// for a name that no property has.
fn fields(schemas: &[Schema], path: &Path) -> Vec<Offer> {
    let mut found: Vec<(bool, Offer)> = Vec::new();
    for schema in schemas {
        let names = match schema.field(&[Step::Name(NOWHERE)]) {
            Walk::Unknown { known, .. } if !path.in_index => known,
            Walk::Unknown { .. } | Walk::Found { .. } | Walk::NotAContainer { .. } | Walk::Open => Vec::new(),
        };
        for name in names.iter().filter(|name| is_name(name)) {
            let Walk::Found { schema: part, definite } = schema.field(&[Step::Name(name)]) else { continue };
            if found.iter().any(|(_, offer)| offer.label == *name) {
                continue;
            }
            let mut detail = words::type_of(&part);
            if !definite {
                detail.push_str(", optional");
            }
            let doc = part.json().get("description").and_then(Value::as_str).unwrap_or_default();
            found.push((!definite, Offer::new(name, CompletionKind::Field, detail).doc(doc)));
        }
        if let Walk::Found { schema: item, .. } = schema.field(&[Step::Index(0)])
            && (path.in_index || path.behind_dot)
        {
            let offer = Offer::new("[0]", CompletionKind::Field, words::type_of(&item));
            found.push((false, Offer { is_index: true, ..offer }));
        }
    }
    found.sort_by_key(|(unsure, _)| *unsure);
    found.into_iter().map(|(_, offer)| offer).collect()
}

/// A name that no binding can say.
const NOWHERE: &str = "\u{0}";

/// Whether a binding can say a property.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// Whole bindings, where exactly one is expected: outputs that surely have a value, and inputs.
pub(super) fn whole(place: &Place<'_, '_>, writer: Writer) -> Vec<Completion> {
    let Some(resolved) = place.resolved else { return Vec::new() };
    let cx = Context::new(resolved, place.analysis.as_of);
    let step = place.step();
    let ends = || vec![resolved.flow.end()];
    let readers = step.map_or_else(ends, |(node, _)| vec![node]);
    let kind = step.map(|(_, step)| &step.kind);
    let mut found = Vec::new();
    let mut add = |path: String, kind: CompletionKind, detail: &str| {
        let text = format!("${{{{ {path} }}}}");
        let shown = Shown { label: &text, kind, detail: detail.to_owned(), doc: String::new() };
        found.push(writer.text(shown, &text));
    };
    let is_pick = matches!(kind, Some(StepKind::Pick(_)));
    for (node, step) in resolved.flow.steps() {
        if step.id.is_none() || readers.contains(&node) {
            continue;
        }
        for output in outputs_of(&step.kind) {
            let is_sure = |reader: &NodeIndex| cx.facts.sure(&resolved.flow, *reader, node, output);
            if is_pick || readers.iter().all(is_sure) {
                add(format!("steps.{}.{output}", step.name), CompletionKind::Field, word_of(&step.kind));
            }
        }
    }
    for input in &resolved.ast.inputs {
        let kind = words::type_text(&input.schema.to_json());
        add(format!("inputs.{}", input.name.value), CompletionKind::Input, &kind);
    }
    found.truncate(WHOLE);
    found
}
