//! From what was written to what it means: names bound to steps and agents, and the control flow drawn.
//!
//! It never reports anything and never refuses: what cannot be bound stays unbound, and `check` says so. Names of
//! outputs and what each way out of a step makes definite are decided here, once.

pub mod facts;
pub mod flow;
pub mod package_path;
pub mod path;

use crate::ast;
use crate::ir;
use crate::source::Span;
use crate::time::Millis;
use flow::{Flow, NodeIndex};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Deadline of a stage where none is written.
pub const STAGE_DEADLINE: Millis = Millis::from_secs(24 * 60 * 60);
/// Candidates of a stage where no bound is written.
pub const MAX_REVISIONS: u32 = 5;
/// A definition with its names bound and its flow drawn.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// What was written.
    pub ast: &'a ast::Workflow,
    /// Names.
    pub symbols: Symbols<'a>,
    /// Steps and the ways between them.
    pub flow: Flow<'a>,
}

/// What the names of a definition stand for.
#[derive(Debug)]
pub struct Symbols<'a> {
    /// Steps by id, in document order; an id that repeats has its first step here.
    pub steps: IndexMap<&'a str, NodeIndex>,
    /// Inputs by name.
    pub inputs: HashMap<&'a str, &'a ast::Input>,
    /// Agents by the reference as written at a step.
    pub agents: &'a Agents,
}

/// The agent files of a compile.
#[derive(Debug, Default)]
pub struct Agents {
    /// What each reference, as written, leads to.
    pub references: IndexMap<String, Reference>,
    /// Read files by package path.
    pub files: IndexMap<String, AgentFile>,
    /// Names that a bare reference could have meant, for hints.
    pub known: Vec<String>,
}

/// One agent file.
#[derive(Debug)]
pub struct AgentFile {
    /// What it says; holes allowed.
    pub agent: ast::Agent,
    /// Whether reading it gave no error.
    pub sound: bool,
    /// What the package holds of the things that it names.
    pub around: Around,
}

/// What a package holds of the things that an agent file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// The folders of `bashToolboxes`, in order.
    pub toolboxes: Vec<Toolbox>,
    /// The programs of isolations and tool servers, by path as written.
    pub programs: IndexMap<String, Program>,
    /// The agents of `extraAgents`, in order.
    pub extras: Vec<Extra>,
    /// For each skill of `autoEnableSkills`, whether a source of skills holds it; `None` where that is not known.
    pub skills: Vec<Option<bool>>,
}

/// An agent that another one may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Its file was read and has no error.
    Read {
        /// Digest of the agent but for the agents that it may call in turn.
        digest: ir::Digest,
        /// Its `announce`.
        announce: Option<String>,
    },
    /// No such file.
    Missing,
    /// Its path may not be used, or the file cannot be read; why.
    Refused(String),
    /// The file has an error; the first one, with its place.
    Broken(String),
}

/// A folder of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Toolbox {
    /// Its tools by file name, in the order of the names.
    Files(Vec<Tool>),
    /// Its path leads out of the package; why it is refused.
    Refused(String),
    /// Its files cannot be listed.
    Unknown,
}

/// One tool of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name of its file.
    pub file: String,
    /// The name that it gives itself, if its text shows it.
    pub slug: Option<String>,
}

/// A program that an isolation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// It is there, and as far as can be said it may be run.
    Runnable,
    /// No such file.
    Missing,
    /// The file may not be run.
    NotExecutable,
    /// Its path may not be used, or the file cannot be read; why.
    Refused(String),
}

/// What a reference to an agent leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The package path of a file that was read.
    File(String),
    /// Nothing is there; where it was looked for.
    Missing(Vec<String>),
    /// The path may not be used, or the file cannot be read; why.
    Refused(String),
    /// `package/agent@1.2.0`.
    Installed,
}

impl Agents {
    /// The agent behind a reference, if it was read.
    #[must_use]
    pub fn find(&self, reference: &str) -> Option<(&str, &AgentFile)> {
        match self.references.get(reference)? {
            Reference::File(path) => self.files.get_key_value(path).map(|(path, file)| (path.as_str(), file)),
            Reference::Missing(_) | Reference::Refused(_) | Reference::Installed => None,
        }
    }
}

impl Resolved<'_> {
    /// The agent behind a reference of this definition: a local name first, then the package.
    #[must_use]
    pub fn agent(&self, written: &str) -> Option<(&str, &AgentFile)> {
        self.symbols.agents.find(local(self.ast, written))
    }
}

/// The reference that a name under `agents` stands for, or what was written.
#[must_use]
pub fn local<'a>(ast: &'a ast::Workflow, written: &'a str) -> &'a str {
    let entry = ast.agents.iter().find(|entry| entry.name.value == written);
    entry.map_or(written, |entry| entry.reference.value.as_str())
}

/// Binds names and draws the flow.
#[must_use]
pub fn resolve<'a>(ast: &'a ast::Workflow, agents: &'a Agents) -> Resolved<'a> {
    let flow = Flow::draw(ast);
    let mut steps = IndexMap::new();
    for (index, step) in flow.steps() {
        if let Some(id) = &step.id {
            steps.entry(id.value.as_str()).or_insert(index);
        }
    }
    let inputs = ast.inputs.iter().map(|input| (input.name.value.as_str(), input)).collect();
    Resolved { ast, symbols: Symbols { steps, inputs, agents }, flow }
}

/// Names of the outputs of a step of this kind, in the order of the reference.
#[must_use]
pub fn outputs_of(kind: &ast::StepKind) -> &'static [&'static str] {
    match kind {
        ast::StepKind::Cron(_) => &["scheduled_at", "previous_at", "timezone"],
        ast::StepKind::Question(_) => &["choice", "feedback", "answered_by", "answered_at"],
        ast::StepKind::Agent(_) => &["result", "summary", "outcome", "revision"],
        ast::StepKind::Pick(_) => &["value"],
        ast::StepKind::Loop(_) | ast::StepKind::Switch(_) | ast::StepKind::Stop(_) | ast::StepKind::Hole => {
            &[]
        }
    }
}

/// The kind key of a step, for messages.
#[must_use]
pub fn word_of(kind: &ast::StepKind) -> &'static str {
    match kind {
        ast::StepKind::Cron(_) => "cron",
        ast::StepKind::Question(_) => "question",
        ast::StepKind::Agent(_) => "agent",
        ast::StepKind::Loop(_) => "loop",
        ast::StepKind::Switch(_) => "switch",
        ast::StepKind::Pick(_) => "pick",
        ast::StepKind::Stop(_) => "stop",
        ast::StepKind::Hole => "step",
    }
}

/// Every reference to an agent with its place: the table's entries first, then steps and gates in document order.
pub fn agent_references<'a>(ast: &'a ast::Workflow, steps: &[&'a ast::Step]) -> Vec<(&'a str, Span)> {
    let mut found: Vec<_> =
        ast.agents.iter().map(|entry| (entry.reference.value.as_str(), entry.reference.span)).collect();
    for step in steps {
        let ast::StepKind::Agent(stage) = &step.kind else { continue };
        if let Some(agent) = &stage.agent {
            found.push((agent.value.as_str(), agent.span));
        }
        for gate in &stage.review {
            if let ast::GateKind::Agent { agent: Some(agent), .. } = &gate.kind {
                found.push((agent.value.as_str(), agent.span));
            }
        }
    }
    found
}
