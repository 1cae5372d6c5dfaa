//! Which files of a package a toolbox may touch, and touching them: reading whole texts, putting others in their
//! place. No path leads out of the package, through `..`, links or another spelling of a name either. What is judged is
//! where a path truly leads, never what it is called.

mod predicate;

use super::paths;
use crate::ir;
use crate::ir::toolbox::FilePredicate;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The files that a toolbox may touch.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// The package, without links.
    root: PathBuf,
    /// As the host names it.
    named: PathBuf,
    predicate: FilePredicate,
    max_file_bytes: u64,
}

/// Where a path truly leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// From the root of the package.
    pub relative: PathBuf,
    /// On this machine.
    pub full: PathBuf,
    /// Its length, where it is there and a file.
    pub length: Option<u64>,
    /// Whether it is there and a folder.
    pub is_folder: bool,
}

impl Place {
    /// As a model names it.
    #[must_use]
    pub fn shown(&self) -> String {
        let text = self.relative.to_string_lossy().replace('\\', "/");
        if text.is_empty() { ".".to_owned() } else { text }
    }
}

impl Sandbox {
    /// Without a predicate no file is in it.
    ///
    /// # Errors
    /// The package folder is not there.
    pub fn new(root: &Path, predicate: Option<&FilePredicate>, max_file_bytes: u64) -> Result<Self, String> {
        let real = root.canonicalize();
        let real =
            real.map_err(|error| format!("the folder {} cannot be opened: {error}", root.display()))?;
        let predicate = predicate.cloned().unwrap_or(FilePredicate::Any(Vec::new()));
        Ok(Self { root: real, named: root.to_path_buf(), predicate, max_file_bytes })
    }

