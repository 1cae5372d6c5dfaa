//! A store in memory: for tests, rehearsal and measuring the engine without a disk. Nothing survives the process.

use super::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, NewEvent, SessionRow, Store, StoreError, Version,
};
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sessions: HashMap<SessionId, Session>,
    /// Creation order, for lists and children.
    order: BTreeMap<u64, SessionId>,
    waking: BTreeSet<(Timestamp, SessionId)>,
    owing: BTreeSet<SessionId>,
    tokens: HashMap<String, SessionId>,
    children: HashMap<SessionId, Vec<SessionId>>,
    leases: HashMap<SessionId, Lease>,
    blobs: HashMap<Digest, Vec<u8>>,
    created: u64,
}

#[derive(Debug)]
struct Session {
    number: u64,
    row: SessionRow,
    events: Vec<KeptEvent>,
    last_append: String,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of another thread leaves whole values behind: every change below is made at once.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn check_blobs(&self, append: &Append) -> Result<(), StoreError> {
        match append.blobs.iter().find(|digest| !self.blobs.contains_key(digest)) {
            Some(missing) => {
                Err(StoreError::Blob { message: format!("the blob {} is not there", missing.short()) })
            }
            None => Ok(()),
        }
    }

    fn unindex(&mut self, row: &SessionRow) {
        if let Some(at) = row.index.wake_at {
            self.waking.remove(&(at, row.session.clone()));
        }
        self.owing.remove(&row.session);
        for token in &row.index.tokens {
            self.tokens.remove(token);
        }
    }

    fn reindex(&mut self, row: &SessionRow) {
        if let Some(at) = row.index.wake_at {
            self.waking.insert((at, row.session.clone()));
        }
        if row.index.owes_work {
            self.owing.insert(row.session.clone());
        }
        for token in &row.index.tokens {
            self.tokens.insert(token.clone(), row.session.clone());
        }
    }
}

fn keep(events: &[NewEvent], from: Version) -> impl Iterator<Item = KeptEvent> {
    events.iter().zip(from + 1..).map(|(event, sequence)| KeptEvent {
        sequence,
        at: event.at,
        body: event.body.clone(),
    })
}

impl Store for MemoryStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        let inner = &mut *self.lock();
        if let Some(known) = inner.sessions.get(&first.session) {
            let same = known.events.first().map(|event| event.body.as_str())
                == first.events.first().map(|event| event.body.as_str());
            return if same { Ok(Created::Same) } else { Err(StoreError::Exists) };
        }
        inner.check_blobs(first)?;
        let at = first.events.first().map(|event| event.at).unwrap_or_default();
        let events: Vec<_> = keep(&first.events, 0).collect();
        let row = SessionRow {
            session: first.session.clone(),
            version: events.len() as Version,
            created_at: at,
            updated_at: first.events.last().map_or(at, |event| event.at),
            index: first.index.clone(),
        };
        inner.created += 1;
        let number = inner.created;
        inner.order.insert(number, first.session.clone());
        if let Some(parent) = &first.index.parent {
            inner.children.entry(parent.clone()).or_default().push(first.session.clone());
        }
        inner.reindex(&row);
        let session = Session { number, row, events, last_append: first.append_id.clone() };
        inner.sessions.insert(first.session.clone(), session);
        Ok(Created::Fresh)
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        Ok(self.lock().sessions.get(session).map(|known| Loaded {
            kind: known.row.index.kind,
            version: known.row.version,
            events: known.events.clone(),
        }))
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        let inner = self.lock();
        let known = inner.sessions.get(session).ok_or(StoreError::Unknown)?;
        let skip = usize::try_from(version).unwrap_or(usize::MAX);
        Ok(known.events.iter().skip(skip).take(limit as usize).cloned().collect())
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        let inner = &mut *self.lock();
        let known = inner.sessions.get(&append.session).ok_or(StoreError::Unknown)?;
        if known.last_append == append.append_id {
            return Ok(known.row.version);
        }
        if known.row.version != append.expected {
            return Err(StoreError::Conflict { actual: known.row.version });
        }
        inner.check_blobs(append)?;
        let before = known.row.clone();
        inner.unindex(&before);
        let Some(known) = inner.sessions.get_mut(&append.session) else { return Err(StoreError::Unknown) };
        known.events.extend(keep(&append.events, append.expected));
        known.last_append = append.append_id.clone();
        known.row.version = known.events.len() as Version;
        known.row.updated_at = append.events.last().map_or(known.row.updated_at, |event| event.at);
        known.row.index = append.index.clone();
        let row = known.row.clone();
        inner.reindex(&row);
        Ok(row.version)
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(self.lock().sessions.get(session).map(|known| known.row.clone()))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let inner = self.lock();
        let due = inner.waking.iter().take_while(|(at, _)| *at <= now).take(limit as usize);
        Ok(due.map(|(_, session)| session.clone()).collect())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.lock().waking.first().map(|(at, _)| *at))
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        Ok(self.lock().owing.iter().take(limit as usize).cloned().collect())
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        Ok(self.lock().tokens.get(token).cloned())
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        let inner = self.lock();
        let ids = inner.children.get(session).map(Vec::as_slice).unwrap_or_default();
        Ok(ids.iter().filter_map(|id| inner.sessions.get(id)).map(|known| known.row.clone()).collect())
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        let inner = self.lock();
        let before = match &filter.after {
            Some(after) => inner.sessions.get(after).map_or(0, |known| known.number),
            None => u64::MAX,
        };
        let limit = if filter.limit == 0 { 100 } else { filter.limit as usize };
        let fits = |row: &&SessionRow| {
            filter.kind.is_none_or(|kind| kind == row.index.kind)
                && filter.ended.is_none_or(|ended| ended == row.index.ended)
                && !(filter.roots_only && row.index.parent.is_some())
        };
        let newest_first = inner.order.range(..before).rev().filter_map(|(_, id)| inner.sessions.get(id));
        Ok(newest_first.map(|known| &known.row).filter(fits).take(limit).cloned().collect())
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        let mut inner = self.lock();
        if let Some(other) = inner.leases.get(&wanted.session)
            && other.holder != wanted.holder
            && other.until > now
            && !dead(&other.holder)
        {
            return Ok(Some(other.clone()));
        }
        inner.leases.insert(wanted.session.clone(), wanted.clone());
        Ok(None)
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if inner.leases.get(session).is_some_and(|lease| lease.holder == holder) {
            inner.leases.remove(session);
        }
        Ok(())
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        let inner = &mut *self.lock();
        let known = inner.sessions.remove(session).ok_or(StoreError::Unknown)?;
        inner.unindex(&known.row);
        inner.order.remove(&known.number);
        inner.leases.remove(session);
        if let Some(siblings) = known.row.index.parent.and_then(|parent| inner.children.get_mut(&parent)) {
            siblings.retain(|id| id != session);
        }
        Ok(())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = Digest::of(bytes);
        self.lock().blobs.entry(digest.clone()).or_insert_with(|| bytes.to_vec());
        Ok(digest)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().blobs.get(digest).cloned())
    }
}
