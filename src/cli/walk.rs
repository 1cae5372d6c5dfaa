//! The files of a folder that may be ours, in order: hidden files, what `.gitignore` names and folders of foreign code
//! are passed over, links are not followed. Nothing is read here.

use crate::verdict;
use std::path::{Path, PathBuf};

/// Folders that hold what others wrote.
const FOREIGN: [&str; 2] = ["node_modules", "target"];

/// What a search comes upon.
pub(super) enum Met {
    /// A folder that is searched.
    Folder(PathBuf),
    /// A file that may be ours.
    File(PathBuf),
}

/// Each file by path; of a place that cannot be searched one sentence.
pub(super) fn files(folder: &Path) -> impl Iterator<Item = Result<PathBuf, String>> {
    all(folder).filter_map(|met| match met {
        Ok(Met::File(path)) => Some(Ok(path)),
        Ok(Met::Folder(_)) => None,
        Err(why) => Some(Err(why)),
    })
}

/// Each file and each folder by path; of a place that cannot be searched one sentence.
pub(super) fn all(folder: &Path) -> impl Iterator<Item = Result<Met, String>> {
    let mut walk = ignore::WalkBuilder::new(folder);
    walk.require_git(false).follow_links(false).sort_by_file_path(Path::cmp).filter_entry(|entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !is_folder || !FOREIGN.iter().any(|name| entry.file_name() == *name)
    });
    let shown = folder.display().to_string();
    walk.build().filter_map(move |entry| match entry {
        Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {
            Some(Ok(Met::Folder(entry.into_path())))
        }
        Ok(entry) => {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let may_be_ours = is_file && verdict::kind::may_be_ours(&entry.file_name().to_string_lossy());
            may_be_ours.then(|| Ok(Met::File(entry.into_path())))
        }
        Err(error) => Some(Err(format!("{shown} cannot be searched: {error}"))),
    })
}
