//! `plain-secret`: a key, token or password in a definition or an agent file. No text that is made here holds
//! more than the first characters of it.

use super::Context;
use crate::ast::{self, Agent, Data, StepKind};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::secret;
use crate::source::{Source, Span};
use crate::tree::{Node, Value};

/// A secret stands in plain text.
pub static RULE: Rule = Rule {
    name: "plain-secret",
    severity: Severity::Warning,
    summary: "A secret stands in plain text",
    page: include_str!("../../docs/diagnostics/plain-secret.md"),
};

/// Reports everything in a text that has the shape of a well-known secret, comments included.
pub fn check_text(source: &Source, out: &mut Vec<Diagnostic>) {
    for found in secret::find(source.text()) {
        let written = source.text().get(found.range.clone()).unwrap_or_default();
        let message = format!("{} stands in plain text: `{}`", found.kind, secret::shown(written));
        out.push(finding(Span::new(source.id(), found.range.start, found.range.end), message));
    }
}

/// Reports literals under names of passwords in `with` and as defaults of inputs.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for input in &cx.resolved.ast.inputs {
        if let Some(default) = input.schema.get("default").filter(|_| secret::is_secret_name(&input.name.value)) {
            node(&input.name.value, default, out);
        }
    }
    for (_, step) in cx.resolved.flow.steps() {
        let StepKind::Agent(stage) = &step.kind else { continue };
        arguments(&stage.with, out);
        for gate in &stage.review {
            if let ast::GateKind::Agent { with, .. } = &gate.kind {
                arguments(with, out);
            }
        }
    }
}

/// Reports the same in what an agent file passes to servers of tools.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    for entry in agent.later.iter().chain(&agent.toolboxes.written) {
        below(&entry.key.value, &entry.value, out);
    }
}

fn arguments(with: &[ast::Argument], out: &mut Vec<Diagnostic>) {
    for argument in with {
        match &argument.value {
            Data::Template(template) => {
                if let Some(text) = template.literal().filter(|_| secret::is_secret_name(&argument.name.value)) {
                    literal(&argument.name.value, text, template.span, out);
                }
            }
            Data::Map(_, entries) => arguments(entries, out),
            Data::List(_, items) => {
                for item in items {
                    if let Data::Map(_, entries) = item {
                        arguments(entries, out);
                    }
                }
            }
            Data::Literal(_) => {}
        }
    }
}

fn below(name: &str, at: &Node, out: &mut Vec<Diagnostic>) {
    match &at.value {
        Value::Map(entries) => entries.iter().for_each(|entry| below(&entry.key.value, &entry.value, out)),
        Value::List(items) => items.iter().for_each(|item| below(name, item, out)),
        Value::Text(_) => node(name, at, out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => {}
    }
}

fn node(name: &str, at: &Node, out: &mut Vec<Diagnostic>) {
    if let Some(text) = at.text().filter(|_| secret::is_secret_name(name)) {
        literal(name, &text.value, at.span, out);
    }
}

fn literal(name: &str, text: &str, span: Span, out: &mut Vec<Diagnostic>) {
    // What has the shape of a secret has been reported already.
    if secret::is_value(text) && secret::find(text).is_empty() {
        let message = format!("the value of `{name}` stands in plain text");
        out.push(finding(span, message));
    }
}

fn finding(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(&RULE, span, message).note("readable by everyone who has the file").help(
        "take it out and withdraw it, for it may have been read; keys of model servers stand in the key file under \
         their `apiKeyId`, others in the environment of the tool that needs them",
    )
}
