//! The store on disk: one SQLite database that several processes may share. It never decides and never reads a clock;
//! what is due is asked with a time.

mod apply;
mod read;
mod shape;
mod write;

use super::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, SessionRow, Store, StoreError, Version, check_append,
    check_blob, verified,
};
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::time::Timestamp;
use apply::{Answer, Request};
use rusqlite::{Connection, params};
use shape::{Synchronous, io, open_reader, prepare_file, sql};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use write::Writer;

/// Read connections that are kept open; more are opened when they are needed and closed afterwards.
const READERS: usize = 4;

/// Sessions in a SQLite database.
pub struct SqliteStore {
    path: PathBuf,
    /// Dropped before the writer, so that its connection is the last one and folds the log into the database.
    readers: Mutex<Vec<Connection>>,
    writer: Writer,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the database, creating it and its folders if they are not there, and brings it to the newest shape.
    /// A commit is on the disk when a call returns.
    ///
    /// # Errors
    /// `Shape` if the file is none of ours, was written by a newer version, or does not keep its settings; it is
    /// left untouched. `Io`.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::start(path, Synchronous::Full)
    }

    /// As [`SqliteStore::open`] with another promise about the disk: `off`, `normal`, `full` or `extra`. For
    /// measurements.
    ///
    /// # Errors
    /// As [`SqliteStore::open`]; `Io` if the word is none of these.
    pub fn with_synchronous(path: &Path, synchronous: &str) -> Result<Self, StoreError> {
        let level = Synchronous::parse(synchronous)
            .ok_or_else(|| io(format!("`{synchronous}` is none of off, normal, full, extra")))?;
        Self::start(path, level)
    }

    /// How many commits this store has made since it was opened.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// How many calls have handed their request to the writer and wait for its commit.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.writer.waiting()
    }

    fn start(path: &Path, synchronous: Synchronous) -> Result<Self, StoreError> {
        prepare_file(path)?;
        let writer = Writer::start(path, synchronous)?;
        Ok(Self { path: path.to_owned(), readers: Mutex::new(Vec::new()), writer })
    }

    /// Asks over one of the read connections. One that failed is not used again.
    fn read<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => open_reader(&self.path).map_err(|error| sql(&error))?,
        };
        let found = ask(&conn).map_err(|error| sql(&error))?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(conn);
        }
        Ok(found)
    }
}

/// An answer of another kind than was asked for would be a fault of the writer.
fn mixed_up() -> StoreError {
    io("the writer of the database gave an answer to another question".to_owned())
}

impl Store for SqliteStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        check_append(first)?;
        match self.writer.ask(Request::Create(first.clone()))? {
            Answer::Created(created) => Ok(created),
            Answer::Version(_) | Answer::Already(_) | Answer::Lease(_) | Answer::Done => Err(mixed_up()),
        }
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        match self.read(|conn| read::load(conn, session))? {
            None => Ok(None),
            Some((loaded, true)) => Ok(Some(loaded)),
            Some((_, false)) => Err(read::damaged(session)),
        }
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        self.read(|conn| read::events_after(conn, session, version, limit))?.ok_or(StoreError::Unknown)
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        check_append(append)?;
        match self.writer.ask(Request::Append(append.clone()))? {
            Answer::Version(version) | Answer::Already(version) => Ok(version),
            Answer::Created(_) | Answer::Lease(_) | Answer::Done => Err(mixed_up()),
        }
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.read(|conn| read::row(&*conn.unchecked_transaction()?, session))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.read(|conn| read::ids(conn, read::DUE, params![now.0, limit]))
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(read::next_due)
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.read(|conn| read::ids(conn, read::OWING, params![limit]))
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        Ok(self.read(|conn| read::ids(conn, read::BY_TOKEN, params![token]))?.pop())
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let after = after.map(|id| id.0.as_str()).unwrap_or_default();
        self.read(|conn| read::ids(conn, read::AWAITING, params![after, limit]))
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|conn| read::children(conn, session))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|conn| read::list(conn, filter))?.ok_or(StoreError::Unknown)
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        let mut buried = None;
        loop {
            let request = Request::Lease { wanted: wanted.clone(), now, dead: buried };
            let standing = match self.writer.ask(request)? {
                Answer::Lease(None) => return Ok(None),
                Answer::Lease(Some(standing)) => standing,
                Answer::Created(_) | Answer::Version(_) | Answer::Already(_) | Answer::Done => {
                    return Err(mixed_up());
                }
            };
            // Judged here and not in the transaction, which names the holder that it may take over from.
            if !dead(&standing.holder) {
                return Ok(Some(standing));
            }
            buried = Some(standing.holder);
        }
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.read(read::leases)
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        let request = Request::Release { session: session.clone(), holder: holder.to_owned() };
        self.writer.ask(request).map(|_| ())
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.writer.ask(Request::Delete(session.clone())).map(|_| ())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = check_blob(bytes)?;
        self.writer.ask(Request::Blob { digest: digest.clone(), bytes: bytes.to_vec() })?;
        Ok(digest)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.read(|conn| read::blob(conn, digest))?;
        found.map(|bytes| verified(digest, bytes)).transpose()
    }
}
