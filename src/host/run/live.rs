//! Sessions in memory: loading by folding, deciding, appending, folding on.

use super::{Appended, Host, HostError, Said};
use crate::engine::{IndexRow, Rejection, RejectionCode, SessionId, SessionKind, agent, workflow};
use crate::ir;
use crate::store::{Append, Created, KeptEvent, NewEvent, StoreError, Version};
use crate::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A session in memory.
#[derive(Clone, Debug)]
pub struct Live {
    /// The version that `subject` is at.
    pub version: Version,
    /// What it is.
    pub subject: Subject,
}

/// A session of either kind with what it needs to be decided.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A workflow session.
    Workflow {
        /// Its frozen definition.
        ir: Arc<ir::Workflow>,
        /// Its state.
        state: workflow::state::State,
    },
    /// An agent session.
    Agent {
        /// Its frozen agent.
        ir: Arc<ir::Agent>,
        /// Its state.
        state: agent::state::State,
    },
}

impl Subject {
    /// What a list shows of it.
    #[must_use]
    pub fn index(&self) -> IndexRow {
        match self {
            Self::Workflow { ir, state } => workflow::pending::index(ir, state),
            Self::Agent { ir, state } => agent::pending::index(ir, state),
        }
    }

    /// When it must be looked at again.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        match self {
            Self::Workflow { ir, state } => workflow::pending::wake_at(ir, state),
            Self::Agent { state, .. } => agent::pending::wake_at(state),
        }
    }

    fn now(&self) -> Timestamp {
        match self {
            Self::Workflow { state, .. } => state.now,
            Self::Agent { state, .. } => state.now,
        }
    }

    /// Decides and folds; gives the events as JSON text.
    fn take(&mut self, at: Timestamp, said: &Said) -> Result<Vec<String>, HostError> {
        match (self, said) {
            (Self::Workflow { ir, state }, Said::Workflow(notification)) => {
                let events = workflow::decide::decide(ir, state, at, notification.clone())?;
                for event in &events {
                    workflow::evolve::evolve(state, at, event);
                }
                written(&events)
            }
            (Self::Agent { ir, state }, Said::Agent(notification)) => {
                let events = agent::decide::decide(ir, state, at, notification.clone())?;
                for event in &events {
                    agent::evolve::evolve(state, at, event);
                }
                written(&events)
            }
            (Self::Workflow { .. }, Said::Agent(_)) => {
                Err(wrong_kind("a workflow session", "an agent session"))
            }
            (Self::Agent { .. }, Said::Workflow(_)) => {
                Err(wrong_kind("an agent session", "a workflow session"))
            }
        }
    }
}

fn wrong_kind(is: &str, wanted: &str) -> HostError {
    HostError::Refused(Rejection::new(
        RejectionCode::Invalid,
        format!("this is {is}; that is said to {wanted}"),
    ))
}

fn written<E: Serialize>(events: &[E]) -> Result<Vec<String>, HostError> {
    events
        .iter()
        .map(|event| {
            serde_json::to_string(event)
                .map_err(|error| stored(format!("an event cannot be written: {error}")))
        })
        .collect()
}

fn read<E: DeserializeOwned>(kept: &KeptEvent) -> Result<E, HostError> {
    serde_json::from_str(&kept.body)
        .map_err(|error| stored(format!("event {} cannot be read by this version: {error}", kept.sequence)))
}

fn stored(message: String) -> HostError {
    HostError::Stored { message }
}

/// How often a decision is made anew after another process got in between.
const CONFLICTS: u32 = 16;

impl Host {
    /// The session, loaded if it is not in memory.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`.
    pub fn live(&mut self, session: &SessionId) -> Result<&mut Live, HostError> {
        if !self.live.contains_key(session) {
            let loaded = self.load(session)?;
            self.live.insert(session.clone(), loaded);
        }
        self.live.get_mut(session).ok_or_else(|| HostError::Unknown { session: session.0.clone() })
    }

    /// Forgets what is in memory, so that the next look is at the store.
    pub fn forget(&mut self, session: &SessionId) {
        self.live.remove(session);
    }

    /// Forgets every session that is in memory.
    pub fn forget_all(&mut self) {
        self.live.clear();
    }

    fn load(&mut self, session: &SessionId) -> Result<Live, HostError> {
        let unknown = || HostError::Unknown { session: session.0.clone() };
        let loaded = self.store.load(session)?.ok_or_else(unknown)?;
        let first = loaded.events.first().ok_or_else(unknown)?;
        let no_start = || stored("the first event of the session is not its start".to_owned());
        let mut subject = match loaded.kind {
            SessionKind::Workflow => {
                let workflow::event::Event::Started(spec) = read(first)? else { return Err(no_start()) };
                Subject::Workflow {
                    ir: self.workflow(&spec.definition)?,
                    state: workflow::state::State::default(),
                }
            }
            SessionKind::Agent => {
                let agent::event::Event::Started(spec) = read(first)? else { return Err(no_start()) };
                Subject::Agent { ir: self.agent(&spec.agent)?, state: agent::state::State::default() }
            }
        };
        for kept in &loaded.events {
            match &mut subject {
                Subject::Workflow { state, .. } => workflow::evolve::evolve(state, kept.at, &read(kept)?),
                Subject::Agent { state, .. } => agent::evolve::evolve(state, kept.at, &read(kept)?),
            }
        }
        self.follow_agent(&mut subject)?;
        Ok(Live { version: loaded.version, subject })
    }

