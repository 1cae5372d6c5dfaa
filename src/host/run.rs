//! The loop: takes notifications in, makes their events durable, hands out what is owed.
//!
//! One task owns the [`Host`]; effects run beside it and report back. Nothing leaves before its append has returned:
//! an effect is admitted by an event and only then begun. After a crash the loop asks `pending` again.

mod agents;
mod alone;
mod desk;
mod dispatch;
mod drive;
mod effects;
mod flight;
mod keep;
mod live;
mod signals;
mod tree;

pub use alone::{Isolated, Worked};
pub use drive::{Stopped, Until};
pub use live::{Live, Subject};
pub use tree::tree_root;

use super::clock::Clock;
use super::perform::{Perform, Watcher};
use crate::engine::agent::event::Spec as AgentSpec;
use crate::engine::workflow::event::Spec as WorkflowSpec;
use crate::engine::{Principal, Rejection, SessionId, agent, workflow};
use crate::ir;
use crate::store::{Store, StoreError};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;

/// Why the host did not do it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The engine refused.
    Refused(Rejection),
    /// Another process holds the session.
    Held {
        /// Who.
        holder: String,
    },
    /// There is no such session.
    Unknown {
        /// Which.
        session: String,
    },
    /// The store failed.
    Store(StoreError),
    /// What is stored cannot be read by this version.
    Stored {
        /// One sentence.
        message: String,
    },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(rejection) => rejection.fmt(f),
            Self::Held { holder } => write!(f, "the session is being driven by another process ({holder})"),
            Self::Unknown { session } => write!(f, "there is no session `{session}`"),
            Self::Store(error) => error.fmt(f),
            Self::Stored { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for HostError {}

impl From<StoreError> for HostError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Rejection> for HostError {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

/// What was appended, for progress lines and tests.
#[derive(Clone, Debug)]
pub struct Appended {
    /// Which session.
    pub session: SessionId,
    /// The version it is at now.
    pub version: u64,
    /// The events, as JSON.
    pub events: Vec<Value>,
}

/// Is told of every append.
pub type Observer = Box<dyn Fn(&Appended) + Send>;

/// Starts a process of its own that runs one call of a session and goes on when this one has ended.
pub type Background = Box<dyn Fn(&SessionId, &str) -> Result<(), String> + Send>;

/// Freezes the agent at a package path under a root folder; what is wrong, in words for people.
pub type AgentLoader = Box<dyn Fn(&str, &str) -> Result<ir::Agent, String> + Send>;

/// One process's view of the sessions that it works at.
pub struct Host {
    store: Arc<dyn Store>,
    perform: Arc<dyn Perform>,
    clock: Arc<dyn Clock>,
    holder: String,
    observer: Option<Observer>,
    watcher: Option<Watcher>,
    background: Option<Background>,
    loader: Option<AgentLoader>,
    live: HashMap<SessionId, Live>,
    workflows: HashMap<ir::Digest, Arc<ir::Workflow>>,
    agents: HashMap<ir::Digest, Arc<ir::Agent>>,
    stop: Option<watch::Receiver<u32>>,
    appends: u64,
}

/// How a workflow session is to start.
#[derive(Clone, Debug)]
pub struct NewWorkflow {
    /// The frozen definition.
    pub definition: Arc<ir::Workflow>,
    /// Package root folder.
    pub root: String,
    /// Path of the definition file.
    pub source: Option<String>,
    /// Inputs as given.
    pub inputs: IndexMap<String, Value>,
    /// Owner.
    pub owner: String,
}

impl Host {
    /// A host over a store. `holder` names this process.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        perform: Arc<dyn Perform>,
        clock: Arc<dyn Clock>,
        holder: String,
    ) -> Self {
        Self {
            store,
            perform,
            clock,
            holder,
            observer: None,
            watcher: None,
            background: None,
            loader: None,
            live: HashMap::new(),
            workflows: HashMap::new(),
            agents: HashMap::new(),
            stop: None,
            appends: 0,
        }
    }

    /// Tells `observer` of every append from now on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Tells `watcher` of every reply as it comes in.
    pub fn watch_replies(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    /// Hands calls in the background to processes of their own when a session makes a single step.
    pub fn run_in_background(&mut self, background: Background) {
        self.background = Some(background);
    }

    /// Finds agents that other agents call and that were not frozen with them.
    pub fn load_agents(&mut self, loader: AgentLoader) {
        self.loader = Some(loader);
    }

    /// Takes the number of signals from here instead of listening for Ctrl-C: at the first nothing new is begun, at
    /// the second what runs is killed.
    pub fn stop_at(&mut self, signals: watch::Receiver<u32>) {
        self.stop = Some(signals);
    }

    /// Under which name it takes leases.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Appends that this host has tried so far.
    #[must_use]
    pub fn appends(&self) -> u64 {
        self.appends
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Starts a workflow session; nothing runs yet.
    ///
    /// # Errors
    /// `Refused` if the inputs do not fit, `Store`.
    pub fn start_workflow(&mut self, new: NewWorkflow) -> Result<SessionId, HostError> {
        for frozen in new.definition.agents().values() {
            self.keep_agent(frozen)?;
        }
        let frozen = self.store.put_blob(&new.definition.to_bytes())?;
        let session = SessionId(self.clock.fresh_id());
        let spec = WorkflowSpec {
            session: session.clone(),
            workflow: new.definition.name().to_owned(),
            definition: frozen.clone(),
            root: new.root,
            source: new.source,
            inputs: new.inputs,
            owner: new.owner,
        };
        self.workflows.insert(frozen, Arc::clone(&new.definition));
        let subject = Subject::Workflow { ir: new.definition, state: workflow::state::State::default() };
        self.live.insert(session.clone(), Live { version: 0, subject });
        let outcome = self.tell_workflow(&session, workflow::command::Notification::Start(spec));
        if outcome.is_err() {
            self.live.remove(&session);
        }
        outcome?;
        Ok(session)
    }

    /// Starts an agent session of its own; nothing runs yet.
    ///
    /// # Errors
    /// `Refused`, `Store`.
    pub fn start_agent(&mut self, frozen: &ir::Agent, spec: AgentSpec) -> Result<(), HostError> {
        let digest = self.keep_agent(frozen)?;
        self.create_agent(&digest, spec)
    }

    /// Goes on with another agent from now on.
    ///
    /// # Errors
    /// `Refused` while anything of the session is open, `Store`.
    pub fn change_agent(
        &mut self,
        session: &SessionId,
        frozen: &ir::Agent,
        root: Option<String>,
        by: Principal,
    ) -> Result<bool, HostError> {
        let agent = self.keep_agent(frozen)?;
        self.tell_agent(session, agent::command::Notification::ChangeAgent { agent, root, by })
    }

    /// A fresh session id.
    #[must_use]
    pub fn fresh_id(&self) -> String {
        self.clock.fresh_id()
    }

    fn keep_agent(&mut self, frozen: &ir::Agent) -> Result<ir::Digest, HostError> {
        let value = serde_json::to_value(frozen).unwrap_or(Value::Null);
        let digest = self.store.put_blob(ir::canonical_json(&value).as_bytes())?;
        self.agents.entry(digest.clone()).or_insert_with(|| Arc::new(frozen.clone()));
        Ok(digest)
    }

    /// Creates an agent session, or finds it with the same spec.
    fn create_agent(&mut self, digest: &ir::Digest, spec: AgentSpec) -> Result<(), HostError> {
        let session = spec.session.clone();
        if let Ok(live) = self.live(&session) {
            return match &live.subject {
                Subject::Agent { state, .. } if state.spec.as_ref() == Some(&spec) => Ok(()),
                Subject::Agent { .. } | Subject::Workflow { .. } => Err(StoreError::Exists.into()),
            };
        }
        let frozen = self.agent(digest)?;
        let subject = Subject::Agent { ir: frozen, state: agent::state::State::default() };
        self.live.insert(session.clone(), Live { version: 0, subject });
        let outcome = self.tell_agent(&session, agent::command::Notification::Start(spec));
        if outcome.is_err() {
            self.live.remove(&session);
        }
        outcome.map(|_| ())
    }

    /// Hands a notification to a workflow session and makes what follows durable. Answers whether anything happened.
    ///
    /// # Errors
    /// `Refused`, `Unknown`, `Store`.
    pub fn tell_workflow(
        &mut self,
        session: &SessionId,
        notification: workflow::command::Notification,
    ) -> Result<bool, HostError> {
        self.tell(session, &Said::Workflow(notification))
    }

    /// Hands a notification to an agent session and makes what follows durable. Answers whether anything happened.
    ///
    /// # Errors
    /// `Refused`, `Unknown`, `Store`.
    pub fn tell_agent(
        &mut self,
        session: &SessionId,
        notification: agent::command::Notification,
    ) -> Result<bool, HostError> {
        self.tell(session, &Said::Agent(notification))
    }
}

/// A notification of either kind.
enum Said {
    Workflow(workflow::command::Notification),
    Agent(agent::command::Notification),
}
