//! A store that kills its own process, for real, right before or right after its n-th write.

use flowright::engine::SessionId;
use flowright::ir::Digest;
use flowright::store::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, SessionRow, Store, StoreError, Version,
};
use flowright::time::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    Before(u64),
    After(u64),
}

pub(crate) struct KillStore<S> {
    inner: S,
    when: When,
    writes: AtomicU64,
}

impl<S: Store> KillStore<S> {
    pub(crate) fn new(inner: S, when: When) -> Self {
        Self { inner, when, writes: AtomicU64::new(0) }
    }

    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    fn around<T>(&self, write: impl FnOnce() -> T) -> T {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        if self.when == When::Before(number) {
            die();
        }
        let outcome = write();
        if self.when == When::After(number) {
            die();
        }
        outcome
    }
}

/// No destructor runs, no buffer is written: the kernel ends the process.
fn die() -> ! {
    let pid = std::process::id().to_string();
    std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
    loop {
        std::thread::park();
    }
}

impl<S: Store> Store for KillStore<S> {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        self.around(|| self.inner.create(first))
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        self.inner.load(session)
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        self.inner.events_after(session, version, limit)
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        self.around(|| self.inner.append(append))
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.inner.row(session)
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.inner.due(now, limit)
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_due()
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.inner.owing(limit)
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        self.inner.by_token(token)
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.inner.awaiting(after, limit)
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.inner.children(session)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        self.inner.list(filter)
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        self.inner.lease(wanted, now, dead)
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.inner.leases()
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        self.inner.release(session, holder)
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.inner.delete(session)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        self.inner.put_blob(bytes)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.inner.blob(digest)
    }
}
