//! Every binding of a definition with the place that reads it, and what its path stands for.
//!
//! The faults of a path belong to rules of their own; this file only walks.

use super::{Context, misplaced_root, unknown_input, unknown_output, unknown_root, unknown_step};
use crate::ast::{self, Binding, Segment, StepKind, Template};
use crate::diagnostic::Diagnostic;
use crate::resolve::Resolved;
use crate::resolve::flow::{NodeIndex, Place};
use crate::resolve::outputs_of;
use crate::source::Spanned;

/// One binding and who reads it.
#[derive(Clone, Debug)]
pub struct Use<'a> {
    /// The binding.
    pub binding: &'a Binding,
    /// The nodes at whose entry it is read.
    pub readers: Vec<NodeIndex>,
    /// In what kind of place it stands.
    pub place: Where,
}

/// The kind of place that a binding stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Any other place.
    Plain,
    /// In a gate, where the candidate is readable.
    Gate,
    /// An entry of a `pick`; whether it is the last.
    Pick {
        /// The last entry must be surely assigned.
        last: bool,
    },
    /// The value of a `switch`.
    Switch,
    /// An output of the workflow.
    Output,
    /// In `defaults`, before any step.
    Defaults,
}

/// What the path of a binding stands for.
#[derive(Clone, Debug)]
pub enum Meaning<'a> {
    /// A workflow input, and what is taken of it.
    Input(&'a ast::Input, &'a [Spanned<Segment>]),
    /// An output of a step, and what is taken of it.
    Step {
        /// The step's node.
        node: NodeIndex,
        /// The step.
        step: &'a ast::Step,
        /// The output's name.
        output: &'a Spanned<Segment>,
        /// What is taken of it.
        rest: &'a [Spanned<Segment>],
        /// Whether the preceding iteration is meant.
        previous: bool,
    },
    /// The result of the candidate, and what is taken of it.
    CandidateResult(&'a [Spanned<Segment>]),
    /// A text or number of the session, the loop or the candidate, and what is taken of it.
    Scalar(&'a [Spanned<Segment>]),
    /// Cannot be known; passed over.
    Unknown,
}

/// All bindings, in document order of their steps.
#[must_use]
pub fn collect<'a>(resolved: &Resolved<'a>) -> Vec<Use<'a>> {
    let mut all = Walk { uses: Vec::new(), readers: Vec::new(), place: Where::Defaults };
    let flow = &resolved.flow;
    all.readers.extend(flow.entry());
    all.templates(resolved.ast.defaults.respondents.as_deref().unwrap_or_default());
    for index in flow.graph().node_indices() {
        let Some(node) = flow.node(index) else { continue };
        all.readers = vec![index];
        all.place = Where::Plain;
        match node.place {
            Place::Step(step) => all.step(step),
            Place::Stop(stop) => all.templates(stop.reason.as_slice()),
            Place::End | Place::Hold => {}
        }
    }
    let ends_well =
        flow.graph().node_indices().filter(|index| match flow.node(*index).map(|node| node.place) {
            Some(Place::End) => true,
            Some(Place::Stop(stop)) => succeeds(stop),
            Some(Place::Step(step)) => matches!(&step.kind, StepKind::Stop(stop) if succeeds(stop)),
            Some(Place::Hold) | None => false,
        });
    all.readers = ends_well.collect();
    all.place = Where::Output;
    for output in &resolved.ast.outputs {
        all.template(&output.value);
    }
    all.uses
}

fn succeeds(stop: &ast::Stop) -> bool {
    stop.status.as_ref().is_some_and(|status| status.value == ast::StopStatus::Succeeded)
}

struct Walk<'a> {
    uses: Vec<Use<'a>>,
    readers: Vec<NodeIndex>,
    place: Where,
}

impl<'a> Walk<'a> {
    fn template(&mut self, template: &'a Template) {
        for binding in template.bindings() {
            self.uses.push(Use { binding, readers: self.readers.clone(), place: self.place });
        }
    }

    fn templates(&mut self, templates: &'a [Template]) {
        for template in templates {
            self.template(template);
        }
    }

    fn arguments(&mut self, arguments: &'a [ast::Argument]) {
        for argument in arguments {
            self.data(&argument.value);
        }
    }

    fn data(&mut self, data: &'a ast::Data) {
        match data {
            ast::Data::Template(template) => self.template(template),
            ast::Data::Literal(_) => {}
            ast::Data::List(_, items) => items.iter().for_each(|item| self.data(item)),
            ast::Data::Map(_, entries) => self.arguments(entries),
        }
    }

