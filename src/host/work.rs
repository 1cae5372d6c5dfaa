//! A worker: drives every session of a store that owes work or has something due, many side by side.
//!
//! It keeps no list of sessions. What is due and what owes work are two questions to the store, asked when a job has
//! ended, when the one timer is up, and at a bounded interval, since other processes write to the store too. What a
//! gone process left under way shows by its lease.

mod jobs;
mod parked;

use super::clock::Clock;
use super::holder;
use super::run::{Host, HostError, tree_root};
use crate::engine::{IndexRow, SessionId};
use crate::store::{Lease, Store, StoreError};
use crate::time::{Millis, Timestamp};
use jobs::{Jobs, Outcome};
use parked::{Kind, Parked, Why};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// When a worker ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Never: a signal ends it.
    Signal,
    /// When nothing is due and nothing owes work.
    Idle,
    /// When it is idle at this time or later.
    At(Timestamp),
}

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Sessions driven side by side.
    pub jobs: usize,
    /// When it ends.
    pub end: End,
}

/// What a worker tells of.
#[derive(Clone, Debug)]
pub enum Told {
    /// A session was driven as far as it goes now.
    Stood {
        /// Which.
        session: SessionId,
        /// Where it stands.
        row: Box<IndexRow>,
    },
    /// Another process holds a session; it is left alone and asked for again.
    Held {
        /// Which.
        session: SessionId,
        /// Who.
        holder: String,
    },
    /// A session could not be driven; it is tried again later.
    Failed {
        /// Which.
        session: SessionId,
        /// One sentence.
        message: String,
    },
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Drives of sessions.
    pub driven: u64,
    /// Times that came due and were let take effect.
    pub fired: u64,
    /// Sessions that could not be driven the last time.
    pub failed: usize,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

/// How often it looks what others have written.
const LOOK: Millis = Millis(500);
/// How often a session is looked at whose calls run in other processes.
const ELSEWHERE: Millis = Millis(10_000);
/// Sessions whose times are let take effect side by side. They come before everything else: a schedule counts for a
/// minute, and a drive may take longer.
const LANES: usize = 16;
/// Rows of a question at most.
const ROWS: u32 = 65_536;
/// How many looks in a row may fail before the worker gives up.
const FAULTS: u32 = 10;

struct Worker<'a> {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    told: &'a dyn Fn(&Told),
    settings: Settings,
    jobs: Jobs<'a>,
    parked: Parked,
    /// Sessions to be driven next, each with the root of its family.
    ready: VecDeque<(SessionId, SessionId)>,
    due: VecDeque<SessionId>,
    /// Trees that other processes hold.
    held: HashSet<SessionId>,
    /// Sessions of which calls run in other processes, and when to look at them.
    elsewhere: HashMap<SessionId, Timestamp>,
    looked: Option<Timestamp>,
    faults: u32,
    tally: Tally,
}

