//! What one request changes, inside a transaction that the writer holds. It neither begins nor commits one.

use super::read;
use super::shape::sql;
use crate::engine::{IndexRow, SessionId, SessionKind};
use crate::ir::Digest;
use crate::store::{Append, Created, Lease, StoreError, Version, missing_blob, taken_token};
use crate::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

/// What the writer is asked to do.
#[derive(Debug)]
pub(super) enum Request {
    Create(Append),
    Append(Append),
    Delete(SessionId),
    /// `dead` is the holder that the caller found to be gone.
    Lease {
        wanted: Lease,
        now: Timestamp,
        dead: Option<String>,
    },
    Release {
        session: SessionId,
        holder: String,
    },
    Blob {
        digest: Digest,
        bytes: Vec<u8>,
    },
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Answer {
    Created(Created),
    /// The new version.
    Version(Version),
    /// The version of a session whose last append was this one already.
    Already(Version),
    Lease(Option<Lease>),
    Done,
}

impl Answer {
    /// Whether this answer says that events were written just now.
    pub(super) fn wrote(&self) -> bool {
        match self {
            Self::Created(created) => *created == Created::Fresh,
            Self::Version(_) => true,
            Self::Already(_) | Self::Lease(_) | Self::Done => false,
        }
    }
}

pub(super) fn apply(conn: &Connection, request: &Request) -> Result<Answer, StoreError> {
    match request {
        Request::Create(first) => create(conn, first).map(Answer::Created),
        Request::Append(next) => append(conn, next),
        Request::Delete(session) => delete(conn, session),
        Request::Lease { wanted, now, dead } => lease(conn, wanted, *now, dead.as_deref()).map(Answer::Lease),
        Request::Release { session, holder } => {
            run(
                conn,
                "DELETE FROM leases WHERE session_id = ?1 AND holder = ?2",
                params![session.0, holder],
            )?;
            Ok(Answer::Done)
        }
        Request::Blob { digest, bytes } => {
            // Bytes that were damaged on the disk are healed by keeping the right ones again.
            let text = "INSERT INTO blobs (digest, bytes) VALUES (?1, ?2)
                        ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes";
            run(conn, text, params![digest.as_str(), bytes])?;
            Ok(Answer::Done)
        }
    }
}

/// Whether the last append of the session is this one: asked after an unclear COMMIT.
pub(super) fn is_last(conn: &Connection, append: &Append) -> Result<bool, StoreError> {
    let found = standing(conn, &append.session)?;
    Ok(found.is_some_and(|found| found.last_append_id == append.append_id))
}

pub(super) fn kind_word(kind: SessionKind) -> &'static str {
    match kind {
        SessionKind::Agent => "agent",
        SessionKind::Workflow => "workflow",
    }
}

struct Standing {
    version: i64,
    first_digest: String,
    last_append_id: String,
}

fn standing(conn: &Connection, session: &SessionId) -> Result<Option<Standing>, StoreError> {
    conn.prepare_cached("SELECT version, first_digest, last_append_id FROM sessions WHERE session_id = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([&session.0], |row| {
                    Ok(Standing {
                        version: row.get(0)?,
                        first_digest: row.get(1)?,
                        last_append_id: row.get(2)?,
                    })
                })
                .optional()
        })
        .map_err(|error| sql(&error))
}

fn run(conn: &Connection, text: &str, values: impl rusqlite::Params) -> Result<usize, StoreError> {
    conn.prepare_cached(text).and_then(|mut statement| statement.execute(values)).map_err(|error| sql(&error))
}

fn create(conn: &Connection, first: &Append) -> Result<Created, StoreError> {
    let body = first.events.first().map_or("", |event| event.body.as_str());
    let first_digest = Digest::of(body.as_bytes());
    if let Some(found) = standing(conn, &first.session)? {
        let same = found.first_digest == first_digest.as_str();
        return if same { Ok(Created::Same) } else { Err(StoreError::Exists) };
    }
    if first.expected != 0 {
        return Err(StoreError::Conflict { actual: 0 });
    }
    let created_at = first.events.first().map_or(0, |event| event.at.0);
    let row: &IndexRow = &first.index;
    run(
        conn,
        "INSERT INTO sessions (session_id, kind, version, created_at, updated_at, first_digest, last_append_id,
             title, status, detail, wake_at, parent, owner, owes_work, ended)
         VALUES (?1, ?2, 0, ?3, ?3, ?4, '', '', '', '', NULL, NULL, '', 0, 0)",
        params![first.session.0, kind_word(row.kind), created_at, first_digest.as_str()],
    )?;
    write(conn, first, 0)?;
    Ok(Created::Fresh)
}

