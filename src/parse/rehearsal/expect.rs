//! What a test file expects, at a step or at the end of a case.

use super::Reader;
use crate::ast::rehearsal::Expect;
use crate::diagnostic::Diagnostic;
use crate::parse::rules;
use crate::source::Spanned;
use crate::tree::{Node, Value};

const EXPECT: &[&str] = &[
    "status",
    "waits_for",
    "visits",
    "never",
    "outputs",
    "reason",
    "asks",
    "task",
    "given",
    "revision",
    "wakes_at",
];

/// The words of the runtime for a workflow session, and `waiting` for all that wait for a person or a schedule.
const STATUSES: &[&str] = &[
    "completed",
    "failed",
    "cancelled",
    "cancelling",
    "needs_attention",
    "paused",
    "awaiting_answer",
    "awaiting_review",
    "waiting_for_schedule",
    "agent_running",
    "waiting",
];

impl Reader<'_> {
    pub(super) fn expect(&mut self, node: &Node) -> Option<Expect> {
        if !self.fields.map(node, "`expect`") {
            return None;
        }
        self.fields.keys_of(node, EXPECT, &[], "`expect`");
        if node.entries().is_empty() {
            let found =
                Diagnostic::new(&rules::BAD_VALUE, node.span, "`expect` is empty and expects nothing");
            self.fields.report(found);
        }
        Some(Expect {
            status: node.get("status").and_then(|value| self.fields.word(value, "status", STATUSES)),
            waits_for: self.text_of(node, "waits_for"),
            visits: node.get("visits").and_then(|value| {
                let names = self.names(value, "visits")?;
                let names = names.into_iter().map(|name| name.value).collect();
                Some(Spanned::new(names, value.span))
            }),
            never: node.get("never").and_then(|value| self.names(value, "never")).unwrap_or_default(),
            outputs: self.values_of(node, "outputs"),
            reason: self.text_of(node, "reason"),
            asks: self.text_of(node, "asks"),
            task: self.text_of(node, "task"),
            given: self.values_of(node, "given"),
            revision: self.number_of(node, "revision"),
            wakes_at: self.instant_of(node, "wakes_at"),
        })
    }

    fn names(&mut self, node: &Node, key: &str) -> Option<Vec<Spanned<String>>> {
        let items = self.fields.items(node, &format!("`{key}`"));
        if !matches!(node.value, Value::List(_)) {
            return None;
        }
        Some(items.iter().filter_map(|item| self.fields.text(item, key)).collect())
    }
}
