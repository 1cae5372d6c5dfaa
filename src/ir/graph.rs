//! The graph of a frozen workflow: petgraph inside a newtype, serialized as names.

use super::Node;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;

/// A node's handle within one loaded graph. Never persisted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(NodeIndex);

/// Nodes and edges. The first node added is the entry.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    inner: DiGraph<Node, Edge>,
    by_name: HashMap<String, NodeIndex>,
}

/// One edge.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// When it is taken. Unique among the edges of one node.
    pub kind: EdgeKind,
    /// How it was written, for pictures; the engine derives loops left and begun from the scopes of both ends.
    pub turn: Turn,
}

/// When an edge is taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The step completed well (cron fired, stage sealed, value picked); of a loop: nothing left to repeat is
    /// `Exhausted`, so a loop has no `Next`.
    Next,
    /// This choice was answered.
    Choice(String),
    /// The value equals this literal (by JSON text, strings without quotes).
    Case(String),
    /// No case fits.
    Default,
    /// A loop begins an iteration.
    Body,
    /// The stage ended so.
    On(Outcome),
    /// A person aborted at this gate (index from 0).
    GateAborted(u32),
    /// Nobody decided at this gate in time.
    GateDeadline(u32),
    /// The deadline of a question or loop passed.
    Deadline,
    /// The last iteration of a counted loop is over.
    Exhausted,
    /// A person resumes a held step whose outputs are definite.
    Resume,
}

/// How a stage ended, where it did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said that it cannot go on.
    Blocked,
    /// The agent said so, submitted five invalid results in a row, or its model failed.
    Failed,
    /// The stage's deadline passed.
    Deadline,
    /// No revision or round is left.
    Exhausted,
}

impl Outcome {
    /// As the language writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Deadline => "deadline",
            Self::Exhausted => "exhausted",
        }
    }
}

/// How an edge was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// On to a later step.
    #[default]
    Forward,
    /// Out of a loop, by `break`.
    Break,
    /// To the next iteration, by `next` or by the end of the body.
    Again,
    /// To `hold`.
    Hold,
    /// To a `stop`.
    Stop,
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a node in. The first one is the entry. A name that is there already keeps its first node for look-ups.
    pub fn add(&mut self, node: Node) -> NodeId {
        let name = node.name.clone();
        let index = self.inner.add_node(node);
        self.by_name.entry(name).or_insert(index);
        NodeId(index)
    }

    /// Draws an edge.
    pub fn connect(&mut self, from: NodeId, to: NodeId, edge: Edge) {
        self.inner.add_edge(from.0, to.0, edge);
    }

    /// The entry; `None` only in an empty graph.
    #[must_use]
    pub fn entry(&self) -> Option<NodeId> {
        self.inner.node_indices().next().map(NodeId)
    }

    /// The node behind a handle of this graph.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.inner.node_weight(id.0)
    }

    /// The node with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Node> {
        self.inner.node_weight(*self.by_name.get(name)?)
    }

    /// The handle of the node with this name.
    #[must_use]
    pub fn id_of(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied().map(NodeId)
    }

    /// All nodes in the order they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.inner.node_indices().filter_map(|index| Some((NodeId(index), self.inner.node_weight(index)?)))
    }

    /// All edges in the order they were drawn: from, to, edge.
    pub fn edges(&self) -> impl Iterator<Item = (&Node, &Node, &Edge)> {
        self.inner.edge_references().filter_map(|edge| {
            let from = self.inner.node_weight(edge.source())?;
            let to = self.inner.node_weight(edge.target())?;
            Some((from, to, edge.weight()))
        })
    }

    /// The edges that leave `name`, in the order they were drawn, with their targets.
    #[must_use]
    pub fn leaving(&self, name: &str) -> Vec<(&Edge, &Node)> {
        let Some(index) = self.by_name.get(name) else { return Vec::new() };
        let mut found: Vec<_> = self
            .inner
            .edges(*index)
            .filter_map(|edge| Some((edge.id(), edge.weight(), self.inner.node_weight(edge.target())?)))
            .collect();
        found.sort_by_key(|(id, _, _)| id.index());
        found.into_iter().map(|(_, edge, node)| (edge, node)).collect()
    }

    /// Where the edge of this kind leads from `name`.
    #[must_use]
    pub fn follow(&self, name: &str, kind: &EdgeKind) -> Option<&Node> {
        self.leaving(name).into_iter().find(|(edge, _)| edge.kind == *kind).map(|(_, node)| node)
    }

    /// The petgraph inside, for its algorithms.
    #[must_use]
    pub fn inner(&self) -> &DiGraph<Node, Edge> {
        &self.inner
    }
}

#[derive(Serialize, Deserialize)]
struct Wire {
    nodes: Vec<Node>,
    edges: Vec<WireEdge>,
}

#[derive(Serialize, Deserialize)]
struct WireEdge {
    from: String,
    to: String,
    kind: EdgeKind,
    turn: Turn,
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = Wire {
            nodes: self.inner.node_weights().cloned().collect(),
            edges: self
                .edges()
                .map(|(from, to, edge)| WireEdge {
                    from: from.name.clone(),
                    to: to.name.clone(),
                    kind: edge.kind.clone(),
                    turn: edge.turn,
                })
                .collect(),
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let mut graph = Self::new();
        for node in wire.nodes {
            let name = node.name.clone();
            if graph.by_name.contains_key(&name) {
                return Err(serde::de::Error::custom(format!("two nodes are named `{name}`")));
            }
            graph.add(node);
        }
        for edge in wire.edges {
            let (Some(from), Some(to)) = (graph.id_of(&edge.from), graph.id_of(&edge.to)) else {
                let (from, to) = (edge.from, edge.to);
                return Err(serde::de::Error::custom(format!(
                    "the edge `{from}` → `{to}` has an end that is no node"
                )));
            };
            graph.connect(from, to, Edge { kind: edge.kind, turn: edge.turn });
        }
        Ok(graph)
    }
}
