//! Keys: those of the grammar that are not there yet, and names that something else declares.

use super::slot::{Shown, Writer};
use super::{Place, schema, values};
use crate::ast::{Segment, StepKind};
use crate::check;
use crate::grammar::{self, Context, Key, Shape};
use crate::ide::names::at_path;
use crate::ide::place::{self, Level, Role};
use crate::ide::{Completion, CompletionKind, scope, words};
use crate::tree::Node;

/// Keys that stand for one another.
const OTHERWISE: &str = "Another spelling";

/// What can be written where a key stands.
pub(super) fn complete(place: &Place<'_, '_>) -> Vec<Completion> {
    let Some(level) = place.way.last() else { return Vec::new() };
    if level.role.is_list() && place.writer.is_block() {
        // The list has not begun: its first item is written with its dash.
        let role = place::item_role(level.role);
        return in_map(place, &Level { role, ..*level }, place.writer.item());
    }
    in_map(place, level, place.writer)
}

fn in_map(place: &Place<'_, '_>, level: &Level<'_>, writer: Writer) -> Vec<Completion> {
    let contexts = place::contexts(level.role, level.node);
    let mut found = Vec::new();
    if level.role == Role::Step && place::kind_of(level.node).is_none() {
        found.extend(kinds(level.node, writer));
    }
    found.extend(of_contexts(level, &contexts, writer));
    if is_alone(level.node) {
        // Nothing but the mark: it may become a value as well.
        found.extend(values::of_role(place, level.role, writer));
    }
    match (level.role, level.role.shape()) {
        (Role::Schema, _) => found.extend(keywords(level.node, writer)),
        (_, Some(Shape::Cases)) => found.extend(cases(place, level.node, writer)),
        (_, Some(Shape::Data)) => found.extend(arguments(place, level.node, writer)),
        _ => {}
    }
    found
}

fn is_alone(node: &Node) -> bool {
    node.entries().len() == 1
}

fn kinds(node: &Node, writer: Writer) -> Vec<Completion> {
    // What is there already tells which kinds are meant.
    let fits =
        |kind: &&&Context| node.entries().iter().filter(|entry| kind.key(&entry.key.value).is_some()).count();
    let mut kinds: Vec<_> = grammar::KINDS.iter().collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(fits(kind)));
    let key = |kind: &&'static Context| {
        let key = kind.key(kind.name)?;
        Some(of_key(kind, key, writer))
    };
    kinds.into_iter().filter_map(key).collect()
}

fn of_contexts(level: &Level<'_>, contexts: &[&'static Context], writer: Writer) -> Vec<Completion> {
    let allowed = allowed(level, contexts);
    let all = contexts.iter().flat_map(|context| context.keys.iter().map(move |key| (*context, key)));
    let mut free: Vec<(&Context, &Key)> = all
        .filter(|(_, key)| level.node.get(key.name).is_none())
        .filter(|(_, key)| !key.doc.starts_with(OTHERWISE))
        .filter(|(_, key)| allowed.is_none_or(|allowed| allowed.contains(&key.name)))
        .collect();
    free.sort_by_key(|(_, key)| !key.required);
    let mut seen = Vec::new();
    free.retain(|(_, key)| {
        let is_new = !seen.contains(&key.name);
        seen.push(key.name);
        is_new
    });
    free.into_iter().map(|(context, key)| of_key(context, key, writer)).collect()
}

fn of_key(context: &Context, key: &Key, writer: Writer) -> Completion {
    let need = if key.required { "required" } else { "" };
    writer.key(
        Shown {
            label: key.name,
            kind: CompletionKind::Key,
            detail: need.to_owned(),
            doc: words::key_doc(context, key),
        },
        key.name,
    )
}

