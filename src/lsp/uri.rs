//! Addresses of documents: `file:` URIs and paths. Nothing here looks at a disk.

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
    let decoded = decode(rest.get(..end)?)?;
    if !decoded.starts_with('/') {
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
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// One spelling for all of the same file.
pub(super) fn canonical(uri: &str) -> String {
    path(uri).map_or_else(|| uri.to_owned(), |path| of(&path))
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (char::from(rest.next()?).to_digit(16)?, char::from(rest.next()?).to_digit(16)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}
