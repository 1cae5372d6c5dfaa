//! Hover: the doc of a key, the schema of a binding, the next occurrences of a schedule, what a step can reach.

mod binding;
mod describe;
pub(super) mod schedule;

pub(super) use binding::ROOTS;

use super::place::{self, Level, Role, Way};
use super::{Analysis, At, Document, Hover, scope, words};
use crate::check::{Context, bindings};
use crate::compile::{Compiled, has_errors};
use crate::diagnostic::Severity;
use crate::grammar::Shape;
use crate::resolve::flow::Flow;
use crate::resolve::{Resolved, resolve};
use crate::source::{FileId, Span};
use crate::time::Millis;
use crate::tree::{Entry, Node, Value};

/// The text for a place.
#[must_use]
pub fn hover(analysis: &Analysis, at: At) -> Option<Hover> {
    let (tree, root) = analysis.tree_of(at.file)?;
    let way = Way::to(&tree, root, at.offset);
    let last = way.last()?;
    let is_scalar = !matches!(last.node.value, Value::Map(_) | Value::List(_) | Value::Null | Value::Hole);
    if way.key.is_none() && !is_scalar {
        return None;
    }
    let compiled = match &analysis.document {
        Document::Workflow(compiled) => Some(compiled.as_ref()),
        Document::Agent(_) => None,
    };
    let resolved = compiled.and_then(|compiled| Some(resolve(compiled.ast.as_ref()?, &compiled.agents)));
    let holds_binding = way.key.is_none() && last.node.text().is_some_and(|text| text.value.contains("${{"));
    if let (Some(resolved), FileId::MAIN, true) = (&resolved, at.file, holds_binding) {
        let uses = bindings::collect(resolved);
        if let Some(one) = uses.iter().find(|one| one.binding.span.touches(at.offset)) {
            let cx = Context::new(resolved, analysis.as_of);
            return binding::hover(analysis, &cx, one, at.offset);
        }
    }
    let asked = Asked { analysis, compiled, resolved: resolved.as_ref(), way: &way };
    let (span, markdown) = match way.key {
        Some(entry) => (entry.key.span, asked.key(entry)?),
        None => (last.node.span, asked.value(last)?),
    };
    Some(Hover { span: super::names::inner_at(analysis.sources(), span, at.offset), markdown })
}

struct Asked<'a, 't> {
    analysis: &'a Analysis,
    compiled: Option<&'a Compiled>,
    resolved: Option<&'a Resolved<'a>>,
    way: &'a Way<'t>,
}

impl Asked<'_, '_> {
    fn key(&self, entry: &Entry) -> Option<String> {
        let level = self.way.last()?;
        let name = entry.key.value.as_str();
        if let Some((context, key)) = place::key_of(level.role, level.node, name) {
            let mut doc = words::key_doc(context, key);
            if context.name == "guarantee" {
                doc.push_str(&self.verdict(level.node.span));
            }
            return Some(doc);
        }
        match (level.role, level.role.shape()) {
            (Role::Schema, _) => describe::keyword(name),
            (Role::Of(..) | Role::Shaped(_), Some(Shape::Schemas)) => {
                let is_input = level.role.is("document", "inputs");
                Some(describe::property(name, &entry.value, is_input))
            }
            (_, Some(Shape::TextMap)) => {
                describe::agent(self.resolved?, &entry.value.text()?.value, Some(name))
            }
            (_, Some(Shape::Choices)) => Some(self.choice(entry)),
            (_, Some(Shape::Cases)) => {
                let way = self.goes(entry.value.span);
                Some(format!("**case `{name}`**{}", way.map(|to| format!(" → {to}")).unwrap_or_default()))
            }
            (_, Some(Shape::BindingMap)) => self.output(name),
            (_, Some(Shape::Data)) => self.argument(name),
            _ => None,
        }
    }

    fn value(&self, level: &Level<'_>) -> Option<String> {
        let role = level.role;
        if let (true, Some(text)) = (role.names_step(), level.node.text()) {
            let resolved = self.resolved?;
            let node = resolved.symbols.steps.get(text.value.as_str())?;
            return describe::step(resolved, *node);
        }
        if role.is("cron", "cron") {
            return self.cron(level.node);
        }
        if role.is("cron", "timezone") || role.is("defaults", "timezone") {
            return schedule::zone(&level.node.text()?.value, self.analysis.as_of);
        }
        if role.is_agent() {
            return describe::agent(self.resolved?, &level.node.text()?.value, None);
        }
        let written = level.node.text().map(|text| text.value.as_str());
        let doc = |word: &str| words::word(role, word).map(|doc| format!("**`{word}`** · {doc}."));
        let shape = role.shape()?;
        if shape == Shape::Duration || (shape == Shape::Retention && written != Some("keep")) {
            return self.duration(written?);
        }
        if let (Shape::Repeat, Value::Number(times)) = (shape, &level.node.value) {
            return Some(format!("At most {times} iterations."));
        }
        let is_transition = matches!(shape, Shape::Transition | Shape::OnDeadline);
        let to = is_transition.then(|| self.goes(level.node.span)).flatten();
        let here = to.map(|to| format!("\n\nHere: {to}.")).unwrap_or_default();
        doc(written?).map(|doc| doc + &here)
    }

