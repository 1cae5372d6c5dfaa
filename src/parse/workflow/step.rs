//! Lists of steps, and which kind a step is (B15: a key that is missing, misspelt or too many is named itself).

use super::Reader;
use crate::ast::{Step, StepKind};
use crate::diagnostic::{Diagnostic, Severity, nearest};
use crate::grammar::{self, Context};
use crate::parse::{MAX_STEPS, fields::Fields, is_hole_entry, rules};
use crate::source::Span;
use crate::tree::{Entry, Node, Value};

impl Reader<'_> {
    pub(super) fn steps(&mut self, node: &Node, what: &str) -> Vec<Step> {
        let items = self.fields.items(node, &format!("`{what}`"));
        if items.is_empty() && matches!(node.value, Value::List(_)) {
            let found = Diagnostic::new(&rules::WRONG_SHAPE, node.span, format!("`{what}` holds no step"));
            self.fields.report(found.help("a list of steps has at least one"));
        }
        let mut steps = Vec::with_capacity(items.len());
        for item in items {
            self.steps += 1;
            if self.steps == MAX_STEPS + 1 {
                let place = self.fields.head_of(item);
                let message = format!("the document has more than {MAX_STEPS} steps; this is one too many");
                let found = Diagnostic::new(&rules::TOO_MANY_STEPS, place, message);
                self.fields.report(found.note("nothing from here on is read"));
            }
            if self.steps > MAX_STEPS {
                break;
            }
            steps.push(self.step(item));
        }
        steps
    }

    fn step(&mut self, node: &Node) -> Step {
        let mut step = Step {
            span: node.span,
            head: self.fields.head_of(node),
            id: None,
            name: String::new(),
            title: None,
            description: None,
            kind: StepKind::Hole,
        };
        if !self.fields.map(node, "a step") {
            return step;
        }
        step.id = node.get("id").and_then(|node| self.fields.kebab(node, "id", false));
        step.title = node.get("title").and_then(|node| self.fields.text(node, "title"));
        step.description = node.get("description").and_then(|node| self.fields.text(node, "description"));
        let kind = self.kind_of(node);
        step.head = match (&step.id, kind) {
            (Some(id), _) => id.span,
            (None, Some((_, entry))) => entry.key.span,
            (None, None) => step.head,
        };
        if let Some((context, entry)) = kind {
            self.step_keys(node, context, entry);
            step.kind = self.kind(node, context, entry, step.head);
        }
        step
    }

    fn kind(&mut self, node: &Node, context: &Context, entry: &Entry, head: Span) -> StepKind {
        let value = &entry.value;
        match context.name {
            "cron" => StepKind::Cron(self.cron(node, value)),
            "question" => StepKind::Question(self.question(node, value, head)),
            "agent" => StepKind::Agent(self.agent_step(node, value)),
            "loop" => self.loop_step(value).map_or(StepKind::Hole, StepKind::Loop),
            "switch" => StepKind::Switch(self.switch(node, value, head)),
            "pick" => StepKind::Pick(self.pick(value)),
            "stop" => StepKind::Stop(self.stop(node, value)),
            _ => StepKind::Hole,
        }
    }

    /// The one kind key of a step and its entry. A misspelt one is taken as what was surely meant.
    fn kind_of<'t>(&mut self, node: &'t Node) -> Option<(&'static Context, &'t Entry)> {
        let mut found = node.entries().iter().filter_map(|entry| {
            grammar::KINDS.into_iter().find(|kind| kind.name == entry.key.value).map(|kind| (kind, entry))
        });
        match (found.next(), found.next()) {
            (Some(first), None) => Some(first),
            (Some(first), Some(second)) => {
                self.several(first, second);
                // A key of neither kind is a fault of its own.
                let contexts = [&grammar::STEP, first.0, second.0];
                for entry in node.entries().iter().filter(|entry| !is_hole_entry(entry)) {
                    if !grammar::KINDS
                        .iter()
                        .chain(&contexts)
                        .any(|kind| kind.key(&entry.key.value).is_some())
                    {
                        let names = contexts.iter().flat_map(|context| context.names());
                        self.fields.unknown_key(node, entry, names, "a step", Severity::Error);
                    }
                }
                None
            }
            (None, _) => self.no_kind(node),
        }
    }

    fn several(&mut self, first: (&Context, &Entry), second: (&Context, &Entry)) {
        let ((one, one_entry), (other, other_entry)) = (first, second);
        let message = format!("a step is either `{}` or `{}`, not both", one.name, other.name);
        let found = Diagnostic::new(&rules::SEVERAL_STEP_KINDS, other_entry.key.span, message)
            .label(one_entry.key.span, "the first kind key")
            .help("make two steps of it, each with its own `- `");
        self.fields.report(found);
    }

    fn no_kind<'t>(&mut self, node: &'t Node) -> Option<(&'static Context, &'t Entry)> {
        let is_known = |key: &str| {
            grammar::STEP.key(key).is_some() || grammar::KINDS.iter().any(|kind| kind.key(key).is_some())
        };
        let unknown =
            || node.entries().iter().filter(|entry| !is_hole_entry(entry) && !is_known(&entry.key.value));
        let misspelt = unknown().find_map(|entry| {
            let key = entry.key.value.as_str();
            let name = nearest(key, grammar::KINDS.iter().map(|kind| kind.name))?;
            let is_word = grammar::EXCLUDED.iter().any(|(word, _)| *word == key);
            if is_word && strsim::damerau_levenshtein(key, name) > 1 {
                return None;
            }
            grammar::KINDS.into_iter().find(|kind| kind.name == name).map(|kind| (kind, entry))
        });
        if let Some((kind, entry)) = misspelt {
            let message = format!("`{}` is no kind of step", entry.key.value);
            let found = Diagnostic::new(&rules::NO_STEP_KIND, entry.key.span, message);
            self.fields.report(found.suggest(&entry.key.value, Some(kind.name), entry.key.span));
            return Some((kind, entry));
        }
        if Fields::is_cut(node) {
            return None;
        }
        let excluded =
            unknown().find(|entry| grammar::EXCLUDED.iter().any(|(word, _)| *word == entry.key.value));
        if let Some(entry) = excluded {
            let title = grammar::STEP.title;
            self.fields.unknown_key(node, entry, [].into_iter(), title, crate::diagnostic::Severity::Error);
            return None;
        }
        let likely = node.entries().iter().find_map(|entry| {
            let mut of = grammar::KINDS.into_iter().filter(|kind| kind.key(&entry.key.value).is_some());
            match (of.next(), of.next()) {
                (Some(kind), None) => Some((entry, kind)),
                _ => None,
            }
        });
        let (span, message) = match likely {
            Some((entry, kind)) => (
                entry.key.span,
                format!("the step has `{}` but not the key `{}`", entry.key.value, kind.name),
            ),
            None => (self.fields.head_of(node), "the step has no kind key".to_owned()),
        };
        let found = Diagnostic::new(&rules::NO_STEP_KIND, span, message);
        self.fields.report(
            found.help(
                "each step has one of `cron`, `question`, `agent`, `loop`, `switch`, `pick` and `stop`",
            ),
        );
        None
    }

    /// Unknown and missing keys; the kind key itself may be misspelt and has been reported then.
    fn step_keys(&mut self, node: &Node, context: &'static Context, kind: &Entry) {
        if kind.key.value == context.name {
            self.fields.keys(node, &[&grammar::STEP, context]);
            return;
        }
        let names = grammar::STEP.names().chain(context.names());
        for entry in node.entries() {
            let key = entry.key.value.as_str();
            let is_known = grammar::STEP.key(key).is_some() || context.key(key).is_some();
            if !is_known && !is_hole_entry(entry) && entry.key.span != kind.key.span {
                let severity = crate::diagnostic::Severity::Error;
                self.fields.unknown_key(node, entry, names.clone(), context.title, severity);
            }
        }
    }
}
