//! The built-in toolboxes: one tool each, made of a frozen description. What blocks runs on a thread of its own.

use super::developer::Developer;
use super::sqlite::Sqlite;
use super::system::System;
use super::toolbox::{Listing, Place, Toolbox};
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use crate::ir::toolbox::Builtin;
use std::path::Path;
use std::sync::Arc;

/// A toolbox with one tool.
pub trait OneTool: Send + Sync + 'static {
    /// What the model is told.
    fn spec(&self) -> ToolSpec;

    /// Runs a call; may block. `root` is the package.
    ///
    /// # Errors
    /// One sentence for the model.
    fn run(&self, root: &Path, request: &ToolRequest) -> Result<Output, String>;
}

/// The toolbox of a description.
#[must_use]
pub fn made(of: &Builtin) -> Arc<dyn Toolbox> {
    match of {
        Builtin::Sqlite { name, description, path, writable } => {
            Arc::new(Single(Arc::new(Sqlite::new(name, description, path, *writable))))
        }
        Builtin::System { name, description, capabilities, env_filter, sandbox, max_file_bytes } => {
            Arc::new(Single(Arc::new(System {
                name: name.clone(),
                description: description.clone(),
                capabilities: capabilities.clone(),
                env_filter: env_filter.clone(),
                sandbox: sandbox.clone(),
                max_file_bytes: *max_file_bytes,
            })))
        }
        Builtin::Developer { name, description, capabilities, sandbox, max_file_bytes } => {
            Arc::new(Single(Arc::new(Developer {
                name: name.clone(),
                description: description.clone(),
                capabilities: capabilities.clone(),
                sandbox: sandbox.clone(),
                max_file_bytes: *max_file_bytes,
            })))
        }
    }
}

/// A toolbox of one tool.
struct Single<T>(Arc<T>);

impl<T: OneTool> Toolbox for Single<T> {
    fn list(&self, _place: Place) -> Doing<Listing> {
        let tools = vec![self.0.spec()];
        Box::pin(async move { Listing { tools, faults: Vec::new() } })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let tool = Arc::clone(&self.0);
        Box::pin(async move { blocking(move || tool.run(Path::new(&request.spec.root), &request)).await })
    }
}

/// What work on a thread of its own came to.
pub(super) async fn blocking(work: impl FnOnce() -> Result<Output, String> + Send + 'static) -> Output {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(output)) => output,
        Ok(Err(why)) => Output::Failed(why),
        Err(_) => Output::Unknown("a fault inside Flowright ended it".to_owned()),
    }
}
