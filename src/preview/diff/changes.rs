//! What differs in a pair of nodes, and in the whole workflow: by the keys that the author writes. Nothing here
//! matches or draws.

use crate::ir;
use serde_json::{Map, Value};

/// The keys of a node that differ. `now` gives a name of the older workflow as the newer one has it.
pub(super) fn of_node(
    old: &ir::Node,
    new: &ir::Node,
    old_workflow: &ir::Workflow,
    new_workflow: &ir::Workflow,
    now: &impl Fn(&str) -> String,
) -> Vec<String> {
    let mut keys = Vec::new();
    let mut add = |differs: bool, key: &str| {
        if differs {
            keys.push(key.to_owned());
        }
    };
    add(old.title != new.title, "title");
    add(old.description != new.description, "description");
    let scope: Vec<String> = old.scope.iter().map(|name| now(name)).collect();
    add(scope != new.scope, "loop around it");
    if old.kind.word() != new.kind.word() {
        add(true, "kind");
        return keys;
    }
    let (mut a, b) = (parts(&old.kind), parts(&new.kind));
    // What a binding reads may have another number without anything having changed.
    a.values_mut().for_each(|value| rename(value, now));
    let mut names: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
    names.sort_by_key(|name| b.keys().position(|key| key == *name));
    for name in names {
        let same = a.get(name) == b.get(name);
        add(!same, word(name));
        if same && name == "agent" {
            add(!same_agent(a.get(name), old_workflow, new_workflow), "agent file");
        }
        if same && name == "gates" {
            let gates = a.get(name).and_then(Value::as_array);
            let judges = gates.into_iter().flatten().map(|gate| gate.pointer("/kind/agent/agent"));
            add(
                !judges.into_iter().all(|judge| same_agent(judge, old_workflow, new_workflow)),
                "agent file of a gate",
            );
        }
    }
    keys.dedup();
    keys
}

/// The fields of what a node does.
fn parts(kind: &ir::NodeKind) -> Map<String, Value> {
    // INVARIANT: every map in a node has text keys, so this never fails; a node without fields is its name alone.
    match serde_json::to_value(kind) {
        Ok(Value::Object(outer)) => match outer.into_iter().next() {
            Some((_, Value::Object(fields))) => fields,
            Some(_) | None => Map::new(),
        },
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Puts new names where a binding names a node. Depth is bounded by the readers.
fn rename(value: &mut Value, now: &impl Fn(&str) -> String) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                if key == "node"
                    && let Value::String(name) = inner
                {
                    *name = now(name);
                } else {
                    rename(inner, now);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, now)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn same_agent(key: Option<&Value>, old: &ir::Workflow, new: &ir::Workflow) -> bool {
    let Some(key) = key.and_then(Value::as_str) else { return true };
    old.agents().get(key) == new.agents().get(key)
}

/// The key of the language behind a field.
fn word(field: &str) -> &str {
    match field {
        "text" => "question",
        "expression" => "cron",
        "times" => "repeat",
        "on" => "switch",
        "from" => "pick",
        "status" => "stop",
        "deadline_ms" => "deadline",
        "choose_on_deadline" => "on_deadline",
        "reviewed" => "completion",
        "gates" => "review",
        field => field,
    }
}

/// What differs of the whole workflow, one sentence each.
pub(super) fn whole(old: &ir::Workflow, new: &ir::Workflow) -> Vec<String> {
    let mut found = Vec::new();
    let mut text = |what: &str, a: Option<String>, b: Option<String>| {
        if a != b {
            let shown = |text: Option<String>| text.map_or_else(|| "none".to_owned(), |text| one_line(&text));
            found.push(format!("{what}: {} → {}", shown(a), shown(b)));
        }
    };
    text("name", Some(old.name().to_owned()), Some(new.name().to_owned()));
    text("title", old.title().map(str::to_owned), new.title().map(str::to_owned));
    text("description", old.description().map(str::to_owned), new.description().map(str::to_owned));
    text("deadline", old.deadline_ms().map(|d| d.to_string()), new.deadline_ms().map(|d| d.to_string()));
    let retention = |workflow: &ir::Workflow| {
        Some(workflow.retention_ms().map_or_else(|| "keep".to_owned(), |retention| retention.to_string()))
    };
    text("retention", retention(old), retention(new));
    let runs = |workflow: &ir::Workflow| {
        let runs = workflow.agent_runs_between_waits();
        Some(runs.map_or_else(|| "unbounded".to_owned(), |runs| runs.to_string()))
    };
    text("agent runs between two waits", runs(old), runs(new));
    members("input", old.inputs(), new.inputs(), &mut found);
    members("output", old.outputs(), new.outputs(), &mut found);
    members("agent", old.agents(), new.agents(), &mut found);
    found
}

fn members<T: PartialEq>(
    what: &str,
    old: &indexmap::IndexMap<String, T>,
    new: &indexmap::IndexMap<String, T>,
    found: &mut Vec<String>,
) {
    for (name, value) in old {
        match new.get(name) {
            None => found.push(format!("{what} `{name}` removed")),
            Some(other) if other != value => found.push(format!("{what} `{name}` changed")),
            Some(_) => {}
        }
    }
    let added = new.keys().filter(|name| !old.contains_key(*name));
    found.extend(added.map(|name| format!("{what} `{name}` added")));
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