    fn duration(&self, written: &str) -> Option<String> {
        let duration = Millis::parse(written).ok()?;
        Some(format!("{} ({} seconds)", words::duration(duration), duration.0 / 1000))
    }

    fn cron(&self, node: &Node) -> Option<String> {
        let resolved = self.resolved?;
        let mut crons = resolved.flow.steps().filter_map(|(_, step)| step.kind.as_cron());
        let own =
            crons.find(|cron| cron.expression.as_ref().is_some_and(|written| written.span == node.span));
        let zone = own.and_then(|cron| cron.timezone.as_ref().or(resolved.ast.defaults.timezone.as_ref()));
        let zone = zone.map(|zone| zone.value.as_str());
        Some(schedule::cron(&node.text()?.value, zone, self.analysis.as_of))
    }

    /// Where a transition that is written at a place leads.
    fn goes(&self, span: Span) -> Option<String> {
        let flow: &Flow<'_> = &self.resolved?.flow;
        let edge = flow
            .graph()
            .edge_indices()
            .find(|edge| flow.graph().edge_weight(*edge).is_some_and(|weight| weight.span == Some(span)))?;
        let (_, to) = flow.graph().edge_endpoints(edge)?;
        describe::target(flow, to)
    }

    fn choice(&self, entry: &Entry) -> String {
        let mut out = format!("**choice `{}`**", entry.key.value);
        let label = entry.value.text().or_else(|| entry.value.get("label").and_then(Node::text));
        if let Some(label) = label {
            out.push_str(&format!(" · {}", label.value));
        }
        if let Some(text) = entry.value.get("description").and_then(Node::text) {
            out.push_str(&format!("\n\n{}", text.value));
        }
        let then = entry.value.get("then");
        if let Some(to) = then.and_then(|then| self.goes(then.span)) {
            out.push_str(&format!("\n\nGoes to {to}."));
        }
        out
    }

    fn output(&self, name: &str) -> Option<String> {
        let resolved = self.resolved?;
        let cx = Context::new(resolved, self.analysis.as_of);
        let output = resolved.ast.outputs.iter().find(|output| output.name.value == name)?;
        let binding = output.value.sole_binding()?;
        let one = cx.uses.iter().find(|one| one.binding.span == binding.span);
        let types: Vec<_> = one.map(|one| scope::schemas_of(&cx, one)).unwrap_or_default();
        let text = binding::types(&types);
        Some(format!("**output `{name}`**: `{text}`\n\nGiven when the session ends well; null otherwise."))
    }

    /// A name under `with`: what the agent declares of it.
    fn argument(&self, name: &str) -> Option<String> {
        let resolved = self.resolved?;
        let mut path = vec![name];
        let mut levels = self.way.levels.iter().rev();
        let holder = loop {
            let level = levels.next()?;
            match (level.role, level.entry) {
                (Role::Of(..), Some(_)) => break levels.next()?,
                (_, entry) => path.extend(entry.map(|entry| entry.key.value.as_str())),
            }
        };
        let reference = &holder.node.get("agent")?.text()?.value;
        let (file_path, file) = resolved.agent(reference)?;
        let inputs = file.agent.inputs.as_ref()?;
        path.reverse();
        let segments: Vec<_> =
            path.iter().map(|name| crate::ast::Segment::Name((*name).to_owned())).collect();
        let schema = super::names::at_path(inputs, &segments)?;
        let doc = describe::property(name, schema, false);
        Some(format!("{doc}\n\nDeclared by the agent `{file_path}`."))
    }

    /// Whether a guarantee holds, by the findings of the compile.
    fn verdict(&self, span: Span) -> String {
        let Some(compiled) = self.compiled else { return String::new() };
        let within =
            |other: Span| other.file == span.file && span.start <= other.start && other.end <= span.end;
        let mut about = compiled.diagnostics.iter().filter(|found| within(found.span));
        match about.find(|found| found.severity == Severity::Error) {
            Some(found) => format!("\n\nThis one does not hold: {}.", found.message),
            None if compiled.ast.is_some() && !has_errors(&compiled.diagnostics) => {
                "\n\nThis one is proved.".to_owned()
            }
            None => "\n\nNothing against this one is known; it is proved when the document has no error."
                .to_owned(),
        }
    }
}
