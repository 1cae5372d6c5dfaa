//! The tree of a test file into [`ast::rehearsal`]. Binds no names and plays nothing.
//!
//! Everything wrong with keys and values is reported here; whatever could not be read is left out.

mod expect;
mod step;

use super::fields::Fields;
use super::rules;
use crate::ast::rehearsal::{Case, Rehearsal};
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{Source, Spanned};
use crate::time::Timestamp;
use crate::tree::{Entry, Node, Value};
use std::collections::HashSet;

const DOCUMENT: &[&str] =
    &["kind", "version", "workflow", "description", "owner", "people", "inputs", "start_at", "cases"];
const CASE: &[&str] = &["name", "description", "inputs", "start_at", "steps", "expect"];

/// Endings of the names of test files.
const ENDINGS: [&str; 3] = [".test.yaml", ".test.yml", ".test.json"];

/// Whether a file of this name is a test file.
#[must_use]
pub fn is_test(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Reads the test file that `tree` holds.
pub fn rehearsal(source: &Source, tree: &Node, diagnostics: &mut Vec<Diagnostic>) -> Rehearsal {
    Reader { fields: Fields { source, diagnostics } }.document(tree)
}

/// The reading of one test file.
struct Reader<'a> {
    fields: Fields<'a>,
}

impl Reader<'_> {
    fn document(&mut self, tree: &Node) -> Rehearsal {
        let mut rehearsal = Rehearsal {
            span: tree.span,
            workflow: None,
            owner: None,
            people: Vec::new(),
            inputs: Vec::new(),
            start_at: None,
            cases: Vec::new(),
        };
        if !self.fields.map(tree, "a test file") {
            return rehearsal;
        }
        self.fields.keys_of(tree, DOCUMENT, &[], "a test file");
        self.head(tree);
        rehearsal.workflow = self.text_of(tree, "workflow");
        rehearsal.owner = self.text_of(tree, "owner");
        rehearsal.people = tree.get("people").map(|node| self.people(node)).unwrap_or_default();
        rehearsal.inputs = self.values_of(tree, "inputs");
        rehearsal.start_at = self.instant_of(tree, "start_at");
        match tree.get("cases") {
            Some(node) => rehearsal.cases = self.cases(node),
            None => self.missing(tree, "cases", DOCUMENT, "a test file"),
        }
        rehearsal
    }

    fn head(&mut self, tree: &Node) {
        match tree.get("kind") {
            Some(node) => {
                self.fields.word(node, "kind", &["test"]);
            }
            None => self.missing(tree, "kind", DOCUMENT, "a test file"),
        }
        match tree.get("version") {
            Some(node) => {
                self.fields.number(node, "version", 1..=1);
            }
            None => self.missing(tree, "version", DOCUMENT, "a test file"),
        }
    }

    fn people(&mut self, node: &Node) -> Vec<(Spanned<String>, Vec<String>)> {
        let mut people = Vec::new();
        for entry in self.fields.entries(node, "`people`") {
            let mut roles = Vec::new();
            for item in self.fields.items(&entry.value, "the roles of a person") {
                roles.extend(self.fields.text(item, "a role").map(|role| role.value));
            }
            people.push((entry.key.clone(), roles));
        }
        people
    }

    fn cases(&mut self, node: &Node) -> Vec<Case> {
        let items = self.fields.items(node, "`cases`");
        if items.is_empty() && matches!(node.value, Value::List(_)) {
            let found =
                Diagnostic::new(&rules::BAD_VALUE, node.span, "`cases` is empty, so nothing is tested");
            self.fields.report(found);
        }
        let mut names = HashSet::new();
        let mut cases = Vec::new();
        for item in items {
            let Some(case) = self.case(item) else { continue };
            if !names.insert(case.name.value.clone()) {
                let message = format!("two cases are named `{}`", case.name.value);
                self.fields.report(Diagnostic::new(&rules::BAD_VALUE, case.name.span, message));
            }
            cases.push(case);
        }
        cases
    }

    fn case(&mut self, node: &Node) -> Option<Case> {
        const TITLE: &str = "a case";
        if !self.fields.map(node, TITLE) {
            return None;
        }
        self.fields.keys_of(node, CASE, &[], TITLE);
        let name = match node.get("name") {
            Some(name) => self.fields.text(name, "name"),
            None => {
                self.missing(node, "name", CASE, TITLE);
                None
            }
        };
        let items = node.get("steps").map(|steps| self.fields.items(steps, "`steps`")).unwrap_or_default();
        let steps = items.iter().filter_map(|item| self.step(item)).collect();
        Some(Case {
            name: name?,
            inputs: self.values_of(node, "inputs"),
            start_at: self.instant_of(node, "start_at"),
            steps,
            expect: node.get("expect").and_then(|node| self.expect(node)),
        })
    }

    /// Says that a key is missing, unless one stands there that surely means it.
    fn missing(&mut self, node: &Node, key: &str, own: &[&'static str], title: &str) {
        let free = || own.iter().copied().filter(|name| node.get(name).is_none());
        let is_meant = |entry: &Entry| {
            let written = entry.key.value.as_str();
            !own.contains(&written) && nearest(written, free()) == Some(key)
        };
        if !node.entries().iter().any(is_meant) {
            self.fields.missing(node, key, title);
        }
    }

    fn text_of(&mut self, node: &Node, key: &str) -> Option<Spanned<String>> {
        node.get(key).and_then(|value| self.fields.text(value, key))
    }

    fn values_of(&mut self, node: &Node, key: &str) -> Vec<Entry> {
        let Some(value) = node.get(key) else { return Vec::new() };
        self.fields.entries(value, &format!("`{key}`")).into_iter().cloned().collect()
    }

    fn number_of(&mut self, node: &Node, key: &str) -> Option<Spanned<u32>> {
        node.get(key).and_then(|value| self.fields.number(value, key, 1..=u32::MAX))
    }

    fn instant_of(&mut self, node: &Node, key: &str) -> Option<Spanned<Timestamp>> {
        node.get(key).and_then(|value| self.instant(value, key))
    }

    fn instant(&mut self, node: &Node, key: &str) -> Option<Spanned<Timestamp>> {
        let text = self.fields.text(node, key)?;
        match Timestamp::parse(&text.value) {
            Ok(at) => Some(Spanned::new(at, text.span)),
            Err(sentence) => {
                self.fields.report(Diagnostic::new(&rules::BAD_VALUE, text.span, sentence));
                None
            }
        }
    }
}
