//! Completion: keys by context, words, step ids, outputs and fields by schema, agents, tools, zones.
//!
//! What stands at the place is replaced by a mark and the text is read again, so that half-written documents are
//! understood like whole ones; the mark tells what the language expects there.

mod binding;
mod keys;
pub(super) mod schema;
mod slot;
mod values;

use super::place::{Role, Way};
use super::{Analysis, At, Completion, Document};
use crate::ast;
use crate::compile::relink;
use crate::parse;
use crate::resolve::{Agents, resolve};
use crate::source::{FileId, Source};
use crate::tree::{Node, Style, Value};
use slot::{MARK, Try};

/// What can be written at a place, best first.
#[must_use]
pub fn complete(analysis: &Analysis, at: At) -> Vec<Completion> {
    let found = analysis.sources().get(at.file).filter(|source| source.text().is_char_boundary(at.offset));
    let Some(source) = found else { return Vec::new() };
    if matches!(&analysis.document, Document::Workflow(compiled) if compiled.tree.is_none()) {
        // Of a test file nothing is known but its findings.
        return Vec::new();
    }
    let read = Read { analysis, source };
    if let Some(open) = slot::binding(source, at.offset) {
        return binding::complete(&read, &open);
    }
    if read.is_prose(at) {
        return Vec::new();
    }
    for attempt in slot::tries(source, at.offset, read.is_json()) {
        let Some(tree) = read.tree(&attempt.text) else { continue };
        let way = Way::to(&tree, read.root(), attempt.mark + 1);
        let Some(last) = way.last() else { continue };
        let is_key = way.key.is_some_and(|entry| entry.key.value == MARK);
        let is_value = way.key.is_none() && last.node.text().is_some_and(|text| text.value == MARK);
        if !is_key && !is_value {
            continue;
        }
        return read.fill(&attempt, &tree, &way, is_key);
    }
    Vec::new()
}

/// A text that is read again with something else at a place.
struct Read<'a> {
    analysis: &'a Analysis,
    source: &'a Source,
}

impl Read<'_> {
    /// Whether the place lies in a text of several words: no word of the language is written there, and the text
    /// need not be read again to know it.
    fn is_prose(&self, at: At) -> bool {
        let tree = self.analysis.tree().filter(|_| at.file == FileId::MAIN);
        let Some((tree, root)) = tree else { return false };
        let way = Way::to(tree, root, at.offset);
        let text = way.last().filter(|_| way.key.is_none()).and_then(|level| level.node.text());
        text.is_some_and(|text| {
            let is_block = matches!(text.style, Style::Literal | Style::Folded);
            let is_line = !self.source.slice(text.span).contains(['\n', '\r']);
            let is_inside = (text.span.start as usize) < at.offset && at.offset < text.span.end as usize;
            is_inside && (is_block || (is_line && text.value.trim().contains(char::is_whitespace)))
        })
    }

    /// What the text as a whole is.
    fn root(&self) -> Role {
        match &self.analysis.document {
            Document::Workflow(_) if self.source.id() == FileId::MAIN => Role::Workflow,
            Document::Workflow(_) | Document::Agent(_) => Role::AgentFile,
        }
    }

    fn is_json(&self) -> bool {
        slot::is_json(self.source, self.root())
    }

    fn tree(&self, text: &str) -> Option<Node> {
        let source = Source::new(self.source.id(), self.source.name(), text);
        let mut ignored = Vec::new();
        if self.root() == Role::Workflow {
            return Some(parse::read(&source, &mut ignored));
        }
        let is_markdown = source.name().to_ascii_lowercase().ends_with(".md");
        if is_markdown {
            return parse::agent::front_matter_tree(&source);
        }
        Some(parse::json::read(&source, &mut ignored))
    }

    /// The definition of a tree that was read from a changed text, and the agents of the compile.
    fn workflow(&self, text: &str, tree: &Node) -> Option<(ast::Workflow, &Agents)> {
        let Document::Workflow(compiled) = &self.analysis.document else { return None };
        if self.root() != Role::Workflow {
            return None;
        }
        let source = Source::new(self.source.id(), self.source.name(), text);
        let mut ast = parse::workflow::workflow(&source, tree, &mut Vec::new());
        if let Some(earlier) = &compiled.ast {
            relink(&mut ast, earlier);
        }
        Some((ast, &compiled.agents))
    }

    fn fill(&self, attempt: &Try, tree: &Node, way: &Way<'_>, is_key: bool) -> Vec<Completion> {
        let workflow = self.workflow(&attempt.text, tree);
        let resolved = workflow.as_ref().map(|(ast, agents)| resolve(ast, agents));
        let in_flow = !self.is_json()
            && way.levels.iter().any(|level| {
                let is_open = matches!(level.node.value, Value::Map(_) | Value::List(_));
                let text = attempt.text.get(level.node.span.range()).unwrap_or_default();
                is_open && text.starts_with(['{', '['])
            });
        let place = Place {
            analysis: self.analysis,
            resolved: resolved.as_ref(),
            tree,
            way,
            mark: attempt.mark,
            writer: attempt.writer(self.source.id(), in_flow),
        };
        if is_key { keys::complete(&place) } else { values::complete(&place) }
    }
}

/// A place whose role is known.
struct Place<'a, 't> {
    analysis: &'a Analysis,
    /// Of the text with the mark in it; `None` in agent files.
    resolved: Option<&'a crate::resolve::Resolved<'a>>,
    tree: &'t Node,
    way: &'a Way<'t>,
    /// Where the mark stands in the text that was read.
    mark: usize,
    writer: slot::Writer,
}

impl Place<'_, '_> {
    /// The node of the innermost step around the mark, with what it says.
    fn step(&self) -> Option<(crate::resolve::flow::NodeIndex, &ast::Step)> {
        let resolved = self.resolved?;
        let around = resolved.flow.steps().filter(|(_, step)| step.span.touches(self.mark));
        around.min_by_key(|(_, step)| step.span.len())
    }
}
