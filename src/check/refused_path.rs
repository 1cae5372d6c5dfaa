//! `refused-path`: a path that may not be used.

use crate::ast::Agent;
use crate::ast::toolbox::{BuiltinKind, McpReach};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::package_path::{is_url, normal, normal_or_root};
use crate::source::{Span, Spanned};

/// A path leaves the package or cannot be read.
pub static RULE: Rule = Rule {
    name: "refused-path",
    severity: Severity::Error,
    summary: "A path leaves the package or cannot be read",
    page: include_str!("../../docs/diagnostics/refused-path.md"),
};

/// The finding for a reference.
#[must_use]
pub fn fault(written: &str, span: Span, why: &str) -> Diagnostic {
    Diagnostic::new(&RULE, span, format!("the file `{written}` is not read: {why}"))
        .help("write a path inside the package, such as `./agents/planner.json`")
}

/// Reports the paths of toolboxes that leave the package. Those of command-line tools are judged
/// where they are looked for.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let mut judge = |path: &Spanned<String>, fault_of: fn(&str) -> Result<String, String>| {
        let Err(why) = fault_of(&path.value) else { return };
        let message = format!("the path `{}` of a toolbox is refused: {why}", path.value);
        let mut found = Diagnostic::new(&RULE, path.span, message)
            .help("write a path inside the package, such as `./data/notes.db`");
        if agent.base.is_none() {
            found.severity = Severity::Warning;
        }
        out.push(found);
    };
    let boxes = &agent.toolboxes;
    for toolbox in &boxes.builtin {
        let sandbox = match &toolbox.kind {
            BuiltinKind::Sqlite { path, .. } => {
                judge(path, normal);
                None
            }
            BuiltinKind::System { sandbox, .. } | BuiltinKind::Developer { sandbox, .. } => sandbox.as_ref(),
        };
        if let Some(sandbox) = sandbox {
            sandbox.predicate.each_path(&mut |path| judge(path, normal_or_root));
        }
    }
    let servers = boxes.openapi.iter().filter_map(|toolbox| toolbox.server.as_ref());
    for server in servers.filter(|server| !is_url(&server.spec.value)) {
        judge(&server.spec, normal);
    }
    for server in &boxes.mcp {
        match &server.reach {
            // What has no `/` is a program of the machine, and so is what is written from its root.
            McpReach::Program { executable, .. }
                if executable.value.contains('/') && !executable.value.starts_with('/') =>
            {
                judge(executable, normal);
            }
            McpReach::Program { .. } | McpReach::Http { .. } => {}
        }
    }
    boxes.agents.iter().for_each(|extra| judge(&extra.path, normal));
    for source in &boxes.skills {
        judge(&source.path, normal_or_root);
    }
}
