//! What will run: a frozen graph of named nodes, its agents and schemas, and the digest of all of it.
//!
//! Built by `lower` from definitions without errors, or read back from frozen bytes. What is persisted are names,
//! never petgraph indices. The digest is taken over the canonical bytes of the meaning: comments, layout and the
//! order of keys change nothing; the order of steps, choices and gates does; numbers count as written.

mod agent;
mod canonical;
mod graph;
pub mod toolbox;

pub use agent::{Agent, BashToolbox, Decorator, Disposition, Isolation, Policy, PolicyRule};
pub use canonical::{Digest, FrozenError, canonical_json};
pub use graph::{Edge, EdgeKind, Graph, NodeId, Outcome, Turn};

use crate::time::Millis;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::OnceLock;

/// A frozen workflow. Fields are private; [`Parts`] goes in, accessors come out.
#[derive(Clone, Debug)]
pub struct Workflow {
    parts: Parts,
    /// Taken when it is first asked for: whoever only checks a definition never pays for it.
    digest: OnceLock<Digest>,
}

/// Everything that a workflow consists of, as `lower` hands it over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parts {
    /// `name`.
    pub name: String,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Declared inputs in written order.
    pub inputs: IndexMap<String, Input>,
    /// Declared outputs in written order.
    pub outputs: IndexMap<String, Data>,
    /// Frozen agents by the key that nodes use (the package path of the agent file).
    pub agents: IndexMap<String, Agent>,
    /// Deadline of the session.
    pub deadline_ms: Option<Millis>,
    /// Retention of finished children and candidates; `None` keeps them.
    pub retention_ms: Option<Millis>,
    /// The largest number of agent invocations between two waits; `None` is unbounded.
    pub agent_runs_between_waits: Option<u64>,
    /// Nodes and edges. The first node is where a session begins.
    pub graph: Graph,
}

/// One declared input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its JSON Schema, `default` included.
    pub schema: Value,
    /// Taken where the input is not given; without one the input is required.
    pub default: Option<Value>,
}

impl Workflow {
    /// Freezes the parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self { parts, digest: OnceLock::new() }
    }

    /// Reads the bytes that [`Workflow::to_bytes`] wrote and checks the digest in them.
    ///
    /// # Errors
    /// One sentence if the bytes are no frozen workflow or were changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrozenError> {
        canonical::read(bytes)
    }

    /// Canonical JSON of the whole, with format version and digest; what `compile -o` writes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        canonical::write(self)
    }

    /// SHA-256 over the canonical bytes of the parts.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| canonical::digest_of(&self.parts))
    }

    /// `name`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// `title`.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.parts.title.as_deref()
    }

    /// `description`.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.parts.description.as_deref()
    }

    /// Declared inputs.
    #[must_use]
    pub fn inputs(&self) -> &IndexMap<String, Input> {
        &self.parts.inputs
    }

    /// Declared outputs.
    #[must_use]
    pub fn outputs(&self) -> &IndexMap<String, Data> {
        &self.parts.outputs
    }

    /// Frozen agents by key.
    #[must_use]
    pub fn agents(&self) -> &IndexMap<String, Agent> {
        &self.parts.agents
    }

    /// Deadline of the session.
    #[must_use]
    pub fn deadline_ms(&self) -> Option<Millis> {
        self.parts.deadline_ms
    }

    /// Retention; `None` keeps.
    #[must_use]
    pub fn retention_ms(&self) -> Option<Millis> {
        self.parts.retention_ms
    }

    /// The largest number of agent invocations between two waits; `None` is unbounded.
    #[must_use]
    pub fn agent_runs_between_waits(&self) -> Option<u64> {
        self.parts.agent_runs_between_waits
    }

    /// Nodes and edges.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.parts.graph
    }

    /// The parts, for serialization.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }
}

/// One node: a step, or one of the places where a session comes to rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Id of the step, or `<kind>-<n>`; `end`, `hold` for the places of rest. Unique.
    pub name: String,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Names of the loops around it, outermost first.
    pub scope: Vec<String>,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The end of the list: the session has succeeded.
    End,
    /// Needs attention. Every `hold` leads to this one node.
    Hold,
    /// `stop`.
    Stop {
        /// How the session ends.
        status: StopStatus,
        /// Why.
        reason: Option<Text>,
    },
    /// `cron`.
    Cron {
        /// The expression as written.
        expression: String,
        /// IANA zone.
        timezone: String,
    },
    /// `question`.
    Question(Question),
    /// `agent`.
    Agent(Stage),
    /// `loop`: entered from before (iteration 1) and from its own body (the next iteration).
    Loop {
        /// How many iterations at most; `None` until something leaves it.
        times: Option<u32>,
        /// Deadline from the first entry.
        deadline_ms: Option<Millis>,
    },
    /// `switch`.
    Switch {
        /// What is looked at.
        on: Path,
    },
    /// `pick`.
    Pick {
        /// The first that has a value.
        from: Vec<Path>,
    },
}

impl NodeKind {
    /// The stage, if it is one.
    #[must_use]
    pub fn as_agent(&self) -> Option<&Stage> {
        if let Self::Agent(stage) = self { Some(stage) } else { None }
    }

