//! A wire to a shared disk that fails as disks and processes do. A host behind a dead wire is a dead process.

use crate::support::dice::Dice;
use flowright::engine::SessionId;
use flowright::ir::Digest;
use flowright::store::memory::MemoryStore;
use flowright::store::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, SessionRow, Store, StoreError, Version,
};
use flowright::time::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What may happen to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The process dies before it.
    DeadBefore,
    /// It is durable, and the process dies before it learns so.
    DeadAfter,
    /// It is durable, and the process is told that it failed.
    Ambiguous,
    /// It is not durable, and the process is told so.
    Failed,
}

pub(crate) struct Wire {
    disk: Arc<MemoryStore>,
    dice: Mutex<Dice>,
    /// One write in so many is hit; none with 0.
    hit_one_in: u64,
    dead: AtomicBool,
    pub(crate) deaths: Arc<std::sync::atomic::AtomicU64>,
}

impl Wire {
    pub(crate) fn new(
        disk: Arc<MemoryStore>,
        dice: Dice,
        hit_one_in: u64,
        deaths: Arc<std::sync::atomic::AtomicU64>,
    ) -> Self {
        Self { disk, dice: Mutex::new(dice), hit_one_in, dead: AtomicBool::new(false), deaths }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    fn die(&self) {
        if !self.dead.swap(true, Ordering::SeqCst) {
            self.deaths.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn fault(&self) -> Fault {
        if self.hit_one_in == 0 {
            return Fault::None;
        }
        let mut dice = self.dice.lock().unwrap();
        if !dice.once_in(self.hit_one_in) {
            return Fault::None;
        }
        *dice.pick(&[Fault::DeadBefore, Fault::DeadAfter, Fault::Ambiguous, Fault::Failed])
    }

    fn alive<T>(&self, read: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.is_dead() { Err(gone()) } else { read(&self.disk) }
    }

    fn write<T>(&self, write: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.is_dead() {
            return Err(gone());
        }
        match self.fault() {
            Fault::None => write(&self.disk),
            Fault::DeadBefore => {
                self.die();
                Err(gone())
            }
            Fault::DeadAfter => {
                let _ = write(&self.disk);
                self.die();
                Err(gone())
            }
            Fault::Ambiguous => {
                write(&self.disk)?;
                Err(StoreError::Io { message: "the disk did not say whether it wrote".to_owned() })
            }
            Fault::Failed => Err(StoreError::Io { message: "the disk is full".to_owned() }),
        }
    }
}

fn gone() -> StoreError {
    StoreError::Io { message: "this process is dead".to_owned() }
}

impl Store for Wire {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        self.write(|disk| disk.create(first))
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        self.alive(|disk| disk.load(session))
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        self.alive(|disk| disk.events_after(session, version, limit))
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        self.write(|disk| disk.append(append))
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.alive(|disk| disk.row(session))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.alive(|disk| disk.due(now, limit))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.alive(Store::next_due)
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.alive(|disk| disk.owing(limit))
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        self.alive(|disk| disk.by_token(token))
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.alive(|disk| disk.awaiting(after, limit))
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.alive(|disk| disk.children(session))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        self.alive(|disk| disk.list(filter))
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        self.alive(|disk| disk.lease(wanted, now, dead))
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.alive(|disk| disk.leases())
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        self.alive(|disk| disk.release(session, holder))
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.write(|disk| disk.delete(session))
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        self.write(|disk| disk.put_blob(bytes))
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.alive(|disk| disk.blob(digest))
    }
}
