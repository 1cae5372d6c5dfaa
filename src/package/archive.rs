//! What is in a package, from a folder or from an archive, and the one archive that stands for it: plain files alone,
//! sorted, without times, owners and links. An archive that is not byte for byte that one is refused.

use super::manifest::{self, Manifest};
use super::{ALL_BYTES, FILE_BYTES, MOST_FILES, PATH_BYTES};
use crate::ir::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it may be run.
    pub executable: bool,
}

/// All files of a package by package path, with its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The manifest.
    pub manifest: Manifest,
    /// By path with `/`, in the order of bytes.
    pub items: BTreeMap<String, Item>,
}

/// Files and bytes taken so far, so that every limit holds before the next one is read.
#[derive(Default)]
struct Taking {
    items: BTreeMap<String, Item>,
    /// Paths as a disk sees them that does not tell capitals.
    folded: BTreeSet<String>,
    bytes: u64,
}

impl Taking {
    fn take(&mut self, path: &str, executable: bool, length: u64, from: impl Read) -> Result<(), String> {
        check_path(path)?;
        if length > FILE_BYTES {
            return Err(format!("`{path}` has more than {FILE_BYTES} bytes"));
        }
        self.bytes += length;
        if self.bytes > ALL_BYTES {
            return Err(format!("the package has more than {ALL_BYTES} bytes"));
        }
        if self.items.len() >= MOST_FILES {
            return Err(format!("the package has more than {MOST_FILES} files"));
        }
        if !self.folded.insert(path.to_lowercase()) {
            return Err(format!("`{path}` is there twice, capitals aside"));
        }
        let mut bytes = Vec::new();
        let read = from.take(FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("`{path}` cannot be read: {error}"))?;
        if bytes.len() as u64 != length {
            return Err(format!("`{path}` has another length than it says"));
        }
        self.items.insert(path.to_owned(), Item { bytes, executable });
        Ok(())
    }

    fn done(self) -> Result<Contents, String> {
        for path in self.items.keys() {
            // A path that is a file and a folder at once: a disk can hold only one of them.
            let mut folder = path.as_str();
            while let Some((above, _)) = folder.rsplit_once('/') {
                if self.items.contains_key(above) || self.folded.contains(&above.to_lowercase()) {
                    return Err(format!("`{above}` is a file, and `{path}` lies in it"));
                }
                folder = above;
            }
        }
        let found = manifest::NAMES.iter().find_map(|name| Some((*name, self.items.get(*name)?)));
        let Some((name, item)) = found else {
            return Err(format!("there is no {} and no {}", manifest::NAMES[0], manifest::NAMES[1]));
        };
        let manifest = Manifest::read(name, &item.bytes).map_err(|why| format!("{name} {why}"))?;
        Ok(Contents { manifest, items: self.items })
    }
}

/// A path that every disk can hold, that hides nothing and leads nowhere else.
fn check_path(path: &str) -> Result<(), String> {
    let shown = path.escape_debug();
    let refuse = |why: &str| Err(format!("`{shown}` is refused: {why}"));
    if path.is_empty() || path.len() > PATH_BYTES {
        return refuse("a path has 1 to 100 bytes");
    }
    for part in path.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return refuse("it is not a plain path from the package root");
        }
        if part.starts_with('.') {
            return refuse("hidden files are no part of a package");
        }
        if part.ends_with(['.', ' ']) || part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
            return refuse("not every disk can hold this name");
        }
        if part.chars().any(|c| c.is_control() || crate::escape::is_hidden(c)) {
            return refuse("it holds hidden characters");
        }
    }
    Ok(())
}

impl Contents {
    /// The package in a folder. Hidden files are passed over; a link, a pipe or a device is refused.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub fn of_folder(root: &Path) -> Result<Self, String> {
        let mut taking = Taking::default();
        walk(root, "", &mut taking)?;
        taking.done()
    }

    /// The package in an archive.
    ///
    /// # Errors
    /// One sentence; also where the bytes are not those that [`Contents::archive`] would write.
    pub fn of_archive(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > ALL_BYTES * 2 {
            return Err(format!("the archive has more than {} bytes", ALL_BYTES * 2));
        }
        let broken = |error: std::io::Error| format!("the archive cannot be read: {error}");
        let mut taking = Taking::default();
        let mut archive = tar::Archive::new(bytes);
        for entry in archive.entries().map_err(broken)?.raw(true) {
            let entry = entry.map_err(broken)?;
            let path = entry.path_bytes();
            let path =
                std::str::from_utf8(&path).map_err(|_| "a path of the archive is not UTF-8".to_owned())?;
            let path = path.to_owned();
            if entry.header().entry_type() != tar::EntryType::Regular {
                return Err(format!(
                    "`{}` is no plain file; a package holds nothing else",
                    path.escape_debug()
                ));
            }
            let executable = entry.header().mode().map_err(broken)? & 0o111 != 0;
            let length = entry.header().size().map_err(broken)?;
            taking.take(&path, executable, length, entry)?;
        }
        let contents = taking.done()?;
        if contents.archive()? == bytes {
            Ok(contents)
        } else {
            Err("the archive is not in the one form that packages have; `flowright package build` writes it"
                .to_owned())
        }
    }

    /// The archive of the package: the same bytes for the same files, everywhere.
    ///
    /// # Errors
    /// One sentence if a path cannot be written.
    pub fn archive(&self) -> Result<Vec<u8>, String> {
        let failed = |path: &str, error: std::io::Error| format!("`{path}` cannot be archived: {error}");
        let mut builder = tar::Builder::new(Vec::new());
        for (path, item) in &self.items {
            let mut header = tar::Header::new_ustar();
            header.set_path(path).map_err(|error| failed(path, error))?;
            header.set_size(item.bytes.len() as u64);
            header.set_mode(if item.executable { 0o755 } else { 0o644 });
            header.set_mtime(0);
            header.set_uid(0);
            header.set_gid(0);
            header.set_entry_type(tar::EntryType::Regular);
            header.set_cksum();
            builder.append(&header, item.bytes.as_slice()).map_err(|error| failed(path, error))?;
        }
        builder.into_inner().map_err(|error| failed("the end", error))
    }

    /// Digest of the archive.
    ///
    /// # Errors
    /// As [`Contents::archive`].
    pub fn digest(&self) -> Result<Digest, String> {
        Ok(Digest::of(&self.archive()?))
    }
}

fn walk(root: &Path, under: &str, taking: &mut Taking) -> Result<(), String> {
    let folder = root.join(under);
    let failed = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(format!("{} has a name that is not UTF-8", entry.path().display()));
        };
        if name.starts_with('.') {
            continue;
        }
        let path = if under.is_empty() { name.to_owned() } else { format!("{under}/{name}") };
        // Of the link itself, not of what it leads to.
        let about = std::fs::symlink_metadata(entry.path()).map_err(failed)?;
        if about.is_dir() {
            if path.len() > PATH_BYTES {
                return Err(format!("`{path}` is refused: a path has 1 to 100 bytes"));
            }
            walk(root, &path, taking)?;
        } else if about.is_file() {
            let file = std::fs::File::open(entry.path()).map_err(failed)?;
            taking.take(&path, is_executable(&about), about.len(), file)?;
        } else {
            return Err(format!("`{path}` is a link, a pipe or a device; a package holds plain files alone"));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_about: &std::fs::Metadata) -> bool {
    false
}
