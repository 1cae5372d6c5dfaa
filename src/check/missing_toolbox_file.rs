//! `missing-toolbox-file`: a program or file of the package that a toolbox needs and that is not there.

use crate::ast::Agent;
use crate::ast::toolbox::McpReach;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::package_path::normal;
use crate::resolve::{Around, Program};
use crate::source::Span;

/// A file that a toolbox needs is not there.
pub static RULE: Rule = Rule {
    name: "missing-toolbox-file",
    severity: Severity::Error,
    summary: "A file that a toolbox needs is not there",
    page: include_str!("../../docs/diagnostics/missing-toolbox-file.md"),
};

/// Reports tool servers whose program stands in the package and cannot be run. Programs without a `/` are those of
/// the machine; nothing is known of them.
pub fn check_agent(agent: &Agent, around: &Around, out: &mut Vec<Diagnostic>) {
    for server in &agent.toolboxes.mcp {
        let McpReach::Program { executable, .. } = &server.reach else { continue };
        let path = &executable.value;
        let mut found = match around.programs.get(path) {
            Some(Program::Missing) => fault(path, executable.span),
            Some(Program::NotExecutable) => {
                let message = format!("the program `{path}` of the tool server is not executable");
                Diagnostic::new(&RULE, executable.span, message).help(format!("make it so: `chmod +x {path}`"))
            }
            // Said of the path alone already.
            Some(Program::Refused(_)) if normal(path).is_err() => continue,
            Some(Program::Refused(why)) => super::refused_path::fault(path, executable.span, why),
            Some(Program::Runnable) | None => continue,
        };
        if agent.base.is_none() {
            found.severity = Severity::Warning;
        }
        out.push(found);
    }
}

/// The finding for a file that is not there.
#[must_use]
pub fn fault(written: &str, span: Span) -> Diagnostic {
    Diagnostic::new(&RULE, span, format!("the file `{written}` is not in the package"))
        .note("no such file")
        .help("create it, or correct the path, which counts from the package root")
}
