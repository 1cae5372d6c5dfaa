//! Pictures of a frozen workflow: [`Sketch`] is what is drawn, [`Sketch::print`] draws it in one of the forms of
//! [`Format`]; [`diff`](fn@diff::diff) makes the sketch of two workflows with what changed between them.
//!
//! A picture shows every node and every edge, whatever the form. Nothing here judges, runs or reads state, and no
//! clock is asked: dates come in.

mod detail;
pub mod diff;
mod dot;
mod html;
mod json;
mod mermaid;
mod sketch;
mod svg;
mod text;
mod walk;

use crate::ir;
use crate::time::Timestamp;

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
    /// A picture for pages, light and dark.
    Svg,
    /// A page with the picture and what is known of each node.
    Html,
    /// Data for programs.
    Json,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Text, Self::Mermaid, Self::Dot, Self::Svg, Self::Html, Self::Json];
}

/// Draws the workflow without dates. Characters that could drive a terminal come out as `\u{…}`.
#[must_use]
pub fn print(format: Format, workflow: &ir::Workflow) -> String {
    Sketch::of(workflow, None).print(format)
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
    /// What was proved of the definition, for pages; empty unless the caller knows.
    pub proved: Vec<String>,
    /// Name of the node where a session begins.
    pub start: Option<String>,
    /// In the order of the frozen graph.
    pub nodes: Vec<Node>,
    /// One for each pair of nodes, in the order in which their first edges were drawn.
    pub edges: Vec<Edge>,
    /// Loop bodies, outer ones before inner ones.
    pub groups: Vec<Group>,
    /// The other workflow, if this is a comparison.
    pub compared: Option<Compared>,
}

/// What a comparison is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Digest of the older workflow.
    pub old_digest: String,
    /// What changed of the whole workflow, one sentence each.
    pub changes: Vec<String>,
}

/// What a comparison says of a node or an edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// It is in both, or nothing is compared.
    #[default]
    Same,
    /// Only the newer one has it.
    Added,
    /// Only the older one had it.
    Removed,
    /// Both have it; what differs, by the keys of the language.
    Changed(Vec<String>),
}

impl Mark {
    /// The word for it; none for what is the same.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Same => None,
            Self::Added => Some("added"),
            Self::Removed => Some("removed"),
            Self::Changed(_) => Some("changed"),
        }
    }

    /// The word, and of a change what differs.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        match self {
            Self::Changed(keys) => Some(format!("changed: {}", keys.join(", "))),
            Self::Same | Self::Added | Self::Removed => self.word().map(str::to_owned),
        }
    }

    /// One character for it.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Changed(_) => "~",
        }
    }
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
    /// The numbers and names among it, as short as a card of a picture wants them.
    pub brief: Vec<String>,
    /// Who judges what it gives, in order.
    pub gates: Vec<Gate>,
    /// The innermost loop around it. The node of a loop is not in its own body.
    pub group: Option<String>,
    /// How a `stop` ends the session.
    pub stop: Option<&'static str>,
    /// What a comparison says of it.
    pub mark: Mark,
}

/// One line below a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What it is about, one or two words.
    pub key: String,
    /// The fact.
    pub text: String,
}

/// One judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Whether it is a person.
    pub human: bool,
    /// What is asked, with the agent's name before it where it is one.
    pub text: String,
    /// Its bounds; may be empty.
    pub bounds: String,
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
    /// One entry an edge of the graph.
    pub ways: Vec<Way>,
    /// Whether all of it are ways that nobody hopes for: to `hold`, or by failure.
    pub faint: bool,
    /// What a comparison says of it.
    pub mark: Mark,
}

/// One edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// When it is taken; empty for the plain successor.
    pub when: String,
    /// How it was written.
    pub turn: ir::Turn,
    /// Whether a person takes it by resuming a held step.
    pub resumes: bool,
}

impl Way {
    /// When it is taken and, where that is not plain, how it turns.
    #[must_use]
    pub fn label(&self) -> String {
        let turn = match self.turn {
            ir::Turn::Forward | ir::Turn::Hold | ir::Turn::Stop => "",
            ir::Turn::Break => "break",
            ir::Turn::Again => "again",
        };
        match (self.when.is_empty(), turn.is_empty()) {
            (_, true) => self.when.clone(),
            (true, false) => turn.to_owned(),
            (false, false) => format!("{} ({turn})", self.when),
        }
    }
}

impl Edge {
    /// The labels in one; empty for a lone plain successor. That a held step can be resumed the way it would have
    /// gone on is said by data only: in a picture it is noise.
    #[must_use]
    pub fn label(&self) -> String {
        self.joined(Way::label)
    }

    /// As [`Edge::label`], without the words for turns: where the picture itself shows them.
    #[must_use]
    pub fn when(&self) -> String {
        self.joined(|way| way.when.clone())
    }

    fn joined(&self, words: impl Fn(&Way) -> String) -> String {
        let all_resume = self.ways.iter().all(|way| way.resumes);
        let shown: Vec<String> =
            self.ways.iter().filter(|way| all_resume || !way.resumes).map(words).collect();
        match shown.as_slice() {
            [only] => only.clone(),
            many => {
                let named = many.iter().map(|word| if word.is_empty() { "done" } else { word.as_str() });
                named.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl Sketch {
    /// Makes the sketch of a workflow; with a date schedules show their next occurrences after it.
    #[must_use]
    pub fn of(workflow: &ir::Workflow, as_of: Option<Timestamp>) -> Self {
        sketch::of(workflow, as_of)
    }

    /// Draws it. Characters that could drive a terminal come out as `\u{…}`.
    #[must_use]
    pub fn print(&self, format: Format) -> String {
        match format {
            Format::Text => text::print(self, false),
            Format::Mermaid => mermaid::print(self),
            Format::Dot => dot::print(self),
            Format::Svg => svg::print(self, false),
            Format::Html => html::print(self),
            Format::Json => json::print(self),
        }
    }

    /// The listing for a terminal with ANSI colours.
    #[must_use]
    pub fn print_in_colour(&self) -> String {
        text::print(self, true)
    }

    /// The node with this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }
}
