//! Where sessions are kept: [`Store`], a small synchronous trait, and its errors.
//!
//! A store keeps what it is given and derives nothing: index rows come from the engine. The version of a session
//! (the number of its events) fences every write; leases only permit takeover.

pub mod composite;
pub mod file;
pub mod memory;
pub mod sqlite;

use crate::engine::{IndexRow, SessionId, SessionKind};
use crate::ir::Digest;
use crate::time::Timestamp;
use std::fmt;

/// The largest blob that a store keeps.
pub const MAX_BLOB_BYTES: usize = 64 * 1024 * 1024;

/// Number of events of a session; 0 before its first.
pub type Version = u64;

/// One event to be kept: JSON text of the engine's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// The stamp.
    pub at: Timestamp,
    /// JSON text.
    pub body: String,
}

/// One kept event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptEvent {
    /// From 1, without gaps.
    pub sequence: u64,
    /// The stamp.
    pub at: Timestamp,
    /// JSON text.
    pub body: String,
}

/// What one append writes, all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Append {
    /// Which session.
    pub session: SessionId,
    /// The version it was decided at.
    pub expected: Version,
    /// Names this append: after an unclear COMMIT it is looked for.
    pub append_id: String,
    /// At least one event.
    pub events: Vec<NewEvent>,
    /// The new index row.
    pub index: IndexRow,
    /// Blobs that the events refer to; each must be there.
    pub blobs: Vec<Digest>,
}

/// A loaded session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Which kind.
    pub kind: SessionKind,
    /// Its version.
    pub version: Version,
    /// Its events from the first on.
    pub events: Vec<KeptEvent>,
}

/// What `create` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It is new.
    Fresh,
    /// It was there with the same first event: nothing was written.
    Same,
}

/// One row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Which session.
    pub session: SessionId,
    /// Its version.
    pub version: Version,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// Its index row.
    pub index: IndexRow,
}

/// Which sessions a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this kind.
    pub kind: Option<SessionKind>,
    /// Only those that have ended, or only those that have not.
    pub ended: Option<bool>,
    /// Only those without a parent.
    pub roots_only: bool,
    /// Rows at most; 0 means 100.
    pub limit: u32,
    /// Rows behind this one (newest first, by creation).
    pub after: Option<SessionId>,
}

/// Why a store did not do it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The session is at another version: reload and decide again.
    Conflict {
        /// The version it is at.
        actual: Version,
    },
    /// A session of this id has another first event.
    Exists,
    /// There is no such session.
    Unknown,
    /// An append refers to a blob that is not there, or a blob's bytes are not what its name says.
    Blob {
        /// One sentence.
        message: String,
    },
    /// The database belongs to a newer version, or is none of ours.
    Shape {
        /// One sentence.
        message: String,
    },
    /// The disk or the database failed.
    Io {
        /// One sentence.
        message: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { actual } => write!(f, "the session has moved on to version {actual}"),
            Self::Exists => f.write_str("a session with this id exists and was started otherwise"),
            Self::Unknown => f.write_str("there is no such session"),
            Self::Blob { message } | Self::Shape { message } | Self::Io { message } => f.write_str(message),
        }
    }
}

impl std::error::Error for StoreError {}

/// A lease on a tree of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Root session of the tree.
    pub session: SessionId,
    /// Which process: `<pid>/<start>/<random>`.
    pub holder: String,
    /// When it lapses.
    pub until: Timestamp,
}

/// Where sessions are kept. Every call is durable when it returns; calls may come from several threads, and several
/// appends that wait at once may share one commit.
pub trait Store: Send + Sync {
    /// Creates a session with its first events (`expected` must be 0).
    ///
    /// # Errors
    /// `Exists` if the id is taken by a session with another first event; `Same` is no error.
    fn create(&self, first: &Append) -> Result<Created, StoreError>;

    /// The session and all its events; `None` if there is none.
    ///
    /// # Errors
    /// `Io`.
    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError>;

