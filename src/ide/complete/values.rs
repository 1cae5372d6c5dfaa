//! Values: words, names, zones, agents, tools, whole bindings, types of schemas.

use super::slot::{Shown, Writer};
use super::{Place, binding, schema};
use crate::ast::{self, Feedback, StepKind};
use crate::grammar::Shape;
use crate::ide::place::{self, Role};
use crate::ide::{Completion, CompletionKind, Document, words};
use crate::resolve::{Reference, Resolved, Tool, Toolbox};
use crate::schedule::Schedule;
use crate::schedule::zone_names;
use crate::time::Millis;
use crate::tree::{Node, Value};

const NICKNAMES: [&str; 7] =
    ["@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@midnight", "@annually"];
const DURATIONS: [&str; 6] = ["30s", "15m", "1h", "4h", "24h", "7d"];
const FORMATS: [&str; 8] = ["date", "date-time", "time", "duration", "email", "uri", "uuid", "artifact"];

/// What can be written where a value stands.
pub(super) fn complete(place: &Place<'_, '_>) -> Vec<Completion> {
    let Some(level) = place.way.last() else { return Vec::new() };
    if level.role.is_list() && place.writer.is_block() {
        return Vec::new();
    }
    of_role(place, level.role, place.writer)
}

/// The values of a role.
pub(super) fn of_role(place: &Place<'_, '_>, role: Role, writer: Writer) -> Vec<Completion> {
    let asked = Asked { place, writer };
    if let Role::Of(context, key) = role
        && let Some(found) = asked.named(context.name, key.name)
    {
        return found;
    }
    match role {
        Role::Reference => return asked.agents(false),
        Role::SchemaType => return asked.types(),
        Role::RequiredName => return asked.required(),
        Role::Schema => return asked.booleans(),
        Role::Keyword => return asked.keyword(),
        Role::Workflow
        | Role::AgentFile
        | Role::Step
        | Role::Gate
        | Role::Choice
        | Role::SchemaRequired
        | Role::SchemaList
        | Role::Of(..)
        | Role::Shaped(_)
        | Role::Free => {}
    }
    match role.shape() {
        Some(Shape::Word(all)) => all.iter().map(|word| asked.word(role, word)).collect(),
        Some(Shape::Exactly(number)) => asked.number(number).into_iter().collect(),
        Some(Shape::Duration) => asked.durations(),
        Some(Shape::Retention) => {
            std::iter::once(asked.word(role, "keep")).chain(asked.durations()).collect()
        }
        Some(Shape::Repeat) => {
            std::iter::once(asked.word(role, "until_stopped")).chain(asked.number(3)).collect()
        }
        Some(Shape::Respondents) => asked.respondents(),
        Some(Shape::Bool) => asked.booleans(),
        Some(Shape::Transition) => asked.transitions(role, false),
        Some(Shape::OnDeadline) => asked.transitions(role, true),
        Some(Shape::Disposition) => asked.dispositions(role),
        Some(Shape::Binding) => binding::whole(place, writer),
        Some(Shape::Text) if asked.is_in("repeatableTools") => asked.tools(),
        Some(_) | None => Vec::new(),
    }
}

struct Asked<'p, 'a, 't> {
    place: &'p Place<'a, 't>,
    writer: Writer,
}

impl<'a> Asked<'_, 'a, '_> {
    /// Values of keys whose shape does not say what they name.
    fn named(&self, context: &str, key: &str) -> Option<Vec<Completion>> {
        Some(match (context, key) {
            ("cron", "cron") => self.nicknames(),
            ("cron" | "defaults", "timezone") => self.zones(),
            ("agent" | "gate_agent", "agent") => self.agents(true),
            ("choose", "choose") => self.choices_of(self.question()?, true),
            ("guarantee", "before") => self.steps(|_| true),
            ("guarantee", "accepted") => {
                self.steps(|kind| matches!(kind, StepKind::Agent(stage) if stage.reviewed))
            }
            ("guarantee", "answered") => self.steps(|kind| matches!(kind, StepKind::Question(_))),
            ("guarantee", "choice") => self.choices_of(self.answered()?, false),
            ("policy_rule", "tool") => self.tools(),
            ("agent_file", "base") => {
                vec![self.plain("workflow-agent@1", "Makes the agent usable in a workflow")]
            }
            _ => return None,
        })
    }

