//! Steps, agents, properties and keywords of schemas in words.

use super::super::{complete::schema, words};
use crate::ast::{self, Disposition, StepKind};
use crate::grammar;
use crate::resolve::flow::{Flow, NodeIndex, Place};
use crate::resolve::path::way;
use crate::resolve::{Reference, Resolved, local, outputs_of, word_of};
use crate::tree::Node;
use std::collections::HashSet;

/// Lines that tell where a step goes.
const WAYS: usize = 12;

/// What a step is, where it goes and what it can reach.
pub(super) fn step(resolved: &Resolved<'_>, index: NodeIndex) -> Option<String> {
    let flow = &resolved.flow;
    let step = flow.step(index)?;
    let mut out = format!("**{}** · {}", step.name, title_of(&step.kind));
    for text in [&step.title, &step.description].into_iter().flatten() {
        out.push_str(&format!("\n\n{}", text.value.trim()));
    }
    if let StepKind::Agent(ast::AgentStep { agent: Some(agent), .. }) = &step.kind {
        out.push_str(&format!("\n\nRuns `{}`.", agent.value));
    }
    if let Some(around) = flow.node(index).and_then(|node| flow.node(*node.scope.last()?)) {
        out.push_str(&format!("\n\nIn the loop `{}`.", around.name));
    }
    let outputs = outputs_of(&step.kind);
    if !outputs.is_empty() && step.id.is_some() {
        out.push_str(&format!("\n\nOutputs: {}.", words::listed(outputs.iter().copied())));
    }
    let leaving = flow.leaving(index);
    for (_, edge, to) in leaving.iter().take(WAYS) {
        if let Some(to) = target(flow, *to) {
            out.push_str(&format!("\n- {} → {to}", way(&edge.kind)));
        }
    }
    if leaving.len() > WAYS {
        out.push_str(&format!("\n- and {} ways more", leaving.len() - WAYS));
    }
    out.push_str(&format!("\n\n{}", reach(flow, index)));
    Some(out)
}

fn title_of(kind: &StepKind) -> &'static str {
    let word = word_of(kind);
    grammar::KINDS.iter().find(|kind| kind.name == word).map_or("a step", |kind| kind.title)
}

/// A place of the flow in words.
pub(super) fn target(flow: &Flow<'_>, index: NodeIndex) -> Option<String> {
    let node = flow.node(index)?;
    Some(match node.place {
        Place::Step(_) => format!("`{}`", node.name),
        Place::Stop(stop) => match &stop.status {
            Some(status) => format!("the end, {}", ended(status.value)),
            None => "the end".to_owned(),
        },
        Place::End => "the end of the list, succeeded".to_owned(),
        Place::Hold => "hold".to_owned(),
    })
}

fn ended(status: ast::StopStatus) -> &'static str {
    match status {
        ast::StopStatus::Succeeded => "succeeded",
        ast::StopStatus::Failed => "failed",
        ast::StopStatus::Cancelled => "cancelled",
    }
}

