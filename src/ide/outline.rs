//! The outline of a document, and what can be folded.

use super::place;
use super::{Analysis, Document, Entry, EntryKind};
use crate::ast::{self, StepKind};
use crate::resolve::{flow, word_of};
use crate::source::{Source, Span};
use crate::tree::{Node, Style, Value};

/// The entries of the main document in its order.
#[must_use]
pub fn outline(analysis: &Analysis) -> Vec<Entry> {
    match &analysis.document {
        Document::Workflow(compiled) => compiled.ast.as_ref().map(workflow).unwrap_or_default(),
        Document::Agent(compiled) => compiled.ast.as_ref().map(agent).unwrap_or_default(),
    }
}

/// What can be folded in the main document: mappings, sequences, block scalars, of two lines or more.
#[must_use]
pub fn folds(analysis: &Analysis) -> Vec<Span> {
    let (Some((tree, role)), Some(source)) = (analysis.tree(), analysis.main()) else { return Vec::new() };
    let mut found = Vec::new();
    place::visit(tree, role, None, &mut |node, _, entry| {
        let is_block = node.text().is_some_and(|text| matches!(text.style, Style::Literal | Style::Folded));
        if is_block || matches!(node.value, Value::Map(_) | Value::List(_)) {
            let start = entry.map_or(node.span, |entry| entry.key.span);
            found.extend(lines(source, start.to(node.span)));
        }
    });
    // Of two that begin on one line an editor can fold only one: the larger.
    found.sort_by_key(|(line, span)| (*line, std::cmp::Reverse(span.end)));
    found.dedup_by_key(|(line, _)| *line);
    found.into_iter().map(|(_, span)| span).collect()
}

/// The span without blanks at its end, with its first line, if it has two lines or more.
fn lines(source: &Source, span: Span) -> Option<(usize, Span)> {
    let text = source.slice(span);
    let kept = text.trim_end().len();
    let span = Span::new(span.file, span.range().start, span.range().start + kept);
    let first = source.lines().line_of(span.range().start);
    let last = source.lines().line_of(span.range().end);
    (last > first).then_some((first, span))
}

fn workflow(ast: &ast::Workflow) -> Vec<Entry> {
    let mut entries = Vec::new();
    for input in &ast.inputs {
        entries.push(input_entry(&input.name.value, input.name.span, &input.schema));
    }
    for output in &ast.outputs {
        let (name, span) = (&output.name.value, output.name.span);
        entries.push(entry(name, "output", EntryKind::Output, span.to(output.value.span), span));
    }
    for agent in &ast.agents {
        let (name, span) = (&agent.name.value, agent.name.span);
        let whole = span.to(agent.reference.span);
        entries.push(entry(name, &agent.reference.value, EntryKind::Agent, whole, span));
    }
    entries.extend(steps(&ast.steps));
    entries.sort_by_key(|entry| entry.span);
    entries
}

fn input_entry(name: &str, span: Span, schema: &Node) -> Entry {
    let kind = super::words::type_text(&schema.to_json());
    entry(name, &kind, EntryKind::Input, span.to(schema.span), span)
}

fn entry(name: &str, detail: &str, kind: EntryKind, span: Span, name_span: Span) -> Entry {
    let name = if name.is_empty() { "(no name)" } else { name };
    Entry {
        name: name.to_owned(),
        detail: detail.to_owned(),
        kind,
        span: span.to(name_span),
        name_span,
        children: Vec::new(),
    }
}

fn steps(list: &[ast::Step]) -> Vec<Entry> {
    list.iter().map(step).collect()
}

fn step(step: &ast::Step) -> Entry {
    let kind = match &step.kind {
        StepKind::Cron(_) => EntryKind::Cron,
        StepKind::Question(_) => EntryKind::Question,
        StepKind::Agent(_) | StepKind::Hole => EntryKind::Stage,
        StepKind::Loop(_) => EntryKind::Loop,
        StepKind::Switch(_) | StepKind::Pick(_) => EntryKind::Branch,
        StepKind::Stop(_) => EntryKind::Stop,
    };
    let mut entry = entry(&step.name, &detail(step), kind, step.span, step.head);
    if let StepKind::Agent(stage) = &step.kind {
        entry.children.extend(stage.review.iter().enumerate().map(gate));
    }
    flow::nested(step, &mut |list| entry.children.extend(steps(list)));
    entry.children.sort_by_key(|child| child.span);
    entry
}

/// The kind, and the one thing that matters most of it.
fn detail(step: &ast::Step) -> String {
    let more = match &step.kind {
        StepKind::Cron(cron) => cron.expression.as_ref().map(|expression| expression.value.as_str()),
        StepKind::Question(question) => question.text.literal(),
        StepKind::Agent(stage) => stage.agent.as_ref().map(|agent| agent.value.as_str()),
        StepKind::Loop(_) | StepKind::Switch(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => {
            None
        }
    };
    let title = step.title.as_ref().map(|title| title.value.as_str());
    match title.or(more).and_then(|text| text.lines().next()) {
        Some(more) => format!("{} · {more}", word_of(&step.kind)),
        None => word_of(&step.kind).to_owned(),
    }
}

fn gate((i, gate): (usize, &ast::Gate)) -> Entry {
    let (detail, name_span) = match &gate.kind {
        ast::GateKind::Human { text, .. } => {
            (format!("human · {}", text.literal().unwrap_or("…")), text.span)
        }
        ast::GateKind::Agent { agent: Some(agent), .. } => (format!("agent · {}", agent.value), agent.span),
        ast::GateKind::Agent { agent: None, .. } | ast::GateKind::Hole => ("gate".to_owned(), gate.span),
    };
    entry(&format!("gate {}", i + 1), &detail, EntryKind::Gate, gate.span, name_span)
}

fn agent(agent: &ast::Agent) -> Vec<Entry> {
    let (name, name_span) = match &agent.slug {
        Some(slug) => (slug.value.as_str(), slug.span),
        None => ("agent", agent.span.at_start()),
    };
    let detail = agent.announce.as_ref().map_or("agent", |announce| announce.value.as_str());
    let detail = detail.lines().next().unwrap_or_default();
    let mut whole = entry(name, detail, EntryKind::Agent, agent.span, name_span);
    for prompt in &agent.system_prompt {
        whole.span = whole.span.to(prompt.span);
    }
    let properties = agent.inputs.as_ref().and_then(|inputs| inputs.get("properties"));
    for property in properties.map(Node::entries).unwrap_or_default() {
        whole.children.push(input_entry(&property.key.value, property.key.span, &property.value));
    }
    vec![whole]
}
