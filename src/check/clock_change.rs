//! `clock-change`: an expression that meets a change of its zone's clock within a year, with the dates.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::schedule::{ClockChange, Outcome, Schedule};
use crate::source::Spanned;
use crate::time::{Millis, Timestamp};

/// A cron expression meets a change of its zone's clock.
pub static RULE: Rule = Rule {
    name: "clock-change",
    severity: Severity::Hint,
    summary: "A cron expression meets a change of its zone's clock",
    page: include_str!("../../docs/diagnostics/clock-change.md"),
};

/// How far ahead is looked.
const YEAR: Millis = Millis::from_secs(366 * 24 * 60 * 60);
/// Changes that are told one by one.
const TOLD: usize = 3;

/// Says what becomes of the occurrences at each change: a warning where one is left out or fires twice.
pub fn check(expression: &Spanned<String>, schedule: &Schedule, as_of: Timestamp, out: &mut Vec<Diagnostic>) {
    let changes = schedule.meets_clock_change(as_of, YEAR);
    if changes.is_empty() {
        return;
    }
    let mut told: Vec<_> = changes.iter().take(TOLD).map(|change| change.effect.clone()).collect();
    if changes.len() > TOLD {
        told.push(format!("and {} more within the year", changes.len() - TOLD));
    }
    let (zone, written) = (schedule.zone(), expression.value.trim());
    let message = format!("the clock of `{zone}` changes at a time of `{written}`: {}", told.join("; "));
    let clock = |change: &ClockChange| format!("at {} {}", change.at, change.clock);
    let clocks: Vec<_> = changes.iter().take(TOLD).map(clock).collect();
    let mut found = Diagnostic::new(&RULE, expression.span, message).note(clocks.join("; "));
    let has = |outcome: Outcome| changes.iter().any(|change| change.outcome == outcome);
    if has(Outcome::Skipped) || has(Outcome::Both) {
        found.severity = Severity::Warning;
        found = found.help("choose a time that every day has once, or `timezone: UTC`");
    }
    out.push(found);
}
