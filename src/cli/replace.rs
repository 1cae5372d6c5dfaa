//! Puts a new text in the place of a file, whole or not at all. Decides nothing about texts.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Beside it first, then renamed, so that a reader sees the old file or the new one. A link stays a link, permissions
/// stay as they are, and a file that somebody has changed meanwhile is left alone.
pub(super) fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<(), String> {
    let words = |error: std::io::Error| error.to_string();
    let real = path.canonicalize().map_err(words)?;
    if std::fs::read(&real).map_err(words)? != before {
        return Err("it was changed meanwhile".to_owned());
    }
    let permissions = std::fs::metadata(&real).map_err(words)?.permissions();
    if permissions.readonly() {
        return Err("it is read-only".to_owned());
    }
    let mut beside = real.clone().into_os_string();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(after)?;
        file.set_permissions(permissions)?;
        file.sync_all()?;
        std::fs::rename(&beside, &real)
    };
    write().map_err(|error| {
        // What is left beside it is of no use to anybody; if it cannot be removed either, the first error counts.
        let _ = std::fs::remove_file(&beside);
        error.to_string()
    })
}
