//! The tree of a workflow document into [`ast::Workflow`] (section 3). Binds no names and judges no flow.
//!
//! Everything wrong with keys and values is reported here; whatever could not be read is a hole or left out.

mod agent_step;
mod control;
mod names;
mod question;

mod step;

use super::fields::Fields;
use super::{rules, schema};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::grammar;
use crate::source::{Source, Spanned};
use crate::tree::{Node, Value};

/// Reads the document that `tree` holds.
pub fn workflow(source: &Source, tree: &Node, diagnostics: &mut Vec<Diagnostic>) -> ast::Workflow {
    let mut reader = Reader { fields: Fields { source, diagnostics }, steps: 0 };
    let mut workflow = reader.document(tree);
    names::give(&mut workflow.steps);
    workflow
}

/// The reading of one document.
struct Reader<'a> {
    fields: Fields<'a>,
    /// Steps so far, nested ones included.
    steps: usize,
}

impl Reader<'_> {
    fn document(&mut self, tree: &Node) -> ast::Workflow {
        let mut workflow = ast::Workflow {
            span: tree.span,
            name: None,
            title: None,
            description: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            agents: Vec::new(),
            defaults: ast::Defaults::default(),
            deadline: None,
            retention: None,
            guarantees: Vec::new(),
            steps: Vec::new(),
        };
        let context = &grammar::DOCUMENT;
        if !self.fields.map(tree, context.title) {
            return workflow;
        }
        self.fields.keys(tree, &[context]);
        self.head(tree);
        let text = |reader: &mut Self, key| tree.get(key).and_then(|node| reader.fields.text(node, key));
        workflow.name = tree.get("name").and_then(|node| self.fields.kebab(node, "name", true));
        workflow.title = text(self, "title");
        workflow.description = text(self, "description");
        workflow.inputs = tree.get("inputs").map(|node| self.inputs(node)).unwrap_or_default();
        workflow.outputs = tree.get("outputs").map(|node| self.outputs(node)).unwrap_or_default();
        workflow.agents = tree.get("agents").map(|node| self.agents(node)).unwrap_or_default();
        workflow.defaults = tree.get("defaults").map(|node| self.defaults(node)).unwrap_or_default();
        workflow.deadline = tree.get("deadline").and_then(|node| self.fields.duration(node, "deadline"));
        workflow.retention = tree.get("retention").and_then(|node| self.retention(node));
        workflow.guarantees = tree.get("guarantees").map(|node| self.guarantees(node)).unwrap_or_default();
        workflow.steps = tree.get("steps").map(|node| self.steps(node, "steps")).unwrap_or_default();
        workflow
    }

    /// `kind` and `version`, which carry nothing into the tree.
    fn head(&mut self, tree: &Node) {
        if let Some(node) = tree.get("kind") {
            self.fields.word(node, "kind", &["workflow"]);
        }
        let Some(node) = tree.get("version") else { return };
        match &node.value {
            Value::Hole => {}
            Value::Number(digits) if digits == "1" => {}
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => {
                let written = self.fields.written(node);
                let message = format!("`version` is `{written}`; this language has only version 1");
                let found = Diagnostic::new(&rules::BAD_VALUE, node.span, message).help("write `version: 1`");
                let is_one = node.text().is_some_and(|text| text.value.trim() == "1");
                let fix = crate::diagnostic::Fix::replace("write the number 1", node.span, "1");
                self.fields.diagnostics.push(if is_one { found.fix(fix) } else { found });
            }
        }
    }

    fn inputs(&mut self, node: &Node) -> Vec<ast::Input> {
        let mut out = Vec::new();
        for entry in self.fields.entries(node, "`inputs`") {
            self.fields.identifier(&entry.key, "an input");
            if self.fields.map_or(&entry.value, "a JSON Schema", "write for example `{ type: string }`") {
                schema::look(&mut self.fields, &entry.value);
                out.push(ast::Input { name: entry.key.clone(), schema: entry.value.clone() });
            }
        }
        out
    }

    fn outputs(&mut self, node: &Node) -> Vec<ast::Output> {
        let mut out = Vec::new();
        for entry in self.fields.entries(node, "`outputs`") {
            self.fields.identifier(&entry.key, "an output");
            if let Some(value) = self.fields.sole_binding(&entry.value, &entry.key.value) {
                out.push(ast::Output { name: entry.key.clone(), value });
            }
        }
        out
    }

    fn agents(&mut self, node: &Node) -> Vec<ast::AgentName> {
        let mut out = Vec::new();
        for entry in self.fields.entries(node, "`agents`") {
            self.fields.identifier(&entry.key, "an agent");
            if let Some(reference) = self.fields.text(&entry.value, &entry.key.value) {
                out.push(ast::AgentName { name: entry.key.clone(), reference });
            }
        }
        out
    }

    fn defaults(&mut self, node: &Node) -> ast::Defaults {
        let context = &grammar::DEFAULTS;
        if !self.fields.map(node, context.title) {
            return ast::Defaults::default();
        }
        self.fields.keys(node, &[context]);
        ast::Defaults {
            deadline: node.get("deadline").and_then(|node| self.fields.duration(node, "deadline")),
            max_revisions: node
                .get("max_revisions")
                .and_then(|node| self.fields.number(node, "max_revisions", 1..=grammar::MAX_ROUNDS)),
            respondents: node.get("respondents").and_then(|node| self.fields.respondents(node)),
            timezone: node.get("timezone").and_then(|node| self.fields.text(node, "timezone")),
        }
    }

    fn retention(&mut self, node: &Node) -> Option<Spanned<Option<crate::time::Millis>>> {
        if node.text().is_some_and(|text| text.value == "keep") {
            return Some(Spanned::new(None, node.span));
        }
        self.fields.duration(node, "retention").map(|duration| duration.map(Some))
    }

    fn guarantees(&mut self, node: &Node) -> Vec<ast::Guarantee> {
        let items = self.fields.items(node, "`guarantees`");
        items.iter().filter_map(|node| self.guarantee(node)).collect()
    }

    fn guarantee(&mut self, node: &Node) -> Option<ast::Guarantee> {
        let context = &grammar::GUARANTEE;
        if !self.fields.map(node, context.title) {
            return None;
        }
        let kinds = ["accepted", "answered", "agent_runs_between_waits"];
        let kind = kinds.into_iter().find(|kind| node.get(kind).is_some());
        let own: &[&str] = match kind {
            Some("accepted") => &["before", "accepted", "by"],
            Some("answered") => &["before", "answered", "choice"],
            Some(_) => &["agent_runs_between_waits"],
            None => {
                self.fields.keys(node, &[context]);
                if !Fields::is_cut(node)
                    && node.entries().iter().all(|entry| context.key(&entry.key.value).is_some())
                {
                    let message =
                        "a guarantee needs one of `accepted`, `answered` or `agent_runs_between_waits`";
                    let place = self.fields.head_of(node);
                    self.fields.diagnostics.push(Diagnostic::new(&rules::MISSING_KEY, place, message));
                }
                return None;
            }
        };
        self.fields.keys_of(node, own, &[context], "this guarantee");
        let span = node.span;
        let mut name = |key: &'static str| {
            self.fields.needed(node, key).and_then(|value| self.fields.kebab(value, key, false))
        };
        match kind {
            Some("accepted") => {
                let (before, accepted) = (name("before"), name("accepted"));
                let by = node.get("by").map(|node| self.fields.word(node, "by", &["human"]));
                Some(ast::Guarantee::Accepted {
                    span,
                    before: before?,
                    accepted: accepted?,
                    by_human: by.is_some(),
                })
            }
            Some("answered") => {
                let (before, answered) = (name("before"), name("answered"));
                let choice =
                    self.fields.needed(node, "choice").and_then(|node| self.fields.text(node, "choice"));
                Some(ast::Guarantee::Answered { span, before: before?, answered: answered?, choice: choice? })
            }
            _ => {
                let most = node.get("agent_runs_between_waits")?;
                let most = self.fields.number(most, "agent_runs_between_waits", 0..=1_000_000)?;
                Some(ast::Guarantee::AgentRunsBetweenWaits { span, most })
            }
        }
    }
}
