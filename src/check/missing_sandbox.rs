//! `missing-sandbox`: a toolbox that may touch files, without a sandbox that says which.

use crate::ast::Agent;
use crate::ast::toolbox::{BuiltinKind, FilePredicate, Sandbox};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::source::Spanned;

/// A toolbox for files may touch none.
pub static RULE: Rule = Rule {
    name: "missing-sandbox",
    severity: Severity::Warning,
    summary: "A toolbox for files may touch none",
    page: include_str!("../../docs/diagnostics/missing-sandbox.md"),
};

/// Capabilities that touch no file.
const HARMLESS: [&str; 9] = [
    "help",
    "date",
    "operating-system",
    "running-user",
    "hostname",
    "working-directory",
    "process-info",
    "uptime",
    "env-vars",
];

/// Reports each such toolbox at the first capability that needs files.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    for toolbox in &agent.toolboxes.builtin {
        let (capabilities, sandbox) = match &toolbox.kind {
            BuiltinKind::Sqlite { .. } => continue,
            BuiltinKind::System { capabilities, sandbox, .. }
            | BuiltinKind::Developer { capabilities, sandbox } => (&capabilities.value, sandbox),
        };
        let Some(needs) = capabilities.iter().find(|word| !HARMLESS.contains(&word.value.as_str())) else {
            continue;
        };
        if let Some(found) = judge(&toolbox.name, needs, sandbox.as_ref()) {
            out.push(found);
        }
    }
}

fn judge(name: &Spanned<String>, needs: &Spanned<String>, sandbox: Option<&Sandbox>) -> Option<Diagnostic> {
    let help = "write which files, such as `\"FileSandbox\": { \"fsbPredicate\": { \"tag\": \"DirectoryRecursive\", \
                \"contents\": \"./src\" } }`";
    let message = format!("`{}` of the toolbox `{}` may touch no file", needs.value, name.value);
    let found = Diagnostic::new(&RULE, needs.span, message).help(help);
    match sandbox {
        None => Some(found.note("it has no `FileSandbox`")),
        Some(sandbox) if sandbox.predicate == FilePredicate::Any(Vec::new()) => {
            Some(found.label(sandbox.span, "no file fits this"))
        }
        Some(_) => None,
    }
}
