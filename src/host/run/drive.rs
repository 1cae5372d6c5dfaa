//! Driving one tree of sessions until it ends, waits for something outside, or has made one step.

use super::dispatch::Landed;
use super::{Host, HostError, Subject};
use crate::engine::agent::command::{Command as Owed, Notification as AgentNews};
use crate::engine::workflow::command::Notification as WorkflowNews;
use crate::engine::{IndexRow, SessionId};
use crate::store::Lease;
use crate::time::{Millis, Timestamp};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};

/// How far to drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the end, or to a wait for a person, a schedule or an outside result.
    Rest,
    /// Like `Rest`, but schedules and deadlines are waited for; only people and outside results stop it.
    People,
    /// One scheduling step: one question to a model, or one batch of calls, or one firing of a timer.
    Step,
}

/// Where it stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The root's index row.
    pub row: IndexRow,
    /// Whether a signal stopped it.
    pub interrupted: bool,
    /// Effects begun on the way.
    pub effects: u64,
}

/// A lease is renewed long before it lapses.
const LEASE: Millis = Millis(30_000);
const RENEW: Duration = Duration::from_secs(10);

/// Effects under way.
pub(super) struct Flight {
    running: JoinSet<Landed>,
    known: HashMap<String, AbortHandle>,
    begun: u64,
}

impl Flight {
    fn new() -> Self {
        Self { running: JoinSet::new(), known: HashMap::new(), begun: 0 }
    }

    pub(super) fn begin(&mut self, command: String, doing: impl Future<Output = Landed> + Send + 'static) {
        self.begun += 1;
        let handle = self.running.spawn(doing);
        self.known.insert(command, handle);
    }

    /// Ends the effect whose command id begins so; gives the admission number at its end.
    pub(super) fn abort(&mut self, prefix: &str) -> Option<u32> {
        let command = self.known.keys().find(|command| command.starts_with(prefix)).cloned()?;
        if let Some(handle) = self.known.remove(&command) {
            handle.abort();
        }
        command.rsplit('/').next()?.parse().ok()
    }
}

impl Host {
    /// Drives the tree of `root` under a lease.
    ///
    /// # Errors
    /// `Held` if another process drives it, `Unknown`, `Store`, `Stored`.
    pub async fn drive(&mut self, root: &SessionId, until: Until) -> Result<Stopped, HostError> {
        self.forget(root);
        self.live(root)?;
        self.take_lease(root)?;
        let outcome = self.drive_leased(root, until).await;
        let released = self.store.release(root, &self.holder);
        let stopped = outcome?;
        released?;
        Ok(stopped)
    }

    fn take_lease(&mut self, root: &SessionId) -> Result<(), HostError> {
        let now = self.clock.now();
        let wanted = Lease { session: root.clone(), holder: self.holder.clone(), until: now.plus(LEASE) };
        match self.store.lease(&wanted, now, &crate::host::holder::is_gone)? {
            None => Ok(()),
            Some(other) => Err(HostError::Held { holder: other.holder }),
        }
    }

    async fn drive_leased(&mut self, root: &SessionId, until: Until) -> Result<Stopped, HostError> {
        let mut flight = Flight::new();
        let mut interrupted = false;
        let mut stepped = false;
        self.recover(root)?;
        loop {
            let done = until == Until::Step && stepped;
            let may_begin = !(interrupted || done);
            let before = flight.begun;
            self.settle_tree(root, &mut flight, may_begin).await?;
            stepped |= flight.begun > before;
            if !flight.known.is_empty() {
                let signal = self.await_landing(root, &mut flight).await?;
                if signal && interrupted {
                    // The second signal: what runs is killed, and its admissions tell the tale to whoever resumes.
                    flight.running.abort_all();
                    break;
                }
                interrupted |= signal;
                continue;
            }
            if !may_begin {
                break;
            }
            let Some(at) = self.timer(root, until)? else { break };
            if self.wait_until(root, at).await? {
                interrupted = true;
                break;
            }
            if !self.tick_tree(root)? {
                // A virtual clock that stands, or a timer that nothing follows from: nothing more to do here.
                break;
            }
            stepped = true;
        }
        let row = self.live(root)?.subject.index();
        Ok(Stopped { row, interrupted, effects: flight.begun })
    }

    /// The root and its children that are not settled.
    fn tree(&mut self, root: &SessionId) -> Result<Vec<SessionId>, HostError> {
        let mut all = vec![root.clone()];
        if let Subject::Workflow { state, .. } = &self.live(root)?.subject {
            let open: Vec<_> =
                state.children.iter().filter(|(_, child)| child.started).map(|(id, _)| id.clone()).collect();
            for child in open {
                self.live(&child)?;
                all.push(child);
            }
        }
        Ok(all)
    }