/// Keys that go with the ones that are there, where a map has several forms.
fn allowed(level: &Level<'_>, contexts: &[&Context]) -> Option<&'static [&'static str]> {
    let has = |key: &str| level.node.get(key).is_some();
    let tag = level.node.get("tag").and_then(Node::text).map(|text| text.value.as_str());
    match (contexts.first()?.name, tag) {
        ("guarantee", _) if has("accepted") || has("by") => Some(&["before", "accepted", "by"]),
        ("guarantee", _) if has("answered") || has("choice") => Some(&["before", "answered", "choice"]),
        ("guarantee", _) if has("agent_runs_between_waits") => Some(&[]),
        ("guarantee", _) if has("before") => Some(&["accepted", "by", "answered", "choice"]),
        ("disposition", Some("runSync" | "runAsync")) => Some(&[]),
        ("disposition", Some("defer" | "deny")) => Some(&["reason"]),
        ("disposition", Some("runIsolated")) => Some(&["spec"]),
        ("disposition", Some("decorate")) => Some(&["decorators", "inner"]),
        ("decorator", Some("timeout")) => Some(&["seconds"]),
        ("decorator", Some("retries")) => Some(&["count"]),
        ("decorator", Some("cache")) => Some(&["key"]),
        ("decorator", Some("label")) => Some(&["label"]),
        ("decorator", Some("truncate")) => Some(&["maxBytes"]),
        ("isolation", Some("docker")) => Some(&["image"]),
        ("isolation", Some("localProcess")) => Some(&["path"]),
        ("isolation", Some("functionRunner")) => Some(&["target"]),
        _ => None,
    }
}

fn keywords(node: &Node, writer: Writer) -> Vec<Completion> {
    let free = schema::KEYWORDS.iter().filter(|(name, _)| node.get(name).is_none());
    let key = |(name, doc): &(&'static str, &str)| {
        let shown = Shown {
            label: name,
            kind: CompletionKind::Key,
            detail: "JSON Schema".to_owned(),
            doc: format!("{doc}."),
        };
        writer.key(shown, name)
    };
    free.map(key).collect()
}

/// The values of a switch that have no case yet.
fn cases(place: &Place<'_, '_>, node: &Node, writer: Writer) -> Vec<Completion> {
    let (Some(resolved), Some((_, step))) = (place.resolved, place.step()) else { return Vec::new() };
    let StepKind::Switch(switch) = &step.kind else { return Vec::new() };
    let Some(binding) = switch.on.sole_binding() else { return Vec::new() };
    let cx = check::Context::new(resolved, place.analysis.as_of);
    let Some(one) = cx.uses.iter().find(|one| one.binding.span == binding.span) else { return Vec::new() };
    let schemas = scope::schemas_of(&cx, one);
    let values = schemas.iter().filter_map(crate::schema::Schema::enumeration).flatten();
    let mut found: Vec<Completion> = Vec::new();
    for value in values {
        let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if node.get(&label).is_none() && found.iter().all(|earlier| earlier.label != label) {
            let detail = "no case yet".to_owned();
            let shown = Shown { label: &label, kind: CompletionKind::Word, detail, doc: String::new() };
            found.push(writer.key(shown, &label));
        }
    }
    found
}

/// The inputs that the agent of a `with` declares and that are not given yet.
fn arguments(place: &Place<'_, '_>, node: &Node, writer: Writer) -> Vec<Completion> {
    let Some((inputs, path)) = declared(place) else { return Vec::new() };
    let Some(at) = at_path(inputs, &path) else { return Vec::new() };
    let json = at.to_json();
    let mut properties: Vec<_> = at.get("properties").map(Node::entries).unwrap_or_default().iter().collect();
    properties.retain(|entry| node.get(&entry.key.value).is_none());
    properties.sort_by_key(|entry| !words::is_required(&json, &entry.key.value));
    let key = |entry: &&crate::tree::Entry| {
        let name = entry.key.value.as_str();
        let part = entry.value.to_json();
        let need = if words::is_required(&json, name) { ", required" } else { "" };
        let doc = part.get("description").and_then(serde_json::Value::as_str).unwrap_or_default();
        let shown = Shown {
            label: name,
            kind: CompletionKind::Input,
            detail: format!("{}{need}", words::type_text(&part)),
            doc: doc.to_owned(),
        };
        writer.key(shown, name)
    };
    properties.iter().map(key).collect()
}

/// The inputs of the agent around, and the path of the map that is being written.
fn declared<'a>(place: &Place<'a, '_>) -> Option<(&'a Node, Vec<Segment>)> {
    let mut path = Vec::new();
    let mut levels = place.way.levels.iter().rev();
    let holder = loop {
        let level = levels.next()?;
        match (level.role, level.entry) {
            (Role::Of(..), Some(_)) => break levels.next()?,
            (_, Some(entry)) => path.push(Segment::Name(entry.key.value.clone())),
            (_, None) => return None,
        }
    };
    path.reverse();
    let reference = &holder.node.get("agent")?.text()?.value;
    let resolved = place.resolved?;
    let (_, file) = resolved.symbols.agents.find(crate::resolve::local(resolved.ast, reference))?;
    Some((file.agent.inputs.as_ref()?, path))
}
