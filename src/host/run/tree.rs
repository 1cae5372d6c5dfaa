//! The sessions that are driven together: a root and everything that works for it now. Begins no effect.

use super::{Host, HostError, Subject};
use crate::engine::agent::command::Notification as AgentNews;
use crate::engine::agent::state::{CallState, State as AgentState};
use crate::engine::workflow::command::Notification as WorkflowNews;
use crate::engine::{SessionId, agent};
use crate::store::{Lease, Store, StoreError};
use crate::time::{Millis, Timestamp};

/// A lease is renewed long before it lapses.
const LEASE: Millis = Millis(30_000);
/// So far two readings of a clock may differ without its having been set back.
const DRIFT: Millis = Millis(5_000);
/// Sessions above one another at most: a workflow, its agents and those that they call.
const LEVELS_MAX: usize = 16;

/// The lease of one call that runs outside of a drive.
pub(super) fn call_lease(call: &str) -> SessionId {
    SessionId(format!("call {call}"))
}

/// The root of a session's family, by the rows of the store alone; none: there is no such session.
///
/// # Errors
/// `Io`.
pub fn tree_root(store: &dyn Store, session: &SessionId) -> Result<Option<SessionId>, StoreError> {
    let Some(mut row) = store.row(session)? else { return Ok(None) };
    for _ in 0..LEVELS_MAX {
        let Some(parent) = row.index.parent.take() else { break };
        let Some(above) = store.row(&parent)? else { break };
        row = above;
    }
    Ok(Some(row.session))
}

impl Host {
    /// The sessions that work for this one now, without those below them.
    fn open_children(&mut self, session: &SessionId) -> Result<Vec<SessionId>, HostError> {
        Ok(match &self.live(session)?.subject {
            Subject::Workflow { state, .. } => {
                let started = state.children.iter().filter(|(_, child)| child.started);
                started.map(|(id, _)| id.clone()).collect()
            }
            Subject::Agent { state, .. } => agent::pending::children(state),
        })
    }