    fn is_in(&self, key: &str) -> bool {
        self.place.way.levels.iter().any(|level| level.role.is("agent_file", key))
    }

    fn shown<'l>(&self, label: &'l str, kind: CompletionKind, detail: &str, doc: &str) -> Shown<'l> {
        Shown { label, kind, detail: detail.to_owned(), doc: doc.to_owned() }
    }

    fn plain(&self, word: &str, doc: &str) -> Completion {
        self.writer.text(self.shown(word, CompletionKind::Word, "", doc), word)
    }

    fn word(&self, role: Role, word: &str) -> Completion {
        let doc = words::word(role, word).map(|doc| format!("{doc}.")).unwrap_or_default();
        self.plain(word, &doc)
    }

    fn number(&self, number: u32) -> Option<Completion> {
        let text = number.to_string();
        self.writer.raw(self.shown(&text, CompletionKind::Word, "", ""), &text, &text)
    }

    fn booleans(&self) -> Vec<Completion> {
        // Of a schema, false is what is meant nearly always: nothing more.
        let one = |word: &str| self.writer.raw(self.shown(word, CompletionKind::Word, "", ""), word, word);
        let is_schema = self.place.way.last().is_some_and(|level| level.role == Role::Schema);
        let key = self.place.way.last().and_then(|level| level.entry).map(|entry| entry.key.value.as_str());
        let takes = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items"];
        if is_schema && !key.is_some_and(|key| takes.contains(&key)) {
            return Vec::new();
        }
        ["false", "true"].into_iter().filter_map(one).collect()
    }

    fn durations(&self) -> Vec<Completion> {
        let word = |text: &&str| Millis::parse(text).map(words::duration).unwrap_or_default();
        DURATIONS.iter().map(|text| self.plain(text, &word(text))).collect()
    }

    fn nicknames(&self) -> Vec<Completion> {
        NICKNAMES
            .iter()
            .map(|name| {
                let next = Schedule::parse(name, "UTC").ok().and_then(|schedule| {
                    Some(format!("Next in UTC: {}.", schedule.next_after(self.place.analysis.as_of)?))
                });
                self.plain(name, &next.unwrap_or_default())
            })
            .collect()
    }

    /// UTC first, then by name; what the document uses already stands before both.
    fn zones(&self) -> Vec<Completion> {
        let mut used: Vec<&str> = Vec::new();
        if let Some(resolved) = self.place.resolved {
            let default = resolved.ast.defaults.timezone.iter();
            let own = resolved.flow.steps().filter_map(|(_, step)| step.kind.as_cron()?.timezone.as_ref());
            used.extend(default.chain(own).map(|zone| zone.value.as_str()));
        }
        let rank = |name: &str| (!used.contains(&name), name != "UTC");
        let mut names: Vec<&str> = zone_names().collect();
        names.sort_by_key(|name| rank(name));
        let zone = |name: &str| self.writer.text(self.shown(name, CompletionKind::Zone, "", ""), name);
        names.into_iter().map(zone).collect()
    }

    fn agents(&self, with_local: bool) -> Vec<Completion> {
        let (Document::Workflow(compiled), Some(resolved)) =
            (&self.place.analysis.document, self.place.resolved)
        else {
            return Vec::new();
        };
        let is_local = |name: &str| resolved.ast.agents.iter().any(|entry| entry.name.value == name);
        let mut names: Vec<&str> = Vec::new();
        if with_local {
            names.extend(resolved.ast.agents.iter().map(|entry| entry.name.value.as_str()));
        }
        let known = compiled.agents.known.iter().map(String::as_str);
        let read = compiled
            .agents
            .references
            .iter()
            .filter_map(|(written, to)| matches!(to, Reference::File(_)).then_some(written.as_str()));
        names.extend(known.chain(read).filter(|name| !is_local(name)));
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| *name != super::MARK && seen.insert(*name));
        names.into_iter().map(|name| self.agent(resolved, name, is_local(name))).collect()
    }

    fn agent(&self, resolved: &Resolved<'_>, name: &str, is_local: bool) -> Completion {
        let announce = resolved.agent(name).and_then(|(_, file)| file.agent.announce.as_ref());
        let doc = announce.map(|text| text.value.as_str()).unwrap_or_default();
        let detail = if is_local { crate::resolve::local(resolved.ast, name) } else { "" };
        self.writer.text(self.shown(name, CompletionKind::Agent, detail, doc), name)
    }

    fn steps(&self, fits: impl Fn(&StepKind) -> bool) -> Vec<Completion> {
        let Some(resolved) = self.place.resolved else { return Vec::new() };
        let named = resolved.flow.steps().filter(|(_, step)| step.id.is_some() && fits(&step.kind));
        named.map(|(_, step)| self.step(step)).collect()
    }

    fn step(&self, step: &ast::Step) -> Completion {
        let title = step.title.as_ref().map(|title| title.value.as_str()).unwrap_or_default();
        let detail = crate::resolve::word_of(&step.kind);
        self.writer.text(self.shown(&step.name, CompletionKind::Step, detail, title), &step.name)
    }

    fn question(&self) -> Option<&ast::Question> {
        self.place.step()?.1.kind.as_question()
    }

    /// The question that a guarantee names.
    fn answered(&self) -> Option<&'a ast::Question> {
        let map = self.place.way.levels.iter().rev().find(|level| level.node.get("answered").is_some())?;
        let id = &map.node.get("answered")?.text()?.value;
        let resolved = self.place.resolved?;
        let step = resolved.flow.step(*resolved.symbols.steps.get(id.as_str())?)?;
        step.kind.as_question()
    }

    fn choices_of(&self, question: &ast::Question, by_deadline: bool) -> Vec<Completion> {
        // A deadline cannot give the text that such a choice demands.
        let free = |choice: &&ast::Choice| !by_deadline || choice.feedback != Feedback::Required;
        let word = |choice: &ast::Choice| {
            self.plain(&choice.value.value, choice.label.literal().unwrap_or_default())
        };
        question.choices.iter().filter(free).map(word).collect()
    }

    fn respondents(&self) -> Vec<Completion> {
        let mut found = vec![self.plain("owner", "Who started the session.")];
        let mut names: Vec<String> = Vec::new();
        place::visit(self.place.tree, Role::Workflow, None, &mut |node, role, _| {
            let text = node.text().filter(|_| role.shape() == Some(Shape::Respondents));
            if let Some(text) =
                text.filter(|text| text.value.starts_with("user:") || text.value.starts_with("role:"))
            {
                names.push(text.value.clone());
            }
        });
        names.extend(["role:NAME".to_owned(), "user:NAME".to_owned()]);
        names.sort_by_key(|name| name.ends_with(":NAME"));
        names.dedup();
        found.extend(names.iter().map(|name| self.plain(name, "")));
        found
    }

    fn transitions(&self, role: Role, by_deadline: bool) -> Vec<Completion> {
        // A loop's own transitions mean the loop around it, so the scope of the loop itself counts.
        let node = self.place.step().and_then(|(node, _)| self.place.resolved?.flow.node(node));
        let in_loop = node.is_some_and(|node| !node.scope.is_empty());
        let mut found: Vec<Completion> = words::TRANSITIONS
            .iter()
            .filter(|(word, _)| in_loop || !matches!(*word, "break" | "next"))
            .map(|(word, _)| self.word(role, word))
            .collect();
        for status in ["succeeded", "failed", "cancelled"] {
            let label = format!("{{ stop: {status} }}");
            let json = format!("{{ \"stop\": \"{status}\" }}");
            let shown = self.shown(&label, CompletionKind::Word, "", "Ends the session.");
            found.extend(self.writer.raw(shown, &label, &json));
        }
        let chosen = by_deadline.then(|| self.question()).flatten();
        for choice in chosen.map(|question| self.choices_of(question, true)).unwrap_or_default() {
            let value = choice.label;
            let label = format!("{{ choose: {value} }}");
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let yaml = format!("{{ choose: \"{quoted}\" }}");
            let json = format!("{{ \"choose\": \"{quoted}\" }}");
            let shown = self.shown(&label, CompletionKind::Word, "", "Takes this choice without a person.");
            found.extend(self.writer.raw(shown, &yaml, &json));
        }
        found
    }

    fn dispositions(&self, role: Role) -> Vec<Completion> {
        let mut found: Vec<Completion> =
            ["runSync", "defer", "deny", "runAsync"].iter().map(|word| self.word(role, word)).collect();
        for tag in ["defer", "deny"] {
            let label = format!("{{ tag: {tag}, reason: … }}");
            let yaml = format!("{{ tag: {tag}, reason: \"\" }}");
            let json = format!("{{ \"tag\": \"{tag}\", \"reason\": \"\" }}");
            found.extend(self.writer.raw(self.shown(&label, CompletionKind::Word, "", ""), &yaml, &json));
        }
        found
    }

    /// Tools of the toolboxes, as far as the package is known, and those that the file names itself.
    fn tools(&self) -> Vec<Completion> {
        let mut names: Vec<String> = Vec::new();
        let around = match &self.place.analysis.document {
            Document::Agent(compiled) => compiled.around.as_ref(),
            Document::Workflow(_) => None,
        };
        for toolbox in around.map(|around| around.toolboxes.as_slice()).unwrap_or_default() {
            let Toolbox::Files(tools) = toolbox else { continue };
            let name = |tool: &Tool| tool.slug.as_deref().or(tool.file.split('.').next()).map(str::to_owned);
            names.extend(tools.iter().filter_map(name).map(|name| format!("bash_{name}")));
        }
        place::visit(self.place.tree, Role::AgentFile, None, &mut |node, role, _| {
            if role.is("policy_rule", "tool") {
                names.extend(node.text().map(|text| text.value.clone()));
            }
            if role.is("agent_file", "repeatableTools")
                && let Value::List(items) = &node.value
            {
                names.extend(items.iter().filter_map(Node::text).map(|text| text.value.clone()));
            }
        });
        names.sort();
        names.dedup();
        names.retain(|name| name != super::MARK);
        let tool = |name: &String| self.writer.text(self.shown(name, CompletionKind::Tool, "", ""), name);
        names.iter().map(tool).collect()
    }

    fn types(&self) -> Vec<Completion> {
        schema::TYPES.iter().map(|(name, doc)| self.plain(name, &format!("{doc}."))).collect()
    }

    /// Properties that are declared and not yet required.
    fn required(&self) -> Vec<Completion> {
        let schema = self.place.way.nearest(|role| role == Role::Schema);
        let Some(schema) = schema.map(|level| level.node) else { return Vec::new() };
        let listed: Vec<&str> = match schema.get("required").map(|node| &node.value) {
            Some(Value::List(items)) => {
                items.iter().filter_map(Node::text).map(|text| text.value.as_str()).collect()
            }
            Some(
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::Map(_)
                | Value::Hole,
            )
            | None => Vec::new(),
        };
        let properties = schema.get("properties").map(Node::entries).unwrap_or_default();
        let free = properties.iter().filter(|entry| !listed.contains(&entry.key.value.as_str()));
        free.map(|entry| {
            let name = &entry.key.value;
            let kind = words::type_text(&entry.value.to_json());
            self.writer.text(self.shown(name, CompletionKind::Field, &kind, ""), name)
        })
        .collect()
    }

    fn keyword(&self) -> Vec<Completion> {
        let key = self.place.way.last().and_then(|level| level.entry).map(|entry| entry.key.value.as_str());
        match key {
            Some("uniqueItems" | "deprecated" | "readOnly" | "writeOnly") => {
                let one =
                    |word: &str| self.writer.raw(self.shown(word, CompletionKind::Word, "", ""), word, word);
                ["true", "false"].into_iter().filter_map(one).collect()
            }
            Some("format") => FORMATS.iter().map(|name| self.plain(name, "")).collect(),
            Some("$ref") => self.definitions(),
            _ => Vec::new(),
        }
    }

    fn definitions(&self) -> Vec<Completion> {
        let schema = self.place.way.levels.iter().find(|level| level.role == Role::Schema);
        let Some(schema) = schema else { return Vec::new() };
        let mut found = Vec::new();
        for key in ["$defs", "definitions"] {
            for entry in schema.node.get(key).map(Node::entries).unwrap_or_default() {
                let name = entry.key.value.replace('~', "~0").replace('/', "~1");
                found.push(self.plain(&format!("#/{key}/{name}"), ""));
            }
        }
        found
    }
}
