//! The default store: one SQLite database in WAL mode, every commit synced, one writer thread, group commit.
//!
//! Writes go through a channel to the one thread that owns the writing connection; appends that wait at the same
//! moment share a transaction and so one fsync, each in its own savepoint. Reads use connections of their own.
//! Other processes may use the same database: versions fence writes, waiting for their locks is bounded.

mod read;
mod schema;
mod write;

use super::{Append, Created, Filter, KeptEvent, Lease, Loaded, SessionRow, Store, StoreError, Version};
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::time::Timestamp;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use write::{Done, Request, Write};

/// Bytes of the largest blob.
const BLOB_LIMIT_BYTES: usize = 64 * 1024 * 1024;
/// Reading connections that are kept.
const READERS: usize = 4;

/// A SQLite database.
pub struct SqliteStore {
    path: PathBuf,
    requests: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    readers: Mutex<Vec<Connection>>,
    commits: Arc<AtomicU64>,
}

impl SqliteStore {
    /// Opens the database, creating it and its folder where they are missing; brings an older shape to this one.
    ///
    /// # Errors
    /// `Shape` if the file is none of ours or belongs to a newer version (it is left untouched), `Io`.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::with_synchronous(path, "FULL")
    }

    /// The same with another `synchronous`: for measuring alone.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn with_synchronous(path: &Path, synchronous: &'static str) -> Result<Self, StoreError> {
        let connection = schema::open(path, synchronous)?;
        let commits = Arc::new(AtomicU64::new(0));
        let (requests, received): (Sender<Request>, Receiver<Request>) = channel();
        let (own_path, counter) = (path.to_path_buf(), Arc::clone(&commits));
        let writer = std::thread::Builder::new()
            .name("flowright-store".to_owned())
            .spawn(move || write::serve(connection, &own_path, synchronous, &received, &counter))
            .map_err(|error| StoreError::Io { message: format!("the writer cannot be started: {error}") })?;
        Ok(Self {
            path: path.to_path_buf(),
            requests: Some(requests),
            writer: Some(writer),
            readers: Mutex::new(Vec::new()),
            commits,
        })
    }

    /// Commits made by this store so far.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    fn write(&self, write: Write) -> Result<Done, StoreError> {
        let gone = || StoreError::Io { message: "the writer of the database has ended".to_owned() };
        let (answer, answered) = channel();
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send(Request { write, answer }).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }

    fn read<T>(&self, f: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match kept {
            Some(connection) => connection,
            None => schema::open_reader(&self.path)?,
        };
        let outcome = f(&connection).map_err(|error| schema::fault(&error));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(connection);
        }
        outcome
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has nothing more to say; what it committed is committed.
            let _ = writer.join();
        }
    }
}

impl Store for SqliteStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        match self.write(Write::Create(first.clone()))? {
            Done::Created(created) => Ok(created),
            Done::Version(_) | Done::Lease(_) | Done::Nothing => Ok(Created::Fresh),
        }
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        self.read(|connection| read::load(connection, session))
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        let events = self.read(|connection| read::events_after(connection, session, version, limit))?;
        if events.is_empty() && self.row(session)?.is_none() {
            return Err(StoreError::Unknown);
        }
        Ok(events)
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        match self.write(Write::Append(append.clone()))? {
            Done::Version(version) => Ok(version),
            Done::Created(_) | Done::Lease(_) | Done::Nothing => {
                Ok(append.expected + append.events.len() as Version)
            }
        }
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.read(|connection| read::row(connection, session))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.read(|connection| read::due(connection, now, limit))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(read::next_due)
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.read(|connection| read::owing(connection, limit))
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        self.read(|connection| read::by_token(connection, token))
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|connection| read::children(connection, session))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|connection| read::list(connection, filter))
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        // `dead` looks at processes and stays outside the transaction: the taker names the holder it takes from.
        let mut from = None;
        loop {
            let write = Write::Lease { wanted: wanted.clone(), now, from: from.take() };
            match self.write(write)? {
                Done::Lease(Some(other)) if dead(&other.holder) => from = Some(other.holder),
                Done::Lease(other) => return Ok(other),
                Done::Version(_) | Done::Created(_) | Done::Nothing => return Ok(None),
            }
        }
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        self.write(Write::Release { session: session.clone(), holder: holder.to_owned() }).map(|_| ())
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.write(Write::Delete { session: session.clone() }).map(|_| ())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        if bytes.len() > BLOB_LIMIT_BYTES {
            let message = format!("a blob has {} bytes; at most {BLOB_LIMIT_BYTES} are kept", bytes.len());
            return Err(StoreError::Blob { message });
        }
        let digest = Digest::of(bytes);
        if !self.read(|connection| read::has_blob(connection, &digest))? {
            self.write(Write::Blob { digest: digest.clone(), bytes: bytes.to_vec() })?;
        }
        Ok(digest)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(bytes) = self.read(|connection| read::blob(connection, digest))? else { return Ok(None) };
        if Digest::of(&bytes) != *digest {
            let message = format!("the bytes kept as {} are not what their name says", digest.short());
            return Err(StoreError::Blob { message });
        }
        Ok(Some(bytes))
    }
}
