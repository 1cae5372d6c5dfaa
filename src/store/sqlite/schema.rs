//! Opening: the shape of the database, its numbered migrations, its settings read back.

use crate::store::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// `FLRT`: marks the file as ours.
const APPLICATION_ID: i64 = 0x464c_5254;
/// How long one statement waits for the lock of another process.
const BUSY: Duration = Duration::from_secs(30);
/// The WAL is cut back to this size after a checkpoint.
const WAL_LIMIT_BYTES: i64 = 64 * 1024 * 1024;

/// Each brings the shape one version further; never changed once released.
const MIGRATIONS: [&str; 1] = ["
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  first_digest TEXT NOT NULL,
  last_append_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  detail TEXT NOT NULL,
  wake_at INTEGER,
  parent TEXT,
  owner TEXT NOT NULL,
  owes_work INTEGER NOT NULL,
  ended INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_waking ON sessions (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX sessions_owing ON sessions (number) WHERE owes_work = 1;
CREATE INDEX sessions_parent ON sessions (parent, number) WHERE parent IS NOT NULL;
CREATE TABLE events (
  session_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (session_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (token TEXT PRIMARY KEY, session_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_session ON tokens (session_id);
CREATE TABLE leases (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE blob_refs (
  session_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (session_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_digest ON blob_refs (digest);
"];

/// What the database said, as one sentence.
pub(super) fn fault(error: &rusqlite::Error) -> StoreError {
    let message = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "another process has kept the database locked for too long; try again".to_owned()
        }
        Some(rusqlite::ErrorCode::DiskFull) => "the disk is full; nothing was written".to_owned(),
        Some(rusqlite::ErrorCode::NotADatabase) => "the file is no database".to_owned(),
        Some(rusqlite::ErrorCode::ReadOnly) => "the database may not be written to".to_owned(),
        _ => format!("the database failed: {error}"),
    };
    StoreError::Io { message }
}

fn shape(message: impl Into<String>) -> StoreError {
    StoreError::Shape { message: message.into() }
}

/// Opens for writing.
pub(super) fn open(path: &Path, synchronous: &str) -> Result<Connection, StoreError> {
    create_private(path)?;
    let mut connection = Connection::open(path).map_err(|error| fault(&error))?;
    connection.busy_timeout(BUSY).map_err(|error| fault(&error))?;
    check_ours(&connection)?;
    configure(&connection, synchronous)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Opens for reading.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| fault(&error))?;
    connection.busy_timeout(BUSY).map_err(|error| fault(&error))?;
    connection.pragma_update(None, "query_only", true).map_err(|error| fault(&error))?;
    Ok(connection)
}

/// Folder and file are for their owner alone.
fn create_private(path: &Path) -> Result<(), StoreError> {
    let io = |error: std::io::Error| StoreError::Io {
        message: format!("{} cannot be opened: {error}", path.display()),
    };
    if let Some(folder) = path.parent()
        && !folder.as_os_str().is_empty()
    {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ()).map_err(io)
}

/// Refuses a file of others, or of a newer version, before anything in it is changed.
fn check_ours(connection: &Connection) -> Result<(), StoreError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = match (number("application_id"), number("user_version")) {
        (Ok(application), Ok(version)) => (application, version),
        (Err(error), _) | (_, Err(error)) => return Err(shape(format!("it cannot be read: {error}"))),
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(|error| fault(&error))?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || tables != 0) {
        return Err(shape("it is a database of another program"));
    }
    let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version > newest {
        return Err(shape(format!(
            "it has shape {version}, this flowright knows shapes up to {newest}; use a newer one"
        )));
    }
    Ok(())
}

fn configure(connection: &Connection, synchronous: &str) -> Result<(), StoreError> {
    let set = |name: &str, value: &dyn rusqlite::ToSql| connection.pragma_update(None, name, value);
    let outcome = set("journal_mode", &"WAL")
        .and_then(|()| set("synchronous", &synchronous))
        .and_then(|()| set("foreign_keys", &true))
        .and_then(|()| set("journal_size_limit", &WAL_LIMIT_BYTES));
    outcome.map_err(|error| fault(&error))?;
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(|error| fault(&error))?;
    let level: i64 = connection
        .pragma_query_value(None, "synchronous", |row| row.get(0))
        .map_err(|error| fault(&error))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(shape(format!("it cannot be used in WAL mode (its disk gives `{mode}`)")));
    }
    if synchronous == "FULL" && level != 2 {
        return Err(shape("its commits cannot be synced to the disk"));
    }
    Ok(())
}

/// Brings the shape forward, one version a transaction; two processes at once take turns.
fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    for (number, migration) in (1_i64..).zip(MIGRATIONS) {
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(|error| fault(&error))?;
        let version: i64 = transaction
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| fault(&error))?;
        if version < number {
            transaction
                .execute_batch(migration)
                .and_then(|()| transaction.pragma_update(None, "application_id", APPLICATION_ID))
                .and_then(|()| transaction.pragma_update(None, "user_version", number))
                .map_err(|error| fault(&error))?;
        }
        transaction.commit().map_err(|error| fault(&error))?;
    }
    Ok(())
}