    /// Where a path leads, whether or not something is there yet.
    ///
    /// # Errors
    /// It leads out of the package, or its folders cannot be entered.
    pub fn place(&self, path: &str) -> Result<Place, String> {
        let relative = self.relative(path)?;
        let mut full = self.root.clone();
        let mut is_new = false;
        for segment in relative.iter() {
            let next = full.join(segment);
            if is_new {
                full = next;
                continue;
            }
            match next.symlink_metadata() {
                Ok(_) => {
                    full = next.canonicalize().map_err(|error| {
                        if error.kind() == ErrorKind::NotFound {
                            // A link to nothing: what would be written there is not where it seems.
                            return format!("`{path}` is a link that leads nowhere");
                        }
                        format!("`{path}` cannot be opened: {error}")
                    })?;
                    if !full.starts_with(&self.root) {
                        return Err(format!(
                            "`{path}` leads out of the package through a link, which is refused"
                        ));
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    is_new = true;
                    full = next;
                }
                Err(error) => return Err(format!("`{path}` cannot be opened: {error}")),
            }
        }
        let about = if is_new { None } else { full.symlink_metadata().ok() };
        let relative = full.strip_prefix(&self.root).map(Path::to_path_buf).unwrap_or_default();
        paths::not_the_store(path, &relative)?;
        Ok(Place {
            relative,
            full,
            length: about.as_ref().filter(|about| about.is_file()).map(Metadata::len),
            is_folder: about.as_ref().is_some_and(Metadata::is_dir),
        })
    }

    /// A path from the root; one that is written from the root of the machine may lie in the package too.
    fn relative(&self, path: &str) -> Result<PathBuf, String> {
        for root in [&self.root, &self.named] {
            if root.is_absolute()
                && let Ok(rest) = Path::new(path).strip_prefix(root)
                && let Some(rest) = rest.to_str()
            {
                return paths::relative(rest);
            }
        }
        paths::relative(path)
    }

    /// Whether a place may be touched, with the length that a file has or is to have.
    #[must_use]
    pub fn allows(&self, place: &Place, length: u64) -> bool {
        predicate::fits(&self.predicate, &self.root, &place.relative, place.is_folder, length)
    }

    /// Whether something that may be touched can lie in a folder, so that its names may be seen.
    #[must_use]
    pub fn leads(&self, folder: &Path) -> bool {
        predicate::leads(&self.predicate, &self.root, folder)
    }

    /// The text of a file.
    ///
    /// # Errors
    /// One sentence: it is not there, may not be touched, is too large or is no text.
    pub fn read(&self, path: &str) -> Result<(Place, String), String> {
        let place = self.place(path)?;
        let bytes = self.bytes(path, &place)?;
        text_of(path, bytes).map(|text| (place, text))
    }

    /// The bytes of a file that was placed before.
    ///
    /// # Errors
    /// As [`Sandbox::read`], but for what is in it.
    pub fn bytes(&self, path: &str, place: &Place) -> Result<Vec<u8>, String> {
        if place.is_folder {
            return Err(self.outside(path, place, 0).unwrap_or_else(|| format!("`{path}` is a folder")));
        }
        if let Some(why) = self.outside(path, place, place.length.unwrap_or(0)) {
            return Err(why);
        }
        let Some(length) = place.length else {
            let is_there = place.full.symlink_metadata().is_ok();
            let what = if is_there { "is no regular file" } else { "is not there" };
            return Err(format!("`{path}` {what}"));
        };
        self.small_enough(path, length)?;
        let fault = |error: std::io::Error| format!("`{path}` cannot be read: {error}");
        let mut file = File::open(&place.full).map_err(fault)?;
        // Between the look and the opening something else may have been put there.
        let opened = file.metadata().map_err(fault)?;
        if !same(&opened, &place.full.symlink_metadata().map_err(fault)?) || !opened.is_file() {
            return Err(format!("`{path}` was changed while it was opened"));
        }
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(self.max_file_bytes + 1).read_to_end(&mut bytes).map_err(fault)?;
        self.small_enough(path, bytes.len() as u64)?;
        Ok(bytes)
    }

    /// Puts a text in the place of a file, whole or not at all. Missing folders are made.
    ///
    /// # Errors
    /// One sentence: it may not be touched, is too large or cannot be written. Nothing was changed then.
    pub fn write(&self, path: &str, place: &Place, text: &str) -> Result<(), String> {
        let length = text.len() as u64;
        if place.is_folder {
            return Err(format!("`{path}` is a folder"));
        }
        if let Some(why) = self.outside(path, place, length) {
            return Err(why);
        }
        self.small_enough(path, length)?;
        let fault = |error: std::io::Error| format!("`{path}` cannot be written: {error}");
        let about = place.full.symlink_metadata().ok();
        if about.as_ref().is_some_and(|about| !about.is_file()) {
            return Err(format!("`{path}` is no regular file"));
        }
        let folder = place.full.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(folder).map_err(fault)?;
        // Folders that were not there when the path was placed may be links by now.
        if folder.canonicalize().map_err(fault)? != folder {
            return Err(format!("`{path}` was changed while it was written"));
        }
        let (new, mut file) = beside(folder).map_err(fault)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| about.map_or(Ok(()), |about| file.set_permissions(about.permissions())))
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&new, &place.full));
        if let Err(error) = written {
            let _ = std::fs::remove_file(&new);
            return Err(fault(error));
        }
        // Where the system can, the new name is made to last; it is there without that too.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Why a place may not be touched.
    fn outside(&self, path: &str, place: &Place, length: u64) -> Option<String> {
        (!self.allows(place, length))
            .then(|| format!("`{path}` may not be touched: it is not in the sandbox"))
    }

    fn small_enough(&self, path: &str, length: u64) -> Result<(), String> {
        if length <= self.max_file_bytes {
            return Ok(());
        }
        Err(format!("`{path}` has {length} bytes; at most {} are read or written", self.max_file_bytes))
    }
}

/// Bytes as text.
fn text_of(path: &str, bytes: Vec<u8>) -> Result<String, String> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(format!("`{path}` is no text: byte {} is NUL", at + 1));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        format!("`{path}` is no text: byte {at} is not UTF-8")
    })
}

/// A new file in a folder.
fn beside(folder: &Path) -> std::io::Result<(PathBuf, File)> {
    let path = folder.join(format!(".flowright-{}", uuid::Uuid::new_v4().simple()));
    let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    Ok((path, file))
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn same(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.file_type() == other.file_type()
}

/// What names a state of a text: a later edit can ask that it is still this one.
#[must_use]
pub fn state_of(text: &str) -> String {
    ir::Digest::of(text.as_bytes()).to_string()
}
