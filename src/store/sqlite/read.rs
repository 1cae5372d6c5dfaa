//! What is asked of the database. Every question goes through an index; none changes anything.

use super::apply::kind_word;
use crate::engine::{IndexRow, SessionId, SessionKind};
use crate::ir::Digest;
use crate::store::{Filter, KeptEvent, Lease, Loaded, SessionRow, StoreError, Version, page};
use crate::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Result, Row, ToSql};

const COLUMNS: &str =
    "session_id, version, created_at, updated_at, kind, title, status, detail, wake_at, parent,
    owner, owes_work, ended";

/// The literal conditions repeat those of the partial indexes: else the planner may not use them.
pub(super) const DUE: &str = "SELECT session_id FROM sessions WHERE wake_at IS NOT NULL AND wake_at <= ?1
    ORDER BY wake_at, session_id LIMIT ?2";
pub(super) const NEXT_DUE: &str = "SELECT min(wake_at) FROM sessions WHERE wake_at IS NOT NULL";
pub(super) const OWING: &str = "SELECT session_id FROM sessions WHERE owes_work = 1
    ORDER BY updated_at, session_id LIMIT ?1";
pub(super) const AWAITING: &str =
    "SELECT DISTINCT session_id FROM tokens WHERE open = 1 AND session_id > ?1 ORDER BY session_id LIMIT ?2";
pub(super) const BY_TOKEN: &str = "SELECT session_id FROM tokens WHERE token = ?1";

pub(super) fn children_text() -> String {
    format!("SELECT {COLUMNS} FROM sessions WHERE parent = ?1 ORDER BY created_at, rowid")
}

/// The text for a filter; parameters are creation and id behind which the page begins, and its length.
pub(super) fn list_text(filter: &Filter) -> String {
    let mut text = format!("SELECT {COLUMNS} FROM sessions WHERE (created_at, session_id) < (?1, ?2)");
    if filter.roots_only {
        text.push_str(" AND parent IS NULL");
    }
    match filter.ended {
        None => {}
        Some(true) => text.push_str(" AND ended = 1"),
        Some(false) => text.push_str(" AND ended = 0"),
    }
    if let Some(kind) = filter.kind {
        text.push_str(" AND kind = '");
        text.push_str(kind_word(kind));
        text.push('\'');
    }
    text.push_str(" ORDER BY created_at DESC, session_id DESC LIMIT ?3");
    text
}

pub(super) fn load(conn: &Connection, session: &SessionId) -> Result<Option<(Loaded, bool)>> {
    // One snapshot for the row and the events.
    let snapshot = conn.unchecked_transaction()?;
    let Some(row) = row(&snapshot, session)? else { return Ok(None) };
    let events = events_behind(&snapshot, session, 0, u32::MAX)?;
    let whole = events.len() as Version == row.version
        && events.iter().zip(1..).all(|(event, sequence)| event.sequence == sequence);
    Ok(Some((Loaded { kind: row.index.kind, version: row.version, events }, whole)))
}

pub(super) fn events_after(
    conn: &Connection,
    session: &SessionId,
    version: Version,
    limit: u32,
) -> Result<Option<Vec<KeptEvent>>> {
    let snapshot = conn.unchecked_transaction()?;
    let there =
        snapshot.prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?1")?.exists([&session.0])?;
    if !there {
        return Ok(None);
    }
    events_behind(&snapshot, session, i64::try_from(version).unwrap_or(i64::MAX), limit).map(Some)
}

pub(super) fn row(conn: &Connection, session: &SessionId) -> Result<Option<SessionRow>> {
    let text = format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1");
    let found = conn.prepare_cached(&text)?.query_row([&session.0], session_row).optional()?;
    found.map(|row| with_tokens(conn, row)).transpose()
}

pub(super) fn ids(conn: &Connection, text: &str, values: impl Params) -> Result<Vec<SessionId>> {
    conn.prepare_cached(text)?.query_map(values, |row| row.get(0).map(SessionId))?.collect()
}

pub(super) fn next_due(conn: &Connection) -> Result<Option<Timestamp>> {
    conn.prepare_cached(NEXT_DUE)?.query_row([], |row| Ok(row.get::<_, Option<i64>>(0)?.map(Timestamp)))
}

pub(super) fn children(conn: &Connection, session: &SessionId) -> Result<Vec<SessionRow>> {
    let snapshot = conn.unchecked_transaction()?;
    rows(&snapshot, &children_text(), &[&session.0])
}

pub(super) fn list(conn: &Connection, filter: &Filter) -> Result<Option<Vec<SessionRow>>> {
    let snapshot = conn.unchecked_transaction()?;
    let behind = match &filter.after {
        // Without a beginning: no creation is later, and among those of that time no id is greater.
        None => Some((i64::MAX, char::MAX.to_string())),
        Some(id) => snapshot
            .prepare_cached("SELECT created_at FROM sessions WHERE session_id = ?1")?
            .query_row([&id.0], |row| row.get(0))
            .optional()?
            .map(|created_at: i64| (created_at, id.0.clone())),
    };
    let Some((created_at, id)) = behind else { return Ok(None) };
    rows(&snapshot, &list_text(filter), &[&created_at, &id, &page(filter.limit)]).map(Some)
}

