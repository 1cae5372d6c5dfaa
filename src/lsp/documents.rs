//! The open documents, and the files of a package as the editor sees them: what is open first, then the disk.

use super::judged::Judged;
use super::text::Text;
use super::uri;
use crate::compile::{FileError, Files, Folder};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// A document that is open in the editor.
#[derive(Debug)]
pub(super) struct Document {
    /// Its address as the client writes it.
    pub uri: String,
    /// Its path, if it is a file.
    pub path: Option<PathBuf>,
    /// What the client takes it for.
    pub language: String,
    /// The client's number of this state.
    pub version: i32,
    /// Its text now.
    pub text: Text,
    /// What is known of it; `None` if it is neither a workflow nor an agent.
    pub judged: Option<Judged>,
    /// Whether something has changed since it was judged.
    pub is_stale: bool,
}

/// The open documents by canonical address.
#[derive(Debug, Default)]
pub(super) struct Documents {
    pub all: BTreeMap<String, Document>,
}

impl Documents {
    /// A document by its address in the client's spelling.
    pub(super) fn get(&self, uri: &str) -> Option<&Document> {
        self.all.get(uri).or_else(|| self.all.get(&uri::canonical(uri)))
    }

    pub(super) fn get_mut(&mut self, uri: &str) -> Option<&mut Document> {
        self.all.get_mut(&uri::canonical(uri))
    }

    /// The text of a file as the editor sees it.
    pub(super) fn text_of(&self, path: &Path) -> Option<String> {
        let open = self.all.get(&uri::of(path)).map(|document| document.text.as_str().to_owned());
        open.or_else(|| std::fs::read_to_string(path).ok())
    }

    /// Marks what depends on a file. If it came or went, what has listed its folder depends on it too.
    pub(super) fn mark(&mut self, path: &Path, came_or_went: bool) {
        let folder = path.parent().unwrap_or(path);
        for document in self.all.values_mut() {
            let Some(judged) = &document.judged else { continue };
            let has_listed = came_or_went && judged.reads.folders.contains(folder);
            document.is_stale |= has_listed || judged.reads.files.contains(path);
        }
    }

    /// Marks all.
    pub(super) fn mark_all(&mut self) {
        for document in self.all.values_mut() {
            document.is_stale = true;
        }
    }
}

/// What a compile asked for, whether it was there or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    pub files: BTreeSet<PathBuf>,
    pub folders: BTreeSet<PathBuf>,
}

/// The files of a package as the editor sees them.
pub(super) struct Overlay<'a> {
    root: &'a Path,
    folder: Folder,
    open: &'a Documents,
    reads: RefCell<Reads>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(root: &'a Path, open: &'a Documents) -> Self {
        Self { root, folder: Folder::new(root), open, reads: RefCell::default() }
    }

    pub(super) fn into_reads(self) -> Reads {
        self.reads.into_inner()
    }

    /// Where a package path leads, if it stays in the package; the folder says what is wrong with others.
    fn inside(&self, package_path: &str) -> Option<PathBuf> {
        let path = Path::new(package_path);
        let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        stays.then(|| self.root.join(names.collect::<PathBuf>()))
    }
}

impl Files for Overlay<'_> {
    /// The path itself, from which addresses are made.
    fn shown(&self, package_path: &str) -> String {
        self.inside(package_path).map_or_else(|| package_path.to_owned(), |path| path.display().to_string())
    }

    fn is_executable(&self, package_path: &str) -> Option<bool> {
        self.folder.is_executable(package_path)
    }

    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError> {
        let Some(path) = self.inside(package_path) else { return self.folder.read(package_path) };
        let open =
            self.open.all.get(&uri::of(&path)).map(|document| document.text.as_str().as_bytes().to_vec());
        self.reads.borrow_mut().files.insert(path);
        match (open, self.folder.read(package_path)) {
            // A link out of the package stays refused when it is open.
            (_, Err(FileError::Outside(why))) => Err(FileError::Outside(why)),
            (Some(bytes), Ok(_) | Err(FileError::Missing | FileError::Unreadable(_))) => Ok(bytes),
            (None, read) => read,
        }
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let mut names = self.folder.list(dir);
        let Some(folder) = self.inside(dir) else { return names };
        let open = self.open.all.values().filter_map(|document| {
            let path = document.path.as_deref()?;
            (path.parent() == Some(&folder)).then(|| path.file_name()?.to_str().map(str::to_owned))?
        });
        names.extend(open);
        names.sort();
        names.dedup();
        self.reads.borrow_mut().folders.insert(folder);
        names
    }
}
