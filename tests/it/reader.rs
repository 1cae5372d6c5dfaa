//! Reading: places of characters, refusals and limits, workflows and agents.

mod agents;
mod bindings;
mod language;
mod pages;
mod places;
mod refusals;
mod workflows;

use flowright::diagnostic::Diagnostic;
use flowright::source::{FileId, Source};
use flowright::{ast, parse, tree};

pub(crate) fn source(name: &str, text: &str) -> Source {
    Source::new(FileId::MAIN, name, text)
}

pub(crate) fn read(name: &str, text: &str) -> (tree::Node, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let tree = parse::read(&source(name, text), &mut found);
    (tree, found)
}

pub(crate) fn workflow(text: &str) -> (ast::Workflow, Vec<Diagnostic>) {
    let source = source("workflow.yaml", text);
    let mut found = Vec::new();
    let tree = parse::read(&source, &mut found);
    let workflow = parse::workflow::workflow(&source, &tree, &mut found);
    (workflow, found)
}

/// Each finding as `rule @ the text under it`.
pub(crate) fn said(text: &str, found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|found| format!("{} @ {}", found.rule.name, &text[found.span.range()])).collect()
}

/// The text with the edits of a fix applied.
pub(crate) fn mended(text: &str, found: &Diagnostic) -> String {
    let mut edits = found.fix.as_ref().expect("there is a fix").edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut out = text.to_owned();
    for edit in edits {
        out.replace_range(edit.span.range(), &edit.text);
    }
    out
}
