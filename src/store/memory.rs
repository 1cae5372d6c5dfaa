//! A store in memory, for tests, dry runs and the simulation. It keeps nothing beyond its own life and touches no
//! disk; otherwise it answers as every other store does.

use super::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, NewEvent, SessionRow, Store, StoreError, Version,
    check_append, check_blob, missing_blob, page, taken_token, verified,
};
use crate::engine::{IndexRow, SessionId};
use crate::ir::Digest;
use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions in memory, behind one lock.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: BTreeMap<SessionId, Session>,
    tokens: BTreeMap<String, SessionId>,
    leases: BTreeMap<SessionId, Lease>,
    blobs: BTreeMap<Digest, Vec<u8>>,
    created: u64,
}

#[derive(Debug)]
struct Session {
    events: Vec<KeptEvent>,
    /// Sessions created before this one: parts those of one instant.
    number: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
    last_append_id: String,
    index: IndexRow,
}

/// One session with everything that a store keeps of it.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub created_at: Timestamp,
    pub last_append_id: String,
    pub index: IndexRow,
    /// Those it waits under and those it has waited under.
    pub tokens: Vec<String>,
    /// At least one.
    pub events: Vec<KeptEvent>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A session as it stands, for a store that keeps it elsewhere.
    pub(super) fn take_out(&self, session: &SessionId) -> Option<Whole> {
        let inner = self.inner();
        let found = inner.sessions.get(session)?;
        let owned = inner.tokens.iter().filter(|(_, owner)| *owner == session);
        Some(Whole {
            created_at: found.created_at,
            last_append_id: found.last_append_id.clone(),
            index: found.index.clone(),
            tokens: owned.map(|(token, _)| token.clone()).collect(),
            events: found.events.clone(),
        })
    }

    /// Puts a session in as it stands elsewhere. A token that another session has stays with that one.
    pub(super) fn put_in(&self, session: &SessionId, whole: Whole) {
        let mut inner = self.inner();
        let number = inner.created;
        inner.created += 1;
        for token in whole.tokens {
            inner.tokens.entry(token).or_insert_with(|| session.clone());
        }
        let updated_at = whole.events.last().map_or(whole.created_at, |event| event.at);
        let kept = Session {
            events: whole.events,
            number,
            created_at: whole.created_at,
            updated_at,
            last_append_id: whole.last_append_id,
            index: whole.index,
        };
        inner.sessions.insert(session.clone(), kept);
    }

    /// Knows nothing of a session any more.
    pub(super) fn forget(&self, session: &SessionId) {
        let mut inner = self.inner();
        if inner.sessions.remove(session).is_some() {
            inner.tokens.retain(|_, owner| owner != session);
        }
    }

    /// A panic of another thread cannot leave a half-made change: every check comes before the first write.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn version(&self) -> Version {
        self.events.len() as Version
    }

    fn row(&self, session: &SessionId) -> SessionRow {
        let mut index = self.index.clone();
        // Tokens are a set: every store shows them in this order.
        index.tokens.sort();
        index.tokens.dedup();
        SessionRow {
            session: session.clone(),
            version: self.version(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            index,
        }
    }

    fn push(&mut self, events: &[NewEvent]) {
        for event in events {
            let sequence = self.version() + 1;
            self.events.push(KeptEvent { sequence, at: event.at, body: event.body.clone() });
            self.updated_at = event.at;
        }
    }
}

impl Inner {
    /// Whether the blobs are there and the tokens are free.
    fn check(&self, append: &Append) -> Result<(), StoreError> {
        if let Some(digest) = append.blobs.iter().find(|digest| !self.blobs.contains_key(digest)) {
            return Err(missing_blob(digest));
        }
        let owners = append.index.tokens.iter().filter_map(|token| self.tokens.get(token));
        match owners.into_iter().find(|owner| **owner != append.session) {
            Some(owner) => Err(taken_token(&owner.0)),
            None => Ok(()),
        }
    }

    fn set_tokens(&mut self, session: &SessionId, tokens: &[String]) {
        self.tokens.extend(tokens.iter().map(|token| (token.clone(), session.clone())));
    }

    /// Rows of the sessions that pass, oldest first.
    fn rows(&self, mut pass: impl FnMut(&Session) -> bool) -> Vec<SessionRow> {
        let mut found: Vec<_> = self.sessions.iter().filter(|(_, session)| pass(session)).collect();
        found.sort_by_key(|(_, session)| (session.created_at, session.number));
        found.into_iter().map(|(id, session)| session.row(id)).collect()
    }
}

