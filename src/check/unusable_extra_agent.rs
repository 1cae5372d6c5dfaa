//! `unusable-extra-agent`: an agent that may be called and whose file is not there, may not be used or has an error.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::package_path::normal;
use crate::resolve::{Around, Extra};

/// An agent that may be called cannot be.
pub static RULE: Rule = Rule {
    name: "unusable-extra-agent",
    severity: Severity::Error,
    summary: "An agent that may be called cannot be",
    page: include_str!("../../docs/diagnostics/unusable-extra-agent.md"),
};

/// Reports each such agent.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
    for (extra, state) in agent.toolboxes.agents.iter().zip(&around.extras) {
        let (slug, path) = (&extra.slug.value, &extra.path);
        let written = &path.value;
        let mut found = match state {
            Extra::Read { .. } => continue,
            Extra::Missing => {
                let message = format!("the agent `{slug}` cannot be called: `{written}` is not in the package");
                Diagnostic::new(&RULE, path.span, message)
                    .note("no such file")
                    .help("create it, or correct the path, which counts from the package root")
            }
            // Said of the path alone already.
            Extra::Refused(_) if normal(written).is_err() => continue,
            Extra::Refused(why) => super::refused_path::fault(written, path.span, why),
            Extra::Broken(what) => {
                let message = format!("the agent `{slug}` cannot be called: its file has an error");
                Diagnostic::new(&RULE, path.span, message)
                    .note(what.clone())
                    .help(format!("`flowright check {written}` says all of it"))
            }
        };
        if agent.base.is_none() {
            found.severity = Severity::Warning;
        }
        out.push(found);
    }
}