    /// Events behind `version`, at most `limit`: for `log --follow` and for catching up.
    ///
    /// # Errors
    /// `Io`, `Unknown`.
    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError>;

    /// Adds events at the expected version. The identical append (same `append_id`) again is a success.
    ///
    /// # Errors
    /// `Conflict`, `Unknown`, `Blob`, `Io`.
    fn append(&self, append: &Append) -> Result<Version, StoreError>;

    /// Index row of one session.
    ///
    /// # Errors
    /// `Io`.
    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError>;

    /// Sessions whose `wake_at` is not after `now`, earliest first, at most `limit`.
    ///
    /// # Errors
    /// `Io`.
    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError>;

    /// The earliest `wake_at` of all.
    ///
    /// # Errors
    /// `Io`.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Sessions that owe work, at most `limit`.
    ///
    /// # Errors
    /// `Io`.
    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError>;

    /// The session that waits under a token, or has waited under it.
    ///
    /// # Errors
    /// `Io`.
    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError>;

    /// Sessions that wait under a token, by id, behind the given one, at most `limit`.
    ///
    /// # Errors
    /// `Io`.
    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError>;

    /// Children of a session in the order of their creation.
    ///
    /// # Errors
    /// `Io`.
    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError>;

    /// A page of sessions, newest first.
    ///
    /// # Errors
    /// `Io`.
    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError>;

    /// Takes or renews a lease: granted (`None`) if it is free, lapsed at `now`, or held by the same holder, or if
    /// `dead(holder)` says that its holder is gone; else the lease that stands.
    ///
    /// # Errors
    /// `Io`.
    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError>;

    /// Leases that were not given back, by session; those that have lapsed too.
    ///
    /// # Errors
    /// `Io`.
    fn leases(&self) -> Result<Vec<Lease>, StoreError>;

    /// Gives a lease back; nothing happens if another holds it.
    ///
    /// # Errors
    /// `Io`.
    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError>;

    /// Removes a session and its events.
    ///
    /// # Errors
    /// `Unknown`, `Io`.
    fn delete(&self, session: &SessionId) -> Result<(), StoreError>;

    /// Keeps bytes under their digest.
    ///
    /// # Errors
    /// `Io`.
    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError>;

    /// The bytes of a digest, verified; `None` if they are not there.
    ///
    /// # Errors
    /// `Blob` if the bytes are not what the name says, `Io`.
    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Rows that a filter asks for.
const DEFAULT_PAGE: u32 = 100;

/// What every store refuses before it looks at anything else.
fn check_append(append: &Append) -> Result<(), StoreError> {
    if append.events.is_empty() {
        return Err(StoreError::Io { message: "an append must carry at least one event".to_owned() });
    }
    Ok(())
}

/// The digest under which bytes are kept, unless they are too many.
fn check_blob(bytes: &[u8]) -> Result<Digest, StoreError> {
    if bytes.len() > MAX_BLOB_BYTES {
        let length = bytes.len();
        return Err(StoreError::Blob {
            message: format!(
                "{length} bytes are too many for one blob, which holds at most {MAX_BLOB_BYTES}"
            ),
        });
    }
    Ok(Digest::of(bytes))
}

/// Bytes as they were found, if they are what the name says.
fn verified(digest: &Digest, bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    if Digest::of(&bytes) == *digest {
        return Ok(bytes);
    }
    Err(StoreError::Blob {
        message: format!("the bytes kept as {} are no longer those bytes", digest.short()),
    })
}

fn missing_blob(digest: &Digest) -> StoreError {
    StoreError::Blob { message: format!("the blob {} is not in the store", digest.short()) }
}

fn taken_token(owner: &str) -> StoreError {
    // The token itself is a credential and stays out of messages.
    StoreError::Io { message: format!("the session {owner} already waits under one of these tokens") }
}

fn page(limit: u32) -> u32 {
    if limit == 0 { DEFAULT_PAGE } else { limit }
}
