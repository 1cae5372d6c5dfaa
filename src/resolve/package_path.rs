//! Package paths: from the package root, with `/`, and never out of it. Looks at texts alone, at no disk.

/// A package path without `.` segments.
///
/// # Errors
/// One sentence if the path is absolute, leaves the package or is none.
pub fn normal(path: &str) -> Result<String, String> {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with('/') || path.starts_with('\\') || has_drive {
        return Err("it is an absolute path; paths count from the package root".to_owned());
    }
    if path.contains('\\') {
        return Err("package paths are written with `/`".to_owned());
    }
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => return Err("`..` is refused; paths stay inside the package".to_owned()),
            name if name.contains('\0') => return Err("a path holds no NUL character".to_owned()),
            name => segments.push(name),
        }
    }
    if segments.is_empty() {
        return Err("it names no file".to_owned());
    }
    Ok(segments.join("/"))
}

/// The same, where the package itself may be meant: that is the empty path.
///
/// # Errors
/// As [`normal`].
pub fn normal_or_root(path: &str) -> Result<String, String> {
    if !path.is_empty() && path.split('/').all(|segment| segment == ".") && !path.starts_with('/') {
        return Ok(String::new());
    }
    if path.strip_suffix('/').is_some_and(|path| path == ".") {
        return Ok(String::new());
    }
    normal(path)
}

/// Whether a document is named by a URL and not by a package path.
#[must_use]
pub fn is_url(text: &str) -> bool {
    ["http:", "https:", "file:"]
        .iter()
        .any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
