//! `unused-pick`: a pick does nothing but give a value.

use super::bindings::{self, Meaning};
use super::{Context, unassigned_binding};
use crate::ast::StepKind;
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use std::collections::HashSet;

/// The value of a pick is never read.
pub static RULE: Rule = Rule {
    name: "unused-pick",
    severity: Severity::Warning,
    summary: "The value of a pick is never read",
    page: include_str!("../../docs/diagnostics/unused-pick.md"),
};

/// Reports each pick that no binding reads.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    // A binding that reads a branch where the pick was meant is the fault; that nobody reads the pick is its trace.
    if out.iter().any(|found| found.rule == &unassigned_binding::RULE) {
        return;
    }
    let mut read = HashSet::new();
    let mut unknown = Vec::new();
    for one in &cx.uses {
        match bindings::meaning(cx, one) {
            Ok(Meaning::Step { node, .. }) => {
                read.insert(node);
            }
            Ok(Meaning::Input(..) | Meaning::CandidateResult(_) | Meaning::Scalar(_) | Meaning::Unknown) => {}
            // A misspelt id is reported where it stands; the step that was meant is then not unread as well.
            Err(_) => unknown.extend(one.binding.path.first().map(bindings::name_of)),
        }
    }
    for (node, step) in cx.resolved.flow.steps() {
        let repeats = cx.repeated.contains(step.name.as_str());
        if !matches!(step.kind, StepKind::Pick(_)) || read.contains(&node) || repeats {
            continue;
        }
        if unknown.iter().any(|written| nearest(written, [step.name.as_str()]).is_some()) {
            continue;
        }
        let (message, help) = if step.id.is_some() {
            let help = format!("read it as `steps.{}.value`, or remove the step", step.name);
            (format!("the value of the pick `{}` is never read", step.name), help)
        } else {
            let help = "give it an `id` and read `steps.<id>.value`, or remove the step".to_owned();
            ("nothing can read the value of a pick without an `id`".to_owned(), help)
        };
        out.push(Diagnostic::new(&RULE, step.head, message).help(help));
    }
}
