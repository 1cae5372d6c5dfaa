//! `unknown-output`: an output that a step of this kind, or a root, does not give.

use crate::ast::{self, Binding};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::{outputs_of, word_of};
use crate::source::Span;

/// A binding names an output that the step does not have.
pub static RULE: Rule = Rule {
    name: "unknown-output",
    severity: Severity::Error,
    summary: "A binding names an output that the step does not have",
    page: include_str!("../../docs/diagnostics/unknown-output.md"),
};

/// The finding for an output that `step` does not have.
#[must_use]
pub fn of_step(step: &ast::Step, output: &str, span: Span) -> Box<Diagnostic> {
    let outputs = outputs_of(&step.kind);
    let word = word_of(&step.kind);
    let message = format!("the {word} step `{}` has no output `{output}`", step.name);
    let found = Diagnostic::new(&RULE, span, message).note("unknown output").label(step.head, "this step");
    Box::new(match nearest(output, outputs.iter().copied()) {
        Some(near) => found.suggest(output, Some(near), span),
        None => found.help(list(outputs)),
    })
}

/// The finding for `${{ steps.x }}` without an output.
#[must_use]
pub fn bare_step(binding: &Binding, step: &ast::Step) -> Box<Diagnostic> {
    let message = format!("the binding names no output of `{}`", step.name);
    Box::new(Diagnostic::new(&RULE, binding.span, message).help(list(outputs_of(&step.kind))))
}

/// The finding for a name below a root that has fixed names.
#[must_use]
pub fn of_root(root: &str, name: &str, span: Span, names: &'static [&'static str]) -> Box<Diagnostic> {
    let found = Diagnostic::new(&RULE, span, format!("`{root}` has no `{name}`")).note("unknown name");
    Box::new(match nearest(name, names.iter().copied()) {
        Some(near) => found.suggest(name, Some(near), span),
        None => found.help(list(names)),
    })
}

/// The finding for such a root alone.
#[must_use]
pub fn bare_root(binding: &Binding, root: &str, names: &'static [&'static str]) -> Box<Diagnostic> {
    let message = format!("the binding says nothing of `{root}`");
    Box::new(Diagnostic::new(&RULE, binding.span, message).help(list(names)))
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        return "a step of this kind has no outputs".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("it has {}", names.join(", "))
}
