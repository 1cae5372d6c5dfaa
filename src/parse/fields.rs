//! Readers of single keys and values, shared by workflows and agents: each gives a value or one finding.

mod scalars;

use super::rules;
use crate::diagnostic::{Diagnostic, Severity, nearest};
use crate::grammar::{self, Context};
use crate::source::{Source, Span};
use crate::tree::{Entry, Node, Value};

/// Keys of a map above which hints are looked for less closely.
const MANY: usize = 64;

/// Where values are read from and findings go.
pub(super) struct Fields<'a> {
    pub(super) source: &'a Source,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

impl Fields<'_> {
    /// The value as its author wrote it, shortened to one line for a message.
    pub(super) fn written(&self, node: &Node) -> String {
        shorten(self.source.slice(node.span).trim())
    }

    pub(super) fn report(&mut self, found: Diagnostic) {
        self.diagnostics.push(found);
    }

    /// Whether part of a map or list was lost in reading, so that nothing is known to be missing.
    pub(super) fn is_cut(node: &Node) -> bool {
        match &node.value {
            Value::Map(entries) => entries.iter().any(super::is_hole_entry),
            Value::List(items) => items.iter().any(|item| item.value == Value::Hole),
            Value::Hole => true,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => false,
        }
    }

    /// A short place to point at for a whole map: its first key.
    pub(super) fn head_of(&self, node: &Node) -> Span {
        let first = node.entries().iter().find(|entry| !super::is_hole_entry(entry));
        first
            .map_or(Span { end: node.span.end.min(node.span.start + 1), ..node.span }, |entry| entry.key.span)
    }

    /// The finding that `what` should be `expected`.
    pub(super) fn wrong(&mut self, node: &Node, what: &str, expected: &str) {
        if node.value == Value::Hole {
            return;
        }
        let message = if node.value == Value::Null && node.span.is_empty() {
            format!("{what} has no value; {expected} is expected")
        } else {
            format!("{what} must be {expected}, not {}", node.kind())
        };
        self.report(Diagnostic::new(&rules::WRONG_SHAPE, node.span, message));
    }

    /// Whether the node is a map; says so if not.
    pub(super) fn map(&mut self, node: &Node, what: &str) -> bool {
        let is_map = matches!(node.value, Value::Map(_));
        if !is_map {
            self.wrong(node, what, "a map");
        }
        is_map
    }

    /// The same with a hint.
    pub(super) fn map_or(&mut self, node: &Node, what: &str, help: &str) -> bool {
        let before = self.diagnostics.len();
        let is_map = self.map(node, what);
        if let Some(found) = self.diagnostics.get_mut(before) {
            found.help = Some(help.to_owned());
        }
        is_map
    }

    /// The entries of a map of free names, marks of lost parts left out.
    pub(super) fn entries<'t>(&mut self, node: &'t Node, what: &str) -> Vec<&'t Entry> {
        if !self.map(node, what) {
            return Vec::new();
        }
        node.entries().iter().filter(|entry| !super::is_hole_entry(entry)).collect()
    }

    /// The items of a list.
    pub(super) fn items<'t>(&mut self, node: &'t Node, what: &str) -> &'t [Node] {
        if let Value::List(items) = &node.value {
            return items;
        }
        self.wrong(node, what, "a list");
        &[]
    }

    /// Unknown and missing keys of a map that takes the keys of these contexts.
    pub(super) fn keys(&mut self, node: &Node, contexts: &[&'static Context]) {
        let title = contexts.last().map_or("this map", |context| context.title);
        for entry in node.entries() {
            if !super::is_hole_entry(entry) && !contexts.iter().any(|c| c.key(&entry.key.value).is_some()) {
                let names = contexts.iter().flat_map(|context| context.names());
                self.unknown_key(node, entry, names, title, Severity::Error);
            }
        }
        for key in contexts.iter().flat_map(|context| context.keys).filter(|key| key.required) {
            if node.get(key.name).is_none() && !Self::has_near_miss(node, key.name, contexts) {
                self.missing(node, key.name, title);
            }
        }
    }

    /// Whether an unknown key is so near that it surely was meant: then the key is misspelt and not missing.
    pub(super) fn has_near_miss(node: &Node, name: &str, contexts: &[&'static Context]) -> bool {
        if node.entries().len() > MANY {
            return false;
        }
        let known = |key: &str| contexts.iter().any(|context| context.key(key).is_some());
        let mut unknown = node.entries().iter().filter(|entry| !known(&entry.key.value));
        unknown.any(|entry| {
            let names = contexts.iter().flat_map(|context| context.names());
            nearest(&entry.key.value, names.filter(|name| node.get(name).is_none())) == Some(name)
        })
    }

    /// Unknown keys of a map that takes only `own` of the keys of these contexts.
    pub(super) fn keys_of(&mut self, node: &Node, own: &[&'static str], all: &[&Context], title: &str) {
        for entry in node.entries() {
            let key = entry.key.value.as_str();
            if super::is_hole_entry(entry) || own.contains(&key) {
                continue;
            }
            if all.iter().any(|context| context.key(key).is_some()) {
                let message = format!("`{key}` does not belong to {title}");
                let found = Diagnostic::new(&rules::UNKNOWN_KEY, entry.key.span, message);
                self.report(found.help(format!("its keys are {}", listed(own.iter().copied()))));
            } else {
                self.unknown_key(node, entry, own.iter().copied(), title, Severity::Error);
            }
        }
    }

    pub(super) fn unknown_key(
        &mut self,
        node: &Node,
        entry: &Entry,
        names: impl Iterator<Item = &'static str> + Clone,
        title: &str,
        severity: Severity,
    ) {
        let (key, span) = (entry.key.value.as_str(), entry.key.span);
        // In a large map nobody looks for the one key that is still free; the look-up would be quadratic.
        let is_large = node.entries().len() > MANY;
        let free = names.clone().filter(|name| is_large || node.get(name).is_none());
        let near = nearest(key, free);
        let excluded = grammar::EXCLUDED.iter().find(|(word, _)| *word == key);
        // A short word has many neighbours: `if` is not a misspelt `id`.
        let is_slip = |near: &str| key.len() > 2 && strsim::damerau_levenshtein(near, key) <= 1;
        if let (Some((_, what)), Severity::Error) = (excluded, severity)
            && !near.is_some_and(is_slip)
        {
            let message = format!("`{key}` is not supported: the language has no {what}");
            let help = "a workflow is a sequence of cron, question, agent, loop, switch, pick and stop steps; \
                        computation belongs into agents and their tools";
            self.report(Diagnostic::new(&rules::UNSUPPORTED_CONSTRUCT, span, message).help(help));
            return;
        }
        let mut found = Diagnostic::new(&rules::UNKNOWN_KEY, span, format!("`{key}` is no key of {title}"));
        found.severity = severity;
        let of_kind = grammar::KINDS.iter().find(|kind| kind.key(key).is_some());
        found = match (near, of_kind) {
            (Some(near), _) => found.suggest(key, Some(near), span),
            (None, _) if title == grammar::LOOP.title && grammar::LOOP_BODY.key(key).is_some() => {
                found.help(format!("write `{key}` inside `loop:`, one level deeper"))
            }
            (None, Some(kind)) if severity == Severity::Error => {
                found.help(format!("`{key}` belongs to {}; here are {}", kind.title, listed(names)))
            }
            (None, _) => found.help(format!("its keys are {}", listed(names))),
        };
        self.report(found);
    }

    /// The finding that a key is missing, unless part of the map was lost.
    pub(super) fn missing(&mut self, node: &Node, key: &str, title: &str) {
        if !Self::is_cut(node) {
            let message = format!("{title} needs the key `{key}`");
            self.report(Diagnostic::new(&rules::MISSING_KEY, self.head_of(node), message));
        }
    }

    /// The value of a key that must be there.
    pub(super) fn needed<'t>(&mut self, node: &'t Node, key: &str) -> Option<&'t Node> {
        let value = node.get(key);
        if value.is_none() {
            self.missing(node, key, "this");
        }
        value
    }
}

/// At most forty characters of the first line.
pub(in crate::parse) fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

fn listed(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn alternatives(words: &[&'static str]) -> String {
    match words {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first @ .., last] => format!("{} or `{last}`", listed(first.iter().copied())),
    }
}
