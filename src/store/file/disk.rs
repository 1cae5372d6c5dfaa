//! The folder of a file store: one lock, files that are there whole or not at all, blobs and leases beside them. Knows
//! nothing of what the documents hold.

use crate::engine::SessionId;
use crate::ir::Digest;
use crate::store::{Lease, StoreError};
use crate::time::Timestamp;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    number: u64,
    length: u64,
    nanos: i128,
}

impl Stamp {
    /// When the file was written.
    pub(super) fn at(self) -> Timestamp {
        Timestamp(i64::try_from(self.nanos.div_euclid(1_000_000)).unwrap_or_default())
    }
}

#[derive(Debug)]
pub(super) struct Disk {
    folder: PathBuf,
    written: AtomicU64,
}

/// Held for as long as it lives.
pub(super) struct Locked(#[expect(dead_code, reason = "dropping it gives the lock back")] File);

fn fault(path: &Path) -> impl Fn(std::io::Error) -> StoreError + '_ {
    move |error| StoreError::Io { message: format!("{}: {error}", path.display()) }
}

impl Disk {
    /// Makes the folder, for its owner alone, if it is not there.
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        let blobs = folder.join("blobs");
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&blobs).map_err(fault(&blobs))?;
        Ok(Self { folder: folder.to_path_buf(), written: AtomicU64::new(0) })
    }

    /// Waits until no other writer, in this process or another, holds the folder.
    pub(super) fn lock(&self) -> Result<Locked, StoreError> {
        let path = self.folder.join(".lock");
        let file = options().create(true).truncate(false).open(&path).map_err(fault(&path))?;
        file.lock().map_err(fault(&path))?;
        Ok(Locked(file))
    }

    /// Where the document of a session is. An id that is no plain file name has none.
    pub(super) fn path(&self, session: &SessionId) -> Option<PathBuf> {
        let id = &session.0;
        let plain = !id.is_empty()
            && id.len() <= 128
            && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        plain.then(|| self.folder.join(format!("conv.{id}.json")))
    }

    /// Sessions that have a document.
    pub(super) fn sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(fault(&self.folder))? {
            let name = entry.map_err(fault(&self.folder))?.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix("conv.")?.strip_suffix(".json"));
            found.extend(id.map(|id| SessionId(id.to_owned())).filter(|id| self.path(id).is_some()));
        }
        found.sort();
        Ok(found)
    }

    /// The state of a file, if it is there.
    pub(super) fn stamp(path: &Path) -> Result<Option<Stamp>, StoreError> {
        match fs::metadata(path) {
            Ok(about) => Ok(Some(stamp(&about))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault(path)(error)),
        }
    }

    /// The bytes of a file, if it is there.
    pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fault(path)(error)),
        }
    }

    /// Writes a file beside its place, brings it to the disk and puts it there.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let beside = self.folder.join(format!(".{}.{number}.tmp", std::process::id()));
        let outcome = (|| {
            let mut file = options().create(true).truncate(true).open(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&beside, path)?;
            sync(path.parent().unwrap_or(&self.folder))
        })();
        outcome.map_err(|error| {
            // What is left beside it is of no use; if it cannot be removed either, the first error counts.
            let _ = fs::remove_file(&beside);
            fault(path)(error)
        })
    }

    /// Takes a file away for good.
    pub(super) fn remove(&self, path: &Path) -> Result<(), StoreError> {
        fs::remove_file(path).and_then(|()| sync(&self.folder)).map_err(fault(path))
    }

    /// A document may name what is no digest, and that must not become a path.
    fn blob_path(&self, digest: &Digest) -> Option<PathBuf> {
        let digest = Digest::parse(digest.as_str())?;
        Some(self.folder.join("blobs").join(digest.as_str().replace(':', "-")))
    }

    pub(super) fn has_blob(&self, digest: &Digest) -> bool {
        self.blob_path(digest).is_some_and(|path| path.is_file())
    }

    pub(super) fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.blob_path(digest).map_or(Ok(None), |path| Self::read(&path))
    }

    pub(super) fn put_blob(&self, digest: &Digest, bytes: &[u8]) -> Result<(), StoreError> {
        if self.has_blob(digest) {
            return Ok(());
        }
        self.blob_path(digest).map_or(Ok(()), |path| self.write(&path, bytes))
    }

    /// Leases of all sessions. A file that is no list of leases counts as none: a lease only permits takeover.
    pub(super) fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        let bytes = Self::read(&self.folder.join(".leases.json"))?.unwrap_or_default();
        let listed: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let one = |value: &Value| {
            Some(Lease {
                session: SessionId(value.get("session")?.as_str()?.to_owned()),
                holder: value.get("holder")?.as_str()?.to_owned(),
                until: Timestamp(value.get("until")?.as_i64()?),
            })
        };
        Ok(listed.as_array().into_iter().flatten().filter_map(one).collect())
    }

    pub(super) fn set_leases(&self, leases: &[Lease]) -> Result<(), StoreError> {
        let listed: Vec<Value> = leases
            .iter()
            .map(
                |lease| json!({ "session": lease.session.0, "holder": lease.holder, "until": lease.until.0 }),
            )
            .collect();
        self.write(&self.folder.join(".leases.json"), Value::Array(listed).to_string().as_bytes())
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn sync(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn stamp(about: &fs::Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let nanos = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    Stamp { number: about.ino(), length: about.len(), nanos }
}

#[cfg(windows)]
fn stamp(about: &fs::Metadata) -> Stamp {
    use std::os::windows::fs::MetadataExt as _;
    // Steps of 100 ns since 1601.
    let nanos = (i128::from(about.last_write_time()) - 116_444_736_000_000_000) * 100;
    Stamp { number: 0, length: about.len(), nanos }
}