impl Store for MemoryStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        check_append(first)?;
        let mut inner = self.inner();
        if let Some(found) = inner.sessions.get(&first.session) {
            let same = found.events.first().map(|event| &event.body)
                == first.events.first().map(|event| &event.body);
            return if same { Ok(Created::Same) } else { Err(StoreError::Exists) };
        }
        if first.expected != 0 {
            return Err(StoreError::Conflict { actual: 0 });
        }
        inner.check(first)?;
        let created_at = first.events.first().map_or_else(Timestamp::default, |event| event.at);
        let number = inner.created;
        inner.created += 1;
        let mut session = Session {
            events: Vec::with_capacity(first.events.len()),
            number,
            created_at,
            updated_at: created_at,
            last_append_id: first.append_id.clone(),
            index: first.index.clone(),
        };
        session.push(&first.events);
        inner.set_tokens(&first.session, &first.index.tokens);
        inner.sessions.insert(first.session.clone(), session);
        Ok(Created::Fresh)
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        Ok(self.inner().sessions.get(session).map(|found| Loaded {
            kind: found.index.kind,
            version: found.version(),
            events: found.events.clone(),
        }))
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        let inner = self.inner();
        let found = inner.sessions.get(session).ok_or(StoreError::Unknown)?;
        let behind = found.events.iter().filter(|event| event.sequence > version);
        Ok(behind.take(limit as usize).cloned().collect())
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        check_append(append)?;
        let mut inner = self.inner();
        let found = inner.sessions.get(&append.session).ok_or(StoreError::Unknown)?;
        let actual = found.version();
        if found.last_append_id == append.append_id {
            return Ok(actual);
        }
        if actual != append.expected {
            return Err(StoreError::Conflict { actual });
        }
        inner.check(append)?;
        inner.set_tokens(&append.session, &append.index.tokens);
        let session = inner.sessions.get_mut(&append.session).ok_or(StoreError::Unknown)?;
        session.push(&append.events);
        session.last_append_id.clone_from(&append.append_id);
        session.index = append.index.clone();
        Ok(session.version())
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(self.inner().sessions.get(session).map(|found| found.row(session)))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let inner = self.inner();
        let woken =
            inner.sessions.iter().filter_map(|(id, session)| session.index.wake_at.map(|at| (at, id)));
        let mut due: Vec<_> = woken.filter(|(at, _)| *at <= now).collect();
        due.sort();
        Ok(due.into_iter().take(limit as usize).map(|(_, id)| id.clone()).collect())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.inner().sessions.values().filter_map(|session| session.index.wake_at).min())
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let inner = self.inner();
        let mut owing: Vec<_> = inner
            .sessions
            .iter()
            .filter(|(_, session)| session.index.owes_work)
            .map(|(id, session)| (session.updated_at, id))
            .collect();
        owing.sort();
        Ok(owing.into_iter().take(limit as usize).map(|(_, id)| id.clone()).collect())
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        Ok(self.inner().tokens.get(token).cloned())
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let inner = self.inner();
        let behind = inner.sessions.iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
        let waiting = behind.filter(|(_, session)| !session.index.tokens.is_empty());
        Ok(waiting.map(|(id, _)| id.clone()).take(limit as usize).collect())
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        Ok(self.inner().rows(|found| found.index.parent.as_ref() == Some(session)))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        let inner = self.inner();
        let after = match &filter.after {
            None => None,
            Some(id) => Some((inner.sessions.get(id).ok_or(StoreError::Unknown)?.created_at, id)),
        };
        let mut rows = inner.rows(|found| {
            filter.kind.is_none_or(|kind| found.index.kind == kind)
                && filter.ended.is_none_or(|ended| found.index.ended == ended)
                && (!filter.roots_only || found.index.parent.is_none())
        });
        rows.retain(|row| after.is_none_or(|after| (row.created_at, &row.session) < after));
        rows.sort_by_key(|row| Reverse((row.created_at, row.session.clone())));
        rows.truncate(page(filter.limit) as usize);
        Ok(rows)
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        let mut buried: Option<String> = None;
        loop {
            let standing = {
                let mut inner = self.inner();
                let standing = inner.leases.get(&wanted.session).filter(|lease| {
                    lease.holder != wanted.holder
                        && lease.until > now
                        && Some(&lease.holder) != buried.as_ref()
                });
                match standing.cloned() {
                    None => {
                        inner.leases.insert(wanted.session.clone(), wanted.clone());
                        return Ok(None);
                    }
                    Some(standing) => standing,
                }
            };
            // Asked without the lock: the callback may look at processes, or at this store.
            if !dead(&standing.holder) {
                return Ok(Some(standing));
            }
            buried = Some(standing.holder);
        }
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        Ok(self.inner().leases.values().cloned().collect())
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        let mut inner = self.inner();
        if inner.leases.get(session).is_some_and(|lease| lease.holder == holder) {
            inner.leases.remove(session);
        }
        Ok(())
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        let mut inner = self.inner();
        inner.sessions.remove(session).ok_or(StoreError::Unknown)?;
        inner.tokens.retain(|_, owner| owner != session);
        inner.leases.remove(session);
        Ok(())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = check_blob(bytes)?;
        self.inner().blobs.entry(digest.clone()).or_insert_with(|| bytes.to_vec());
        Ok(digest)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.inner().blobs.get(digest).cloned();
        found.map(|bytes| verified(digest, bytes)).transpose()
    }
}
