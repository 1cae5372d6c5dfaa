//! `idle-policy-rule`: a rule of a tool policy that says what the default says, or that names a tool which no policy
//! governs.

use crate::ast::{Agent, Disposition, Isolation};
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// A policy rule changes nothing.
pub static RULE: Rule = Rule {
    name: "idle-policy-rule",
    severity: Severity::Hint,
    summary: "A policy rule changes nothing",
    page: include_str!("../../docs/diagnostics/idle-policy-rule.md"),
};

/// The tool with which the child of a workflow submits; policies do not apply to it.
pub const SUBMIT: &str = "submit_workflow_result";

/// Reports each such rule.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let Some(policy) = &agent.policy else { return };
    let fallback = policy.default.as_ref().map_or(&Disposition::RunSync, |default| &default.value);
    for (i, rule) in policy.rules.iter().enumerate() {
        let name = &rule.tool;
        if name.value == SUBMIT {
            let message = format!("the rule for `{SUBMIT}` changes nothing: policies do not apply to submitting");
            let mut found = Diagnostic::new(&RULE, name.span, message).help("remove the rule");
            found.severity = Severity::Warning;
            out.push(found);
            continue;
        }
        // A rule behind another for the same tool is said to be shadowed, and one that shadows has an effect.
        let repeats = |(j, other): (usize, &crate::ast::PolicyRule)| j != i && other.tool.value == name.value;
        if !same(&rule.disposition.value, fallback) || policy.rules.iter().enumerate().any(repeats) {
            continue;
        }
        let message = format!("the rule for `{}` says what the default says", name.value);
        let mut found = Diagnostic::new(&RULE, name.span, message).help("remove the rule, or change one of the two");
        found = match &policy.default {
            Some(default) => found.label(default.span, "the default"),
            None => found.note("without a `default` calls run as `runSync`"),
        };
        out.push(found);
    }
}

/// Whether two dispositions say the same, wherever they are written.
fn same(one: &Disposition, other: &Disposition) -> bool {
    match (one, other) {
        (Disposition::RunIsolated(one), Disposition::RunIsolated(other)) => match (one, other) {
            (Isolation::Docker { image: a }, Isolation::Docker { image: b })
            | (Isolation::LocalProcess { path: a }, Isolation::LocalProcess { path: b })
            | (Isolation::FunctionRunner { target: a }, Isolation::FunctionRunner { target: b }) => a.value == b.value,
            (Isolation::Docker { .. } | Isolation::LocalProcess { .. } | Isolation::FunctionRunner { .. }, _) => false,
        },
        (
            Disposition::Decorate { decorators, inner },
            Disposition::Decorate { decorators: others, inner: other },
        ) => decorators == others && same(inner, other),
        (Disposition::Hole, _) => false,
        (one, other) => one == other,
    }
}
