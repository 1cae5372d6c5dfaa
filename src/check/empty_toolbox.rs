//! `empty-toolbox`: a toolbox whose folder is not in the package, leads out of it, or holds no tool.

use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::{Around, Toolbox};

/// A folder of tools holds none.
pub static RULE: Rule = Rule {
    name: "empty-toolbox",
    severity: Severity::Warning,
    summary: "A folder of tools holds none",
    page: include_str!("../../docs/diagnostics/empty-toolbox.md"),
};

/// Reports each such folder.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
    for (toolbox, holds) in agent.bash_toolboxes.iter().zip(&around.toolboxes) {
        let path = &toolbox.path;
        match holds {
            Toolbox::Files(tools) if tools.is_empty() => {
                let with = toolbox.basename_filter.as_ref().map_or_else(String::new, |filter| {
                    format!(" whose name contains `{}`", filter.value)
                });
                let message = format!("the folder `{}` of the package holds no tool{with}", path.value);
                let help = "a tool is an executable file; create one, correct the path, or remove the toolbox";
                out.push(Diagnostic::new(&RULE, path.span, message).note("no tool here").help(help));
            }
            Toolbox::Refused(why) => {
                let mut found = super::refused_path::fault(&path.value, path.span, why);
                if agent.base.is_none() {
                    found.severity = Severity::Warning;
                }
                out.push(found);
            }
            Toolbox::Files(_) | Toolbox::Unknown => {}
        }
    }
}
