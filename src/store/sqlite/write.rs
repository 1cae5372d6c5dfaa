//! The writer thread: takes what waits, writes it in one transaction, answers after the commit.

use super::read::{has_blob, kind_word};
use super::schema;
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::store::{Append, Created, Lease, NewEvent, StoreError, Version};
use crate::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Savepoint, TransactionBehavior, params};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// Requests that share one commit at most.
const GROUP: usize = 256;

/// One thing to write.
pub(super) enum Write {
    Create(Append),
    Append(Append),
    Lease { wanted: Lease, now: Timestamp, from: Option<String> },
    Release { session: SessionId, holder: String },
    Delete { session: SessionId },
    Blob { digest: Digest, bytes: Vec<u8> },
}

/// What became of it.
#[derive(Clone, Debug)]
pub(super) enum Done {
    Created(Created),
    Version(Version),
    Lease(Option<Lease>),
    Nothing,
}

pub(super) struct Request {
    pub write: Write,
    pub answer: Sender<Result<Done, StoreError>>,
}

/// Serves until the store is dropped.
pub(super) fn serve(
    mut connection: Connection,
    path: &Path,
    synchronous: &str,
    requests: &Receiver<Request>,
    commits: &AtomicU64,
) {
    while let Ok(first) = requests.recv() {
        let mut group = vec![first];
        group.extend(requests.try_iter().take(GROUP - 1));
        let outcomes = match write_group(&mut connection, &group) {
            Ok(outcomes) => {
                commits.fetch_add(1, Ordering::Relaxed);
                outcomes
            }
            Err(error) => after_failure(&mut connection, path, synchronous, &group, &error),
        };
        for (request, outcome) in group.into_iter().zip(outcomes) {
            // Whoever asked may have gone away; the write stands.
            let _ = request.answer.send(outcome);
        }
    }
}

type Outcomes = Vec<Result<Done, StoreError>>;

fn write_group(connection: &mut Connection, group: &[Request]) -> rusqlite::Result<Outcomes> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut outcomes = Vec::with_capacity(group.len());
    for request in group {
        let mut savepoint = transaction.savepoint()?;
        match write_one(&savepoint, &request.write) {
            Ok(done) => {
                savepoint.commit()?;
                outcomes.push(Ok(done));
            }
            Err(Fault::Refused(error)) => {
                savepoint.rollback()?;
                savepoint.commit()?;
                outcomes.push(Err(error));
            }
            Err(Fault::Database(error)) => return Err(error),
        }
    }
    transaction.commit()?;
    Ok(outcomes)
}

/// Nobody is acknowledged after a failed transaction, but for appends that turn out to be there: a COMMIT may fail
/// after it took effect.
fn after_failure(
    connection: &mut Connection,
    path: &Path,
    synchronous: &str,
    group: &[Request],
    error: &rusqlite::Error,
) -> Outcomes {
    let fault = schema::fault(error);
    if let Ok(fresh) = schema::open(path, synchronous) {
        *connection = fresh;
    }
    group
        .iter()
        .map(|request| match &request.write {
            Write::Create(append) => match last_append(connection, &append.session) {
                Ok(Some((_, last))) if last == append.append_id => Ok(Done::Created(Created::Fresh)),
                Ok(_) | Err(_) => Err(fault.clone()),
            },
            Write::Append(append) => match last_append(connection, &append.session) {
                Ok(Some((version, last))) if last == append.append_id => Ok(Done::Version(version)),
                Ok(_) | Err(_) => Err(fault.clone()),
            },
            Write::Lease { .. } | Write::Release { .. } | Write::Delete { .. } | Write::Blob { .. } => {
                Err(fault.clone())
            }
        })
        .collect()
}

enum Fault {
    Refused(StoreError),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn write_one(at: &Savepoint<'_>, write: &Write) -> Result<Done, Fault> {
    match write {
        Write::Create(append) => create(at, append),
        Write::Append(write) => append(at, write),
        Write::Lease { wanted, now, from } => lease(at, wanted, *now, from.as_deref()),
        Write::Release { session, holder } => {
            at.prepare_cached("DELETE FROM leases WHERE session_id = ?1 AND holder = ?2")?
                .execute(params![session.0, holder])?;
            Ok(Done::Nothing)
        }
        Write::Delete { session } => delete(at, session),
        Write::Blob { digest, bytes } => {
            at.prepare_cached("INSERT OR IGNORE INTO blobs (digest, bytes) VALUES (?1, ?2)")?
                .execute(params![digest.as_str(), bytes])?;
            Ok(Done::Nothing)
        }
    }
}

fn last_append(connection: &Connection, session: &SessionId) -> rusqlite::Result<Option<(Version, String)>> {
    connection
        .prepare_cached("SELECT version, last_append_id FROM sessions WHERE session_id = ?1")?
        .query_row([&session.0], |row| Ok((u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0), row.get(1)?)))
        .optional()
}

fn number(version: Version) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

