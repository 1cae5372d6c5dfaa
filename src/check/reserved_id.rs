//! `reserved-id`: an id that names a place of the flow: `end`, `hold`, or the name of a step without an id.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::flow::Place;

/// an id is a name that the flow itself uses.
pub static RULE: Rule = Rule {
    name: "reserved-id",
    severity: Severity::Error,
    summary: "an id is a name that the flow itself uses",
    page: include_str!("../../docs/diagnostics/reserved-id.md"),
};

/// Reports ids that clash with a name the flow gives itself.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let nodes = || cx.resolved.flow.graph().node_weights();
    for (_, step) in cx.resolved.flow.steps() {
        let Some(id) = &step.id else { continue };
        let taken = nodes().find(|node| {
            node.name == id.value
                && match node.place {
                    Place::Step(other) => other.id.is_none(),
                    Place::Stop(_) | Place::End | Place::Hold => true,
                }
        });
        let Some(taken) = taken else { continue };
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
