//! From the frozen graph to the sketch: which nodes, edges and loop bodies a picture holds. The words are `detail`'s.

use super::{Edge, Group, Sketch, detail};
use crate::ir;
use crate::time::Timestamp;
use indexmap::IndexMap;

pub(super) fn of(workflow: &ir::Workflow, as_of: Option<Timestamp>) -> Sketch {
    let graph = workflow.graph();
    let start = graph.entry().and_then(|id| graph.node(id)).map(|node| node.name.clone());
    Sketch {
        name: workflow.name().to_owned(),
        title: workflow.title().or(workflow.description()).map(str::to_owned),
        digest: workflow.digest().as_str().to_owned(),
        digest_short: workflow.digest().short().to_owned(),
        facts: detail::facts(workflow),
        proved: Vec::new(),
        start,
        nodes: graph.nodes().map(|(_, node)| detail::node(workflow, node, as_of)).collect(),
        edges: edges(graph),
        groups: groups(graph),
        compared: None,
    }
}

fn edges(graph: &ir::Graph) -> Vec<Edge> {
    let mut joined: IndexMap<(&str, &str), Edge> = IndexMap::new();
    for (from, to, edge) in graph.edges() {
        let faint = edge.turn == ir::Turn::Hold || is_faint(&edge.kind);
        let way = detail::way(from, edge);
        let entry = joined.entry((&from.name, &to.name)).or_insert_with(|| Edge {
            from: from.name.clone(),
            to: to.name.clone(),
            ways: Vec::new(),
            faint: true,
            mark: super::Mark::Same,
        });
        entry.ways.push(way);
        entry.faint &= faint;
    }
    joined.into_values().collect()
}

fn is_faint(kind: &ir::EdgeKind) -> bool {
    match kind {
        ir::EdgeKind::On(_)
        | ir::EdgeKind::GateAborted(_)
        | ir::EdgeKind::GateDeadline(_)
        | ir::EdgeKind::Deadline
        | ir::EdgeKind::Resume => true,
        ir::EdgeKind::Next
        | ir::EdgeKind::Choice(_)
        | ir::EdgeKind::Case(_)
        | ir::EdgeKind::Default
        | ir::EdgeKind::Body
        | ir::EdgeKind::Exhausted => false,
    }
}

pub(super) fn groups(graph: &ir::Graph) -> Vec<Group> {
    let mut loops: Vec<(&str, &[String])> = graph
        .nodes()
        .filter(|(_, node)| matches!(node.kind, ir::NodeKind::Loop { .. }))
        .map(|(_, node)| (node.name.as_str(), node.scope.as_slice()))
        .collect();
    loops.sort_by_key(|(_, scope)| scope.len());
    let mut groups: Vec<Group> = Vec::new();
    for (name, scope) in loops {
        // A parent that did not come before would be a circle, which only a forged file can hold.
        let parent = scope.last().filter(|parent| groups.iter().any(|group| group.name == **parent));
        groups.push(Group { name: name.to_owned(), parent: parent.cloned() });
    }
    groups
}