/// What can be reached from a step.
fn reach(flow: &Flow<'_>, from: NodeIndex) -> String {
    let mut seen = HashSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in flow.graph().neighbors(at) {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    let mut nodes: Vec<NodeIndex> = seen.iter().copied().collect();
    nodes.sort();
    let names: Vec<&str> = nodes
        .iter()
        .filter(|index| flow.step(**index).is_some() && **index != from)
        .filter_map(|index| flow.node(*index).map(|node| node.name.as_str()))
        .collect();
    let itself = if seen.contains(&from) { ", and itself again" } else { "" };
    if names.is_empty() {
        let only = if seen.contains(&from) { "only itself" } else { "no further step" };
        return format!("Can reach {only}.");
    }
    format!(
        "Can reach {} further: {}{itself}.",
        plural(names.len(), "step"),
        words::listed(names.into_iter())
    )
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// An agent by the reference that is written, perhaps under a local name.
pub(super) fn agent(resolved: &Resolved<'_>, written: &str, name: Option<&str>) -> Option<String> {
    let reference = local(resolved.ast, written);
    let agents = resolved.symbols.agents;
    let Some((path, file)) = agents.find(reference) else {
        return Some(match agents.references.get(reference)? {
            Reference::File(path) => format!("**{written}** · the agent file `{path}`, which cannot be read"),
            Reference::Missing(places) => format!(
                "**{written}** · no such agent; looked for {}",
                words::listed(places.iter().map(String::as_str))
            ),
            Reference::Refused(why) => format!("**{written}** · not read: {why}"),
            Reference::Installed => {
                format!("**{written}** · an installed package, which this version has not")
            }
        });
    };
    let agent = &file.agent;
    let slug = agent.slug.as_ref().map_or(name.unwrap_or(written), |slug| slug.value.as_str());
    let mut out = format!("**{slug}** · an agent, `{path}`");
    if let Some(announce) = &agent.announce {
        out.push_str(&format!("\n\n{}", announce.value.trim()));
    }
    let mut line = |what: &str, value: Option<&str>| {
        if let Some(value) = value {
            out.push_str(&format!("\n- {what}: `{value}`"));
        }
    };
    line("base", agent.base.as_ref().map(|base| base.value.as_str()));
    line("model", agent.model_name.as_ref().map(|model| model.value.as_str()));
    line("server", agent.model_url.as_ref().map(|url| url.value.as_str()));
    for toolbox in &agent.bash_toolboxes {
        line("tools", Some(&toolbox.path.value));
    }
    if let Some(inputs) = &agent.inputs {
        line("inputs", Some(&words::type_text(&inputs.to_json())));
    }
    if let Some(policy) = &agent.policy {
        out.push_str(&self::policy(policy));
    }
    Some(out)
}

fn policy(policy: &ast::Policy) -> String {
    let default = policy.default.as_ref().map_or("runSync", |default| disposition(&default.value));
    let rules = policy
        .rules
        .iter()
        .map(|rule| format!("`{}`: {}", rule.tool.value, disposition(&rule.disposition.value)));
    let rules = words::joined(rules, ", ");
    let rules = if rules.is_empty() { rules } else { format!("; {rules}") };
    format!("\n- policy: {default} by default{rules}")
}

fn disposition(disposition: &Disposition) -> &'static str {
    match disposition {
        Disposition::RunSync => "runSync",
        Disposition::RunAsync => "runAsync",
        Disposition::Defer { .. } => "defer",
        Disposition::Deny { .. } => "deny",
        Disposition::RunIsolated(_) => "runIsolated",
        Disposition::Decorate { inner, .. } => disposition_inside(inner),
        Disposition::Hole => "unreadable",
    }
}

fn disposition_inside(inner: &Disposition) -> &'static str {
    match inner {
        Disposition::RunSync | Disposition::RunAsync => "decorated, and run",
        Disposition::Defer { .. } => "decorated, and deferred",
        Disposition::Deny { .. } => "decorated, and denied",
        Disposition::RunIsolated(_) | Disposition::Decorate { .. } | Disposition::Hole => "decorated",
    }
}

/// A property or an input: its type, its default, its description.
pub(super) fn property(name: &str, schema: &Node, is_input: bool) -> String {
    let json = schema.to_json();
    let what = if is_input { "input " } else { "" };
    let mut out = format!("**{what}`{name}`**: `{}`", words::type_text(&json));
    match json.get("default") {
        Some(default) => out.push_str(&format!("\n\nDefault: `{default}`.")),
        None if is_input => out.push_str("\n\nRequired: a session cannot start without it."),
        None => {}
    }
    if let Some(text) = json.get("description").and_then(serde_json::Value::as_str) {
        out.push_str(&format!("\n\n{}", text.trim()));
    }
    out
}

/// A keyword of JSON Schema.
pub(super) fn keyword(name: &str) -> Option<String> {
    let (_, doc) = schema::KEYWORDS.iter().find(|(known, _)| *known == name)?;
    Some(format!("**`{name}`** · JSON Schema\n\n{doc}."))
}
