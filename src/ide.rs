//! What an editor asks of a document: pure functions over one [`Analysis`]. No protocol types, no clock, no files
//! beyond what the compile has read; offsets are bytes. Nothing here judges: findings are the compile's.

pub mod complete;
pub mod define;
pub mod hover;
pub mod inlay;
mod names;
pub mod outline;
mod place;
pub mod rename;
mod scope;
pub mod tokens;
mod words;

use crate::compile::{Compiled, CompiledAgent};
use crate::ide::place::Role;
use crate::parse;
use crate::source::{FileId, Source, Sources, Span};
use crate::time::Timestamp;
use crate::tree::Node;
use std::borrow::Cow;

/// A document that was compiled, and when.
#[derive(Debug)]
pub struct Analysis {
    /// What the compile gave.
    pub document: Document,
    /// Now: next occurrences count from here.
    pub as_of: Timestamp,
}

/// A document of either kind.
#[derive(Debug)]
pub enum Document {
    /// A workflow with the agent files that it names.
    Workflow(Box<Compiled>),
    /// An agent file alone.
    Agent(Box<CompiledAgent>),
}

impl Analysis {
    /// All texts that were read.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        match &self.document {
            Document::Workflow(compiled) => &compiled.sources,
            Document::Agent(compiled) => &compiled.sources,
        }
    }

    /// The main document as a text.
    fn main(&self) -> Option<&Source> {
        self.sources().get(FileId::MAIN)
    }

    /// A text that was read as a tree, and what its root is.
    fn tree_of(&self, file: FileId) -> Option<(Cow<'_, Node>, Role)> {
        if file == FileId::MAIN {
            return self.tree().map(|(tree, role)| (Cow::Borrowed(tree), role));
        }
        let source = self.sources().get(file)?;
        let is_markdown = source.name().to_ascii_lowercase().ends_with(".md");
        let tree = if is_markdown {
            parse::agent::front_matter_tree(source)?
        } else {
            parse::json::read(source, &mut Vec::new())
        };
        Some((Cow::Owned(tree), Role::AgentFile))
    }

    /// The main document as a tree, and what its root is.
    fn tree(&self) -> Option<(&Node, Role)> {
        match &self.document {
            Document::Workflow(compiled) => compiled.tree.as_ref().map(|tree| (tree, Role::Workflow)),
            Document::Agent(compiled) => compiled.tree.as_ref().map(|tree| (tree, Role::AgentFile)),
        }
    }
}

/// A place: a byte offset in one of the files that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Which file.
    pub file: FileId,
    /// Byte offset, 0-based.
    pub offset: usize,
}

/// Text for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    /// Markdown.
    pub markdown: String,
}

/// One thing that can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What is shown.
    pub label: String,
    /// What kind of thing it is.
    pub kind: CompletionKind,
    /// A few words beside the label; may be empty.
    pub detail: String,
    /// Markdown; may be empty.
    pub doc: String,
    /// What it replaces.
    pub span: Span,
    /// What it writes.
    pub text: String,
}

/// What kind of thing a completion writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key of a mapping.
    Key,
    /// A word of a closed set.
    Word,
    /// A step id.
    Step,
    /// An output of a step, or a name below one.
    Field,
    /// An input of the workflow or of an agent.
    Input,
    /// An agent: a local name or a path.
    Agent,
    /// A tool of an agent.
    Tool,
    /// A time zone.
    Zone,
}

/// What a name stands for, with every place that says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The place that was asked about.
    pub asked: Span,
    /// Where it is declared; agents are declared in their files.
    pub declared: Vec<Span>,
    /// Everywhere it is used, the declaration not among them.
    pub used: Vec<Span>,
}

/// One entry of the outline of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: a step's id or given name, an input, an agent.
    pub name: String,
    /// A few words, such as a step's kind.
    pub detail: String,
    /// What it is.
    pub kind: EntryKind,
    /// All of it.
    pub span: Span,
    /// Its name in the text; lies within `span`.
    pub name_span: Span,
    /// What it holds.
    pub children: Vec<Entry>,
}

/// What an entry of the outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// An input.
    Input,
    /// An output.
    Output,
    /// A local agent name, or an agent file.
    Agent,
    /// A step that waits for a schedule.
    Cron,
    /// A step that asks a person.
    Question,
    /// A step in which an agent works.
    Stage,
    /// A loop.
    Loop,
    /// A switch or a pick.
    Branch,
    /// A stop.
    Stop,
    /// A gate of a review.
    Gate,
}

/// A coloured piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where; never over a line's end.
    pub span: Span,
    /// As what.
    pub kind: TokenKind,
}

/// As what a piece of text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// `${{` and `}}`.
    Bracket,
    /// The root of a binding.
    Root,
    /// A step id.
    Step,
    /// A name below a root or step.
    Property,
    /// An index.
    Number,
    /// A word of the language in value position, such as `continue`.
    Word,
    /// An agent reference.
    Agent,
}

/// A note that is shown after a place, within the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// After which byte of the main document.
    pub offset: usize,
    /// What is shown.
    pub label: String,
    /// Markdown for the note itself; may be empty.
    pub tooltip: String,
}
