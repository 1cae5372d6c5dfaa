//! `--fix` and `--diff`: mended documents back to where they came from, or what would change to stdout.

use super::super::{Exit, output};
use super::Arguments;
use super::diff::unified;
use super::search::Plan;
use crate::time::Timestamp;
use crate::verdict::mend::{Level, Mended, mend as mended};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What mending has done.
pub(super) struct Fixed {
    /// How many findings are gone.
    pub(super) count: usize,
    /// The text of stdin, mended or not.
    pub(super) stdin: Option<String>,
    /// Files that could not be written, a sentence each.
    pub(super) faults: Vec<String>,
}

fn level(arguments: &Arguments) -> Level {
    if arguments.unsafe_fixes { Level::Unsafe } else { Level::Safe }
}

/// Mends every document of the plan, and writes those that changed.
pub(super) fn mend(plan: &mut Plan, arguments: &Arguments, as_of: Timestamp) -> Fixed {
    let mut fixed = Fixed { count: 0, stdin: None, faults: Vec::new() };
    for job in &mut plan.jobs {
        let outcome = mended(&job.document, &job.folder, job.under(), as_of, level(arguments));
        let count = outcome.count();
        let is_changed = outcome.is_changed();
        let Mended { before: Some(_), text, .. } = outcome else {
            if job.path.is_none() {
                fixed.stdin = Some(String::from_utf8_lossy(&job.document.bytes).into_owned());
            }
            continue;
        };
        match &job.path {
            None => fixed.stdin = Some(text.clone()),
            Some(path) if is_changed => {
                if let Err(why) = replace(path, &job.document.bytes, text.as_bytes()) {
                    fixed.faults.push(format!("{} cannot be mended: {why}", super::search::name(path)));
                    continue;
                }
            }
            Some(_) => {}
        }
        fixed.count += count;
        job.document.bytes = text.into_bytes();
    }
    fixed
}

/// Shows what `mend` would change.
pub(super) fn diff(plan: &Plan, arguments: &Arguments, as_of: Timestamp) -> Exit {
    let (mut count, mut files) = (0, 0);
    for job in &plan.jobs {
        let outcome = mended(&job.document, &job.folder, job.under(), as_of, level(arguments));
        if let (true, Some(before)) = (outcome.is_changed(), &outcome.before) {
            count += outcome.count();
            files += 1;
            output::print(&unified(&job.document.name, before, &outcome.text));
        }
    }
    for (_, why) in &plan.unreadable {
        output::note(why);
    }
    if files > 0 {
        let (findings, files) =
            (crate::report::counted(count, "finding"), crate::report::counted(files, "file"));
        output::note(&format!("would mend {findings} in {files}"));
    }
    match (files, plan.unreadable.is_empty()) {
        (_, false) => Exit::Usage,
        (0, true) => Exit::Done,
        (_, true) => Exit::Findings,
    }
}

/// Beside it first, then renamed, so that a reader sees the old file or the new one. A link stays a link, permissions
/// stay as they are, and a file that somebody has changed meanwhile is left alone.
fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<(), String> {
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