    /// A session whose agent was changed goes on with the one that it was changed to last.
    fn follow_agent(&mut self, subject: &mut Subject) -> Result<(), HostError> {
        if let Subject::Agent { ir, state } = subject
            && let Some(changed) = state.agent.clone()
            && ir.digest() != changed
        {
            *ir = self.agent(&changed)?;
        }
        Ok(())
    }

    /// The frozen definition behind the digest of its bytes.
    ///
    /// # Errors
    /// `Stored` if it is not there or cannot be read.
    pub fn workflow(&mut self, digest: &ir::Digest) -> Result<Arc<ir::Workflow>, HostError> {
        if let Some(known) = self.workflows.get(digest) {
            return Ok(Arc::clone(known));
        }
        let missing = || stored(format!("the frozen definition {} is not in the store", digest.short()));
        let bytes = self.store.blob(digest)?.ok_or_else(missing)?;
        let frozen = ir::Workflow::from_bytes(&bytes).map_err(|error| stored(error.to_string()))?;
        let frozen = Arc::new(frozen);
        self.workflows.insert(digest.clone(), Arc::clone(&frozen));
        Ok(frozen)
    }

    /// The frozen agent behind a digest.
    ///
    /// # Errors
    /// `Stored` if it is not there or cannot be read.
    pub fn agent(&mut self, digest: &ir::Digest) -> Result<Arc<ir::Agent>, HostError> {
        if let Some(known) = self.agents.get(digest) {
            return Ok(Arc::clone(known));
        }
        let missing = || stored(format!("the frozen agent {} is not in the store", digest.short()));
        let bytes = self.store.blob(digest)?.ok_or_else(missing)?;
        let frozen: ir::Agent = serde_json::from_slice(&bytes).map_err(|error| {
            stored(format!("the frozen agent {} cannot be read: {error}", digest.short()))
        })?;
        let frozen = Arc::new(frozen);
        self.agents.insert(digest.clone(), Arc::clone(&frozen));
        Ok(frozen)
    }

    /// Decides, appends, folds. On a conflict the session is loaded anew and decided again.
    pub(super) fn tell(&mut self, session: &SessionId, said: &Said) -> Result<bool, HostError> {
        for _ in 0..CONFLICTS {
            let clock_now = self.clock.now();
            let live = self.live(session)?;
            let expected = live.version;
            let at = clock_now.max(live.subject.now());
            let mut next = live.subject.clone();
            let bodies = next.take(at, said)?;
            if bodies.is_empty() {
                return Ok(false);
            }
            if matches!(said, Said::Agent(agent::command::Notification::ChangeAgent { .. })) {
                self.follow_agent(&mut next)?;
            }
            match self.keep(session, expected, at, &next, bodies) {
                Ok(version) => {
                    self.live.insert(session.clone(), Live { version, subject: next });
                    return Ok(true);
                }
                Err(StoreError::Conflict { .. }) => self.forget(session),
                Err(error) => {
                    self.forget(session);
                    return Err(error.into());
                }
            }
        }
        Err(stored("other processes keep writing to this session; try again".to_owned()))
    }

    fn keep(
        &mut self,
        session: &SessionId,
        expected: Version,
        at: Timestamp,
        next: &Subject,
        bodies: Vec<String>,
    ) -> Result<Version, StoreError> {
        self.appends += 1;
        let append_id = format!("{}#{}", self.holder, self.appends);
        let blobs = if expected == 0 { first_blobs(next) } else { Vec::new() };
        let count = bodies.len() as u64;
        let seen = self.observer.as_ref().map(|_| bodies.clone());
        let events = bodies.into_iter().map(|body| NewEvent { at, body }).collect();
        let append =
            Append { session: session.clone(), expected, append_id, events, index: next.index(), blobs };
        let version = if expected == 0 {
            match self.store.create(&append)? {
                Created::Fresh => count,
                Created::Same => return Err(StoreError::Conflict { actual: count }),
            }
        } else {
            self.store.append(&append)?
        };
        if let (Some(observer), Some(seen)) = (&self.observer, seen) {
            let events = seen.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
            observer(&Appended { session: session.clone(), version, events });
        }
        Ok(version)
    }
}

/// The frozen bytes that the first event refers to.
fn first_blobs(subject: &Subject) -> Vec<ir::Digest> {
    match subject {
        Subject::Workflow { ir, state } => {
            let agents = ir.agents().values().map(ir::Agent::digest);
            state.spec.iter().map(|spec| spec.definition.clone()).chain(agents).collect()
        }
        Subject::Agent { state, .. } => state.spec.iter().map(|spec| spec.agent.clone()).collect(),
    }
}
