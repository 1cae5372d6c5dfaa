//! `isolation-without-runner`: `runIsolated` whose program, image or target cannot be there.

use crate::ast::{Agent, Disposition, Isolation};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::resolve::{Around, Program};
use crate::source::Spanned;

/// An isolated call has nothing to run in.
pub static RULE: Rule = Rule {
    name: "isolation-without-runner",
    severity: Severity::Error,
    summary: "An isolated call has nothing to run in",
    page: include_str!("../../docs/diagnostics/isolation-without-runner.md"),
};

/// Reports each isolation of an agent's policy that cannot run. Programs are judged where the package is known.
pub fn check_agent(agent: &Agent, around: Option<&Around>, out: &mut Vec<Diagnostic>) {
    let Some(policy) = &agent.policy else { return };
    let rules = policy.rules.iter().map(|rule| (Some(rule.tool.value.as_str()), &rule.disposition));
    for (tool, disposition) in rules.chain(policy.default.iter().map(|default| (None, default))) {
        let Some(isolation) = isolation_of(&disposition.value) else { continue };
        let whose = tool.map_or_else(|| "calls".to_owned(), |tool| format!("calls of `{tool}`"));
        if let Some(found) = judge(isolation, around, &whose) {
            out.push(found);
        }
    }
}

fn judge(isolation: &Isolation, around: Option<&Around>, whose: &str) -> Option<Diagnostic> {
    let blank = |text: &Spanned<String>, what: &str, example: &str| {
        let message = format!("{whose} have nothing to run in: {what} is empty");
        let found = Diagnostic::new(&RULE, text.span, message).help(format!("name it, such as `{example}`"));
        text.value.trim().is_empty().then_some(found)
    };
    match isolation {
        Isolation::Docker { image } => blank(image, "the image", "debian:stable-slim"),
        Isolation::FunctionRunner { target } => blank(target, "the target", "sandbox"),
        Isolation::LocalProcess { path } => {
            if let Some(found) = blank(path, "the path", "./workers/build") {
                return Some(found);
            }
            let (why, help) = match around?.programs.get(&path.value)? {
                Program::Runnable => return None,
                Program::Missing => ("is not in the package".to_owned(), "create it, or correct the path".to_owned()),
                Program::NotExecutable => {
                    ("is not executable".to_owned(), format!("make it so: `chmod +x {}`", path.value))
                }
                Program::Refused(why) => {
                    (format!("may not be used: {why}"), "name a program inside the package".to_owned())
                }
            };
            let message = format!("{whose} have nothing to run in: `{}` {why}", path.value);
            Some(Diagnostic::new(&RULE, path.span, message).note("no runner").help(help))
        }
    }
}

fn isolation_of(disposition: &Disposition) -> Option<&Isolation> {
    match disposition {
        Disposition::RunIsolated(isolation) => Some(isolation),
        Disposition::Decorate { inner, .. } => isolation_of(inner),
        Disposition::RunSync
        | Disposition::RunAsync
        | Disposition::Defer { .. }
        | Disposition::Deny { .. }
        | Disposition::Hole => None,
    }
}
