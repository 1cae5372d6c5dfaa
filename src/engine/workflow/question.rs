//! Questions: asking, and what happens when nobody answers in time.

use super::event::Event;
use super::render;
use super::state::Asking;
use super::walk::Turn;
use crate::ir::{self, EdgeKind, NodeKind};
use indexmap::IndexMap;
use serde_json::Value;

impl Turn<'_> {
    /// Asks a question.
    pub(super) fn ask(&mut self, question: &ir::Question) {
        let text = render::text(&self.state, &question.text, None);
        let choices = question
            .choices
            .iter()
            .map(|choice| (choice.value.clone(), render::text(&self.state, &choice.label, None)))
            .collect();
        let respondents = self.respondents(&question.respondents);
        let occurrence = self.state.occurrences.saturating_add(1);
        let deadline_at = question.deadline_ms.map(|deadline| self.at.plus(deadline));
        self.emit(Event::QuestionAsked { occurrence, text, choices, respondents, deadline_at });
    }

    pub(super) fn respondents(&self, texts: &[ir::Text]) -> Vec<String> {
        texts.iter().map(|text| render::text(&self.state, text, None)).collect()
    }

    /// Nobody answered in time: the declared choice is taken, or the deadline's edge.
    pub(super) fn question_expired(&mut self, asking: &Asking) {
        let Some((position, node)) = self.open_node() else { return };
        let NodeKind::Question(question) = &node.kind else { return };
        let occurrence = asking.occurrence;
        if let Some(choice) = question.choose_on_deadline.clone() {
            let feedback = String::new();
            self.emit(Event::QuestionAnswered {
                occurrence,
                choice: choice.clone(),
                feedback: feedback.clone(),
                by: None,
            });
            let outputs = self.answer_outputs(&choice, &feedback, "");
            self.leave(&position.node, EdgeKind::Choice(choice), outputs, "the deadline's choice holds");
            return;
        }
        self.emit(Event::QuestionExpired { occurrence });
        self.leave(&position.node, EdgeKind::Deadline, IndexMap::new(), "nobody answered in time");
    }

    pub(super) fn answer_outputs(&self, choice: &str, feedback: &str, by: &str) -> IndexMap<String, Value> {
        IndexMap::from([
            ("choice".to_owned(), choice.into()),
            ("feedback".to_owned(), feedback.into()),
            ("answered_by".to_owned(), by.into()),
            ("answered_at".to_owned(), self.at.to_string().into()),
        ])
    }
}
