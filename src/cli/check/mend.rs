//! `--fix` and `--diff`: mended documents back to where they came from, or what would change to stdout.

use super::super::{Exit, output, replace};
use super::Arguments;
use super::diff::unified;
use super::search::Plan;
use crate::time::Timestamp;
use crate::verdict::mend::{Level, Mended, mend as mended};

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
        let outcome = mended(&job.document, &job.package.folder, job.under(), as_of, level(arguments));
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
                if let Err(why) = replace::replace(path, &job.document.bytes, text.as_bytes()) {
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
        let outcome = mended(&job.document, &job.package.folder, job.under(), as_of, level(arguments));
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
