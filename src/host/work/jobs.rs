//! Jobs under way: each on a thread of its own, since a commit is waited for there, with a host of its own. Those that
//! commit at the same moment share it.

use super::parked::{Key, Kind};
use crate::engine::SessionId;
use crate::host::run::{Host, HostError, Stopped, Until};
use std::collections::{HashMap, HashSet};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

/// What a job came to.
pub(super) struct Outcome {
    pub key: Key,
    /// The session that was asked for; the key names the root of its family.
    pub session: SessionId,
    /// Whether anything was written.
    pub moved: bool,
    /// Where a drive stopped; none: it was a tick.
    pub stopped: Result<Option<Stopped>, HostError>,
}

struct Ended {
    host: Host,
    moved: bool,
    stopped: Result<Option<Stopped>, HostError>,
}

pub(super) struct Jobs<'a> {
    hosts: &'a (dyn Fn() -> Host + Sync),
    signals: watch::Receiver<u32>,
    idle: Vec<Host>,
    /// Names under which this worker takes leases.
    own: HashSet<String>,
    running: JoinSet<Ended>,
    keys: HashMap<Id, (Key, SessionId)>,
    known: HashSet<Key>,
    ticks: usize,
}

impl<'a> Jobs<'a> {
    pub(super) fn new(hosts: &'a (dyn Fn() -> Host + Sync), signals: watch::Receiver<u32>) -> Self {
        Self {
            hosts,
            signals,
            idle: Vec::new(),
            own: HashSet::new(),
            running: JoinSet::new(),
            keys: HashMap::new(),
            known: HashSet::new(),
            ticks: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Tick => self.ticks,
            Kind::Drive => self.keys.len() - self.ticks,
        }
    }

    pub(super) fn knows(&self, key: &Key) -> bool {
        self.known.contains(key)
    }

    pub(super) fn is_own(&self, holder: &str) -> bool {
        self.own.contains(holder)
    }

    /// Lets what is due of a session take effect.
    pub(super) fn tick(&mut self, session: SessionId) {
        self.ticks += 1;
        let one = session.clone();
        self.begin((Kind::Tick, session.clone()), session, move |host| {
            host.tick(&one).map(|moved| (moved, None))
        });
    }

    /// Drives the tree that a session belongs to.
    pub(super) fn drive(&mut self, root: SessionId, session: SessionId) {
        let (one, runtime) = (session.clone(), Handle::current());
        self.begin((Kind::Drive, root), session, move |host| {
            let before = host.appends();
            let top = host.top(&one)?;
            let stopped = runtime.block_on(host.drive(&top, Until::Owed))?;
            Ok((host.appends() > before, Some(stopped)))
        });
    }

    fn begin(
        &mut self,
        key: Key,
        session: SessionId,
        doing: impl FnOnce(&mut Host) -> Result<(bool, Option<Stopped>), HostError> + Send + 'static,
    ) {
        let mut host = self.idle.pop().unwrap_or_else(|| {
            let mut host = (self.hosts)();
            host.stop_at(self.signals.clone());
            self.own.insert(host.holder().to_owned());
            host
        });
        let task = self.running.spawn_blocking(move || {
            let outcome = doing(&mut host);
            // What waits takes no memory.
            host.forget_all();
            match outcome {
                Ok((moved, stopped)) => Ended { host, moved, stopped: Ok(stopped) },
                Err(error) => Ended { host, moved: false, stopped: Err(error) },
            }
        });
        self.known.insert(key.clone());
        self.keys.insert(task.id(), (key, session));
    }

    /// The next job that ends; none: nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Outcome> {
        let joined = self.running.join_next_with_id().await?;
        self.take(joined)
    }

    /// A job that has ended already.
    pub(super) fn ended(&mut self) -> Option<Outcome> {
        let joined = self.running.try_join_next_with_id()?;
        self.take(joined)
    }

    fn take(&mut self, joined: Result<(Id, Ended), JoinError>) -> Option<Outcome> {
        let (id, ended) = match joined {
            Ok((id, ended)) => (id, Some(ended)),
            Err(error) => (error.id(), None),
        };
        let (key, session) = self.keys.remove(&id)?;
        self.known.remove(&key);
        self.ticks -= usize::from(key.0 == Kind::Tick);
        let Some(Ended { host, moved, stopped }) = ended else {
            let message = "a fault inside Flowright ended the drive".to_owned();
            return Some(Outcome { key, session, moved: false, stopped: Err(HostError::Stored { message }) });
        };
        // After a failure what this host had admitted is not under way any more: its name must not count as living.
        if matches!(stopped, Ok(_) | Err(HostError::Held { .. } | HostError::Unknown { .. })) {
            self.idle.push(host);
        } else {
            self.own.remove(host.holder());
        }
        Some(Outcome { key, session, moved, stopped })
    }
}
