//! `uncovered-case`: a value that no case and no `default` takes.

use super::bindings::{self, Meaning, Where};
use super::types::{self, Known};
use super::{Context, idle_default, impossible_case, misfit_switch};
use crate::ast::StepKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::ir::EdgeKind;
use crate::resolve::flow::NodeIndex;
use serde_json::Value;
use std::collections::HashSet;

/// A switch does not cover every value.
pub static RULE: Rule = Rule {
    name: "uncovered-case",
    severity: Severity::Error,
    summary: "A switch does not cover every value",
    page: include_str!("../../docs/diagnostics/uncovered-case.md"),
};

/// Judges every switch; the other findings about cases are called from here.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    for one in cx.uses.iter().filter(|one| one.place == Where::Switch) {
        let Some(reader) = one.readers.first().copied() else { continue };
        let Some(StepKind::Switch(switch)) = cx.resolved.flow.step(reader).map(|step| &step.kind) else { continue };
        // Without any case the reader has said so.
        if switch.cases.is_empty() {
            continue;
        }
        let Some(schema) = types::schema_of(cx, one) else {
            if switch.default.is_none() && bindings::meaning(cx, one).is_ok() && !is_faulty(cx, one) {
                let message = "nothing is known of the value, so the switch needs a `default`";
                let found = Diagnostic::new(&RULE, switch.cases_span.at_start(), message);
                out.push(found.label(one.binding.span, "the value"));
            }
            continue;
        };
        if !schema.kinds().is_switchable() {
            out.push(misfit_switch::fault(one.binding.span, &schema.kinds().words()));
            continue;
        }
        let possible: Option<Vec<String>> = schema.enumeration().map(|values| values.iter().map(text).collect());
        let Some(possible) = possible else {
            if switch.default.is_none() {
                let kinds = schema.kinds().words();
                let message = format!("the value can be any {kinds}, so the switch needs a `default`");
                let found = Diagnostic::new(&RULE, switch.cases_span.at_start(), message);
                let found = found.help("add `default:` with a transition, such as `default: hold`");
                out.push(found.label(one.binding.span, "the value"));
            }
            continue;
        };
        for case in &switch.cases {
            if !possible.contains(&case.value.value) {
                out.push(impossible_case::fault(&case.value, &possible));
            }
        }
        let coming = coming(cx, one, reader);
        let missing: Vec<_> = possible
            .iter()
            .filter(|value| !switch.cases.iter().any(|case| case.value.value == **value))
            .filter(|value| coming.as_ref().is_none_or(|coming| coming.contains(*value)))
            .map(|value| format!("`{value}`"))
            .collect();
        if let (Some(default), true, false) = (&switch.default, missing.is_empty(), switch.cases.is_empty()) {
            out.push(idle_default::fault(default.span, switch.cases_span));
        }
        // A misspelt case is reported as impossible; the value that was meant is then not missing as well.
        let misspelt = switch.cases.iter().filter(|case| !possible.contains(&case.value.value)).count();
        if switch.default.is_none() && missing.len() > misspelt {
            let message = format!("no case takes {}", missing.join(", "));
            let found = Diagnostic::new(&RULE, switch.cases_span.at_start(), message);
            out.push(found.label(one.binding.span, "the value").help("add the cases, or a `default`"));
        }
    }
}

fn is_faulty(cx: &Context<'_, '_>, one: &bindings::Use<'_>) -> bool {
    matches!(types::taken(cx, one).whole, Known::Nothing)
        || !types::taken(cx, one).rest.is_empty()
}

/// The JSON text of a value, strings without their quotes.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The answers that can come to the switch, if it looks at the choice of a question: one that leads elsewhere does
/// not. `None` where every value can.
fn coming(cx: &Context<'_, '_>, one: &bindings::Use<'_>, reader: NodeIndex) -> Option<HashSet<String>> {
    let Ok(Meaning::Step { node, step, output, .. }) = bindings::meaning(cx, one) else { return None };
    let (StepKind::Question(_), "choice") = (&step.kind, bindings::name_of(output)) else { return None };
    let flow = &cx.resolved.flow;
    let leading = flow.leading_to(reader, |from, _, _| from != node);
    let answers = flow.leaving(node).into_iter().filter(|(_, _, to)| leading.contains(to));
    Some(
        answers
            .filter_map(|(_, edge, _)| match &edge.kind {
                EdgeKind::Choice(value) => Some(value.clone()),
                EdgeKind::Next
                | EdgeKind::Case(_)
                | EdgeKind::Default
                | EdgeKind::Body
                | EdgeKind::On(_)
                | EdgeKind::GateAborted(_)
                | EdgeKind::GateDeadline(_)
                | EdgeKind::Deadline
                | EdgeKind::Exhausted
                | EdgeKind::Resume => None,
            })
            .collect(),
    )
}
