//! cron, loop, switch, pick, stop, and transitions.

use super::Reader;
use crate::ast::{Case, Cron, Loop, Pick, Repeat, Stop, StopStatus, Switch, Template, Transition};
use crate::diagnostic::{Diagnostic, Fix, nearest};
use crate::grammar;
use crate::parse::{MAX_CHOICES, rules};
use crate::source::{Span, Spanned};
use crate::tree::{Node, Value};

const WORDS: [&str; 4] = ["continue", "break", "next", "hold"];
const ENDS: [&str; 3] = ["succeeded", "failed", "cancelled"];

impl Reader<'_> {
    pub(super) fn cron(&mut self, node: &Node, value: &Node) -> Cron {
        if let Some(missed) = node.get("missed") {
            self.fields.word(missed, "missed", &["skip"]);
        }
        Cron {
            expression: self.fields.text(value, "cron"),
            timezone: node.get("timezone").and_then(|node| self.fields.text(node, "timezone")),
        }
    }

    pub(super) fn loop_step(&mut self, value: &Node) -> Option<Loop> {
        let context = &grammar::LOOP_BODY;
        if !self.fields.map(value, context.title) {
            return None;
        }
        self.fields.keys(value, &[context]);
        Some(Loop {
            repeat: value.get("repeat").and_then(|node| self.repeat(node)),
            deadline: value.get("deadline").and_then(|node| self.fields.duration(node, "deadline")),
            steps: value.get("steps").map(|node| self.steps(node, "steps")).unwrap_or_default(),
            on_exhausted: self.transition_at(value, "on_exhausted"),
            on_deadline: self.transition_at(value, "on_deadline"),
        })
    }

    fn repeat(&mut self, node: &Node) -> Option<Spanned<Repeat>> {
        match &node.value {
            Value::Number(_) => {
                let times = self.fields.number(node, "repeat", 1..=grammar::MAX_REPEAT)?;
                Some(times.map(Repeat::Times))
            }
            Value::Text(text) if text.value == "until_stopped" => {
                Some(Spanned::new(Repeat::UntilStopped, node.span))
            }
            Value::Hole => None,
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                let written = self.fields.written(node);
                let message = format!(
                    "`repeat` is `{written}`; it is `until_stopped` or a number from 1 to {}",
                    grammar::MAX_REPEAT
                );
                let near = node.text().and_then(|text| nearest(&text.value, ["until_stopped"]));
                self.fields.report(
                    Diagnostic::new(&rules::BAD_VALUE, node.span, message).suggest(&written, near, node.span),
                );
                None
            }
        }
    }

    pub(super) fn switch(&mut self, node: &Node, value: &Node, head: Span) -> Switch {
        let empty = Template { span: value.span, parts: Vec::new() };
        let on = self.fields.sole_binding(value, "switch").unwrap_or(empty);
        let cases_node = node.get("cases");
        let cases = cases_node.map(|node| self.cases(node)).unwrap_or_default();
        let cases_span = cases_node.map_or(head, |node| node.span);
        Switch { on, cases, cases_span, default: self.transition_at(node, "default") }
    }

    fn cases(&mut self, node: &Node) -> Vec<Case> {
        let entries = self.fields.entries(node, "`cases`");
        self.bounded(node, entries.len(), "cases");
        let mut out = Vec::new();
        for entry in entries.into_iter().take(MAX_CHOICES) {
            let then = self.transition(&entry.value);
            out.push(Case { value: entry.key.clone(), then });
        }
        out
    }

    /// Whether a map of choices or cases has a fitting size.
    pub(super) fn bounded(&mut self, node: &Node, count: usize, what: &str) {
        if count > MAX_CHOICES {
            let place = node.entries().get(MAX_CHOICES).map_or(node.span, |entry| entry.key.span);
            let message = format!("there are {count} {what}; the limit is {MAX_CHOICES}");
            self.fields.report(Diagnostic::new(&rules::TOO_MANY_CHOICES, place, message));
        } else if count == 0 && matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
            self.fields.report(Diagnostic::new(&rules::WRONG_SHAPE, node.span, format!("`{what}` is empty")));
        }
    }

    pub(super) fn pick(&mut self, value: &Node) -> Pick {
        let items = self.fields.items(value, "`pick`");
        if items.is_empty() && matches!(value.value, Value::List(_)) {
            self.fields.report(Diagnostic::new(&rules::WRONG_SHAPE, value.span, "`pick` is empty"));
        }
        Pick { from: items.iter().filter_map(|node| self.fields.sole_binding(node, "pick")).collect() }
    }

    pub(super) fn stop(&mut self, node: &Node, value: &Node) -> Stop {
        Stop {
            status: self.end(value),
            reason: node.get("reason").and_then(|node| self.fields.template(node, "reason")),
        }
    }

    fn end(&mut self, node: &Node) -> Option<Spanned<StopStatus>> {
        let word = self.fields.word(node, "stop", &ENDS)?;
        Some(word.map(|word| match word {
            "succeeded" => StopStatus::Succeeded,
            "failed" => StopStatus::Failed,
            _ => StopStatus::Cancelled,
        }))
    }

    pub(super) fn transition_at(&mut self, node: &Node, key: &str) -> Option<Spanned<Transition>> {
        node.get(key).map(|value| self.transition(value))
    }

    pub(super) fn transition(&mut self, node: &Node) -> Spanned<Transition> {
        let transition = match &node.value {
            Value::Text(text) => match text.value.as_str() {
                "continue" => Transition::Continue,
                "break" => Transition::Break,
                "next" => Transition::Next,
                "hold" => Transition::Hold,
                other => self.bad_word(node, other),
            },
            Value::Map(_) => self.transition_map(node),
            Value::Hole => Transition::Hole,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => {
                let mut message = format!("a transition cannot be {}", node.kind());
                if node.value == Value::Null && node.span.is_empty() {
                    "the transition has no value".clone_into(&mut message);
                }
                let found = Diagnostic::new(&rules::BAD_TRANSITION, node.span, message);
                let is_list = matches!(node.value, Value::List(_));
                let help = if is_list { "write the list under `steps:`" } else { FORMS };
                self.fields.report(found.help(help));
                Transition::Hole
            }
        };
        Spanned::new(transition, node.span)
    }

    fn bad_word(&mut self, node: &Node, word: &str) -> Transition {
        let message = format!("`{}` is no transition", crate::parse::fields::shorten(word));
        let found = Diagnostic::new(&rules::BAD_TRANSITION, node.span, message);
        let end = match word {
            "stop" | "fail" => Some("failed"),
            "cancel" => Some("cancelled"),
            "succeed" | "end" | "done" => Some("succeeded"),
            other => ENDS.into_iter().find(|end| *end == other),
        };
        let found = match (end, nearest(word, WORDS)) {
            (Some(end), _) => {
                let text = format!("{{ stop: {end} }}");
                let mut fix = Fix::replace(format!("write `{text}`"), node.span, text.clone());
                fix.safe = ENDS.contains(&word);
                found.help(format!("write `{text}`")).fix(fix)
            }
            (None, Some(near)) => found.suggest(word, Some(near), node.span),
            (None, None) => found.help(FORMS),
        };
        self.fields.report(found);
        Transition::Hole
    }

    fn transition_map(&mut self, node: &Node) -> Transition {
        match (node.get("stop"), node.get("steps")) {
            (Some(stop), None) => {
                self.fields.keys(node, &[&grammar::STOP_TRANSITION]);
                Transition::Stop(self.stop(node, stop))
            }
            (None, Some(steps)) => {
                self.fields.keys(node, &[&grammar::STEPS_TRANSITION]);
                let steps = self.steps(steps, "steps");
                let then = node.get("then").map(|then| Box::new(self.transition(then)));
                Transition::Steps { steps, then }
            }
            (Some(_), Some(_)) => {
                let message = "a transition has either `stop` or `steps`, not both";
                let place = self.fields.head_of(node);
                let help = "put a `stop` step at the end of the list";
                self.fields.report(Diagnostic::new(&rules::BAD_TRANSITION, place, message).help(help));
                Transition::Hole
            }
            (None, None) => {
                self.no_transition(node);
                Transition::Hole
            }
        }
    }

    fn no_transition(&mut self, node: &Node) {
        if crate::parse::fields::Fields::is_cut(node) {
            return;
        }
        let place = self.fields.head_of(node);
        let key = node.entries().first().map_or("", |entry| entry.key.value.as_str());
        let found = if node.entries().is_empty() {
            Diagnostic::new(&rules::BAD_TRANSITION, node.span, "the transition is empty").help(FORMS)
        } else if grammar::KINDS.iter().any(|kind| kind.name == key) {
            let message = format!("`{key}` is a step, not a transition");
            Diagnostic::new(&rules::BAD_TRANSITION, place, message)
                .help("write the step as a list under `steps:`")
        } else {
            let near = nearest(key, ["stop", "steps"]);
            let found = Diagnostic::new(&rules::BAD_TRANSITION, place, format!("`{key}` is no transition"));
            if near.is_some() { found.suggest(key, near, place) } else { found.help(FORMS) }
        };
        self.fields.report(found);
    }
}

const FORMS: &str = "a transition is `continue`, `break`, `next`, `hold`, `{ stop: … }` or `{ steps: […] }`";
