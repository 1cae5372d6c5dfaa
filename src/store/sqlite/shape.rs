//! The shape of the database: opening a connection, the pragmas it must have, numbered migrations. It never changes
//! a file that is not ours or that a newer version wrote.

use crate::store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::fs::{DirBuilder, OpenOptions};
use std::path::Path;
use std::time::Duration;

/// `Flwr`: marks a database as ours.
const APPLICATION_ID: i64 = 0x466c_7772;

/// The shape that this version reads and writes.
const NEWEST: i64 = MIGRATIONS.len() as i64;

/// Each entry leads from the version of its place to the next one. Entries are never changed, only added.
const MIGRATIONS: &[&str] = &[FIRST, TOKENS_STAY];

const FIRST: &str = "
CREATE TABLE sessions (
    session_id     TEXT PRIMARY KEY NOT NULL,
    kind           TEXT NOT NULL,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    first_digest   TEXT NOT NULL,
    last_append_id TEXT NOT NULL,
    title          TEXT NOT NULL,
    status         TEXT NOT NULL,
    detail         TEXT NOT NULL,
    wake_at        INTEGER,
    parent         TEXT,
    owner          TEXT NOT NULL,
    owes_work      INTEGER NOT NULL,
    ended          INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_wake ON sessions (wake_at, session_id) WHERE wake_at IS NOT NULL;
CREATE INDEX sessions_owing ON sessions (owes_work, updated_at, session_id) WHERE owes_work = 1;
CREATE INDEX sessions_parent ON sessions (parent, created_at) WHERE parent IS NOT NULL;
CREATE INDEX sessions_list ON sessions (created_at DESC, session_id DESC);
CREATE INDEX sessions_roots ON sessions (created_at DESC, session_id DESC) WHERE parent IS NULL;
CREATE INDEX sessions_open ON sessions (created_at DESC, session_id DESC) WHERE ended = 0;
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    sequence   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (session_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE tokens (
    token      TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_session ON tokens (session_id);
CREATE TABLE leases (
    session_id TEXT PRIMARY KEY NOT NULL,
    holder     TEXT NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
    digest TEXT PRIMARY KEY NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE blob_refs (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    digest     TEXT NOT NULL REFERENCES blobs,
    PRIMARY KEY (session_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_refs_digest ON blob_refs (digest);
";

/// A token goes on leading to its session after its call is settled; lists by kind and end have an index.
const TOKENS_STAY: &str = "
ALTER TABLE tokens ADD COLUMN open INTEGER NOT NULL DEFAULT 1;
CREATE INDEX tokens_open ON tokens (session_id) WHERE open = 1;
DROP INDEX sessions_open;
CREATE INDEX sessions_kind ON sessions (kind, created_at DESC, session_id DESC);
CREATE INDEX sessions_ended ON sessions (ended, created_at DESC, session_id DESC);
CREATE INDEX sessions_kind_ended ON sessions (kind, ended, created_at DESC, session_id DESC);
";

/// How long one call waits for other processes before it says that the database is busy.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// So many waits of [`BUSY_WAIT`] make thirty seconds.
pub(super) const BUSY_ATTEMPTS: u32 = 6;

/// Between two attempts, for the cases in which the database does not wait by itself.
pub(super) const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// The write-ahead log shrinks back to this after a checkpoint.
const JOURNAL_LIMIT_BYTES: i64 = 8 * 1024 * 1024;

/// What a write connection promises about the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synchronous {
    Off,
    Normal,
    Full,
    Extra,
}

impl Synchronous {
    pub(super) fn parse(word: &str) -> Option<Self> {
        let all =
            [("off", Self::Off), ("normal", Self::Normal), ("full", Self::Full), ("extra", Self::Extra)];
        all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, level)| level)
    }

    fn number(self) -> i64 {
        match self {
            Self::Off => 0,
            Self::Normal => 1,
            Self::Full => 2,
            Self::Extra => 3,
        }
    }
}

/// Makes the folders and the file, each for its owner alone. What is there already keeps its mode.
pub(super) fn prepare_file(path: &Path) -> Result<(), StoreError> {
    let fault = |error: std::io::Error| io(format!("cannot create the database {}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(fault)?;
    }
    if path.exists() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(fault)?.sync_all().map_err(fault)?;
    #[cfg(unix)]
    std::fs::File::open(folder.unwrap_or(Path::new(".")))
        .and_then(|folder| folder.sync_all())
        .map_err(fault)?;
    Ok(())
}

/// The write connection, with the newest shape.
pub(super) fn open_writer(path: &Path, synchronous: Synchronous) -> Result<Connection, StoreError> {
    let mut attempt = 1;
    loop {
        match try_writer(path, synchronous) {
            Err(Fault::Sql(error)) if is_busy(&error) && attempt < BUSY_ATTEMPTS => {
                attempt += 1;
                std::thread::sleep(BUSY_PAUSE);
            }
            Err(Fault::Sql(error)) => return Err(sql(&error)),
            Err(Fault::Store(error)) => return Err(error),
            Ok(conn) => return Ok(conn),
        }
    }
}

/// One of the read connections.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let conn = connect(path)?;
    conn.pragma_update(None, "query_only", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// A database error as a sentence.
pub(super) fn sql(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Shape { message: "the file is no database".to_owned() },
        _ if is_busy(error) => {
            io("the database is held by another process for more than 30 seconds".to_owned())
        }
        _ => io(format!("the database failed: {error}")),
    }
}

pub(super) fn io(message: String) -> StoreError {
    StoreError::Io { message }
}

enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(BUSY_WAIT)?;
    Ok(conn)
}

fn try_writer(path: &Path, synchronous: Synchronous) -> Result<Connection, Fault> {
    let mut conn = connect(path)?;
    // Until the file is known to be ours, closing it must not even fold its log into it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // In one snapshot: another process may make the shape between two questions.
    let snapshot = conn.unchecked_transaction()?;
    check_ours(&snapshot, path)?;
    snapshot.finish()?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    set_pragmas(&conn, synchronous)?;
    migrate(&mut conn, path)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// The user version, if the file is ours or still empty.
fn check_ours(conn: &Connection, path: &Path) -> Result<i64, Fault> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let refused = |message: String| Err(Fault::Store(StoreError::Shape { message }));
    let fresh = application == 0 && version == 0 && tables == 0;
    if application != APPLICATION_ID && !fresh {
        return refused(format!("{} is a database of another program", path.display()));
    }
    if version > NEWEST {
        return refused(format!(
            "{} was written by a newer flowright (shape {version}; this one knows shape {NEWEST})",
            path.display()
        ));
    }
    Ok(version)
}

fn set_pragmas(conn: &Connection, synchronous: Synchronous) -> Result<(), Fault> {
    let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    conn.pragma_update(None, "synchronous", synchronous.number())?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // Only some systems heed it; there a plain sync does not reach the disk.
    conn.pragma_update(None, "fullfsync", true)?;
    conn.pragma_update_and_check(None, "journal_size_limit", JOURNAL_LIMIT_BYTES, |_| Ok(()))?;
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let wrong = |name: &str, found: String| {
        let message = format!("the database does not keep the setting {name}: it reads back {found}");
        Err(Fault::Store(StoreError::Shape { message }))
    };
    if !mode.eq_ignore_ascii_case("wal") {
        return wrong("journal_mode", mode);
    }
    for (name, wanted) in [
        ("synchronous", synchronous.number()),
        ("foreign_keys", 1),
        ("journal_size_limit", JOURNAL_LIMIT_BYTES),
    ] {
        let found = number(name)?;
        if found != wanted {
            return wrong(name, found.to_string());
        }
    }
    Ok(())
}

/// Whatever two processes do at once, one of them migrates and the other one finds it done.
fn migrate(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    let found: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == NEWEST {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = check_ours(&transaction, path)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", NEWEST)?;
    transaction.commit()?;
    Ok(())
}
