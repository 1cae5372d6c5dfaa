//! Every name of a definition with each place that says it: steps, inputs, local agent names, agents, choices, outputs
//! and properties of schemas. One walk, on which definitions, references and renaming stand. It judges nothing.

mod fields;

use super::place::{self, Role, Way};
use super::{Analysis, At, Document};
use crate::ast::{self, Guarantee, OnDeadline, StepKind};
use crate::check::bindings::{self, Use, Where};
use crate::grammar::Shape;
use crate::resolve::flow::NodeIndex;
use crate::resolve::{Resolved, outputs_of, resolve};
use crate::source::{FileId, Sources, Span, Spanned};
use crate::tree;
use std::collections::HashMap;

pub(super) use fields::{at_path, origins};

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name<'a> {
    /// A step, by its id.
    Step(&'a str),
    /// An input of the workflow.
    Input(&'a str),
    /// A local name for an agent.
    Local(&'a str),
    /// An agent file, by its package path.
    Agent(&'a str),
    /// A choice of a question.
    Choice(&'a str, &'a str),
    /// An output of a step.
    Output(&'a str, &'a str),
    /// A property of a schema, by the place of its name.
    Field(Span),
    /// What is around: the loop of `loop`, the stage of `candidate`.
    Around(NodeIndex),
}

/// One place that says a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saying<'a> {
    /// The name.
    pub(super) name: Name<'a>,
    /// Where, quotes included.
    pub(super) span: Span,
    /// Whether it is the declaration.
    pub(super) declares: bool,
}

/// Whether something that may be a name stands at a place; most places hold none, and nothing need be walked for
/// them.
fn may_name(analysis: &Analysis, at: At) -> bool {
    if at.file != FileId::MAIN {
        return true;
    }
    let Some((tree, root)) = analysis.tree() else { return false };
    let way = Way::to(tree, root, at.offset);
    let Some(last) = way.last() else { return false };
    let names = [("step", "id"), ("guarantee", "choice"), ("choose", "choose"), ("agent_file", "slug")];
    let text = last.node.text().filter(|_| way.key.is_none());
    way.key.is_some()
        || text.is_some_and(|text| {
            text.value.contains("${{")
                || last.role.is_agent()
                || last.role.names_step()
                || last.role == Role::RequiredName
                || names.iter().any(|(context, key)| last.role.is(context, key))
        })
}

/// Everything that is said in a document and its agent files, if something may be said at the place.
pub(super) fn sayings(analysis: &Analysis, at: At, f: &mut impl FnMut(&[Saying<'_>])) {
    if !may_name(analysis, at) {
        return;
    }
    match &analysis.document {
        Document::Workflow(compiled) => {
            let Some(ast) = &compiled.ast else { return };
            let resolved = resolve(ast, &compiled.agents);
            let uses = bindings::collect(&resolved);
            let keys = compiled.tree.as_ref().map(output_keys).unwrap_or_default();
            let mut walk = Walk { resolved: &resolved, keys, found: Vec::new() };
            walk.declarations();
            for one in &uses {
                walk.binding(one);
            }
            walk.agents();
            f(&walk.found);
        }
        Document::Agent(compiled) => {
            let Some(agent) = &compiled.ast else { return };
            let mut found = Vec::new();
            if let Some(slug) = &agent.slug {
                found.push(Saying { name: Name::Agent(""), span: slug.span, declares: true });
            }
            found.extend(agent.inputs.as_ref().map(fields::declared).into_iter().flatten());
            f(&found);
        }
    }
}

/// A place without the quotes around it.
pub(super) fn inner(sources: &Sources, span: Span) -> Span {
    let text = sources.get(span.file).map(|source| source.slice(span)).unwrap_or_default();
    let is_quoted = ['"', '\'']
        .into_iter()
        .any(|quote| text.len() >= 2 && text.starts_with(quote) && text.ends_with(quote));
    if is_quoted { Span { start: span.start + 1, end: span.end - 1, ..span } } else { span }
}

/// The same for a place that is asked about: whole if the question is asked at a quote.
pub(super) fn inner_at(sources: &Sources, span: Span, offset: usize) -> Span {
    Some(inner(sources, span)).filter(|inner| inner.touches(offset)).unwrap_or(span)
}

/// Places of the keys `result` and `choices`, by the places of their values.
fn output_keys(tree: &tree::Node) -> HashMap<Span, Span> {
    let mut keys = HashMap::new();
    place::visit(tree, Role::Workflow, None, &mut |node, role, entry| {
        let Some(entry) = entry else { return };
        let is_output = (role == Role::Schema && entry.key.value == "result")
            || role.shape().is_some_and(|shape| shape == Shape::Choices);
        if is_output {
            keys.insert(node.span, entry.key.span);
        }
    });
    keys
}

struct Walk<'a, 'r> {
    resolved: &'r Resolved<'a>,
    keys: HashMap<Span, Span>,
    found: Vec<Saying<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn declare(&mut self, name: Name<'a>, span: Span) {
        self.found.push(Saying { name, span, declares: true });
    }

    fn say(&mut self, name: Name<'a>, span: Span) {
        self.found.push(Saying { name, span, declares: false });
    }

    fn declarations(&mut self) {
        let ast = self.resolved.ast;
        for input in &ast.inputs {
            self.declare(Name::Input(&input.name.value), input.name.span);
            self.found.extend(fields::declared(&input.schema));
        }
        for entry in &ast.agents {
            self.declare(Name::Local(&entry.name.value), entry.name.span);
            self.reference(&entry.reference, true);
        }
        for (node, step) in self.resolved.flow.steps() {
            self.step(node, step);
        }
        for guarantee in &ast.guarantees {
            self.guarantee(guarantee);
        }
    }

    fn guarantee(&mut self, guarantee: &'a Guarantee) {
        match guarantee {
            Guarantee::Accepted { before, accepted, .. } => {
                self.say(Name::Step(&before.value), before.span);
                self.say(Name::Step(&accepted.value), accepted.span);
            }
            Guarantee::Answered { before, answered, choice, .. } => {
                self.say(Name::Step(&before.value), before.span);
                self.say(Name::Step(&answered.value), answered.span);
                self.say(Name::Choice(&answered.value, &choice.value), choice.span);
            }
            Guarantee::AgentRunsBetweenWaits { .. } => {}
        }
    }

    fn step(&mut self, node: NodeIndex, step: &'a ast::Step) {
        let name = step.name.as_str();
        if let Some(id) = &step.id {
            self.declare(Name::Step(&id.value), id.span);
        }
        for output in outputs_of(&step.kind) {
            let span = self.output_place(step, output);
            self.declare(Name::Output(name, output), span);
        }
        match &step.kind {
            StepKind::Question(question) => {
                for choice in &question.choices {
                    self.declare(Name::Choice(name, &choice.value.value), choice.value.span);
                }
                if let Some(Spanned { value: OnDeadline::Choose(chosen), .. }) = &question.on_deadline {
                    self.say(Name::Choice(name, &chosen.value), chosen.span);
                }
            }
            StepKind::Agent(stage) => {
                self.declare(Name::Around(node), step.head);
                self.found.extend(stage.result.as_ref().map(fields::declared).into_iter().flatten());
                self.stage(stage);
            }
            StepKind::Loop(_) => self.declare(Name::Around(node), step.head),
            StepKind::Switch(switch) => self.cases(switch),
            StepKind::Cron(_) | StepKind::Pick(_) | StepKind::Stop(_) | StepKind::Hole => {}
        }
    }

    fn output_place(&self, step: &ast::Step, output: &str) -> Span {
        let value = match (&step.kind, output) {
            (StepKind::Agent(stage), "result") => stage.result.as_ref().map(|result| result.span),
            (StepKind::Question(question), "choice") => Some(question.choices_span),
            (
                StepKind::Cron(_)
                | StepKind::Question(_)
                | StepKind::Agent(_)
                | StepKind::Loop(_)
                | StepKind::Switch(_)
                | StepKind::Pick(_)
                | StepKind::Stop(_)
                | StepKind::Hole,
                _,
            ) => None,
        };
        value.and_then(|value| self.keys.get(&value)).copied().unwrap_or(step.head)
    }

    fn stage(&mut self, stage: &'a ast::AgentStep) {
        if let Some(agent) = &stage.agent {
            self.reference(agent, false);
            self.arguments(&agent.value, &stage.with);
        }
        for gate in &stage.review {
            if let ast::GateKind::Agent { agent: Some(agent), with, .. } = &gate.kind {
                self.reference(agent, false);
                self.arguments(&agent.value, with);
            }
        }
    }

    /// Cases over the choice of a question say its choices.
    fn cases(&mut self, switch: &'a ast::Switch) {
        let Some(binding) = switch.on.sole_binding() else { return };
        let (Some(id), Some(output)) = (binding.path.first(), binding.path.get(1)) else { return };
        if binding.root.value == "steps" && bindings::name_of(output) == "choice" {
            for case in &switch.cases {
                self.say(Name::Choice(bindings::name_of(id), &case.value.value), case.value.span);
            }
        }
    }

    /// A reference says a local name, or else the agent that it leads to.
    fn reference(&mut self, reference: &'a Spanned<String>, in_table: bool) {
        let written = reference.value.as_str();
        let is_local = self.resolved.ast.agents.iter().any(|entry| entry.name.value == written);
        if is_local && !in_table {
            self.say(Name::Local(written), reference.span);
        } else if let Some((path, _)) = self.resolved.symbols.agents.find(written) {
            self.say(Name::Agent(path), reference.span);
        }
    }

    fn agents(&mut self) {
        for (path, file) in &self.resolved.symbols.agents.files {
            let start = Span::new(file.agent.file, 0, 0);
            let span = file.agent.slug.as_ref().map_or(start, |slug| slug.span);
            self.declare(Name::Agent(path), span);
            self.found.extend(file.agent.inputs.as_ref().map(fields::declared).into_iter().flatten());
        }
    }

    fn arguments(&mut self, agent: &'a str, with: &'a [ast::Argument]) {
        let agents: &'a crate::resolve::Agents = self.resolved.symbols.agents;
        let file = agents.find(crate::resolve::local(self.resolved.ast, agent));
        let inputs = file.and_then(|(_, file)| file.agent.inputs.as_ref());
        if let Some(inputs) = inputs {
            fields::arguments(inputs, inputs, with, &mut self.found);
        }
    }

    fn binding(&mut self, one: &Use<'a>) {
        let binding = one.binding;
        let first = binding.path.first();
        match (binding.root.value.as_str(), first) {
            ("inputs", Some(first)) => self.say(Name::Input(bindings::name_of(first)), first.span),
            ("steps" | "previous", Some(first)) => {
                let id = bindings::name_of(first);
                self.say(Name::Step(id), first.span);
                if let Some(output) = binding.path.get(1) {
                    self.say(Name::Output(id, bindings::name_of(output)), output.span);
                }
            }
            ("loop", _) => {
                let scope = one.readers.first().and_then(|reader| self.resolved.flow.node(*reader));
                if let Some(a_loop) = scope.and_then(|node| node.scope.last()) {
                    self.say(Name::Around(*a_loop), binding.root.span);
                }
            }
            ("candidate", first) if one.place == Where::Gate => {
                let Some(reader) = one.readers.first() else { return };
                self.say(Name::Around(*reader), binding.root.span);
                if let (Some(step), Some(first)) = (self.resolved.flow.step(*reader), first) {
                    self.say(Name::Output(&step.name, bindings::name_of(first)), first.span);
                }
            }
            _ => {}
        }
        for (schema, before, rest) in fields::origins(self.resolved, one) {
            fields::path(schema, &before, rest, &mut self.found);
        }
    }
}
