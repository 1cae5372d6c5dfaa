//! Paths of a package on this machine: never out of its root, through no link either. Opens no file.

use std::path::{Path, PathBuf};

/// Where a package path lies, all links followed; it is there.
///
/// # Errors
/// One sentence if it is not there, or lies outside of the package.
pub fn inside(root: &Path, package_path: &str) -> Result<PathBuf, String> {
    let relative = relative(package_path)?;
    let real_root = root
        .canonicalize()
        .map_err(|error| format!("the folder {} of the package cannot be opened: {error}", root.display()))?;
    let real = real_root.join(relative).canonicalize().map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            format!("`{package_path}` is not in the package")
        } else {
            format!("`{package_path}` cannot be opened: {error}")
        }
    })?;
    if real.starts_with(&real_root) {
        Ok(real)
    } else {
        Err(format!("`{package_path}` is a link out of the package, which is refused"))
    }
}

/// Refuses what lies in the folder of the store: tools cannot reach it (invariant 7). `relative` counts from the root
/// of the package, without links.
///
/// # Errors
/// One sentence that names the path as it was `asked` for.
pub fn not_the_store(asked: &str, relative: &Path) -> Result<(), String> {
    let is_store = |part: std::path::Component<'_>| {
        part.as_os_str().to_str().is_some_and(|name| name.eq_ignore_ascii_case(STORE_FOLDER))
    };
    if relative.components().any(is_store) {
        return Err(format!("`{asked}` is refused: no tool reaches the sessions in `{STORE_FOLDER}`"));
    }
    Ok(())
}

/// The folder that holds sessions.
const STORE_FOLDER: &str = ".flowright";

/// A package path as a relative path without `.`; the empty path is the package.
///
/// # Errors
/// One sentence if it is absolute, leaves the package or cannot be one.
pub fn relative(package_path: &str) -> Result<PathBuf, String> {
    let refuse = |why: &str| Err(format!("`{package_path}` is refused: {why}"));
    if package_path.contains('\0') {
        return refuse("a path holds no NUL character");
    }
    if package_path.starts_with(['/', '\\']) || package_path.as_bytes().get(1) == Some(&b':') {
        return refuse("it is an absolute path; paths count from the package root");
    }
    let mut out = PathBuf::new();
    for segment in package_path.split('/') {
        match segment {
            "" | "." => {}
            ".." => return refuse("`..` leaves the package"),
            name if cfg!(windows) && name.contains('\\') => return refuse("paths are written with `/`"),
            name => out.push(name),
        }
    }
    Ok(out)
}
