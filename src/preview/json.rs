//! The sketch as data with a version, for pages and programs. The types here are the contract.

use super::Sketch;
use crate::escape::json_text;
use crate::ir::Turn;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    name: &'a str,
    title: Option<&'a str>,
    digest: &'a str,
    facts: &'a [String],
    start: Option<&'a str>,
    nodes: Vec<Node<'a>>,
    edges: Vec<Edge<'a>>,
    groups: Vec<Group<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Compared<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    kind: &'a str,
    title: &'a str,
    stop: Option<&'a str>,
    group: Option<&'a str>,
    details: Vec<Detail<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    key: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    label: String,
    labels: Vec<String>,
    turn: Turn,
    faint: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark<'a>>,
}

/// What a comparison says; left out of a picture that compares nothing.
#[derive(Serialize)]
struct Mark<'a> {
    is: &'static str,
    keys: &'a [String],
}

#[derive(Serialize)]
struct Compared<'a> {
    old_digest: &'a str,
    changes: &'a [String],
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    parent: Option<&'a str>,
}

pub(super) fn print(sketch: &Sketch) -> String {
    let document = Document {
        version: 1,
        name: &sketch.name,
        title: sketch.title.as_deref(),
        digest: &sketch.digest,
        facts: &sketch.facts,
        start: sketch.start.as_deref(),
        nodes: sketch
            .nodes
            .iter()
            .map(|node| Node {
                name: &node.name,
                kind: node.kind,
                title: &node.title,
                stop: node.stop,
                group: node.group.as_deref(),
                details: node.details.iter().map(|d| Detail { key: &d.key, text: &d.text }).collect(),
                mark: mark(sketch, &node.mark),
            })
            .collect(),
        edges: sketch
            .edges
            .iter()
            .map(|edge| Edge {
                from: &edge.from,
                to: &edge.to,
                label: edge.label(),
                labels: edge.ways.iter().map(super::Way::label).collect(),
                turn: edge.ways.first().map(|way| way.turn).unwrap_or_default(),
                faint: edge.faint,
                mark: mark(sketch, &edge.mark),
            })
            .collect(),
        groups: sketch
            .groups
            .iter()
            .map(|group| Group { name: &group.name, parent: group.parent.as_deref() })
            .collect(),
        compared: sketch
            .compared
            .as_ref()
            .map(|other| Compared { old_digest: &other.old_digest, changes: &other.changes }),
    };
    // INVARIANT: no map and no number that could fail to be written.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{}\n", json_text(&text))
}

fn mark<'a>(sketch: &Sketch, mark: &'a super::Mark) -> Option<Mark<'a>> {
    sketch.compared.as_ref()?;
    let keys = match mark {
        super::Mark::Changed(keys) => keys.as_slice(),
        super::Mark::Same | super::Mark::Added | super::Mark::Removed => &[],
    };
    Some(Mark { is: mark.word().unwrap_or("same"), keys })
}