    fn step(&mut self, step: &'a ast::Step) {
        match &step.kind {
            StepKind::Question(question) => {
                self.template(&question.text);
                for choice in &question.choices {
                    self.template(&choice.label);
                }
                self.templates(question.respondents.as_deref().unwrap_or_default());
            }
            StepKind::Agent(stage) => {
                self.templates(stage.task.as_slice());
                self.arguments(&stage.with);
                self.place = Where::Gate;
                for gate in &stage.review {
                    self.gate(gate);
                }
            }
            StepKind::Switch(switch) => {
                self.place = Where::Switch;
                self.template(&switch.on);
            }
            StepKind::Pick(pick) => {
                for (i, entry) in pick.from.iter().enumerate() {
                    self.place = Where::Pick { last: i + 1 == pick.from.len() };
                    self.template(entry);
                }
            }
            StepKind::Stop(stop) => self.templates(stop.reason.as_slice()),
            StepKind::Cron(_) | StepKind::Loop(_) | StepKind::Hole => {}
        }
    }

    fn gate(&mut self, gate: &'a ast::Gate) {
        match &gate.kind {
            ast::GateKind::Human { text, respondents, .. } => {
                self.template(text);
                self.templates(respondents.as_deref().unwrap_or_default());
            }
            ast::GateKind::Agent { task, with, .. } => {
                self.templates(task.as_slice());
                self.arguments(with);
            }
            ast::GateKind::Hole => {}
        }
    }
}

/// Reports every path that leads nowhere.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for one in &cx.uses {
        if let Err(found) = meaning(cx, one) {
            out.push(*found);
        }
    }
}

/// What a binding stands for.
///
/// # Errors
/// The finding, if a name of it is unknown or may not stand there.
pub fn meaning<'a>(cx: &Context<'a, '_>, one: &Use<'a>) -> Result<Meaning<'a>, Box<Diagnostic>> {
    let binding = one.binding;
    let rest = |from: usize| binding.path.get(from..).unwrap_or_default();
    match binding.root.value.as_str() {
        "inputs" => {
            let Some(first) = binding.path.first() else {
                return Err(unknown_input::bare(cx, binding));
            };
            let name = name_of(first);
            match cx.resolved.symbols.inputs.get(name) {
                Some(input) => Ok(Meaning::Input(input, rest(1))),
                None => Err(unknown_input::fault(cx, name, first.span)),
            }
        }
        "steps" | "previous" => step(cx, one),
        "loop" => {
            misplaced_root::check_loop(cx, one)?;
            scalar(cx, binding, &["iteration"])
        }
        "session" => scalar(cx, binding, &["id", "started_at", "owner"]),
        "candidate" => {
            misplaced_root::check_candidate(one)?;
            let meaning = scalar(cx, binding, &["result", "summary"])?;
            let is_result = binding.path.first().is_some_and(|first| name_of(first) == "result");
            Ok(if is_result { Meaning::CandidateResult(rest(1)) } else { meaning })
        }
        root => Err(unknown_root::fault(cx, root, binding.root.span)),
    }
}

fn scalar<'a>(
    _: &Context<'a, '_>,
    binding: &'a Binding,
    names: &'static [&'static str],
) -> Result<Meaning<'a>, Box<Diagnostic>> {
    let root = binding.root.value.as_str();
    let Some(first) = binding.path.first() else {
        return Err(unknown_output::bare_root(binding, root, names));
    };
    if names.contains(&name_of(first)) {
        return Ok(Meaning::Scalar(binding.path.get(1..).unwrap_or_default()));
    }
    Err(unknown_output::of_root(root, name_of(first), first.span, names))
}

fn step<'a>(cx: &Context<'a, '_>, one: &Use<'a>) -> Result<Meaning<'a>, Box<Diagnostic>> {
    let binding = one.binding;
    let previous = binding.root.value == "previous";
    let Some(first) = binding.path.first() else {
        return Err(unknown_step::bare(cx, binding));
    };
    let id = name_of(first);
    let Some(node) = cx.resolved.symbols.steps.get(id).copied() else {
        return Err(unknown_step::fault(cx, id, first.span));
    };
    let Some(step) = cx.resolved.flow.step(node) else { return Ok(Meaning::Unknown) };
    if matches!(step.kind, StepKind::Hole) || cx.repeated.contains(id) {
        return Ok(Meaning::Unknown);
    }
    if previous {
        misplaced_root::check_previous(cx, one, node)?;
    }
    let outputs = outputs_of(&step.kind);
    let Some(output) = binding.path.get(1) else {
        return Err(unknown_output::bare_step(binding, step));
    };
    if !outputs.contains(&name_of(output)) {
        return Err(unknown_output::of_step(step, name_of(output), output.span));
    }
    Ok(Meaning::Step { node, step, output, rest: binding.path.get(2..).unwrap_or_default(), previous })
}

/// The name of a segment; empty for an index.
#[must_use]
pub fn name_of(segment: &Spanned<Segment>) -> &str {
    match &segment.value {
        Segment::Name(name) => name,
        Segment::Index(_) => "",
    }
}

/// A segment as it is written.
#[must_use]
pub fn written(segment: &Segment) -> String {
    match segment {
        Segment::Name(name) => name.clone(),
        Segment::Index(index) => format!("[{index}]"),
    }
}
