//! `empty-toolbox`: a toolbox whose folder is not in the package, leads out of it, or holds no tool, or that offers
//! nothing.

use crate::ast::Agent;
use crate::ast::toolbox::BuiltinKind;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::{Around, Toolbox};

/// A toolbox holds no tool.
pub static RULE: Rule = Rule {
    name: "empty-toolbox",
    severity: Severity::Warning,
    summary: "A toolbox holds no tool",
    page: include_str!("../../docs/diagnostics/empty-toolbox.md"),
};

/// Reports each such folder.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
    for (toolbox, holds) in agent.bash_toolboxes.iter().zip(&around.toolboxes) {
        let path = &toolbox.path;
        match holds {
            Toolbox::Files(tools) if tools.is_empty() && toolbox.is_single => {
                let message = format!("the tool `{}` is not in the package, or is not executable", path.value);
                let help = "create it, correct the path, or make it executable with `chmod +x`";
                out.push(Diagnostic::new(&RULE, path.span, message).note("no tool here").help(help));
            }
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

/// Reports built-in toolboxes without a capability.
pub fn check_boxes(agent: &Agent, out: &mut Vec<Diagnostic>) {
    for toolbox in &agent.toolboxes.builtin {
        let capabilities = match &toolbox.kind {
            BuiltinKind::Sqlite { .. } => continue,
            BuiltinKind::System { capabilities, .. } | BuiltinKind::Developer { capabilities, .. } => capabilities,
        };
        if capabilities.value.is_empty() {
            let message = format!("the toolbox `{}` offers nothing", toolbox.name.value);
            let help = "name capabilities, or remove the toolbox";
            out.push(Diagnostic::new(&RULE, capabilities.span, message).note("no capability").help(help));
        }
    }
}
