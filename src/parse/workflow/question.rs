//! Questions and their choices.

use super::Reader;
use crate::ast::{Choice, Feedback, OnDeadline, Part, Question, Template};
use crate::grammar;
use crate::parse::MAX_CHOICES;
use crate::source::{Span, Spanned};
use crate::tree::{Node, Value};

impl Reader<'_> {
    pub(super) fn question(&mut self, node: &Node, value: &Node, head: Span) -> Question {
        let empty = Template { span: value.span, parts: Vec::new() };
        let text = self.fields.some_template(value, "question").unwrap_or(empty);
        let feedback = node.get("feedback").and_then(|node| self.feedback(node)).unwrap_or_default();
        let choices_node = node.get("choices");
        Question {
            text,
            choices: choices_node.map(|node| self.choices(node, feedback)).unwrap_or_default(),
            choices_span: choices_node.map_or(head, |node| node.span),
            respondents: node.get("respondents").and_then(|node| self.fields.respondents(node)),
            deadline: node.get("deadline").and_then(|node| self.fields.duration(node, "deadline")),
            on_deadline: node.get("on_deadline").map(|node| self.on_deadline(node)),
        }
    }

    fn feedback(&mut self, node: &Node) -> Option<Feedback> {
        let word = self.fields.word(node, "feedback", &["none", "optional", "required"])?;
        Some(match word.value {
            "optional" => Feedback::Optional,
            "required" => Feedback::Required,
            _ => Feedback::None,
        })
    }

    fn choices(&mut self, node: &Node, feedback: Feedback) -> Vec<Choice> {
        let entries = self.fields.entries(node, "`choices`");
        self.bounded(node, entries.len(), "choices");
        entries
            .into_iter()
            .take(MAX_CHOICES)
            .map(|entry| self.choice(&entry.key, &entry.value, feedback))
            .collect()
    }

    fn choice(&mut self, value: &Spanned<String>, node: &Node, feedback: Feedback) -> Choice {
        let own_name = || Template { span: value.span, parts: vec![Part::Text(value.value.clone())] };
        let mut choice =
            Choice { value: value.clone(), label: own_name(), description: None, feedback, then: None };
        if !matches!(node.value, Value::Map(_)) {
            if let Some(label) = self.fields.some_template(node, &value.value) {
                choice.label = label;
            }
            return choice;
        }
        self.fields.keys(node, &[&grammar::CHOICE]);
        if let Some(label) = node.get("label").and_then(|node| self.fields.some_template(node, "label")) {
            choice.label = label;
        }
        choice.description = node.get("description").and_then(|node| self.fields.text(node, "description"));
        if let Some(own) = node.get("feedback").and_then(|node| self.feedback(node)) {
            choice.feedback = own;
        }
        choice.then = self.transition_at(node, "then");
        choice
    }

    fn on_deadline(&mut self, node: &Node) -> Spanned<OnDeadline> {
        if let Some(value) = node.get("choose") {
            self.fields.keys(node, &[&grammar::CHOOSE]);
            if let Some(choice) = self.fields.text(value, "choose") {
                return Spanned::new(OnDeadline::Choose(choice), node.span);
            }
            return Spanned::new(OnDeadline::Transition(crate::ast::Transition::Hole), node.span);
        }
        self.transition(node).map(OnDeadline::Transition)
    }
}
