//! `missing-agent`: a reference to an agent that leads nowhere.

use super::{Context, agent_without_base, installed_agent, refused_path};
use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::resolve::{Reference, agent_references};
use crate::source::Span;
use std::collections::HashSet;

/// No agent is found under a reference.
pub static RULE: Rule = Rule {
    name: "missing-agent",
    severity: Severity::Error,
    summary: "No agent is found under a reference",
    page: include_str!("../../docs/diagnostics/missing-agent.md"),
};

/// Judges every reference to an agent; the other findings about references and agents are called from here.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let steps: Vec<_> = cx.resolved.flow.steps().map(|(_, step)| step).collect();
    let symbols = &cx.resolved.symbols;
    let mut judged = HashSet::new();
    for (written, span) in agent_references(cx.resolved.ast, &steps) {
        // A local name was judged at its entry under `agents`.
        if cx.resolved.ast.agents.iter().any(|entry| entry.name.value == written && entry.reference.span != span) {
            continue;
        }
        match symbols.agents.references.get(written) {
            Some(Reference::Missing(places)) => out.push(fault(cx, written, span, places)),
            Some(Reference::Refused(why)) => out.push(refused_path::fault(written, span, why)),
            Some(Reference::Installed) => out.push(installed_agent::fault(written, span)),
            Some(Reference::File(_)) | None => {}
        }
    }
    for (written, span) in agent_references(cx.resolved.ast, &steps) {
        let Some((path, file)) = cx.resolved.agent(written) else { continue };
        if judged.insert(path) && file.sound {
            agent_without_base::check(written, span, &file.agent, out);
        }
    }
}

fn fault(cx: &Context<'_, '_>, written: &str, span: Span, places: &[String]) -> Diagnostic {
    let known = &cx.resolved.symbols.agents.known;
    let found = Diagnostic::new(&RULE, span, format!("no agent `{written}` is found")).note("no such agent");
    // A local name that stands for itself is no other one.
    let other_form = |name: &&String| name.contains('/') == written.contains('/') && *name != written;
    match nearest(written, known.iter().filter(other_form).map(String::as_str)) {
        Some(near) => found.suggest(written, Some(near), span),
        None => {
            let places: Vec<_> = places.iter().map(|place| format!("`{place}`")).collect();
            found.help(format!("create {}", places.join(" or ")))
        }
    }
}
