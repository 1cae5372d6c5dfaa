//! Whether a place fits a predicate. Paths of predicates are followed as those of calls are, so that a folder that is
//! a link, or is spelt otherwise on a disk that does not mind, means what is really there.

use crate::ir::toolbox::FilePredicate;
use std::path::{Path, PathBuf};

/// Whether a place fits.
pub(super) fn fits(of: &FilePredicate, root: &Path, at: &Path, is_folder: bool, length: u64) -> bool {
    let each = |part: &FilePredicate| fits(part, root, at, is_folder, length);
    match of {
        FilePredicate::DirectoryRecursive(path) => real(root, path).is_some_and(|path| at.starts_with(path)),
        FilePredicate::DirectoryFlat(path) => at.parent() == real(root, path).as_deref(),
        FilePredicate::DirectoryExactly(path) => is_folder && Some(at) == real(root, path).as_deref(),
        FilePredicate::FileExactly(path) => !is_folder && Some(at) == real(root, path).as_deref(),
        FilePredicate::Extension(ending) => {
            !is_folder && at.extension().is_some_and(|own| own.to_str() == Some(ending))
        }
        FilePredicate::NamePattern(pattern) => {
            !is_folder
                && at.file_name().and_then(|name| name.to_str()).is_some_and(|name| glob(pattern, name))
        }
        FilePredicate::SizeBelow(bytes) => !is_folder && length < *bytes,
        FilePredicate::Any(parts) => parts.iter().any(each),
        FilePredicate::All(parts) => parts.iter().all(each),
        FilePredicate::Not(part) => !each(part),
    }
}

/// Whether something that fits can lie in a folder, the folder itself included.
pub(super) fn leads(of: &FilePredicate, root: &Path, folder: &Path) -> bool {
    let each = |part: &FilePredicate| leads(part, root, folder);
    let on_the_way = |path: &str| real(root, path).is_some_and(|path| path.starts_with(folder));
    match of {
        FilePredicate::DirectoryRecursive(path) => {
            on_the_way(path) || real(root, path).is_some_and(|path| folder.starts_with(path))
        }
        FilePredicate::DirectoryFlat(path)
        | FilePredicate::DirectoryExactly(path)
        | FilePredicate::FileExactly(path) => on_the_way(path),
        FilePredicate::Extension(_) | FilePredicate::NamePattern(_) | FilePredicate::SizeBelow(_) => true,
        FilePredicate::Any(parts) => parts.iter().any(each),
        FilePredicate::All(parts) => parts.iter().all(each),
        FilePredicate::Not(_) => true,
    }
}

/// Where a path of a predicate truly leads, from the root; what is not there yet is taken as it is written. None if it
/// leads out of the package: no place is there.
fn real(root: &Path, path: &str) -> Option<PathBuf> {
    let mut full = root.to_path_buf();
    let mut is_new = false;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if segment == ".." {
            return None;
        }
        full.push(segment);
        if !is_new {
            match full.canonicalize() {
                Ok(real) => full = real,
                Err(_) => is_new = true,
            }
        }
    }
    full.strip_prefix(root).ok().map(Path::to_path_buf)
}

/// `*` is any run of characters, `?` one, `[abc]`, `[a-z]` and `[!a]` one of some; in linear space and bounded time.
pub(super) fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where the last star stood, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = name.get(n) {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
            continue;
        }
        if let Some(next) = one(&pattern, p, c) {
            p = next;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// Where the pattern goes on once it has taken a character; none if it does not take it.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match *pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => {
            let Some(length) = pattern.get(at + 1..)?.iter().skip(1).position(|c| *c == ']') else {
                return (c == '[').then_some(at + 1);
            };
            let inner = pattern.get(at + 1..at + 2 + length)?;
            let (is_turned, inner) = match inner.split_first() {
                Some(('!' | '^', rest)) => (true, rest),
                _ => (false, inner),
            };
            (in_class(inner, c) != is_turned).then_some(at + 3 + length)
        }
        literal => (literal == c).then_some(at + 1),
    }
}

fn in_class(class: &[char], c: char) -> bool {
    let mut rest = class;
    loop {
        match rest {
            [from, '-', to, tail @ ..] => {
                if (*from..=*to).contains(&c) {
                    return true;
                }
                rest = tail;
            }
            [only, tail @ ..] => {
                if *only == c {
                    return true;
                }
                rest = tail;
            }
            [] => return false,
        }
    }
}
