//! What every kind of toolbox offers: its tools, and running one of them. Applies no policy and stores nothing.

use crate::engine::SessionId;
use crate::host::model::keys::Keys;
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Where tools are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Package root folder on this machine.
    pub root: PathBuf,
    /// The session that asks; boxes that keep something per session use it.
    pub session: SessionId,
}

/// Tools that are there, and why others are not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// In the order in which the model is told of them.
    pub tools: Vec<ToolSpec>,
    /// One sentence each, without secrets.
    pub faults: Vec<String>,
}

/// A source of tools. Calls may come side by side.
pub trait Toolbox: Send + Sync {
    /// What is there now.
    fn list(&self, place: Place) -> Doing<Listing>;

    /// Runs one call of a tool that this box listed. Dropping the future stops what runs.
    fn call(&self, request: ToolRequest) -> Doing<Output>;
}

/// What toolboxes share: keys of the operator, one HTTP client, what the operator allows.
#[derive(Clone, Debug, Default)]
pub struct Kit {
    /// The operator's keys.
    pub keys: Arc<Keys>,
    /// Built once, at its first use.
    pub client: Arc<OnceLock<reqwest::Client>>,
    /// What the operator's configuration allows.
    pub allowed: Arc<Allowed>,
}

/// What the operator's configuration allows; a definition can grant none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Function runners.
    pub functions: Vec<Function>,
    /// The container program, `docker` without it.
    pub docker: Option<String>,
    /// Names of variables that isolated programs may see beside `PATH`, `HOME` and the language.
    pub environment: Vec<String>,
    /// Walls around isolated programs of a package; none without it.
    pub walls: Option<Walls>,
}

/// A function runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, the `target` of agent files.
    pub name: String,
    /// Where envelopes are posted to.
    pub url: String,
    /// Id of the key that is sent as bearer token.
    pub key: Option<String>,
}

/// What isolated programs may touch beside the system, their package without the sessions, and their scratch folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// Further paths that they read; from the package root, or absolute.
    pub read: Vec<PathBuf>,
    /// Paths that they write.
    pub write: Vec<PathBuf>,
    /// Whether they may use TCP.
    pub network: bool,
}
