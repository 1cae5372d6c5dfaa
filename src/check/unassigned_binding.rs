//! `unassigned-binding`: an output that is not definite on every path to its reader.

use super::Context;
use super::bindings::{self, Meaning, Use, Where};
use crate::ast;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::facts::gives;
use crate::resolve::flow::{Edge, NodeIndex};
use crate::resolve::path::{branching, names, shortest, tell, way as way_of};

/// A binding reads an output that may have no value yet.
pub static RULE: Rule = Rule {
    name: "unassigned-binding",
    severity: Severity::Error,
    summary: "A binding reads an output that may have no value yet",
    page: include_str!("../../docs/diagnostics/unassigned-binding.md"),
};

/// Reports each binding with a path on which the output is missing.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for one in &cx.uses {
        let Ok(Meaning::Step { node, step, output, previous, .. }) = bindings::meaning(cx, one) else { continue };
        let last_of_pick = one.place == Where::Pick { last: true };
        if matches!(one.place, Where::Pick { last: false }) {
            continue;
        }
        let name = bindings::name_of(output);
        if previous && last_of_pick {
            let message = format!(
                "the last entry of a pick must have a value, and `previous.{}` has none in the first iteration",
                step.name
            );
            let help = "add a last entry that is always there, such as an input";
            out.push(Diagnostic::new(&RULE, one.binding.span, message).help(help));
            continue;
        }
        // The step itself cannot be reached: that is reported, and this would be its consequence.
        if !cx.reachable.contains(&node) {
            continue;
        }
        if let Some(found) = one.readers.iter().find_map(|reader| missing(cx, one, *reader, node, step, name)) {
            out.push(found);
        }
    }
}

fn missing(
    cx: &Context<'_, '_>,
    one: &Use<'_>,
    reader: NodeIndex,
    node: NodeIndex,
    step: &ast::Step,
    output: &str,
) -> Option<Diagnostic> {
    let flow = &cx.resolved.flow;
    if cx.facts.sure(flow, reader, node, output) {
        return None;
    }
    let message = format!("`steps.{}.{output}` may have no value when it is read", step.name);
    let mut found = Diagnostic::new(&RULE, one.binding.span, message).label(step.head, "the step that gives it");
    let entry = flow.entry()?;
    let may = |from: NodeIndex, edge: &Edge, _| from != node || !gives(&step.kind, edge, output);
    let legs = if reader == entry { Some(Vec::new()) } else { shortest(flow, entry, reader, may) };
    let legs = legs.unwrap_or_default();
    if reader == node {
        found = found.note("the step reads its own output");
    } else {
        let decides = branching(flow, &legs, reader, node);
        let note = match decides.and_then(|leg| Some((flow.node(leg.from)?, flow.graph().edge_weight(leg.edge)?))) {
            _ if legs.is_empty() => "read before the step".to_owned(),
            Some((at, edge)) => {
                let way = names(flow, &legs, reader);
                format!("missing where `{}` {}: {way}", at.name, way_of(&edge.kind))
            }
            None => format!("missing on {}", names(flow, &legs, reader)),
        };
        found = found.note(note);
        // Only the turns of the path explain something.
        let turns: Vec<_> = legs.iter().copied().filter(|leg| flow.leaving(leg.from).len() > 1).collect();
        found = tell(found, flow, &turns);
    }
    let help = match one.place {
        Where::Output => {
            "an output must have a value on every path that ends well; let the other paths stop as failed or \
             cancelled"
        },
        Where::Pick { .. } => "add a last entry that always has a value",
        Where::Plain | Where::Gate | Where::Switch | Where::Defaults => {
            "read it only where the step has surely completed, or join the branches with a `pick`"
        }
    };
    Some(found.help(help))
}