/// Works until its end has come or a signal does. `hosts` gives a host with a holder name of its own each time.
///
/// # Errors
/// `Store` if the store cannot be asked any more.
pub async fn work(
    (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
    hosts: &(dyn Fn() -> Host + Sync),
    settings: Settings,
    signals: watch::Receiver<u32>,
    told: &(dyn Fn(&Told) + Sync),
) -> Result<Tally, HostError> {
    let mut worker = Worker {
        store,
        clock,
        told,
        settings,
        jobs: Jobs::new(hosts, signals.clone()),
        parked: Parked::default(),
        ready: VecDeque::new(),
        due: VecDeque::new(),
        held: HashSet::new(),
        elsewhere: HashMap::new(),
        looked: None,
        faults: 0,
        tally: Tally::default(),
    };
    let outcome = worker.run(signals).await;
    // Nobody leaves before what runs has come to its end and its lease is back.
    while let Some(outcome) = worker.jobs.next().await {
        worker.take(outcome);
    }
    worker.tally.failed = worker.parked.failed();
    outcome.map(|()| worker.tally)
}

impl Worker<'_> {
    async fn run(&mut self, mut signals: watch::Receiver<u32>) -> Result<(), HostError> {
        loop {
            if *signals.borrow() > 0 {
                self.tally.interrupted = true;
                return Ok(());
            }
            self.fill_unless_faulty()?;
            let now = self.clock.now();
            let next = self.store.next_due().unwrap_or_default();
            if self.jobs.is_empty() {
                let over = match self.settings.end {
                    End::Signal => false,
                    End::Idle => true,
                    End::At(end) => now >= end,
                };
                if over && self.faults == 0 {
                    return Ok(());
                }
                let target = next.filter(|at| *at > now).unwrap_or_else(|| now.plus(LOOK));
                let target = if let End::At(end) = self.settings.end { target.min(end) } else { target };
                if self.clock.advance_to(target) {
                    tokio::task::yield_now().await;
                    continue;
                }
            }
            let left = next.map(|at| at.since(now)).filter(|left| left.0 > 0);
            let nap = Duration::from_millis(left.map_or(LOOK, |left| left.min(LOOK)).0.unsigned_abs());
            let busy = !self.jobs.is_empty();
            tokio::select! {
                Some(outcome) = self.jobs.next(), if busy => {
                    self.take(outcome);
                    while let Some(outcome) = self.jobs.ended() {
                        self.take(outcome);
                    }
                }
                changed = signals.changed() => {
                    if changed.is_err() {
                        // Nobody is left who could send one.
                        tokio::time::sleep(nap).await;
                    }
                }
                () = tokio::time::sleep(nap) => {}
            }
        }
    }

    /// A look that fails is no end: the disk may be full for a while, or another process in the way.
    fn fill_unless_faulty(&mut self) -> Result<(), HostError> {
        match self.fill() {
            Ok(()) => self.faults = 0,
            Err(error) if self.faults >= FAULTS => return Err(error.into()),
            Err(_) => self.faults += 1,
        }
        Ok(())
    }

    /// Begins as much as may run side by side.
    fn fill(&mut self) -> Result<(), StoreError> {
        let now = self.clock.now();
        if self.looked.is_none_or(|at| now.since(at).0.unsigned_abs() >= LOOK.0.unsigned_abs()) {
            self.looked = Some(now);
            self.look_at_leases(now)?;
            self.look_elsewhere(now);
            self.parked.sweep(now);
        }
        if self.due.is_empty() && self.jobs.count(Kind::Tick) < LANES {
            self.find_due(now)?;
        }
        while self.jobs.count(Kind::Tick) < LANES {
            let Some(session) = self.due.pop_front() else { break };
            self.jobs.tick(session);
        }
        if self.ready.is_empty() && self.jobs.count(Kind::Drive) < self.settings.jobs {
            self.find_owing(now)?;
        }
        while self.jobs.count(Kind::Drive) < self.settings.jobs {
            let Some((root, session)) = self.ready.pop_front() else { break };
            if !self.jobs.knows(&(Kind::Drive, root.clone())) {
                self.jobs.drive(root, session);
            }
        }
        Ok(())
    }

    /// Asks for more rows until something new is among them: those that rest or are under way stand in front.
    fn ask(
        &mut self,
        question: impl Fn(&dyn Store, u32) -> Result<Vec<SessionId>, StoreError>,
        mut is_new: impl FnMut(&mut Self, SessionId) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let around = self.parked.len() + self.held.len() + self.jobs.len() + self.settings.jobs;
        let mut limit = u32::try_from(around * 2 + 64).unwrap_or(ROWS).min(ROWS);
        loop {
            let found = question(self.store.as_ref(), limit)?;
            let whole = found.len() < limit as usize;
            let mut any = false;
            for session in found {
                any |= is_new(self, session)?;
            }
            if any || whole || limit == ROWS {
                return Ok(());
            }
            limit = limit.saturating_mul(4).min(ROWS);
        }
    }

    fn find_due(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.ask(
            |store, limit| store.due(now, limit),
            |worker, session| {
                let key = (Kind::Tick, session);
                let rests = worker.parked.rests(&key, now) || worker.jobs.knows(&key);
                if rests || worker.held.contains(&key.1) {
                    return Ok(false);
                }
                worker.due.push_back(key.1);
                Ok(true)
            },
        )
    }

    fn find_owing(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let mut roots = HashSet::new();
        self.ask(
            |store, limit| store.owing(limit),
            |worker, session| worker.make_ready(session, now, &mut roots),
        )
    }

    /// Puts a session into the queue, unless its family is under way, rests, or is in the queue already.
    fn make_ready(
        &mut self,
        session: SessionId,
        now: Timestamp,
        roots: &mut HashSet<SessionId>,
    ) -> Result<bool, StoreError> {
        let Some(root) = tree_root(self.store.as_ref(), &session)? else { return Ok(false) };
        let key = (Kind::Drive, root.clone());
        let held = self.held.contains(&root) || self.held.contains(&session);
        if held || self.jobs.knows(&key) || self.parked.rests(&key, now) || !roots.insert(root.clone()) {
            return Ok(false);
        }
        self.ready.push_back((root, session));
        Ok(true)
    }

    /// A lease that nobody keeps tells of a tree that somebody left in the middle; one that is kept, of another worker.
    fn look_at_leases(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.held.clear();
        let mut roots: HashSet<SessionId> = self.ready.iter().map(|(root, _)| root.clone()).collect();
        for Lease { session, holder, until } in self.store.leases()? {
            if until <= now || holder::is_gone(&holder) {
                self.make_ready(session, now, &mut roots)?;
            } else if !self.jobs.is_own(&holder) {
                self.held.insert(session);
            }
        }
        Ok(())
    }

    fn look_elsewhere(&mut self, now: Timestamp) {
        for (session, _) in self.elsewhere.extract_if(|_, at| *at <= now) {
            self.ready.push_back((session.clone(), session));
        }
    }

    /// Takes in what a job came to.
    fn take(&mut self, outcome: Outcome) {
        let now = self.clock.now();
        let Outcome { key, session, moved, stopped } = outcome;
        match stopped {
            Ok(stopped) => {
                match key.0 {
                    Kind::Tick => self.tally.fired += u64::from(moved),
                    Kind::Drive => self.tally.driven += 1,
                }
                if moved || !self.is_open(&session, now) {
                    self.parked.free(&key);
                } else {
                    self.parked.park(key.clone(), Why::Still, now);
                }
                let Some(stopped) = stopped else { return };
                if stopped.elsewhere {
                    self.elsewhere.insert(key.1, now.plus(ELSEWHERE));
                }
                if moved {
                    (self.told)(&Told::Stood { session, row: Box::new(stopped.row) });
                }
            }
            Err(HostError::Unknown { .. }) => self.parked.free(&key),
            Err(HostError::Held { holder }) => {
                if self.parked.park(key, Why::Held, now) {
                    (self.told)(&Told::Held { session, holder });
                }
            }
            Err(error) => {
                if self.parked.park(key, Why::Failed, now) {
                    (self.told)(&Told::Failed { session, message: error.to_string() });
                }
            }
        }
    }

    /// Whether the store still says that something is to be done about it.
    fn is_open(&self, session: &SessionId, now: Timestamp) -> bool {
        match self.store.row(session) {
            Ok(Some(row)) => row.index.owes_work || row.index.wake_at.is_some_and(|at| at <= now),
            Ok(None) => false,
            Err(_) => true,
        }
    }
}
