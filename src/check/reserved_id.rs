//! `reserved-id`: an id that names a place of the flow: `end`, `hold`, or the name of a step without an id.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::{Node, Place};
use std::collections::HashMap;

/// An id is a name that the flow itself uses.
pub static RULE: Rule = Rule {
    name: "reserved-id",
    severity: Severity::Error,
    summary: "An id is a name that the flow itself uses",
    page: include_str!("../../docs/diagnostics/reserved-id.md"),
};

/// Reports ids that clash with a name the flow gives itself.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let own = |node: &&Node<'_>| match node.place {
        Place::Step(step) => step.id.is_none(),
        Place::Stop(_) | Place::End | Place::Hold => true,
    };
    let nodes = cx.resolved.flow.graph().node_weights().filter(own);
    let by_name: HashMap<&str, &Node<'_>> = nodes.map(|node| (node.name.as_str(), node)).collect();
    for (_, step) in cx.resolved.flow.steps() {
        let Some(id) = &step.id else { continue };
        let Some(taken) = by_name.get(id.value.as_str()) else { continue };
        let why = match taken.place {
            Place::End => "the end of the flow".to_owned(),
            Place::Hold => "the place where a session waits for attention".to_owned(),
            Place::Step(_) | Place::Stop(_) => "a step that has no id of its own".to_owned(),
        };
        let message = format!("the id `{}` is already the name of {why}", id.value);
        let mut found = Diagnostic::new(&RULE, id.span, message).help("choose another id");
        if let Place::Step(_) | Place::Stop(_) = taken.place {
            found = found.label(taken.span, "this step");
        }
        out.push(found);
    }
}
