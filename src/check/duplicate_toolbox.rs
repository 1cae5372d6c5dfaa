//! `duplicate-toolbox`: two toolboxes of one kind, or two agents that may be called, that have one name; their tools
//! would have one name too.

use crate::ast::Agent;
use crate::ast::toolbox::BuiltinKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Spanned;

/// Two toolboxes have the same name.
pub static RULE: Rule = Rule {
    name: "duplicate-toolbox",
    severity: Severity::Error,
    summary: "Two toolboxes have the same name",
    page: include_str!("../../docs/diagnostics/duplicate-toolbox.md"),
};

/// Reports each toolbox whose name an earlier one of its kind has.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let mut seen: Vec<(&str, &Spanned<String>)> = Vec::new();
    let boxes = &agent.toolboxes;
    let servers = boxes.mcp.iter().map(|server| ("tool servers", &server.name));
    let builtin = boxes.builtin.iter().map(|toolbox| {
        let kind = match toolbox.kind {
            BuiltinKind::Sqlite { .. } => "SQLite toolboxes",
            BuiltinKind::System { .. } => "system toolboxes",
            BuiltinKind::Developer { .. } => "developer toolboxes",
        };
        (kind, &toolbox.name)
    });
    let agents = boxes.agents.iter().map(|extra| ("agents", &extra.slug));
    for (kind, name) in servers.chain(builtin).chain(agents) {
        let Some((_, first)) = seen.iter().find(|(other, first)| *other == kind && first.value == name.value) else {
            seen.push((kind, name));
            continue;
        };
        let message = format!("two {kind} are named `{}`, so their tools cannot be told apart", name.value);
        let mut found = Diagnostic::new(&RULE, name.span, message)
            .label(first.span, "the first")
            .help("give one of them another name, or remove it");
        if agent.base.is_none() {
            found.severity = Severity::Warning;
        }
        out.push(found);
    }
}
