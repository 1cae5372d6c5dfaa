//! Several stores as one: reads fall back in order, writes go to the first, lists show each session once. What is
//! written for a session that only a later store has is copied to the first one before.

use super::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, NewEvent, SessionRow, Store, StoreError, Version, page,
};
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A first store, which is written, and others behind it, which are read.
pub struct CompositeStore {
    first: Arc<dyn Store>,
    rest: Vec<Arc<dyn Store>>,
}

impl CompositeStore {
    /// Reads fall back from `first` through `rest`.
    #[must_use]
    pub fn new(first: Arc<dyn Store>, rest: Vec<Arc<dyn Store>>) -> Self {
        Self { first, rest }
    }

    fn stores(&self) -> impl Iterator<Item = &Arc<dyn Store>> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The store that a session is read from.
    fn holder(&self, session: &SessionId) -> Result<Option<&Arc<dyn Store>>, StoreError> {
        for store in self.stores() {
            if store.row(session)?.is_some() {
                return Ok(Some(store));
            }
        }
        Ok(None)
    }

    /// Ids from all stores, each once, of sessions that are read from the store that named them.
    fn ids(
        &self,
        ask: impl Fn(&dyn Store) -> Result<Vec<SessionId>, StoreError>,
    ) -> Result<Vec<SessionId>, StoreError> {
        let mut out = ask(self.first.as_ref())?;
        for (place, store) in self.rest.iter().enumerate() {
            for id in ask(store.as_ref())? {
                let mut before = std::iter::once(&self.first).chain(self.rest.iter().take(place));
                let hidden = before.try_fold(false, |hidden, store| {
                    Ok::<bool, StoreError>(hidden || store.row(&id)?.is_some())
                })?;
                if !hidden {
                    out.push(id);
                }
            }
        }
        Ok(out)
    }

    fn rows(
        &self,
        ask: impl Fn(&dyn Store) -> Result<Vec<SessionRow>, StoreError>,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let mut out = ask(self.first.as_ref())?;
        let mut known: BTreeSet<SessionId> = out.iter().map(|row| row.session.clone()).collect();
        for store in &self.rest {
            for row in ask(store.as_ref())? {
                // An earlier store may have it and not show it here, because it has moved on there.
                let elsewhere = self.holder(&row.session)?.is_none_or(|holder| !Arc::ptr_eq(holder, store));
                if !elsewhere && known.insert(row.session.clone()) {
                    out.push(row);
                }
            }
        }
        Ok(out)
    }

    /// Copies a session that only a later store has to the first one, blobs before events.
    fn copy_up(&self, session: &SessionId) -> Result<(), StoreError> {
        let Some(holder) = self.holder(session)?.filter(|holder| !Arc::ptr_eq(holder, &self.first)) else {
            return Ok(());
        };
        let (Some(row), Some(loaded)) = (holder.row(session)?, holder.load(session)?) else { return Ok(()) };
        let mut blobs = Vec::new();
        for digest in loaded.events.iter().flat_map(|event| digests(&event.body)) {
            if blobs.contains(&digest) {
                continue;
            }
            if let Some(bytes) = holder.blob(&digest)? {
                self.first.put_blob(&bytes)?;
                blobs.push(digest);
            }
        }
        let events =
            loaded.events.into_iter().map(|event| NewEvent { at: event.at, body: event.body }).collect();
        let copy = Append {
            session: session.clone(),
            expected: 0,
            append_id: format!("copy of version {} of {session}", row.version),
            events,
            index: row.index,
            blobs,
        };
        self.first.create(&copy).map(|_| ())
    }
}

/// Digests that a text names. One that is none of a blob leads nowhere and does no harm.
fn digests(text: &str) -> impl Iterator<Item = Digest> + '_ {
    text.match_indices("sha256:").filter_map(|(at, _)| {
        let word: String =
            text.get(at..)?.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ':').collect();
        Digest::parse(&word)
    })
}

impl Store for CompositeStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        self.copy_up(&first.session)?;
        self.first.create(first)
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        self.holder(session)?.map_or(Ok(None), |store| store.load(session))
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        self.holder(session)?.ok_or(StoreError::Unknown)?.events_after(session, version, limit)
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        self.copy_up(&append.session)?;
        self.first.append(append)
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.holder(session)?.map_or(Ok(None), |store| store.row(session))
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let mut due = Vec::new();
        for id in self.ids(|store| store.due(now, limit))? {
            due.push((self.row(&id)?.and_then(|row| row.index.wake_at), id));
        }
        due.sort();
        due.truncate(limit as usize);
        Ok(due.into_iter().map(|(_, id)| id).collect())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        // One that has been copied up may be named by a later store still: it wakes the host once too often.
        let mut times = Vec::new();
        for store in self.stores() {
            times.extend(store.next_due()?);
        }
        Ok(times.into_iter().min())
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let mut owing = self.ids(|store| store.owing(limit))?;
        owing.truncate(limit as usize);
        Ok(owing)
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        for store in self.stores() {
            if let Some(found) = store.by_token(token)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let mut waiting = self.ids(|store| store.awaiting(after, limit))?;
        waiting.sort();
        waiting.truncate(limit as usize);
        Ok(waiting)
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        let mut rows = self.rows(|store| store.children(session))?;
        rows.sort_by_key(|row| row.created_at);
        Ok(rows)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        let cursor = match &filter.after {
            None => None,
            Some(id) => Some((self.row(id)?.ok_or(StoreError::Unknown)?.created_at, id.clone())),
        };
        let mut out = self.rows(|store| pages(store, filter, cursor.as_ref()))?;
        out.sort_by_key(|row| Reverse((row.created_at, row.session.clone())));
        out.truncate(page(filter.limit) as usize);
        Ok(out)
    }

    fn lease(
        &self,
        wanted: &Lease,
        now: Timestamp,
        dead: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Lease>, StoreError> {
        self.first.lease(wanted, now, dead)
    }

    fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.first.leases()
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        self.first.release(session, holder)
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.first.delete(session)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        self.first.put_blob(bytes)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        for store in self.stores() {
            if let Some(bytes) = store.blob(digest)? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

/// A page of one store. Where it does not have the row that the page stands behind, its list is read up to that place.
fn pages(
    store: &dyn Store,
    filter: &Filter,
    cursor: Option<&(Timestamp, SessionId)>,
) -> Result<Vec<SessionRow>, StoreError> {
    let Some((at, id)) = cursor else { return store.list(filter) };
    if store.row(id)?.is_some() {
        return store.list(filter);
    }
    let wanted = page(filter.limit) as usize;
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let rows = store.list(&Filter { after: after.take(), ..filter.clone() })?;
        let Some(last) = rows.last() else { return Ok(out) };
        after = Some(last.session.clone());
        out.extend(rows.into_iter().filter(|row| (row.created_at, &row.session) < (*at, id)));
        if out.len() >= wanted {
            return Ok(out);
        }
    }
}