    /// Effects that a gone process had admitted are owed again or unknown; what is due is expired.
    fn recover(&mut self, root: &SessionId) -> Result<(), HostError> {
        let living = self.holder.clone();
        for session in self.tree(root)? {
            if matches!(self.live(&session)?.subject, Subject::Agent { .. }) {
                match self.tell_agent(&session, AgentNews::HoldersLost { living: vec![living.clone()] }) {
                    Ok(_) | Err(HostError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        self.tick_tree(root)?;
        Ok(())
    }

    /// Lets every session of the tree know that time has passed, where its timer says so.
    fn tick_tree(&mut self, root: &SessionId) -> Result<bool, HostError> {
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

    /// Does everything that is owed and not under way, until nothing new is.
    async fn settle_tree(
        &mut self,
        root: &SessionId,
        flight: &mut Flight,
        may_begin: bool,
    ) -> Result<(), HostError> {
        let mut stuck: HashSet<(SessionId, String)> = HashSet::new();
        loop {
            let mut progress = false;
            for session in self.tree(root)? {
                for owed in self.owed_by_workflow(&session)? {
                    let key = (session.clone(), owed.id());
                    if stuck.insert(key) {
                        self.settle_workflow(&session, owed)?;
                        progress = true;
                    }
                }
                for owed in self.owed_by_agent(&session)? {
                    let begins = matches!(owed, Owed::CallModel { .. } | Owed::RunTool { .. });
                    if flight.known.contains_key(&flight_key(&session, &owed)) || (begins && !may_begin) {
                        continue;
                    }
                    let key = (session.clone(), owed.id());
                    if stuck.insert(key) {
                        self.settle_agent(&session, owed, flight).await?;
                        progress = true;
                    }
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }

    /// Waits for the next effect to come back, renewing the lease meanwhile. Answers whether a signal came.
    async fn await_landing(&mut self, root: &SessionId, flight: &mut Flight) -> Result<bool, HostError> {
        loop {
            let deadline = self.timer(root, Until::People)?;
            let nap = deadline.map_or(RENEW, |at| {
                let left = at.since(self.clock.now());
                RENEW.min(Duration::from_millis(u64::try_from(left.0).unwrap_or_default().max(1)))
            });
            tokio::select! {
                landed = flight.running.join_next() => {
                    match landed {
                        Some(Ok(landed)) => {
                            flight.known.remove(&landed.command);
                            match self.tell_agent(&landed.session, landed.news) {
                                Ok(_) | Err(HostError::Refused(_)) => {}
                                Err(error) => return Err(error),
                            }
                        }
                        // An aborted effect: its end has been reported where it was aborted.
                        Some(Err(_)) => {}
                        None => flight.known.clear(),
                    }
                    return Ok(false);
                }
                () = tokio::time::sleep(nap) => {
                    self.take_lease(root)?;
                    if self.tick_tree(root)? {
                        return Ok(false);
                    }
                }
                // Running calls are let to their end; nothing new is begun.
                _ = tokio::signal::ctrl_c() => return Ok(true),
            }
        }
    }

    /// The next timer that driving waits for.
    fn timer(&mut self, root: &SessionId, until: Until) -> Result<Option<Timestamp>, HostError> {
        let mut earliest: Option<Timestamp> = None;
        for session in self.tree(root)? {
            let subject = &self.live(&session)?.subject;
            let counts = match subject {
                Subject::Agent { .. } => true,
                // A workflow's own timers are schedules and deadlines: those are waits for something outside.
                Subject::Workflow { .. } => until == Until::People,
            };
            if let (true, Some(at)) = (counts, subject.wake_at()) {
                earliest = Some(earliest.map_or(at, |known| known.min(at)));
            }
        }
        Ok(earliest)
    }

    /// Sleeps, or moves a virtual clock. Answers whether a signal came.
    async fn wait_until(&mut self, root: &SessionId, at: Timestamp) -> Result<bool, HostError> {
        if self.clock.advance_to(at) {
            return Ok(false);
        }
        loop {
            let left = at.since(self.clock.now());
            if left.0 == 0 {
                return Ok(false);
            }
            let nap = RENEW.min(Duration::from_millis(u64::try_from(left.0).unwrap_or(1)));
            tokio::select! {
                () = tokio::time::sleep(nap) => self.take_lease(root)?,
                _ = tokio::signal::ctrl_c() => return Ok(true),
            }
        }
    }
}

/// Names an effect under way: ids of commands are unique within their session only.
pub(super) fn flight_key(session: &SessionId, owed: &Owed) -> String {
    format!("{session} {}", owed.id())
}