/// All of them: there is one for each tree that is being driven, and no more.
pub(super) fn leases(conn: &Connection) -> Result<Vec<Lease>> {
    conn.prepare_cached("SELECT session_id, holder, until FROM leases ORDER BY session_id")?
        .query_map([], |row| {
            let session = SessionId(row.get(0)?);
            Ok(Lease { session, holder: row.get(1)?, until: Timestamp(row.get(2)?) })
        })?
        .collect()
}

pub(super) fn lease(conn: &Connection, session: &SessionId) -> Result<Option<Lease>> {
    conn.prepare_cached("SELECT holder, until FROM leases WHERE session_id = ?1")?
        .query_row([&session.0], |row| {
            Ok(Lease { session: session.clone(), holder: row.get(0)?, until: Timestamp(row.get(1)?) })
        })
        .optional()
}

pub(super) fn blob(conn: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>> {
    conn.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?
        .query_row([digest.as_str()], |row| row.get(0))
        .optional()
}

/// Said of a session whose events do not add up to its version.
pub(super) fn damaged(session: &SessionId) -> StoreError {
    StoreError::Io {
        message: format!("the database is damaged: events of the session {session} are missing"),
    }
}

fn events_behind(conn: &Connection, session: &SessionId, version: i64, limit: u32) -> Result<Vec<KeptEvent>> {
    conn.prepare_cached(
        "SELECT sequence, at, body FROM events WHERE session_id = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?
    .query_map(rusqlite::params![session.0, version, limit], |row| {
        let sequence: i64 = row.get(0)?;
        Ok(KeptEvent { sequence: sequence.unsigned_abs(), at: Timestamp(row.get(1)?), body: row.get(2)? })
    })?
    .collect()
}

fn rows(conn: &Connection, text: &str, values: &[&dyn ToSql]) -> Result<Vec<SessionRow>> {
    let found: Vec<SessionRow> =
        conn.prepare_cached(text)?.query_map(values, session_row)?.collect::<Result<_>>()?;
    found.into_iter().map(|row| with_tokens(conn, row)).collect()
}

fn with_tokens(conn: &Connection, mut row: SessionRow) -> Result<SessionRow> {
    row.index.tokens = open_tokens(conn, &row.session)?;
    Ok(row)
}

/// Tokens under which a session waits.
pub(super) fn open_tokens(conn: &Connection, session: &SessionId) -> Result<Vec<String>> {
    conn.prepare_cached("SELECT token FROM tokens WHERE session_id = ?1 AND open = 1 ORDER BY token")?
        .query_map([&session.0], |row| row.get(0))?
        .collect()
}

fn session_row(row: &Row<'_>) -> Result<SessionRow> {
    let kind: String = row.get("kind")?;
    Ok(SessionRow {
        session: SessionId(row.get("session_id")?),
        version: row.get::<_, i64>("version")?.unsigned_abs(),
        created_at: Timestamp(row.get("created_at")?),
        updated_at: Timestamp(row.get("updated_at")?),
        index: IndexRow {
            kind: if kind == "workflow" { SessionKind::Workflow } else { SessionKind::Agent },
            title: row.get("title")?,
            status: row.get("status")?,
            detail: row.get("detail")?,
            wake_at: row.get::<_, Option<i64>>("wake_at")?.map(Timestamp),
            tokens: Vec::new(),
            parent: row.get::<_, Option<String>>("parent")?.map(SessionId),
            owner: row.get("owner")?,
            owes_work: row.get("owes_work")?,
            ended: row.get("ended")?,
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{AWAITING, BY_TOKEN, DUE, NEXT_DUE, OWING, children_text, list_text};
    use crate::engine::SessionKind;
    use crate::store::Filter;
    use crate::store::sqlite::shape::{Synchronous, open_writer, prepare_file};

    /// The texts that the store really asks with: none may walk over all sessions.
    #[test]
    fn every_question_goes_through_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.db");
        prepare_file(&path).unwrap();
        let conn = open_writer(&path, Synchronous::Off).unwrap();
        let mut texts = vec![DUE.to_owned(), NEXT_DUE.to_owned(), OWING.to_owned(), BY_TOKEN.to_owned()];
        texts.push(AWAITING.to_owned());
        texts.push(children_text());
        for kind in [None, Some(SessionKind::Agent)] {
            for ended in [None, Some(true), Some(false)] {
                for roots_only in [false, true] {
                    texts.push(list_text(&Filter { kind, ended, roots_only, ..Filter::default() }));
                }
            }
        }
        for text in texts {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
            let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
            let steps =
                statement.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>("detail"));
            let steps: Vec<String> = steps.unwrap().collect::<Result<_, _>>().unwrap();
            assert!(steps.iter().any(|step| step.starts_with("SEARCH ")), "{text}: {steps:?}");
            let bad = |step: &String| step.contains("SCAN") || step.contains("TEMP B-TREE");
            assert!(!steps.iter().any(bad), "{text}: {steps:?}");
        }
    }
}
