//! `slug-unlike-file`: a bare reference finds an agent by the name of its file, and people see its slug.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// An agent's slug differs from the name of its file.
pub static RULE: Rule = Rule {
    name: "slug-unlike-file",
    severity: Severity::Hint,
    summary: "An agent's slug differs from the name of its file",
    page: include_str!("../../docs/diagnostics/slug-unlike-file.md"),
};

/// Reports a slug that differs from the file's name.
pub fn check_agent(agent: &Agent, path: &str, out: &mut Vec<Diagnostic>) {
    let Some(slug) = &agent.slug else { return };
    // Only a file of this folder is found by its name.
    let Some(name) = path.strip_prefix("agents/").filter(|name| !name.contains('/')) else { return };
    let Some(stem) = [".json", ".agent.md", ".md"].iter().find_map(|ending| name.strip_suffix(ending)) else {
        return;
    };
    if stem == slug.value || stem.starts_with('<') {
        return;
    }
    let message = format!("the slug `{}` differs from the file's name `{stem}`", slug.value);
    let help = format!("workflows find the agent as `{stem}`; give both the same name");
    out.push(Diagnostic::new(&RULE, slug.span, message).help(help));
}
