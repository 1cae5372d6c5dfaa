//! What is open while a document is read.

use crate::parse::{hole, hole_entry};
use crate::source::{FileId, Span, Spanned};
use crate::tree::{Entry, Node, Value};
use std::collections::HashMap;

/// A map or list that has begun.
pub(super) struct Frame {
    pub(super) start: usize,
    /// End of what stands before it.
    pub(super) before: usize,
    /// End of the last child so far.
    pub(super) end: usize,
    pub(super) is_flow: bool,
    pub(super) content: Content,
}

pub(super) enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, slot: Slot, seen: Option<HashMap<String, usize>> },
}

/// What a map waits for.
pub(super) enum Slot {
    Key,
    ValueOf(Spanned<String>),
    /// The value of a key that could not be taken; already reported.
    ValueOfNothing,
}

/// An anchor or an alias.
pub(super) struct Reference {
    pub(super) span: Span,
    pub(super) is_alias: bool,
}

impl Frame {
    /// Marks the value as incomplete.
    pub(super) fn cut(&mut self, file: FileId) {
        match &mut self.content {
            Content::List(items) => items.push(hole(file, self.end)),
            Content::Map { entries, slot, .. } => {
                if let Some(last) = entries.last_mut().filter(|last| last.value.span.is_empty()) {
                    last.value.value = Value::Hole;
                }
                if let Slot::ValueOf(key) = std::mem::replace(slot, Slot::Key) {
                    entries.push(Entry { key, value: hole(file, self.end) });
                }
                entries.push(hole_entry(file, self.end));
            }
        }
    }

    pub(super) fn into_node(self, file: FileId) -> Node {
        let span = Span::new(file, self.start, self.end);
        match self.content {
            Content::List(items) => Node { span, value: Value::List(items) },
            Content::Map { entries, .. } => Node { span, value: Value::Map(entries) },
        }
    }
}
