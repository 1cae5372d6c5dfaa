//! A document's verdict, ready to be printed: a pure function of the job, its files and a date.

use super::Arguments;
use super::search::Job;
use crate::diagnostic::{Diagnostic, Severity};
use crate::report;
use crate::source::Sources;
use crate::time::Timestamp;
use crate::verdict::{self, Bound, Under, Verdict};

/// What is said of one document.
pub(super) struct Judged {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    ignored: Vec<(Diagnostic, String)>,
    denies_warnings: bool,
    bound: Option<String>,
}

pub(super) fn judge(job: &Job, arguments: &Arguments, as_of: Timestamp) -> Judged {
    let verdict = verdict::judge(job.document.clone(), &job.folder, job.under(), as_of);
    Judged::of(verdict, job, arguments)
}

impl Job {
    pub(super) fn under(&self) -> Under<'_> {
        Under { settings: &self.settings, path: &self.place }
    }
}

impl Judged {
    pub(super) fn of(verdict: Verdict, job: &Job, arguments: &Arguments) -> Self {
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
