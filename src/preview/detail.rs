//! What a picture says of the workflow, of a node and of an edge, in words. No layout, no escaping.

use super::{Detail, Gate, Mark, Node, Way};
use crate::ir;
use crate::schedule::Schedule;
use crate::time::Timestamp;
use serde_json::Value;

/// Occurrences of a schedule that a picture names.
const OCCURRENCES: usize = 3;

/// Facts of the whole workflow for the heading.
pub(super) fn facts(workflow: &ir::Workflow) -> Vec<String> {
    let mut facts = vec![match workflow.agent_runs_between_waits() {
        Some(0) => "no agent runs".to_owned(),
        Some(1) => "at most 1 agent run between two waits".to_owned(),
        Some(runs) => format!("at most {runs} agent runs between two waits"),
        None => "any number of agent runs between two waits".to_owned(),
    }];
    if let Some(deadline) = workflow.deadline_ms() {
        facts.push(format!("session deadline {deadline}"));
    }
    if !workflow.inputs().is_empty() {
        let names: Vec<String> = workflow
            .inputs()
            .iter()
            .map(|(name, input)| match &input.default {
                Some(default) => format!("{name} = {default}"),
                None => name.clone(),
            })
            .collect();
        facts.push(format!("inputs {}", names.join(", ")));
    }
    if !workflow.outputs().is_empty() {
        let names: Vec<&str> = workflow.outputs().keys().map(String::as_str).collect();
        facts.push(format!("outputs {}", names.join(", ")));
    }
    facts
}

