//! What a person does to whole sessions: results taken in, sessions removed. Drives nothing.

use super::{Host, HostError, keep};
use crate::engine::SessionId;
use crate::engine::agent::event::ToolResult;
use crate::host::perform::{Doing, Output};
use crate::host::tool::toolbox::Listing;
use crate::ir;
use std::path::Path;
use std::sync::Arc;

impl Host {
    /// An outside result as it is recorded: long texts and media become blobs.
    ///
    /// # Errors
    /// One sentence, if it cannot be kept.
    pub fn keep_output(&self, output: Output) -> Result<ToolResult, String> {
        keep::output(self.store.as_ref(), output)
    }

    /// The tools of an agent whose package is at `root`, and why others are not there.
    pub fn tools(&self, agent: &ir::Agent, root: &Path) -> Doing<Listing> {
        self.perform.tools(Arc::new(agent.clone()), root.to_path_buf())
    }

    /// Removes sessions, the first of them the root of the others. Nobody may be driving it.
    ///
    /// # Errors
    /// `Held` if another process drives it, `Unknown`, `Store`.
    pub fn delete(&mut self, sessions: &[SessionId]) -> Result<(), HostError> {
        let Some(root) = sessions.first() else { return Ok(()) };
        self.live(root)?;
        self.take_lease(root)?;
        // Children first: what is left after a crash is a tree without some leaves.
        for session in sessions.iter().rev() {
            self.store.delete(session)?;
            self.forget(session);
        }
        Ok(())
    }
}
