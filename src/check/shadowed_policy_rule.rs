//! `shadowed-policy-rule`: a rule of a tool policy that an earlier one for the same tool makes void.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use std::collections::HashMap;

/// A policy rule comes after another for the same tool.
pub static RULE: Rule = Rule {
    name: "shadowed-policy-rule",
    severity: Severity::Warning,
    summary: "A policy rule comes after another for the same tool",
    page: include_str!("../../docs/diagnostics/shadowed-policy-rule.md"),
};

/// Reports each rule after the first for a tool.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let mut first = HashMap::new();
    for rule in agent.policy.iter().flat_map(|policy| &policy.rules) {
        let before = first.entry(rule.tool.value.as_str()).or_insert(rule);
        if std::ptr::eq(*before, rule) {
            continue;
        }
        let message = format!("the rule for `{}` is never used: an earlier one decides", rule.tool.value);
        out.push(
            Diagnostic::new(&RULE, rule.tool.span, message)
                .note("never used")
                .label(before.tool.span, "the rule that decides")
                .help("the first rule that names a tool wins; remove one of the two"),
        );
    }
}
