//! `duplicate-id`: an id that two steps carry. Bindings to it are passed over.

use super::Context;
use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// two steps have the same id.
pub static RULE: Rule = Rule {
    name: "duplicate-id",
    severity: Severity::Error,
    summary: "two steps have the same id",
    page: include_str!("../../docs/diagnostics/duplicate-id.md"),
};

/// Reports the second and every further step with an id, once each.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let mut first: HashMap<&str, &ast::Step> = HashMap::new();
    for (_, step) in cx.resolved.flow.steps() {
        let Some(id) = &step.id else { continue };
        match first.entry(id.value.as_str()) {
            Entry::Vacant(place) => {
                place.insert(step);
            }
            Entry::Occupied(place) => {
                let message = format!("the id `{}` is used by two steps", id.value);
                out.push(
                    Diagnostic::new(&RULE, id.span, message)
                        .note("used again here")
                        .label(place.get().head, "first used here")
                        .help("give one of the two steps another id; ids are unique in the whole document"),
                );
            }
        }
    }
}

/// Whether more than one step carries this id.
#[must_use]
pub fn repeats(cx: &Context<'_, '_>, id: &str) -> bool {
    let carriers = cx.resolved.flow.steps().filter(|(_, step)| step.id.as_ref().is_some_and(|i| i.value == id));
    carriers.count() > 1
}