fn create(at: &Savepoint<'_>, first: &Append) -> Result<Done, Fault> {
    let body = first.events.first().map(|event| event.body.as_str()).unwrap_or_default();
    let digest = Digest::of(body.as_bytes());
    let known: Option<String> = at
        .prepare_cached("SELECT first_digest FROM sessions WHERE session_id = ?1")?
        .query_row([&first.session.0], |row| row.get(0))
        .optional()?;
    match known {
        Some(known) if known == digest.as_str() => return Ok(Done::Created(Created::Same)),
        Some(_) => return Err(Fault::Refused(StoreError::Exists)),
        None => {}
    }
    let index = &first.index;
    let begun = first.events.first().map_or(0, |event| event.at.0);
    let ended = first.events.last().map_or(begun, |event| event.at.0);
    at.prepare_cached(
        "INSERT INTO sessions (session_id, version, created_at, updated_at, first_digest, last_append_id, kind, title, \
         status, detail, wake_at, parent, owner, owes_work, ended) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(params![
        first.session.0,
        number(first.events.len() as Version),
        begun,
        ended,
        digest.as_str(),
        first.append_id,
        kind_word(index.kind),
        index.title,
        index.status,
        index.detail,
        index.wake_at.map(|at| at.0),
        index.parent.as_ref().map(|parent| &parent.0),
        index.owner,
        index.owes_work,
        index.ended,
    ])?;
    insert_parts(at, first, 0)?;
    Ok(Done::Created(Created::Fresh))
}

fn append(at: &Savepoint<'_>, append: &Append) -> Result<Done, Fault> {
    match last_append(at, &append.session)? {
        None => return Err(Fault::Refused(StoreError::Unknown)),
        Some((version, last)) if last == append.append_id => return Ok(Done::Version(version)),
        Some((actual, _)) if actual != append.expected => {
            return Err(Fault::Refused(StoreError::Conflict { actual }));
        }
        Some(_) => {}
    }
    let version = append.expected + append.events.len() as Version;
    let index = &append.index;
    at.prepare_cached(
        "UPDATE sessions SET version = ?2, updated_at = coalesce(?3, updated_at), last_append_id = ?4, title = ?5, \
         status = ?6, detail = ?7, wake_at = ?8, owner = ?9, owes_work = ?10, ended = ?11 WHERE session_id = ?1",
    )?
    .execute(params![
        append.session.0,
        number(version),
        append.events.last().map(|event| event.at.0),
        append.append_id,
        index.title,
        index.status,
        index.detail,
        index.wake_at.map(|at| at.0),
        index.owner,
        index.owes_work,
        index.ended,
    ])?;
    at.prepare_cached("DELETE FROM tokens WHERE session_id = ?1")?.execute([&append.session.0])?;
    insert_parts(at, append, append.expected)?;
    Ok(Done::Version(version))
}

fn insert_parts(at: &Savepoint<'_>, append: &Append, from: Version) -> Result<(), Fault> {
    insert_events(at, &append.session, &append.events, from)?;
    for token in &append.index.tokens {
        at.prepare_cached("INSERT OR REPLACE INTO tokens (token, session_id) VALUES (?1, ?2)")?
            .execute(params![token, append.session.0])?;
    }
    for digest in &append.blobs {
        if !has_blob(at, digest)? {
            let message = format!("the blob {} is not there", digest.short());
            return Err(Fault::Refused(StoreError::Blob { message }));
        }
        at.prepare_cached("INSERT OR IGNORE INTO blob_refs (session_id, digest) VALUES (?1, ?2)")?
            .execute(params![append.session.0, digest.as_str()])?;
    }
    Ok(())
}

fn insert_events(
    at: &Savepoint<'_>,
    session: &SessionId,
    events: &[NewEvent],
    from: Version,
) -> rusqlite::Result<()> {
    let mut statement =
        at.prepare_cached("INSERT INTO events (session_id, sequence, at, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (event, sequence) in events.iter().zip(from + 1..) {
        statement.execute(params![session.0, number(sequence), event.at.0, event.body])?;
    }
    Ok(())
}

fn lease(at: &Savepoint<'_>, wanted: &Lease, now: Timestamp, from: Option<&str>) -> Result<Done, Fault> {
    let known: Option<(String, i64)> = at
        .prepare_cached("SELECT holder, until FROM leases WHERE session_id = ?1")?
        .query_row([&wanted.session.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((holder, until)) = known
        && holder != wanted.holder
        && until > now.0
        && from != Some(holder.as_str())
    {
        return Ok(Done::Lease(Some(Lease {
            session: wanted.session.clone(),
            holder,
            until: Timestamp(until),
        })));
    }
    at.prepare_cached("INSERT OR REPLACE INTO leases (session_id, holder, until) VALUES (?1, ?2, ?3)")?
        .execute(params![wanted.session.0, wanted.holder, wanted.until.0])?;
    Ok(Done::Lease(None))
}

fn delete(at: &Savepoint<'_>, session: &SessionId) -> Result<Done, Fault> {
    let gone = at.prepare_cached("DELETE FROM sessions WHERE session_id = ?1")?.execute([&session.0])?;
    if gone == 0 {
        return Err(Fault::Refused(StoreError::Unknown));
    }
    at.prepare_cached(
        "DELETE FROM blobs WHERE digest IN (SELECT digest FROM blob_refs WHERE session_id = ?1) \
         AND NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_refs.digest = blobs.digest AND session_id <> ?1)",
    )?
    .execute([&session.0])?;
    for table in ["events", "tokens", "leases", "blob_refs"] {
        at.prepare_cached(&format!("DELETE FROM {table} WHERE session_id = ?1"))?.execute([&session.0])?;
    }
    Ok(Done::Nothing)
}
