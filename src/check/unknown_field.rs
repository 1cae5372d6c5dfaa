//! `unknown-field`: a name or index below an output or input that its schema does not know.

use super::bindings::{self, Use, Where};
use super::types::{self, Known};
use super::{Context, optional_field};
use crate::ast::Segment;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::schema::Walk;
use crate::source::Spanned;

/// A binding takes a part that the schema does not declare.
pub static RULE: Rule = Rule {
    name: "unknown-field",
    severity: Severity::Error,
    summary: "A binding takes a part that the schema does not declare",
    page: include_str!("../../docs/diagnostics/unknown-field.md"),
};

/// Walks every binding into the schema of what it reads; what is there and optional is called from here.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for one in &cx.uses {
        let taken = types::taken(cx, one);
        if !taken.rest.is_empty() {
            out.extend(walk(one, &taken.whole, taken.rest));
        }
    }
}

fn walk(one: &Use<'_>, whole: &Known, rest: &[Spanned<Segment>]) -> Option<Diagnostic> {
    match whole {
        Known::Nothing => None,
        Known::OneOf(all) => all.iter().find_map(|whole| walk(one, whole, rest)),
        Known::AnyObject => {
            let name = bindings::written(&rest.first()?.value);
            let message = format!("nothing is known of `{name}`: the step declares no `result`");
            let help = format!("declare it in the step's `result`, and list `{name}` under `required`");
            Some(Diagnostic::new(&RULE, rest.first()?.span, message).help(help))
        }
        Known::Schema(schema) => match schema.field(&types::steps(rest)) {
            Walk::Found { definite: true, .. } => None,
            Walk::Found { definite: false, .. } => {
                // An optional entry of a pick is what a pick is for, except for the last.
                if matches!(one.place, Where::Pick { last: false }) {
                    return None;
                }
                optional_field::fault(schema, rest)
            }
            Walk::Unknown { at, known } => {
                let segment = rest.get(at)?;
                let name = bindings::written(&segment.value);
                let found = Diagnostic::new(&RULE, segment.span, format!("the schema declares no `{name}`"))
                    .note("not declared");
                Some(match nearest(&name, known.iter().map(String::as_str)) {
                    Some(near) => found.suggest(&name, Some(near), segment.span),
                    None if known.is_empty() => found,
                    None => found.help(format!("it declares {}", list(&known))),
                })
            }
            Walk::NotAContainer { at, what } => {
                let segment = rest.get(at)?;
                let name = bindings::written(&segment.value);
                let message = format!("`{name}` cannot be taken of it: its type is {what}");
                Some(Diagnostic::new(&RULE, segment.span, message).help("read the whole value"))
            }
            Walk::Open => {
                let segment = rest.last()?;
                let name = bindings::written(&segment.value);
                let message = format!("the schema does not say that there is a `{name}`");
                Some(Diagnostic::new(&RULE, segment.span, message).help("declare it under `properties` and `required`"))
            }
        },
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<_> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
