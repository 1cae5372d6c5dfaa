//! `duplicate-id`: an id that two steps carry. Bindings to it are passed over.

use super::Context;
use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::Resolved;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Two steps have the same id.
pub static RULE: Rule = Rule {
    name: "duplicate-id",
    severity: Severity::Error,
    summary: "Two steps have the same id",
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

/// The ids that more than one step carries.
#[must_use]
pub fn repeated<'a>(resolved: &Resolved<'a>) -> HashSet<&'a str> {
    let mut seen = HashSet::new();
    let ids = resolved.flow.steps().filter_map(|(_, step)| step.id.as_ref());
    ids.map(|id| id.value.as_str()).filter(|id| !seen.insert(*id)).collect()
}
