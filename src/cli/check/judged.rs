//! A document's verdict, ready to be printed: a pure function of the job, its files and a date.

use super::Arguments;
use super::search::Job;
use crate::compile::Files;
use crate::diagnostic::{Diagnostic, Severity};
use crate::report;
use crate::source::Sources;
use crate::time::Timestamp;
use crate::verdict::{self, Bound, Under, Verdict};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is said of one document.
pub(super) struct Judged {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    ignored: Vec<(Diagnostic, String)>,
    denies_warnings: bool,
    bound: Option<String>,
}

/// Documents that a thread takes at a time.
const HANDFUL: usize = 8;

/// The verdicts of all jobs in their order, found on all cores: no document knows of another.
pub(super) fn all(jobs: &[Job], arguments: &Arguments, as_of: Timestamp) -> Vec<Judged> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(jobs.len().div_ceil(HANDFUL));
    if threads <= 1 {
        return jobs.iter().map(|job| judge(job, arguments, as_of)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let first = next.fetch_add(HANDFUL, Ordering::Relaxed);
            let handful = jobs.iter().enumerate().skip(first).take(HANDFUL);
            if first >= jobs.len() {
                return done;
            }
            done.extend(handful.map(|(at, job)| (at, judge(job, arguments, as_of))));
        }
    };
    let mut done: Vec<(usize, Judged)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, judged)| judged).collect()
}

pub(super) fn judge(job: &Job, arguments: &Arguments, as_of: Timestamp) -> Judged {
    judge_with(job, &job.package.folder, arguments, as_of)
}

/// With the files of its package from elsewhere.
pub(super) fn judge_with(job: &Job, files: &dyn Files, arguments: &Arguments, as_of: Timestamp) -> Judged {
    let verdict = verdict::judge(job.document.clone(), files, job.under(), as_of);
    Judged::of(verdict, job, arguments)
}

impl Job {
    pub(super) fn under(&self) -> Under<'_> {
        Under { settings: &self.settings, path: &self.place }
    }
}

impl Judged {
    fn of(verdict: Verdict, job: &Job, arguments: &Arguments) -> Self {
        let bound = verdict.bound.filter(|_| arguments.explain_bounds).map(|bound| match bound {
            Bound::Runs(runs) => runs.to_string(),
            Bound::Unbounded => "unbounded".to_owned(),
        });
        Self {
            sources: verdict.sources,
            diagnostics: verdict.diagnostics,
            ignored: verdict.ignored.into_iter().map(|one| (one.diagnostic, one.reason)).collect(),
            denies_warnings: job.settings.deny_warnings,
            bound,
        }
    }

    /// Whether it fails the check.
    pub(super) fn fails(&self) -> bool {
        self.diagnostics.iter().any(|found| match found.severity {
            Severity::Error => true,
            Severity::Warning => self.denies_warnings,
            Severity::Hint => false,
        })
    }

    pub(super) fn part(&self) -> report::Part<'_> {
        report::Part {
            sources: &self.sources,
            diagnostics: &self.diagnostics,
            ignored: &self.ignored,
            denies_warnings: self.denies_warnings,
            bound: self.bound.as_deref(),
        }
    }
}
