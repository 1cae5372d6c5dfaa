//! Addresses of documents: `file:` URIs and paths. Nothing here looks at a disk.

use crate::escape::{URI_PATH, percent_decoded, percent_encoded};
use std::path::{Path, PathBuf};

/// The path of a `file:` URI; `None` for other addresses.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = match rest.strip_prefix("//") {
        Some(rest) => {
            let slash = rest.find('/')?;
            let (host, path) = rest.split_at_checked(slash)?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            path
        }
        None => rest,
    };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let decoded = percent_decoded(rest.get(..end)?)?;
    if !decoded.starts_with('/') || decoded.contains('\0') {
        return None;
    }
    let drive = decoded.as_bytes().get(2) == Some(&b':');
    let inside = if cfg!(windows) && drive { decoded.strip_prefix('/')? } else { &decoded };
    Some(PathBuf::from(inside))
}

/// The `file:` URI of an absolute path.
pub(super) fn of(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let scheme = if text.starts_with('/') { "file://" } else { "file:///" };
    format!("{scheme}{}", percent_encoded(&text, URI_PATH))
}

/// One spelling for all of the same file.
pub(super) fn canonical(uri: &str) -> String {
    path(uri).map_or_else(|| uri.to_owned(), |path| of(&path))
}
