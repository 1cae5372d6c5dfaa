//! `dead-pick-entry`: an entry behind one that always has a value.

use super::bindings::{self, Meaning, Where};
use super::types::{self, Known};
use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schema::Walk;
use std::collections::HashMap;

/// An entry of a pick is never taken.
pub static RULE: Rule = Rule {
    name: "dead-pick-entry",
    severity: Severity::Warning,
    summary: "An entry of a pick is never taken",
    page: include_str!("../../docs/diagnostics/dead-pick-entry.md"),
};

/// Reports the first such entry of each pick.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // The entry of each pick that surely has a value; `None` once that has been reported.
    let mut sure = HashMap::new();
    for one in &cx.uses {
        let (Where::Pick { .. }, Some(reader)) = (one.place, one.readers.first().copied()) else { continue };
        if !cx.reachable.contains(&reader) {
            continue;
        }
        match sure.get(&reader).copied() {
            Some(Some(before)) => {
                // As the last entry it is said to be unassigned: then the order is wrong, which that finding tells.
                if out.iter().any(|found| found.span == one.binding.span) {
                    continue;
                }
                let message = "this entry is never taken: one before it always has a value";
                out.push(
                    Diagnostic::new(&RULE, one.binding.span, message)
                        .label(before, "always has a value")
                        .help("put entries that may be missing first, or remove this one"),
                );
                sure.insert(reader, None);
            }
            Some(None) => {}
            None => {
                if always(cx, one) {
                    sure.insert(reader, Some(one.binding.span));
                }
            }
        }
    }
}

fn always(cx: &Context<'_, '_>, one: &bindings::Use<'_>) -> bool {
    let Ok(meaning) = bindings::meaning(cx, one) else { return false };
    let assigned = match meaning {
        Meaning::Step { node, output, previous, .. } => {
            let flow = &cx.resolved.flow;
            !previous
                && one.readers.iter().all(|reader| {
                    *reader != node && cx.facts.sure(flow, *reader, node, bindings::name_of(output))
                })
        }
        Meaning::Input(..) | Meaning::Scalar(_) => true,
        Meaning::CandidateResult(_) | Meaning::Unknown => false,
    };
    let taken = types::taken(cx, one);
    assigned
        && match taken.whole {
            _ if taken.rest.is_empty() => true,
            Known::Schema(schema) => {
                matches!(schema.field(&types::steps(taken.rest)), Walk::Found { definite: true, .. })
            }
            Known::AnyObject | Known::OneOf(_) | Known::Nothing => false,
        }
}