    /// The root and everything that works for it.
    pub(super) fn tree(&mut self, root: &SessionId) -> Result<Vec<SessionId>, HostError> {
        let mut all = vec![root.clone()];
        let mut next = 0;
        while let Some(session) = all.get(next).cloned() {
            next += 1;
            for child in self.open_children(&session)? {
                match self.live(&child) {
                    Ok(_) if !all.contains(&child) => all.push(child),
                    // Recorded and not begun yet.
                    Ok(_) | Err(HostError::Unknown { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(all)
    }

    /// The session under whose lease this one is driven: the highest that it works for now.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`.
    pub fn top(&mut self, session: &SessionId) -> Result<SessionId, HostError> {
        let mut top = session.clone();
        for _ in 0..LEVELS_MAX {
            let Some(parent) = self.live(&top)?.subject.index().parent else { break };
            match self.open_children(&parent) {
                Ok(open) if open.contains(&top) => top = parent,
                // What has settled there goes on by itself.
                Ok(_) | Err(HostError::Unknown { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(top)
    }

    /// Gives the lease of a drive back whose future was dropped: nothing else would before it lapses.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`.
    pub fn let_go(&mut self, session: &SessionId) -> Result<(), HostError> {
        self.forget(session);
        let top = self.top(session)?;
        Ok(self.store.release(&top, &self.holder)?)
    }

    pub(super) fn take_lease(&mut self, session: &SessionId) -> Result<(), HostError> {
        let now = self.clock.now();
        let (holder, until) = (self.holder.clone(), now.plus(LEASE));
        let wanted = Lease { session: session.clone(), holder, until };
        let Some(other) = self.store.lease(&wanted, now, &crate::host::holder::is_gone)? else {
            return Ok(());
        };
        // The clock was set back since it was taken: nobody may ask for that long. The clock is read anew, for the
        // other may have taken it while this process waited for the database.
        let now = self.clock.now();
        if other.until.since(now).0 > LEASE.0 + DRIFT.0 {
            self.store.release(session, &other.holder)?;
            if self.store.lease(&wanted, now, &crate::host::holder::is_gone)?.is_none() {
                return Ok(());
            }
        }
        Err(HostError::Held { holder: other.holder })
    }

    /// Whether the process that admitted a call outside of a drive still holds it.
    fn is_held(&self, call: &str, holder: &str) -> Result<bool, HostError> {
        let now = self.clock.now();
        let probe = format!("{}/probe", self.holder);
        let session = call_lease(call);
        let wanted = Lease { session: session.clone(), holder: probe.clone(), until: now.plus(Millis(1)) };
        match self.store.lease(&wanted, now, &crate::host::holder::is_gone)? {
            Some(standing) => Ok(standing.holder == holder),
            None => {
                self.store.release(&session, &probe)?;
                Ok(false)
            }
        }
    }

    /// Effects that a gone process had admitted are owed again or unknown. This process drives under the lease of the
    /// tree, so of other processes only those live that hold the lease of their one call.
    pub(super) fn recover(&mut self, root: &SessionId) -> Result<(), HostError> {
        for session in self.tree(root)? {
            let Some(others) = self.others(&session)? else { continue };
            let mut living = vec![self.holder.clone()];
            for (call, holder) in others {
                if self.is_held(&call, &holder)? {
                    living.push(holder);
                }
            }
            match self.tell_agent(&session, AgentNews::HoldersLost { living }) {
                Ok(_) | Err(HostError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Calls of an agent session that run in other processes, with their holders.
    fn others(&mut self, session: &SessionId) -> Result<Option<Vec<(String, String)>>, HostError> {
        let own = self.holder.clone();
        Ok(match &self.live(session)?.subject {
            Subject::Workflow { .. } => None,
            Subject::Agent { state, .. } => Some(held_by_others(state, &own)),
        })
    }

    /// Whether another process runs a call of the tree.
    pub(super) fn others_at_work(&mut self, root: &SessionId) -> Result<bool, HostError> {
        for session in self.tree(root)? {
            if self.others(&session)?.is_some_and(|others| !others.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets sessions that other processes have written to. Answers whether there are any.
    pub(super) fn refresh(&mut self, root: &SessionId) -> Result<bool, HostError> {
        let mut any = false;
        for session in self.tree(root)? {
            let known = self.live(&session)?.version;
            let stored = self.store.row(&session)?.map(|row| row.version);
            if stored.is_some_and(|stored| stored != known) {
                self.forget(&session);
                any = true;
            }
        }
        Ok(any)
    }

    /// Lets everything that is due take effect. Answers whether anything happened.
    pub(super) fn tick_tree(&mut self, root: &SessionId) -> Result<bool, HostError> {
        let now = self.clock.now();
        let mut any = false;
        for session in self.tree(root)? {
            let subject = &self.live(&session)?.subject;
            if subject.wake_at().is_none_or(|at| at > now) {
                continue;
            }
            let outcome = match subject {
                Subject::Workflow { .. } => self.tell_workflow(&session, WorkflowNews::Tick),
                Subject::Agent { .. } => self.tell_agent(&session, AgentNews::Tick),
            };
            match outcome {
                Ok(happened) => any |= happened,
                Err(HostError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(any)
    }

    /// Lets what is due of one session take effect, without a lease: its version fences. Answers whether anything
    /// happened.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`.
    pub fn tick(&mut self, session: &SessionId) -> Result<bool, HostError> {
        let outcome = match &self.live(session)?.subject {
            Subject::Workflow { .. } => self.tell_workflow(session, WorkflowNews::Tick),
            Subject::Agent { .. } => self.tell_agent(session, AgentNews::Tick),
        };
        match outcome {
            Err(HostError::Refused(_)) => Ok(false),
            other => other,
        }
    }

    /// The next timer that driving waits for; a workflow's own timers are schedules and deadlines, which are waits for
    /// something outside.
    pub(super) fn timer(
        &mut self,
        root: &SessionId,
        with_schedules: bool,
    ) -> Result<Option<Timestamp>, HostError> {
        let mut earliest: Option<Timestamp> = None;
        for session in self.tree(root)? {
            let subject = &self.live(&session)?.subject;
            let counts = match subject {
                Subject::Agent { .. } => true,
                Subject::Workflow { .. } => with_schedules,
            };
            if let (true, Some(at)) = (counts, subject.wake_at()) {
                earliest = Some(earliest.map_or(at, |known| known.min(at)));
            }
        }
        Ok(earliest)
    }
}

fn held_by_others(state: &AgentState, own: &str) -> Vec<(String, String)> {
    let held = state.last_calls().iter().filter_map(|call| match &call.state {
        CallState::Running { holder, .. } if holder != own => Some((call.made.id.clone(), holder.clone())),
        CallState::Running { .. }
        | CallState::Ready
        | CallState::Deferred { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    });
    held.collect()
}
