//! `duplicate-slug`: two agent files of one definition that people cannot tell apart.

use super::Context;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use std::collections::HashMap;

/// Two agents of a workflow have the same slug.
pub static RULE: Rule = Rule {
    name: "duplicate-slug",
    severity: Severity::Warning,
    summary: "Two agents of a workflow have the same slug",
    page: include_str!("../../docs/diagnostics/duplicate-slug.md"),
};

/// Reports the second and every further file with a slug.
pub fn check(cx: &Context<'_, '_>, out: &mut Vec<Diagnostic>) {
    let mut first = HashMap::new();
    for (path, file) in &cx.resolved.symbols.agents.files {
        let Some(slug) = &file.agent.slug else { continue };
        let (other, span) = *first.entry(slug.value.as_str()).or_insert((path, slug.span));
        if other == path {
            continue;
        }
        let message = format!("the slug `{}` is also that of `{other}`", slug.value);
        out.push(
            Diagnostic::new(&RULE, slug.span, message)
                .note("used again here")
                .label(span, "first used here")
                .help("give one of the two agents another slug; sessions are shown by it"),
        );
    }
}