fn append(conn: &Connection, next: &Append) -> Result<Answer, StoreError> {
    let found = standing(conn, &next.session)?.ok_or(StoreError::Unknown)?;
    let actual = found.version.unsigned_abs();
    if found.last_append_id == next.append_id {
        return Ok(Answer::Already(actual));
    }
    if actual != next.expected {
        return Err(StoreError::Conflict { actual });
    }
    write(conn, next, found.version).map(Answer::Version)
}

/// Events, index row, tokens and references of an append whose version has been checked.
fn write(conn: &Connection, next: &Append, mut version: i64) -> Result<Version, StoreError> {
    let id = &next.session.0;
    for event in &next.events {
        version = version.saturating_add(1);
        let text = "INSERT INTO events (session_id, sequence, at, body) VALUES (?1, ?2, ?3, ?4)";
        run(conn, text, params![id, version, event.at.0, event.body])?;
    }
    let row = &next.index;
    run(
        conn,
        "UPDATE sessions SET version = ?2, updated_at = ?3, last_append_id = ?4, kind = ?5, title = ?6, status = ?7,
             detail = ?8, wake_at = ?9, parent = ?10, owner = ?11, owes_work = ?12, ended = ?13
         WHERE session_id = ?1",
        params![
            id,
            version,
            next.events.last().map_or(0, |event| event.at.0),
            next.append_id,
            kind_word(row.kind),
            row.title,
            row.status,
            row.detail,
            row.wake_at.map(|at| at.0),
            row.parent.as_ref().map(|parent| &parent.0),
            row.owner,
            row.owes_work,
            row.ended
        ],
    )?;
    write_tokens(conn, &next.session, &row.tokens)?;
    for digest in &next.blobs {
        write_reference(conn, &next.session, digest)?;
    }
    Ok(version.unsigned_abs())
}

/// Tokens that are not named any more are closed and go on leading to their session.
fn write_tokens(conn: &Connection, session: &SessionId, tokens: &[String]) -> Result<(), StoreError> {
    let open = read::open_tokens(conn, session).map_err(|error| sql(&error))?;
    for token in open.iter().filter(|token| !tokens.contains(token)) {
        run(conn, "UPDATE tokens SET open = 0 WHERE token = ?1", [token])?;
    }
    for token in tokens.iter().filter(|token| !open.contains(token)) {
        let text = "INSERT INTO tokens (token, session_id, open) VALUES (?1, ?2, 1)
            ON CONFLICT (token) DO UPDATE SET open = 1 WHERE session_id = excluded.session_id";
        if run(conn, text, [token, &session.0])? == 0 {
            let owner: String = conn
                .query_row("SELECT session_id FROM tokens WHERE token = ?1", [token], |row| row.get(0))
                .map_err(|error| sql(&error))?;
            return Err(taken_token(&owner));
        }
    }
    Ok(())
}

fn write_reference(conn: &Connection, session: &SessionId, digest: &Digest) -> Result<(), StoreError> {
    let there = conn
        .prepare_cached("SELECT 1 FROM blobs WHERE digest = ?1")
        .and_then(|mut statement| statement.exists([digest.as_str()]))
        .map_err(|error| sql(&error))?;
    if !there {
        return Err(missing_blob(digest));
    }
    let text = "INSERT INTO blob_refs (session_id, digest) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    run(conn, text, params![session.0, digest.as_str()])?;
    Ok(())
}

fn delete(conn: &Connection, session: &SessionId) -> Result<Answer, StoreError> {
    // Events, tokens and references go with their session; its blobs stay until retention takes them.
    if run(conn, "DELETE FROM sessions WHERE session_id = ?1", [&session.0])? == 0 {
        return Err(StoreError::Unknown);
    }
    run(conn, "DELETE FROM leases WHERE session_id = ?1", [&session.0])?;
    Ok(Answer::Done)
}

fn lease(
    conn: &Connection,
    wanted: &Lease,
    now: Timestamp,
    dead: Option<&str>,
) -> Result<Option<Lease>, StoreError> {
    let text = "INSERT INTO leases (session_id, holder, until) VALUES (?1, ?2, ?3)
                ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
                WHERE holder = excluded.holder OR until <= ?4 OR holder = ?5";
    if run(conn, text, params![wanted.session.0, wanted.holder, wanted.until.0, now.0, dead])? == 1 {
        return Ok(None);
    }
    super::read::lease(conn, &wanted.session).map_err(|error| sql(&error))
}
