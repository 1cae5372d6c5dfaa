//! A store of one JSON document a session, `conv.<id>.json`, which other tools of the kind read and write too. It keeps
//! what each document said when it was last looked at, and looks again whenever the file is another one.
//!
//! Every append writes the document anew: for sessions that people carry about, not for thousands of long ones.

mod disk;
mod document;

pub use document::{Adopted, Forms};

use super::memory::{MemoryStore, Whole};
use super::{
    Append, Created, Filter, KeptEvent, Lease, Loaded, SessionRow, Store, StoreError, Version, check_blob,
    missing_blob, verified,
};
use crate::engine::SessionId;
use crate::ir::Digest;
use crate::time::{Millis, Timestamp};
use disk::{Disk, Stamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long a lease that has lapsed is kept: a day.
const LAPSED_KEPT: Millis = Millis(24 * 60 * 60 * 1000);

/// Sessions in a folder.
pub struct FileStore {
    disk: Disk,
    forms: Box<dyn Forms>,
    /// The documents as they were last read.
    shadow: MemoryStore,
    seen: Mutex<BTreeMap<SessionId, Seen>>,
}

struct Seen {
    stamp: Stamp,
    /// Blobs that its events refer to.
    blobs: BTreeSet<Digest>,
    /// Why the document cannot be read.
    broken: Option<String>,
}

impl FileStore {
    /// The store in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// `Io`.
    pub fn open(folder: &Path, forms: Box<dyn Forms>) -> Result<Self, StoreError> {
        Ok(Self { disk: Disk::open(folder)?, forms, shadow: MemoryStore::new(), seen: Mutex::default() })
    }

    /// What a panic of another thread leaves behind is looked at again, for its stamp was not noted.
    fn seen(&self) -> MutexGuard<'_, BTreeMap<SessionId, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the document of one session again if it is another one.
    fn look(&self, seen: &mut BTreeMap<SessionId, Seen>, session: &SessionId) -> Result<(), StoreError> {
        let Some(path) = self.disk.path(session) else { return Ok(()) };
        let Some(stamp) = Disk::stamp(&path)? else {
            if seen.remove(session).is_some() {
                self.shadow.forget(session);
            }
            return Ok(());
        };
        if seen.get(session).is_some_and(|seen| seen.stamp == stamp) {
            return Ok(());
        }
        self.shadow.forget(session);
        let bytes = Disk::read(&path)?.unwrap_or_default();
        let (blobs, broken) = match document::read(self.forms.as_ref(), session, &bytes, stamp.at()) {
            Ok(held) => {
                for bytes in &held.adopted {
                    self.shadow.put_blob(bytes)?;
                }
                self.shadow.put_in(session, held.whole);
                (held.blobs.into_iter().collect(), None)
            }
            Err(why) => (BTreeSet::new(), Some(format!("{} {why}", path.display()))),
        };
        seen.insert(session.clone(), Seen { stamp, blobs, broken });
        Ok(())
    }

    /// Looks at one session; says so if its document cannot be read.
    fn one(&self, session: &SessionId) -> Result<(), StoreError> {
        let mut seen = self.seen();
        self.look(&mut seen, session)?;
        match seen.get(session).and_then(|seen| seen.broken.clone()) {
            Some(message) => Err(StoreError::Shape { message }),
            None => Ok(()),
        }
    }

    /// Looks at all sessions. Documents that cannot be read hide nothing but themselves.
    fn all(&self) -> Result<(), StoreError> {
        let mut seen = self.seen();
        let there = self.disk.sessions()?;
        let gone: Vec<SessionId> =
            seen.keys().filter(|id| there.binary_search(id).is_err()).cloned().collect();
        for session in there.iter().chain(&gone) {
            self.look(&mut seen, session)?;
        }
        Ok(())
    }

    /// Changes the shadow, then writes the document; if that fails the shadow is forgotten and read again.
    fn change<T>(
        &self,
        append: &Append,
        change: impl FnOnce(&MemoryStore, &Append) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let session = &append.session;
        let Some(path) = self.disk.path(session) else {
            return Err(StoreError::Io { message: format!("`{session}` cannot be the name of a file") });
        };
        let _lock = self.disk.lock()?;
        if append.index.tokens.is_empty() {
            self.one(session)?
        } else {
            self.all().and_then(|()| self.one(session))?
        }
        let known = |digest: &&Digest| {
            !self.disk.has_blob(digest) && !matches!(self.shadow.blob(digest), Ok(Some(_)))
        };
        if let Some(missing) = append.blobs.iter().find(known) {
            return Err(missing_blob(missing));
        }
        let before = self.shadow.take_out(session).map(|whole| whole.last_append_id);
        let bare = Append { blobs: Vec::new(), ..append.clone() };
        let outcome = change(&self.shadow, &bare)?;
        let Some(whole) = self.shadow.take_out(session) else { return Ok(outcome) };
        if before.as_ref() == Some(&whole.last_append_id) {
            // The same append again: nothing is new.
            return Ok(outcome);
        }
        let mut seen = self.seen();
        let mut blobs = seen.remove(session).map(|seen| seen.blobs).unwrap_or_default();
        blobs.extend(append.blobs.iter().cloned());
        match self.write(&path, session, whole, &blobs) {
            Ok(stamp) => {
                seen.insert(session.clone(), Seen { stamp, blobs, broken: None });
                Ok(outcome)
            }
            Err(error) => {
                self.shadow.forget(session);
                Err(error)
            }
        }
    }

    fn write(
        &self,
        path: &Path,
        session: &SessionId,
        whole: Whole,
        blobs: &BTreeSet<Digest>,
    ) -> Result<Stamp, StoreError> {
        for digest in blobs {
            if let Some(bytes) = self.shadow.blob(digest)? {
                self.disk.put_blob(digest, &bytes)?;
            }
        }
        let bytes_of = |digest: &Digest| self.blob(digest).ok().flatten();
        let listed = blobs.iter().cloned().collect();
        let bytes = document::write(self.forms.as_ref(), session, whole, listed, &bytes_of)
            .map_err(|message| StoreError::Io { message })?;
        self.disk.write(path, &bytes)?;
        Disk::stamp(path)?.ok_or(StoreError::Unknown)
    }
}

impl Store for FileStore {
    fn create(&self, first: &Append) -> Result<Created, StoreError> {
        self.change(first, Store::create)
    }

    fn load(&self, session: &SessionId) -> Result<Option<Loaded>, StoreError> {
        self.one(session)?;
        self.shadow.load(session)
    }

    fn events_after(
        &self,
        session: &SessionId,
        version: Version,
        limit: u32,
    ) -> Result<Vec<KeptEvent>, StoreError> {
        self.one(session)?;
        self.shadow.events_after(session, version, limit)
    }

    fn append(&self, append: &Append) -> Result<Version, StoreError> {
        self.change(append, Store::append)
    }

    fn row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.one(session)?;
        self.shadow.row(session)
    }

    fn due(&self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.all()?;
        self.shadow.due(now, limit)
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.all()?;
        self.shadow.next_due()
    }

    fn owing(&self, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.all()?;
        self.shadow.owing(limit)
    }

    fn by_token(&self, token: &str) -> Result<Option<SessionId>, StoreError> {
        self.all()?;
        self.shadow.by_token(token)
    }

    fn awaiting(&self, after: Option<&SessionId>, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.all()?;
        self.shadow.awaiting(after, limit)
    }

    fn children(&self, session: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.all()?;
        self.shadow.children(session)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<SessionRow>, StoreError> {
        self.all()?;
        self.shadow.list(filter)
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
                let _lock = self.disk.lock()?;
                let mut leases = self.disk.leases()?;
                let standing = leases.iter().find(|lease| {
                    lease.session == wanted.session
                        && lease.holder != wanted.holder
                        && lease.until > now
                        && Some(&lease.holder) != buried.as_ref()
                });
                match standing.cloned() {
                    None => {
                        // One that has lapsed tells for a while who went without giving it back.
                        leases.retain(|lease| {
                            lease.session != wanted.session && lease.until.plus(LAPSED_KEPT) > now
                        });
                        leases.push(wanted.clone());
                        self.disk.set_leases(&leases)?;
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
        let _lock = self.disk.lock()?;
        let mut leases = self.disk.leases()?;
        leases.sort_by(|a, b| a.session.cmp(&b.session));
        Ok(leases)
    }

    fn release(&self, session: &SessionId, holder: &str) -> Result<(), StoreError> {
        let _lock = self.disk.lock()?;
        let mut leases = self.disk.leases()?;
        let before = leases.len();
        leases.retain(|lease| lease.session != *session || lease.holder != holder);
        if leases.len() == before { Ok(()) } else { self.disk.set_leases(&leases) }
    }

    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        let _lock = self.disk.lock()?;
        let there = self.disk.path(session).filter(|path| matches!(Disk::stamp(path), Ok(Some(_))));
        let path = there.ok_or(StoreError::Unknown)?;
        self.disk.remove(&path)?;
        self.seen().remove(session);
        self.shadow.forget(session);
        let mut leases = self.disk.leases()?;
        leases.retain(|lease| lease.session != *session);
        self.disk.set_leases(&leases)
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<Digest, StoreError> {
        let digest = check_blob(bytes)?;
        self.disk.put_blob(&digest, bytes)?;
        Ok(digest)
    }

    fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        match self.disk.blob(digest)? {
            Some(bytes) => verified(digest, bytes).map(Some),
            None => self.shadow.blob(digest),
        }
    }
}
