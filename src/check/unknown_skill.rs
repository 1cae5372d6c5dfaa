//! `unknown-skill`: a skill that is on from the start and that no source holds.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::Around;

/// A skill that is not there is on from the start.
pub static RULE: Rule = Rule {
    name: "unknown-skill",
    severity: Severity::Warning,
    summary: "A skill that is not there is on from the start",
    page: include_str!("../../docs/diagnostics/unknown-skill.md"),
};

/// Reports each such name.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
    for (name, is_there) in agent.toolboxes.enabled_skills.iter().zip(&around.skills) {
        if *is_there != Some(false) {
            continue;
        }
        let message = format!("no source of skills holds `{}`", name.value);
        let found = Diagnostic::new(&RULE, name.span, message);
        out.push(match agent.toolboxes.skills.first() {
            Some(source) => found
                .label(source.path.span, "skills come from here")
                .help(format!("create `{}/SKILL.md` there, or correct the name", name.value)),
            None => found.help("name a folder of skills under `skillSources`"),
        });
    }
}
