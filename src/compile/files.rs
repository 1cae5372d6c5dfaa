//! Files of a package, by package path: paths from the package root with `/`, and never out of it.
//!
//! [`Folder`] reads a folder of the disk and refuses `..`, absolute paths and links that leave the root;
//! [`Memory`] holds texts for tests and definitions that are given inline.

use crate::resolve::package_path::normal;
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Files of one package.
pub trait Files {
    /// The content of a file.
    ///
    /// # Errors
    /// Why it cannot be had.
    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError>;

    /// Names of the files directly in a folder, sorted; empty if there is none.
    fn list(&self, dir: &str) -> Vec<String>;

    /// What people see of a file of the package: its package path, unless its place is known better.
    fn shown(&self, package_path: &str) -> String {
        package_path.to_owned()
    }

    /// Whether a file may be run as a program; `None` if that cannot be said.
    fn is_executable(&self, _package_path: &str) -> Option<bool> {
        None
    }
}

/// Why a file cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// There is none.
    Missing,
    /// The path may not be used.
    Outside(String),
    /// It is there and cannot be read.
    Unreadable(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such file"),
            Self::Outside(why) | Self::Unreadable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FileError {}

/// Names of the files that mark the root of a package.
const MANIFESTS: [&str; 2] = ["package.toml", "plugin.json"];
/// Bytes of the largest file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// The nearest folder upward from a file with a manifest, else the file's own folder. An agent is found in the folder
/// `agents` of its package: without a manifest the package is then the folder around that one.
#[must_use]
pub fn package_root(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let own = absolute.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let root = own.ancestors().find(|dir| MANIFESTS.iter().any(|name| dir.join(name).is_file()));
    if let Some(root) = root {
        return root.to_path_buf();
    }
    let is_agents = own.file_name().is_some_and(|name| name == "agents");
    match own.parent() {
        Some(around) if is_agents => around.to_path_buf(),
        Some(_) | None => own,
    }
}

/// A folder of the disk.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    shown: String,
    /// The root without links, found when a file is first asked for.
    real: OnceLock<PathBuf>,
}

impl Folder {
    /// `root` is the root of the package.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), shown: String::new(), real: OnceLock::new() }
    }

    /// With what is put before a package path to show it: empty, or ending in `/`.
    #[must_use]
    pub fn shown_under(mut self, prefix: impl Into<String>) -> Self {
        self.shown = prefix.into();
        self
    }

    fn inside(&self, package_path: &str) -> Result<PathBuf, FileError> {
        let path = normal(package_path).map_err(FileError::Outside)?;
        let root = match self.real.get() {
            Some(root) => root,
            None => {
                let root = self.root.canonicalize().map_err(|error| fault(&error))?;
                self.real.get_or_init(|| root)
            }
        };
        let real = root.join(path).canonicalize().map_err(|error| fault(&error))?;
        if real.starts_with(root) {
            Ok(real)
        } else {
            Err(FileError::Outside("it is a link out of the package, which is refused".to_owned()))
        }
    }
}

fn fault(error: &std::io::Error) -> FileError {
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return FileError::Missing;
    }
    FileError::Unreadable(format!("the file cannot be read: {error}"))
}

impl Files for Folder {
    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError> {
        let path = self.inside(package_path)?;
        let about = std::fs::metadata(&path).map_err(|error| fault(&error))?;
        if !about.is_file() {
            return Err(FileError::Unreadable("it is no regular file".to_owned()));
        }
        if about.len() > MAX_BYTES {
            let size = about.len();
            return Err(FileError::Unreadable(format!("it has {size} bytes; at most {MAX_BYTES} are read")));
        }
        std::fs::read(path).map_err(|error| fault(&error))
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let Ok(path) = self.inside(dir) else { return Vec::new() };
        let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
        let names = entries.filter_map(Result::ok).filter(|entry| entry.path().is_file());
        let mut names: Vec<_> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn shown(&self, package_path: &str) -> String {
        format!("{}{package_path}", self.shown)
    }

    #[cfg(unix)]
    fn is_executable(&self, package_path: &str) -> Option<bool> {
        use std::os::unix::fs::PermissionsExt as _;
        let about = std::fs::metadata(self.inside(package_path).ok()?).ok()?;
        Some(about.is_file() && about.permissions().mode() & 0o111 != 0)
    }
}

/// Texts by package path.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With one file more; a path that leaves the package is never found.
    #[must_use]
    pub fn with(mut self, package_path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(normal(package_path).unwrap_or_default(), bytes.into());
        self
    }
}

impl Files for Memory {
    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError> {
        let path = normal(package_path).map_err(FileError::Outside)?;
        self.files.get(&path).cloned().ok_or(FileError::Missing)
    }

    fn list(&self, dir: &str) -> Vec<String> {
        let Ok(dir) = normal(dir) else { return Vec::new() };
        let names = self.files.keys().filter_map(|path| path.strip_prefix(&dir)?.strip_prefix('/'));
        names.filter(|name| !name.contains('/')).map(str::to_owned).collect()
    }

    /// A text has no mode: a script says by its first line that it is one.
    fn is_executable(&self, package_path: &str) -> Option<bool> {
        Some(self.read(package_path).ok()?.starts_with(b"#!"))
    }
}