/// A node of the graph in words.
pub(super) fn node(workflow: &ir::Workflow, node: &ir::Node, as_of: Option<Timestamp>) -> Node {
    let mut details = Vec::new();
    let mut add = |key: &str, text: String| details.push(Detail { key: key.to_owned(), text });
    let mut stop = None;
    let own = match &node.kind {
        ir::NodeKind::End => "the session has succeeded".to_owned(),
        ir::NodeKind::Hold => "needs attention: retry, resume or cancel".to_owned(),
        ir::NodeKind::Stop { status, reason } => {
            stop = Some(status.word());
            reason.as_ref().map_or_else(|| status.word().to_owned(), |reason| one_line(&reason.source()))
        }
        ir::NodeKind::Cron { expression, timezone } => {
            add("fires", format!("{expression} ({timezone})"));
            let next = as_of.map(|as_of| occurrences(expression, timezone, as_of)).unwrap_or_default();
            if !next.is_empty() {
                add("next", next.join(", "));
            }
            "waits for the next occurrence".to_owned()
        }
        ir::NodeKind::Question(question) => {
            question_details(question, &mut add);
            one_line(&question.text.source())
        }
        ir::NodeKind::Agent(stage) => {
            stage_details(workflow, stage, &mut add);
            one_line(&stage.task.source())
        }
        ir::NodeKind::Loop { times, deadline_ms } => {
            if let Some(deadline) = deadline_ms {
                add("deadline", deadline.to_string());
            }
            match times {
                Some(1) => "once".to_owned(),
                Some(times) => format!("at most {times} times"),
                None => "until something leaves it".to_owned(),
            }
        }
        ir::NodeKind::Switch { on } => format!("on {on}"),
        ir::NodeKind::Pick { from } => {
            format!("first of {}", from.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    let title = match &node.title {
        // The words of a title say what a step is for, never what is asked or assigned.
        Some(title) => {
            let key = own_key(&node.kind);
            details.insert(0, Detail { key: key.to_owned(), text: own });
            one_line(title)
        }
        None => own,
    };
    Node {
        name: node.name.clone(),
        kind: node.kind.word(),
        title,
        brief: brief(workflow, &node.kind, as_of),
        gates: gates(workflow, &node.kind),
        details,
        group: node.scope.last().cloned(),
        stop,
        mark: Mark::Same,
    }
}

/// The next occurrences in the schedule's own zone.
fn occurrences(expression: &str, timezone: &str, as_of: Timestamp) -> Vec<String> {
    let Ok(schedule) = Schedule::parse(expression, timezone) else { return Vec::new() };
    let next = schedule.occurrences(as_of, OCCURRENCES);
    next.into_iter().map(|at| schedule.local(at).format("%a %F %H:%M %Z").to_string()).collect()
}

/// Numbers and names that a card shows.
fn brief(workflow: &ir::Workflow, kind: &ir::NodeKind, as_of: Option<Timestamp>) -> Vec<String> {
    match kind {
        ir::NodeKind::End
        | ir::NodeKind::Hold
        | ir::NodeKind::Stop { .. }
        | ir::NodeKind::Switch { .. }
        | ir::NodeKind::Pick { .. } => Vec::new(),
        ir::NodeKind::Cron { expression, timezone } => {
            let next = as_of.map(|as_of| occurrences(expression, timezone, as_of)).unwrap_or_default();
            let mut brief = vec![expression.clone(), timezone.clone()];
            brief.extend(next.first().map(|next| format!("next {next}")));
            brief
        }
        ir::NodeKind::Question(question) => {
            let waits = match (question.deadline_ms, &question.choose_on_deadline) {
                (None, _) => "no deadline".to_owned(),
                (Some(deadline), None) => format!("within {deadline}"),
                (Some(deadline), Some(choice)) => format!("after {deadline} `{choice}`"),
            };
            vec![people(&question.respondents), waits]
        }
        ir::NodeKind::Agent(stage) => {
            let mut brief = vec![format!("by {}", agent_slug(workflow, &stage.agent))];
            if stage.reviewed {
                brief.push(format!("≤ {}", plural(stage.max_revisions, "revision")));
            }
            brief.push(format!("≤ {}", stage.deadline_ms));
            brief
        }
        ir::NodeKind::Loop { times, deadline_ms } => {
            let mut brief = vec![match times {
                Some(1) => "once".to_owned(),
                Some(times) => format!("≤ {times} times"),
                None => "until stopped".to_owned(),
            }];
            brief.extend(deadline_ms.map(|deadline| format!("≤ {deadline}")));
            brief
        }
    }
}

fn gates(workflow: &ir::Workflow, kind: &ir::NodeKind) -> Vec<Gate> {
    let Some(stage) = kind.as_agent() else { return Vec::new() };
    let gate = |gate: &ir::Gate| {
        let mut bounds = Vec::new();
        let (human, text) = match &gate.kind {
            ir::GateKind::Human { text, respondents } => {
                bounds.push(people(respondents));
                (true, one_line(&text.source()))
            }
            ir::GateKind::Agent { agent, task, max_rounds, .. } => {
                bounds.extend(max_rounds.map(|rounds| format!("≤ {}", plural(rounds, "rejection"))));
                (false, format!("{}: {}", agent_slug(workflow, agent), one_line(&task.source())))
            }
        };
        bounds.extend(gate.deadline_ms.map(|deadline| format!("≤ {deadline}")));
        Gate { human, text, bounds: bounds.join(" · ") }
    };
    stage.gates.iter().map(gate).collect()
}

fn own_key(kind: &ir::NodeKind) -> &'static str {
    match kind {
        ir::NodeKind::End | ir::NodeKind::Hold | ir::NodeKind::Cron { .. } => "means",
        ir::NodeKind::Stop { .. } => "reason",
        ir::NodeKind::Question(_) => "asks",
        ir::NodeKind::Agent(_) => "task",
        ir::NodeKind::Loop { .. } => "repeats",
        ir::NodeKind::Switch { .. } => "looks",
        ir::NodeKind::Pick { .. } => "takes",
    }
}

fn question_details(question: &ir::Question, add: &mut impl FnMut(&str, String)) {
    for choice in &question.choices {
        let feedback = match choice.feedback {
            ir::Feedback::None => "",
            ir::Feedback::Optional => " (feedback optional)",
            ir::Feedback::Required => " (feedback required)",
        };
        add("choice", format!("{}: {}{feedback}", choice.value, one_line(&choice.label.source())));
    }
    add("answers", people(&question.respondents));
    if let Some(deadline) = question.deadline_ms {
        match &question.choose_on_deadline {
            Some(choice) => add("deadline", format!("{deadline}, then `{choice}` is chosen")),
            None => add("deadline", deadline.to_string()),
        }
    }
}

fn stage_details(workflow: &ir::Workflow, stage: &ir::Stage, add: &mut impl FnMut(&str, String)) {
    add("agent", agent_name(workflow, &stage.agent));
    if !stage.with.is_empty() {
        let inputs: Vec<String> = stage.with.iter().map(|(name, data)| given(name, data)).collect();
        add("with", inputs.join(", "));
    }
    for (i, gate) in stage.gates.iter().enumerate() {
        let mut extra = Vec::new();
        let (who, text) = match &gate.kind {
            ir::GateKind::Human { text, respondents } => {
                extra.push(people(respondents));
                ("person".to_owned(), text)
            }
            ir::GateKind::Agent { agent, task, max_rounds, .. } => {
                extra.extend(max_rounds.map(|rounds| counted(rounds, "rejection")));
                (format!("agent {}", agent_slug(workflow, agent)), task)
            }
        };
        extra.extend(gate.deadline_ms.map(|deadline| format!("deadline {deadline}")));
        let extra = if extra.is_empty() { String::new() } else { format!(" ({})", extra.join("; ")) };
        add(&format!("gate {}", i + 1), format!("{who}: {}{extra}", one_line(&text.source())));
    }
    let mut bounds = Vec::new();
    if stage.reviewed {
        bounds.push(counted(stage.max_revisions, "revision"));
    }
    bounds.push(format!("deadline {}", stage.deadline_ms));
    add("bounds", bounds.join(", "));
    if let Some(schema) = &stage.result {
        let keys = result_keys(schema);
        add("result", if keys.is_empty() { "an object".to_owned() } else { keys });
    }
}

fn counted(count: u32, word: &str) -> String {
    format!("at most {}", plural(count, word))
}

fn plural(count: u32, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn given(name: &str, data: &ir::Data) -> String {
    match data {
        ir::Data::Path(path) => format!("{name} = {path}"),
        ir::Data::Literal(value) => {
            let text = value.to_string();
            if text.chars().count() > 40 { name.to_owned() } else { format!("{name} = {text}") }
        }
        ir::Data::Text(_) | ir::Data::List(_) | ir::Data::Map(_) => name.to_owned(),
    }
}

/// The keys of a result; `?` behind those that may be missing.
fn result_keys(schema: &Value) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|keys| keys.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return required.join(", ");
    };
    let keys: Vec<String> = properties
        .keys()
        .map(|key| if required.contains(&key.as_str()) { key.clone() } else { format!("{key}?") })
        .collect();
    keys.join(", ")
}

fn agent_name(workflow: &ir::Workflow, key: &str) -> String {
    match workflow.agents().get(key) {
        Some(agent) if agent.slug != key => format!("{} ({key})", agent.slug),
        Some(_) | None => key.to_owned(),
    }
}

fn agent_slug<'a>(workflow: &'a ir::Workflow, key: &'a str) -> &'a str {
    workflow.agents().get(key).map_or(key, |agent| agent.slug.as_str())
}

fn people(respondents: &[ir::Text]) -> String {
    if respondents.is_empty() {
        return "owner".to_owned();
    }
    respondents.iter().map(ir::Text::source).collect::<Vec<_>>().join(", ")
}

/// White space of every kind, line ends included, as single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// When an edge is taken, and how it turns.
pub(super) fn way(from: &ir::Node, edge: &ir::Edge) -> Way {
    let gates = from.kind.as_agent().map_or(0, |stage| stage.gates.len());
    let at_gate = |word: &str, gate: u32| {
        if gates > 1 { format!("{word} at gate {}", u64::from(gate) + 1) } else { word.to_owned() }
    };
    let when = match &edge.kind {
        ir::EdgeKind::Next => String::new(),
        ir::EdgeKind::Choice(value) | ir::EdgeKind::Case(value) => value.clone(),
        ir::EdgeKind::Default => "otherwise".to_owned(),
        ir::EdgeKind::Body => "each time".to_owned(),
        ir::EdgeKind::On(outcome) => outcome.word().to_owned(),
        ir::EdgeKind::GateAborted(gate) => at_gate("abort", *gate),
        ir::EdgeKind::GateDeadline(gate) => at_gate("gate deadline", *gate),
        ir::EdgeKind::Deadline => "deadline".to_owned(),
        ir::EdgeKind::Exhausted => "exhausted".to_owned(),
        ir::EdgeKind::Resume => "resume".to_owned(),
    };
    Way { when, turn: edge.turn, resumes: edge.kind == ir::EdgeKind::Resume }
}