    /// The kind key of the language, or `end`, `hold`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Hold => "hold",
            Self::Stop { .. } => "stop",
            Self::Cron { .. } => "cron",
            Self::Question(_) => "question",
            Self::Agent(_) => "agent",
            Self::Loop { .. } => "loop",
            Self::Switch { .. } => "switch",
            Self::Pick { .. } => "pick",
        }
    }
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopStatus {
    /// Well.
    Succeeded,
    /// Not.
    Failed,
    /// Given up.
    Cancelled,
}

impl StopStatus {
    /// As the language writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// `question`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The text asked.
    pub text: Text,
    /// Choices in written order. The edge of a choice is `EdgeKind::Choice(value)`.
    pub choices: Vec<Choice>,
    /// `owner`, `user:x` or `role:x` each.
    pub respondents: Vec<Text>,
    /// Counted from the asking.
    pub deadline_ms: Option<Millis>,
    /// The choice that a passed deadline takes; without one the edge `EdgeKind::Deadline` is taken.
    pub choose_on_deadline: Option<String>,
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What is stored.
    pub value: String,
    /// What people read.
    pub label: Text,
    /// What it means, for people; left out where nothing is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it takes free text.
    pub feedback: Feedback,
}

/// Whether a choice takes free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// Refused.
    None,
    /// Taken.
    Optional,
    /// Demanded.
    Required,
}

/// `agent`: one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Key in [`Workflow::agents`].
    pub agent: String,
    /// The assignment.
    pub task: Text,
    /// Named inputs.
    pub with: IndexMap<String, Data>,
    /// JSON Schema of the result object; any object without one.
    pub result: Option<Value>,
    /// Whether acceptance is needed; then there is at least one gate.
    pub reviewed: bool,
    /// Gates in order.
    pub gates: Vec<Gate>,
    /// Candidates at most, the first included.
    pub max_revisions: u32,
    /// Deadline; time that waits for a person does not count.
    pub deadline_ms: Millis,
}

/// One gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Counted from its opening.
    pub deadline_ms: Option<Millis>,
    /// Who judges.
    pub kind: GateKind,
}

/// Who judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A person. `on_abort` and `on_deadline` are the edges `GateAborted(i)` and `GateDeadline(i)`.
    Human {
        /// The question put.
        text: Text,
        /// Who may decide.
        respondents: Vec<Text>,
    },
    /// An agent. Failure, silence and deadline take the stage's edge `On(Outcome::Failed)`.
    Agent {
        /// Key in [`Workflow::agents`].
        agent: String,
        /// The assignment.
        task: Text,
        /// Named inputs.
        with: IndexMap<String, Data>,
        /// Rejections at most; then the stage is exhausted.
        max_rounds: Option<u32>,
    },
}

/// A text with references, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(pub Vec<Piece>);

impl Text {
    /// A text without references.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// The text with `${{ … }}` where references stand: for pictures and lists.
    #[must_use]
    pub fn source(&self) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Path(path) => format!("${{{{ {path} }}}}"),
            })
            .collect()
    }
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Characters.
    Text(String),
    /// A reference.
    Path(Path),
}

/// A JSON value with references in it. A [`Data::Path`] keeps the JSON type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// A value without references.
    Literal(Value),
    /// Exactly one reference.
    Path(Path),
    /// A text with references.
    Text(Text),
    /// A list.
    List(Vec<Data>),
    /// A map.
    Map(IndexMap<String, Data>),
}

/// A resolved reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Path {
    /// Where the value stands.
    pub root: Root,
    /// What is taken of it, in order.
    pub rest: Vec<Segment>,
}

/// Where a value stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// `inputs.<name>`
    Input(String),
    /// `steps.<id>.<output>`: the last completed visit.
    Step {
        /// Node name.
        node: String,
        /// Output name.
        output: String,
    },
    /// `previous.<id>.<output>`: the visit in the preceding iteration of the innermost loop.
    Previous {
        /// Node name.
        node: String,
        /// Output name.
        output: String,
    },
    /// `loop.iteration` of the innermost loop.
    LoopIteration,
    /// `session.id`
    SessionId,
    /// `session.started_at`
    SessionStartedAt,
    /// `session.owner`
    SessionOwner,
    /// `candidate.result`
    CandidateResult,
    /// `candidate.summary`
    CandidateSummary,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// `.name`
    Name(String),
    /// `[0]`
    Index(u32),
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.root {
            Root::Input(name) => write!(f, "inputs.{name}")?,
            Root::Step { node, output } => write!(f, "steps.{node}.{output}")?,
            Root::Previous { node, output } => write!(f, "previous.{node}.{output}")?,
            Root::LoopIteration => f.write_str("loop.iteration")?,
            Root::SessionId => f.write_str("session.id")?,
            Root::SessionStartedAt => f.write_str("session.started_at")?,
            Root::SessionOwner => f.write_str("session.owner")?,
            Root::CandidateResult => f.write_str("candidate.result")?,
            Root::CandidateSummary => f.write_str("candidate.summary")?,
        }
        for segment in &self.rest {
            match segment {
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
