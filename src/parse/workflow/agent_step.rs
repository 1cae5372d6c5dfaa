//! Agent steps, the gates of their reviews, and the values of `with`.

use super::Reader;
use crate::ast::{AgentStep, Argument, Data, Gate, GateKind, Template};
use crate::diagnostic::{Diagnostic, nearest};
use crate::grammar;
use crate::parse::{fields::Fields, rules, schema};
use crate::source::Spanned;
use crate::tree::{Node, Value};

impl Reader<'_> {
    pub(super) fn agent_step(&mut self, node: &Node, value: &Node) -> AgentStep {
        let completion_node = node.get("completion");
        let completion =
            completion_node.map(|node| self.fields.word(node, "completion", &["one_shot", "reviewed"]));
        let review_node = node.get("review");
        let reviewed = matches!(&completion, Some(Some(Spanned { value: "reviewed", .. })));
        let step = AgentStep {
            agent: self.reference(value),
            task: node.get("task").and_then(|node| self.fields.some_template(node, "task")),
            with: node.get("with").map(|node| self.with(node)).unwrap_or_default(),
            result: node.get("result").and_then(|node| self.result(node)),
            reviewed,
            completion_span: completion_node.map(|node| node.span),
            review: review_node.map(|node| self.review(node)).unwrap_or_default(),
            review_span: review_node.map(|node| node.span),
            max_revisions: node
                .get("max_revisions")
                .and_then(|node| self.fields.number(node, "max_revisions", 1..=grammar::MAX_ROUNDS)),
            deadline: node.get("deadline").and_then(|node| self.fields.duration(node, "deadline")),
            on_blocked: self.transition_at(node, "on_blocked"),
            on_failed: self.transition_at(node, "on_failed"),
            on_deadline: self.transition_at(node, "on_deadline"),
            on_exhausted: self.transition_at(node, "on_exhausted"),
        };
        // An unreadable `completion` says nothing about `review`.
        if !matches!(completion, Some(None)) {
            self.review_fits(node, reviewed);
        }
        step
    }

    fn review_fits(&mut self, node: &Node, reviewed: bool) {
        let entry = |key: &str| node.entries().iter().find(|entry| entry.key.value == key);
        match (entry("completion"), entry("review")) {
            (Some(completion), None) if reviewed && !Fields::is_cut(node) => {
                let message = "`completion: reviewed` needs the key `review`";
                let found = Diagnostic::new(&rules::REVIEW_MISMATCH, completion.value.span, message);
                self.fields.report(
                    found.help("add `review` with at least one gate, such as `- human: Is this good?`"),
                );
            }
            (completion, Some(review)) if !reviewed => {
                let message = "`review` is only read with `completion: reviewed`";
                let mut found = Diagnostic::new(&rules::REVIEW_MISMATCH, review.key.span, message)
                    .help("write `completion: reviewed`, or remove `review`");
                if let Some(completion) = completion {
                    found = found.label(completion.value.span, "not `reviewed`");
                }
                self.fields.report(found);
            }
            _ => {}
        }
    }

    fn reference(&mut self, node: &Node) -> Option<Spanned<String>> {
        let text = self.fields.text(node, "agent")?;
        if text.value.trim().is_empty() {
            self.fields.report(Diagnostic::new(&rules::BAD_VALUE, text.span, "`agent` is empty"));
            return None;
        }
        Some(text)
    }

    fn result(&mut self, node: &Node) -> Option<Node> {
        if self.fields.map_or(
            node,
            "`result`",
            "write a JSON Schema such as `{ type: object, properties: { … } }`",
        ) {
            schema::look(&mut self.fields, node);
            return Some(node.clone());
        }
        None
    }

    fn review(&mut self, node: &Node) -> Vec<Gate> {
        let items = self.fields.items(node, "`review`");
        if items.is_empty() && matches!(node.value, Value::List(_)) {
            self.fields.report(Diagnostic::new(&rules::WRONG_SHAPE, node.span, "`review` has no gate"));
        }
        items.iter().map(|node| self.gate(node)).collect()
    }

    fn gate(&mut self, node: &Node) -> Gate {
        let mut gate = Gate { span: node.span, kind: GateKind::Hole, deadline: None };
        if !self.fields.map(node, "a gate") {
            return gate;
        }
        gate.deadline = node.get("deadline").and_then(|node| self.fields.duration(node, "deadline"));
        match (node.get("human"), node.get("agent")) {
            (Some(human), None) => {
                self.fields.keys(node, &[&grammar::GATE_HUMAN]);
                let empty = Template { span: human.span, parts: Vec::new() };
                gate.kind = GateKind::Human {
                    text: self.fields.some_template(human, "human").unwrap_or(empty),
                    respondents: node.get("respondents").and_then(|node| self.fields.respondents(node)),
                    on_deadline: self.transition_at(node, "on_deadline"),
                    on_abort: self.transition_at(node, "on_abort"),
                };
            }
            (None, Some(agent)) => {
                self.fields.keys(node, &[&grammar::GATE_AGENT]);
                gate.kind = GateKind::Agent {
                    agent: self.reference(agent),
                    task: node.get("task").and_then(|node| self.fields.some_template(node, "task")),
                    with: node.get("with").map(|node| self.with(node)).unwrap_or_default(),
                    max_rounds: node
                        .get("max_rounds")
                        .and_then(|node| self.fields.number(node, "max_rounds", 1..=grammar::MAX_ROUNDS)),
                };
            }
            (Some(_), Some(agent)) => {
                let message = "a gate is either `human` or `agent`, not both";
                let place = node.entries().iter().find(|entry| entry.value.span == agent.span);
                let place = place.map_or(node.span, |entry| entry.key.span);
                let found = Diagnostic::new(&rules::SEVERAL_STEP_KINDS, place, message);
                self.fields.report(found.help("make two gates of it; they are passed in order"));
            }
            (None, None) if !Fields::is_cut(node) => self.no_gate(node),
            (None, None) => {}
        }
        gate
    }

    fn no_gate(&mut self, node: &Node) {
        let kinds = ["human", "agent"];
        let near = node
            .entries()
            .iter()
            .find_map(|entry| nearest(&entry.key.value, kinds).map(|near| (entry, near)));
        let found = match near {
            Some((entry, near)) => {
                let message = format!("`{}` is no kind of gate", entry.key.value);
                let found = Diagnostic::new(&rules::UNKNOWN_KEY, entry.key.span, message);
                found.suggest(&entry.key.value, Some(near), entry.key.span)
            }
            None => {
                let place = self.fields.head_of(node);
                Diagnostic::new(&rules::MISSING_KEY, place, "a gate needs the key `human` or `agent`")
            }
        };
        self.fields.report(found);
    }

    fn with(&mut self, node: &Node) -> Vec<Argument> {
        let mut out = Vec::new();
        for entry in self.fields.entries(node, "`with`") {
            self.fields.identifier(&entry.key, "an input");
            if let Some(value) = self.data(&entry.value) {
                out.push(Argument { name: entry.key.clone(), value });
            }
        }
        out
    }

    fn data(&mut self, node: &Node) -> Option<Data> {
        match &node.value {
            Value::Text(_) => self.fields.template(node, "with").map(Data::Template),
            Value::List(items) => {
                Some(Data::List(node.span, items.iter().filter_map(|item| self.data(item)).collect()))
            }
            Value::Map(_) => {
                let entries = self.fields.entries(node, "`with`");
                let values = entries.into_iter().filter_map(|entry| {
                    self.data(&entry.value).map(|value| Argument { name: entry.key.clone(), value })
                });
                Some(Data::Map(node.span, values.collect()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Some(Data::Literal(node.clone())),
            Value::Hole => None,
        }
    }
}
