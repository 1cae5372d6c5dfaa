//! Writes files whole or not at all. Decides nothing about what is in them.

use std::fs::Permissions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A link stays a link, permissions stay as they are, and a file that somebody has changed meanwhile is left alone.
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
    write(&real, after, Some(permissions)).map_err(words)
}

/// Beside it first, then renamed: a reader sees the old file or the new one, never half of it.
pub(super) fn write(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(bytes)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| {
        // What is left beside it is of no use to anybody; if it cannot be removed either, the first error counts.
        let _ = std::fs::remove_file(&beside);
    })
}

/// Lets everybody run a file, where files have such a right.
#[cfg(unix)]
pub(super) fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// Lets everybody run a file, where files have such a right.
#[cfg(not(unix))]
pub(super) fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
