//! `misfit-input`: `with` against the `inputs` that the agent's file declares.

use super::bindings::{Use, Where};
use super::{Context, types};
use crate::ast::{self, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::flow::NodeIndex;
use crate::schema::{Fit, Schema, Step, Walk};
use crate::source::Spanned;
use crate::tree::{self, Node};
use serde_json::Value;

/// An agent is not given what it asks for.
pub static RULE: Rule = Rule {
    name: "misfit-input",
    severity: Severity::Error,
    summary: "An agent is not given what it asks for",
    page: include_str!("../../docs/diagnostics/misfit-input.md"),
};

/// Judges the `with` of every step and gate whose agent declares `inputs`.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for (node, step) in cx.resolved.flow.steps() {
        let StepKind::Agent(stage) = &step.kind else { continue };
        if let Some(agent) = &stage.agent {
            judge(cx, node, Where::Plain, agent, &stage.with, out);
        }
        for gate in &stage.review {
            if let ast::GateKind::Agent { agent: Some(agent), with, .. } = &gate.kind {
                judge(cx, node, Where::Gate, agent, with, out);
            }
        }
    }
}

fn judge(
    cx: &Context<'_, '_>,
    node: NodeIndex,
    place: Where,
    agent: &Spanned<String>,
    with: &[ast::Argument],
    out: &mut Vec<Diagnostic>,
) {
    let Some((path, file)) = cx.resolved.agent(&agent.value) else { return };
    let declared_at = Declared { inputs: file.agent.inputs.as_ref() };
    let Some(schema) = cx.schemas.agents.get(path) else { return };
    let json = schema.target();
    let declared: Vec<&str> =
{
        let properties = json.get("properties").and_then(Value::as_object);
        properties.map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
    };
    let closed = json.get("additionalProperties") == Some(&Value::Bool(false));
    let is_unknown = |argument: &&ast::Argument| closed && !declared.contains(&argument.name.value.as_str());
    let unknown: Vec<_> = with.iter().filter(is_unknown).collect();
    for argument in &unknown {
        let name = &argument.name;
        let message = format!("the agent `{}` takes no input `{}`", agent.value, name.value);
        let near = nearest(&name.value, declared.iter().copied());
        let found = Diagnostic::new(&RULE, name.span, message).note("given here");
        let found = match near {
            Some(near) => found.suggest(&name.value, Some(near), name.span),
            None if declared.is_empty() => found.help("remove it"),
            None => found.help(format!("its inputs are {}", list(&declared))),
        };
        out.push(declared_at.label(found, "properties", near, "the inputs that it takes"));
    }
    let required = json.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        let misspelt = unknown.iter().any(|argument| nearest(&argument.name.value, [name]).is_some());
        if !misspelt && !with.iter().any(|argument| argument.name.value == name) {
            let message = format!("the agent `{}` needs the input `{name}`", agent.value);
            let found = Diagnostic::new(&RULE, agent.span, message).note(format!("used without `{name}`"));
            let found = found.help(format!("add `{name}` under `with`"));
            out.push(declared_at.label(found, "required", Some(name), "required here, in the agent's file"));
        }
    }
    for argument in with {
        let Walk::Found { schema: wanted, .. } = schema.field(&[Step::Name(&argument.name.value)]) else { continue };
        let why = match &argument.value {
            ast::Data::Template(template) => match (template.sole_binding(), template.literal()) {
                (Some(binding), _) => {
                    let one = Use { binding, readers: vec![node], place };
                    types::schema_of(cx, &one).and_then(|given| refusal(given.fits(&wanted)))
                }
                (None, Some(text)) => violation(&wanted, &Value::String(text.to_owned())),
                (None, None) => Schema::compile(&serde_json::json!({ "type": "string" }))
                    .ok()
                    .and_then(|given| refusal(given.fits(&wanted))),
            },
            ast::Data::Literal(literal) => violation(&wanted, &literal.to_json()),
            ast::Data::List(..) | ast::Data::Map(..) => None,
        };
        if let Some(why) = why {
            let (name, whose) = (&argument.name.value, &agent.value);
            let message = format!("the input `{name}` of the agent `{whose}` does not fit: {why}");
            let found = Diagnostic::new(&RULE, argument.name.span, message).note("given here");
            out.push(declared_at.label(found, "properties", Some(name), "declared here, in the agent's file"));
        }
    }
}

/// Where an agent's file declares its inputs.
struct Declared<'a> {
    inputs: Option<&'a Node>,
}

impl Declared<'_> {
    /// Points at the name under `properties` or `required`, else at the keyword.
    fn label(&self, found: Diagnostic, keyword: &str, name: Option<&str>, text: &str) -> Diagnostic {
        let entry =
            self.inputs.and_then(|inputs| inputs.entries().iter().find(|entry| entry.key.value == keyword));
        let Some(entry) = entry else { return found };
        let below = name.and_then(|name| match &entry.value.value {
            tree::Value::List(items) => {
                let is_it = |item: &&Node| item.text().is_some_and(|text| text.value == name);
                items.iter().find(is_it).map(|item| item.span)
            }
            tree::Value::Map(entries) => {
                entries.iter().find(|entry| entry.key.value == name).map(|entry| entry.key.span)
            }
            tree::Value::Null
            | tree::Value::Bool(_)
            | tree::Value::Number(_)
            | tree::Value::Text(_)
            | tree::Value::Hole => None,
        });
        found.label(below.unwrap_or(entry.key.span), text)
    }
}

fn list(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn refusal(fit: Fit) -> Option<String> {
    match fit {
        Fit::Maybe => None,
        Fit::No(why) => Some(why),
    }
}

fn violation(wanted: &Schema, value: &Value) -> Option<String> {
    let first = wanted.validate(value).into_iter().next()?;
    Some(format!("{} is expected, this is {}", first.expected, first.found))
}
