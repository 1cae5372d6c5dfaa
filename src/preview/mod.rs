//! Pictures of a frozen workflow: [`Sketch`] is what is drawn, [`print`](fn@print) draws it in one of the forms of
//! [`Format`].
//!
//! A picture shows every node and every edge, whatever the form. Nothing here judges, runs or reads state.

mod detail;
mod dot;
mod json;
mod mermaid;
mod text;

use crate::ir;
use indexmap::IndexMap;

/// The forms of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A listing for a terminal.
    #[default]
    Text,
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// Data for programs.
    Json,
}

/// Draws the workflow. Characters that could drive a terminal come out as `\u{…}`.
#[must_use]
pub fn print(format: Format, workflow: &ir::Workflow) -> String {
    let sketch = Sketch::of(workflow);
    match format {
        Format::Text => text::print(&sketch, false),
        Format::Mermaid => mermaid::print(&sketch),
        Format::Dot => dot::print(&sketch),
        Format::Json => json::print(&sketch),
    }
}

/// The listing for a terminal, with ANSI colours if they are wanted.
#[must_use]
pub fn print_text(workflow: &ir::Workflow, color: bool) -> String {
    text::print(&Sketch::of(workflow), color)
}

/// What is drawn, whatever the form: plain words, not yet escaped for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// Name of the workflow.
    pub name: String,
    /// Its title or description, where it has one.
    pub title: Option<String>,
    /// The whole digest.
    pub digest: String,
    /// The digest as people read it.
    pub digest_short: String,
    /// Facts of the whole workflow: inputs, bounds, deadlines.
    pub facts: Vec<String>,
    /// Name of the node where a session begins.
    pub start: Option<String>,
    /// In the order of the frozen graph.
    pub nodes: Vec<Node>,
    /// One for each pair of nodes, in the order in which their first edges were drawn.
    pub edges: Vec<Edge>,
    /// Loop bodies, outer ones before inner ones.
    pub groups: Vec<Group>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name in the graph.
    pub name: String,
    /// The kind key of the language, or `end`, `hold`.
    pub kind: &'static str,
    /// One line that says what it is for.
    pub title: String,
    /// What else the reader must know.
    pub details: Vec<Detail>,
    /// The innermost loop around it. The node of a loop is not in its own body.
    pub group: Option<String>,
    /// How a `stop` ends the session.
    pub stop: Option<&'static str>,
}

/// One line below a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What it is about, one or two words.
    pub key: String,
    /// The fact.
    pub text: String,
}

/// The body of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the loop node.
    pub name: String,
    /// The loop around it.
    pub parent: Option<String>,
}

/// All edges from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Name of the node it leaves.
    pub from: String,
    /// Name of the node it enters.
    pub to: String,
    /// When it is taken, one entry an edge of the graph; empty text for the plain successor.
    pub labels: Vec<String>,
    /// How its first edge was written.
    pub turn: ir::Turn,
    /// Whether all of it are ways that nobody hopes for: to `hold`, or by failure.
    pub faint: bool,
}

impl Edge {
    /// The labels in one; empty for a lone plain successor. That a held step can be resumed the way it would have
    /// gone on is said by data only: in a picture it is noise.
    #[must_use]
    pub fn label(&self) -> String {
        let mut words: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        if words.iter().any(|word| *word != detail::RESUME) {
            words.retain(|word| *word != detail::RESUME);
        }
        match words.as_slice() {
            [only] => (*only).to_owned(),
            many => {
                let named = many.iter().map(|word| if word.is_empty() { "done" } else { word });
                named.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl Sketch {
    /// Makes the sketch of a workflow.
    #[must_use]
    pub fn of(workflow: &ir::Workflow) -> Self {
        let graph = workflow.graph();
        let start = graph.entry().and_then(|id| graph.node(id)).map(|node| node.name.clone());
        Self {
            name: workflow.name().to_owned(),
            title: workflow.title().or(workflow.description()).map(str::to_owned),
            digest: workflow.digest().as_str().to_owned(),
            digest_short: workflow.digest().short().to_owned(),
            facts: detail::facts(workflow),
            start,
            nodes: graph.nodes().map(|(_, node)| detail::node(workflow, node)).collect(),
            edges: edges(graph),
            groups: groups(graph),
        }
    }

    /// The node with this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }
}

fn edges(graph: &ir::Graph) -> Vec<Edge> {
    let mut joined: IndexMap<(&str, &str), Edge> = IndexMap::new();
    for (from, to, edge) in graph.edges() {
        let gates = match &from.kind {
            ir::NodeKind::Agent(stage) => stage.gates.len(),
            ir::NodeKind::End
            | ir::NodeKind::Hold
            | ir::NodeKind::Stop { .. }
            | ir::NodeKind::Cron { .. }
            | ir::NodeKind::Question(_)
            | ir::NodeKind::Loop { .. }
            | ir::NodeKind::Switch { .. }
            | ir::NodeKind::Pick { .. } => 0,
        };
        let faint = edge.turn == ir::Turn::Hold || is_faint(&edge.kind);
        let label = detail::edge_label(edge, gates);
        let entry = joined.entry((&from.name, &to.name)).or_insert_with(|| Edge {
            from: from.name.clone(),
            to: to.name.clone(),
            labels: Vec::new(),
            turn: edge.turn,
            faint: true,
        });
        entry.labels.push(label);
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

fn groups(graph: &ir::Graph) -> Vec<Group> {
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
