//! The steps of a case: what agents, people and the clock do.

use super::Reader;
use crate::ast::rehearsal::{Act, Decision, Move, Operation, Step, StepKind};
use crate::diagnostic::{Diagnostic, nearest};
use crate::parse::rules;
use crate::source::Spanned;
use crate::tree::{Entry, Node, Value};

/// The keys that say what a step is.
const KINDS: [&str; 14] = [
    "agent", "expect", "answer", "accept", "reject", "abort", "message", "advance", "until", "down", "pause",
    "resume", "retry", "cancel",
];
/// The keys that say what an agent does.
const ACTS: [&str; 6] = ["submit", "block", "fail", "crash", "say", "judge"];
const AGENT: &[&str] = &["agent", "submit", "block", "fail", "crash", "say", "judge", "feedback", "refused"];

impl Reader<'_> {
    pub(super) fn step(&mut self, node: &Node) -> Option<Step> {
        if let Some(text) = node.text() {
            // `- pause` is a whole step.
            let word = Spanned::new(text.value.clone(), node.span);
            return self.bare(&word);
        }
        if !self.fields.map(node, "a step of a case") {
            return None;
        }
        let kinds: Vec<&Entry> =
            node.entries().iter().filter(|entry| KINDS.contains(&entry.key.value.as_str())).collect();
        let entry = match kinds.as_slice() {
            [only] => *only,
            [] => {
                self.no_kind(node);
                return None;
            }
            [first, second, ..] => {
                let (one, other) = (&first.key.value, &second.key.value);
                let message = format!("a step is one thing, not both `{one}` and `{other}`");
                self.fields.report(Diagnostic::new(&rules::SEVERAL_STEP_KINDS, second.key.span, message));
                return None;
            }
        };
        let span = match &entry.value.value {
            Value::Map(_) | Value::List(_) => entry.key.span,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Hole => {
                entry.key.span.to(entry.value.span)
            }
        };
        let refused = node.get("refused").and_then(|value| self.refused(value));
        let kind = self.kind(node, entry)?;
        Some(Step { span, kind, refused })
    }

    fn no_kind(&mut self, node: &Node) {
        let mut found = None;
        for entry in node.entries() {
            if let Some(near) = nearest(&entry.key.value, KINDS) {
                let message = format!("`{}` is no step of a case", entry.key.value);
                let finding = Diagnostic::new(&rules::UNKNOWN_KEY, entry.key.span, message);
                found.get_or_insert(finding.suggest(&entry.key.value, Some(near), entry.key.span));
            }
        }
        let span = self.fields.head_of(node);
        self.fields.report(found.unwrap_or_else(|| {
            let help = format!("it is one of {}", listed(&KINDS));
            Diagnostic::new(&rules::NO_STEP_KIND, span, "this step says not what happens").help(help)
        }));
    }

    fn bare(&mut self, word: &Spanned<String>) -> Option<Step> {
        let Some(operation) = operation(&word.value) else {
            let message = format!("`{}` is no step of a case", word.value);
            let found = Diagnostic::new(&rules::BAD_VALUE, word.span, message);
            let near = nearest(&word.value, ["pause", "resume", "retry", "cancel"]);
            self.fields.report(found.suggest(&word.value, near, word.span));
            return None;
        };
        let kind = StepKind::Operate { operation, by: None, reason: String::new() };
        Some(Step { span: word.span, kind, refused: None })
    }

    fn refused(&mut self, node: &Node) -> Option<Spanned<Option<String>>> {
        match &node.value {
            Value::Bool(true) => Some(Spanned::new(None, node.span)),
            Value::Text(text) => Some(Spanned::new(Some(text.value.clone()), node.span)),
            Value::Hole => None,
            Value::Null | Value::Bool(false) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                self.fields.wrong(node, "`refused`", "`true` or part of the reason");
                None
            }
        }
    }

    fn kind(&mut self, node: &Node, entry: &Entry) -> Option<StepKind> {
        let (key, value) = (entry.key.value.as_str(), &entry.value);
        if key == "agent" {
            return self.agent(node, value);
        }
        let own: &[&'static str] = match KINDS.iter().find(|kind| **kind == key) {
            Some(kind) => &[kind, "refused"],
            None => &[],
        };
        self.fields.keys_of(node, own, &[], &format!("the step `{key}`"));
        match key {
            "expect" => {
                if let Some(refused) = node.entry("refused") {
                    let message = "what is expected is not refused";
                    self.fields.report(Diagnostic::new(&rules::UNKNOWN_KEY, refused.key.span, message));
                }
                self.expect(value).map(StepKind::Expect)
            }
            "answer" => self.answer(value),
            "accept" => {
                let made = self.decision(value, "accept", &["step", "as", "revision", "gate"])?;
                Some(made(Decision::Accept))
            }
            "reject" => {
                let made = self.decision(value, "reject", &["step", "as", "revision", "gate", "feedback"])?;
                let feedback = self.text_of(value, "feedback");
                if feedback.is_none() && value.get("feedback").is_none() {
                    self.fields.missing(value, "feedback", "`reject`");
                }
                Some(made(Decision::Reject(feedback?.value)))
            }
            "abort" => {
                let made = self.decision(value, "abort", &["step", "as", "revision", "gate", "reason"])?;
                let reason = self.text_of(value, "reason").map(|reason| reason.value).unwrap_or_default();
                Some(made(Decision::Abort(reason)))
            }
            "message" => self.message(value),
            "advance" => Some(StepKind::Clock(Move::Advance(self.fields.duration(value, key)?.value))),
            "down" => Some(StepKind::Clock(Move::Down(self.fields.duration(value, key)?.value))),
            "until" => Some(StepKind::Clock(Move::Until(self.instant(value, key)?.value))),
            _ => self.operate(operation(key)?, key, value),
        }
    }

    fn agent(&mut self, node: &Node, value: &Node) -> Option<StepKind> {
        const TITLE: &str = "the reply of an agent";
        self.fields.keys_of(node, AGENT, &[], TITLE);
        let name = self.fields.text(value, "agent");
        let acts: Vec<&Entry> =
            node.entries().iter().filter(|entry| ACTS.contains(&entry.key.value.as_str())).collect();
        let entry = match acts.as_slice() {
            [only] => *only,
            [] => {
                let message = format!("{TITLE} needs one of {}", listed(&ACTS));
                let span = self.fields.head_of(node);
                self.fields.report(Diagnostic::new(&rules::MISSING_KEY, span, message));
                return None;
            }
            [first, second, ..] => {
                let (one, other) = (&first.key.value, &second.key.value);
                let message = format!("an agent does one thing at a time, not both `{one}` and `{other}`");
                self.fields.report(Diagnostic::new(&rules::SEVERAL_STEP_KINDS, second.key.span, message));
                return None;
            }
        };
        let act = self.act(node, entry)?;
        Some(StepKind::Agent { name: name?, act, span: entry.key.span })
    }

    fn act(&mut self, node: &Node, entry: &Entry) -> Option<Act> {
        let (key, value) = (entry.key.value.as_str(), &entry.value);
        if let Some(stray) = node.entry("feedback").filter(|_| key != "judge") {
            let message = "`feedback` stands beside `judge` only";
            self.fields.report(Diagnostic::new(&rules::UNKNOWN_KEY, stray.key.span, message));
        }
        if key == "submit" {
            if !self.fields.map(value, "`submit`") {
                return None;
            }
            self.fields.keys_of(value, &["summary", "result"], &[], "`submit`");
            let summary = self.text_of(value, "summary").map(|text| text.value).unwrap_or_default();
            return Some(Act::Submit { summary, result: value.get("result").cloned() });
        }
        if key == "judge" {
            let word = self.fields.word(value, "judge", &["accept", "reject"])?;
            let feedback = self.text_of(node, "feedback").map(|text| text.value).unwrap_or_default();
            return Some(Act::Judge { accepts: word.value == "accept", feedback });
        }
        let text = self.fields.text(value, key)?.value;
        match key {
            "block" => Some(Act::Block(text)),
            "fail" => Some(Act::Fail(text)),
            "crash" => Some(Act::Crash(text)),
            _ => Some(Act::Say(text)),
        }
    }

    fn answer(&mut self, value: &Node) -> Option<StepKind> {
        if !self.fields.map(value, "`answer`") {
            return None;
        }
        self.fields.keys_of(value, &["step", "choice", "feedback", "as"], &[], "`answer`");
        let choice = match value.get("choice") {
            Some(choice) => self.fields.text(choice, "choice"),
            None => {
                self.fields.missing(value, "choice", "`answer`");
                None
            }
        };
        Some(StepKind::Answer {
            step: self.text_of(value, "step"),
            choice: choice?,
            feedback: self.text_of(value, "feedback").map(|text| text.value).unwrap_or_default(),
            by: self.text_of(value, "as"),
        })
    }

    /// A decision but for what is decided. `accept: plan` is short for `accept: { step: plan }`.
    fn decision(
        &mut self,
        value: &Node,
        key: &str,
        own: &[&'static str],
    ) -> Option<impl FnOnce(Decision) -> StepKind + use<>> {
        let (step, revision, gate, by);
        if let Some(text) = value.text() {
            step = Some(Spanned::new(text.value.clone(), text.span));
            (revision, gate, by) = (None, None, None);
        } else {
            if !self.fields.map(value, &format!("`{key}`")) {
                return None;
            }
            self.fields.keys_of(value, own, &[], &format!("`{key}`"));
            step = self.text_of(value, "step");
            revision = self.number_of(value, "revision");
            gate = self.number_of(value, "gate");
            by = self.text_of(value, "as");
        }
        Some(move |decision| StepKind::Decide { step, decision, revision, gate, by })
    }

    fn message(&mut self, value: &Node) -> Option<StepKind> {
        if !self.fields.map(value, "`message`") {
            return None;
        }
        self.fields.keys_of(value, &["to", "text"], &[], "`message`");
        for key in ["to", "text"] {
            if value.get(key).is_none() {
                self.fields.missing(value, key, "`message`");
            }
        }
        let (to, text) = (self.text_of(value, "to"), self.text_of(value, "text"));
        Some(StepKind::Message { to: to?, text: text?.value })
    }

    /// `pause:` alone, or a map.
    fn operate(&mut self, operation: Operation, key: &str, value: &Node) -> Option<StepKind> {
        let none = String::new();
        if value.value == Value::Null {
            return Some(StepKind::Operate { operation, by: None, reason: none });
        }
        if !self.fields.map(value, &format!("`{key}`")) {
            return None;
        }
        let own: &[&'static str] = if operation == Operation::Cancel { &["as", "reason"] } else { &["as"] };
        self.fields.keys_of(value, own, &[], &format!("`{key}`"));
        let by = self.text_of(value, "as");
        let reason = self.text_of(value, "reason").map(|text| text.value).unwrap_or_default();
        Some(StepKind::Operate { operation, by, reason })
    }
}

fn operation(word: &str) -> Option<Operation> {
    Some(match word {
        "pause" => Operation::Pause,
        "resume" => Operation::Resume,
        "retry" => Operation::Retry,
        "cancel" => Operation::Cancel,
        _ => return None,
    })
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
