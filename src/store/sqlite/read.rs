//! Questions to the database: each uses an index, none looks through all sessions.

use crate::engine::{IndexRow, SessionId, SessionKind};
use crate::ir::Digest;
use crate::store::{Filter, KeptEvent, Loaded, SessionRow, Version};
use crate::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

const COLUMNS: &str = "session_id, version, created_at, updated_at, kind, title, status, detail, wake_at, parent, \
                       owner, owes_work, ended";

pub(super) fn kind_word(kind: SessionKind) -> &'static str {
    match kind {
        SessionKind::Agent => "agent",
        SessionKind::Workflow => "workflow",
    }
}

fn kind_of(word: &str) -> SessionKind {
    if word == "workflow" { SessionKind::Workflow } else { SessionKind::Agent }
}

fn bare_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        session: SessionId(row.get(0)?),
        version: u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
        created_at: Timestamp(row.get(2)?),
        updated_at: Timestamp(row.get(3)?),
        index: IndexRow {
            kind: kind_of(&row.get::<_, String>(4)?),
            title: row.get(5)?,
            status: row.get(6)?,
            detail: row.get(7)?,
            wake_at: row.get::<_, Option<i64>>(8)?.map(Timestamp),
            tokens: Vec::new(),
            parent: row.get::<_, Option<String>>(9)?.map(SessionId),
            owner: row.get(10)?,
            owes_work: row.get(11)?,
            ended: row.get(12)?,
        },
    })
}

fn with_tokens(connection: &Connection, mut rows: Vec<SessionRow>) -> rusqlite::Result<Vec<SessionRow>> {
    let mut statement =
        connection.prepare_cached("SELECT token FROM tokens WHERE session_id = ?1 ORDER BY token")?;
    for row in &mut rows {
        let tokens = statement.query_map([&row.session.0], |row| row.get(0))?;
        row.index.tokens = tokens.collect::<rusqlite::Result<_>>()?;
    }
    Ok(rows)
}

pub(super) fn row(connection: &Connection, session: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1");
    let found = connection.prepare_cached(&sql)?.query_row([&session.0], bare_row).optional()?;
    Ok(with_tokens(connection, found.into_iter().collect())?.pop())
}

pub(super) fn load(connection: &Connection, session: &SessionId) -> rusqlite::Result<Option<Loaded>> {
    let head = connection
        .prepare_cached("SELECT kind FROM sessions WHERE session_id = ?1")?
        .query_row([&session.0], |row| row.get::<_, String>(0))
        .optional()?;
    let Some(kind) = head else { return Ok(None) };
    // The version is taken from the events themselves: an append between both questions cannot part them.
    let events = events_after(connection, session, 0, u32::MAX)?;
    let version = events.last().map_or(0, |event| event.sequence);
    Ok(Some(Loaded { kind: kind_of(&kind), version, events }))
}

pub(super) fn events_after(
    connection: &Connection,
    session: &SessionId,
    version: Version,
    limit: u32,
) -> rusqlite::Result<Vec<KeptEvent>> {
    let after = i64::try_from(version).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT sequence, at, body FROM events WHERE session_id = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
        )?
        .query_map(params![session.0, after, limit], |row| {
            let sequence = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
            Ok(KeptEvent { sequence, at: Timestamp(row.get(1)?), body: row.get(2)? })
        })?
        .collect()
}

fn ids(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<SessionId>> {
    connection.prepare_cached(sql)?.query_map(parameters, |row| row.get(0).map(SessionId))?.collect()
}

pub(super) const DUE: &str =
    "SELECT session_id FROM sessions WHERE wake_at IS NOT NULL AND wake_at <= ?1 ORDER BY wake_at LIMIT ?2";
pub(super) const OWING: &str = "SELECT session_id FROM sessions WHERE owes_work = 1 ORDER BY number LIMIT ?1";

pub(super) fn due(connection: &Connection, now: Timestamp, limit: u32) -> rusqlite::Result<Vec<SessionId>> {
    ids(connection, DUE, params![now.0, limit])
}

pub(super) fn next_due(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let sql = "SELECT wake_at FROM sessions WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0).map(Timestamp)).optional()
}

pub(super) fn owing(connection: &Connection, limit: u32) -> rusqlite::Result<Vec<SessionId>> {
    ids(connection, OWING, [limit])
}

pub(super) fn by_token(connection: &Connection, token: &str) -> rusqlite::Result<Option<SessionId>> {
    let sql = "SELECT session_id FROM tokens WHERE token = ?1";
    connection.prepare_cached(sql)?.query_row([token], |row| row.get(0).map(SessionId)).optional()
}

pub(super) fn children(connection: &Connection, session: &SessionId) -> rusqlite::Result<Vec<SessionRow>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE parent = ?1 ORDER BY number");
    let rows = connection
        .prepare_cached(&sql)?
        .query_map([&session.0], bare_row)?
        .collect::<rusqlite::Result<_>>()?;
    with_tokens(connection, rows)
}

pub(super) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<SessionRow>> {
    let before: i64 = match &filter.after {
        Some(after) => connection
            .prepare_cached("SELECT number FROM sessions WHERE session_id = ?1")?
            .query_row([&after.0], |row| row.get(0))
            .optional()?
            .unwrap_or(0),
        None => i64::MAX,
    };
    // Walks the primary key from the newest row on and stops at the limit.
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE number < ?1 AND (?2 IS NULL OR kind = ?2) \
         AND (?3 IS NULL OR ended = ?3) AND (?4 = 0 OR parent IS NULL) ORDER BY number DESC LIMIT ?5"
    );
    let limit = if filter.limit == 0 { 100 } else { filter.limit };
    let parameters = params![before, filter.kind.map(kind_word), filter.ended, filter.roots_only, limit];
    let rows =
        connection.prepare_cached(&sql)?.query_map(parameters, bare_row)?.collect::<rusqlite::Result<_>>()?;
    with_tokens(connection, rows)
}

pub(super) fn has_blob(connection: &Connection, digest: &Digest) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM blobs WHERE digest = ?1")?.exists([digest.as_str()])
}

pub(super) fn blob(connection: &Connection, digest: &Digest) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?
        .query_row([digest.as_str()], |row| row.get(0))
        .optional()
}
