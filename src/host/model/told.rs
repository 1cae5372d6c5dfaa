//! Telling a watcher of a reply as it comes in. What it was told counts for nothing: only the whole answer does.

use super::redact::{Secrets, Veil};
use crate::host::perform::{Delta, Watcher};

/// Passes pieces on, without keys.
pub(super) struct Told<'a> {
    watcher: Option<&'a Watcher>,
    text: Veil,
    thinking: Veil,
}

impl<'a> Told<'a> {
    /// With nobody to tell it does nothing.
    pub(super) fn new(watcher: Option<&'a Watcher>, secrets: &Secrets) -> Self {
        Self { watcher, text: secrets.veil(), thinking: secrets.veil() }
    }

    /// A piece of the text.
    pub(super) fn text(&mut self, piece: &str) {
        if let Some(watcher) = self.watcher {
            let shown = self.text.push(piece);
            if !shown.is_empty() {
                (watcher.0)(Delta::Text(&shown));
            }
        }
    }

    /// A piece of the thinking.
    pub(super) fn thinking(&mut self, piece: &str) {
        if let Some(watcher) = self.watcher {
            let shown = self.thinking.push(piece);
            if !shown.is_empty() {
                (watcher.0)(Delta::Thinking(&shown));
            }
        }
    }

    /// What was held back, once the reply is whole.
    pub(super) fn end(&mut self) {
        if let Some(watcher) = self.watcher {
            let (thinking, text) = (self.thinking.rest(), self.text.rest());
            if !thinking.is_empty() {
                (watcher.0)(Delta::Thinking(&thinking));
            }
            if !text.is_empty() {
                (watcher.0)(Delta::Text(&text));
            }
        }
    }
}
