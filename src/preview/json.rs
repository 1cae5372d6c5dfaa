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
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    kind: &'a str,
    title: &'a str,
    stop: Option<&'a str>,
    group: Option<&'a str>,
    details: Vec<Detail<'a>>,
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
    labels: &'a [String],
    turn: Turn,
    faint: bool,
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
            })
            .collect(),
        edges: sketch
            .edges
            .iter()
            .map(|edge| Edge {
                from: &edge.from,
                to: &edge.to,
                label: edge.label(),
                labels: &edge.labels,
                turn: edge.turn,
                faint: edge.faint,
            })
            .collect(),
        groups: sketch
            .groups
            .iter()
            .map(|group| Group { name: &group.name, parent: group.parent.as_deref() })
            .collect(),
    };
    // INVARIANT: no map and no number that could fail to be written.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{}\n", json_text(&text))
}
