//! Schedules and zones in words: the next occurrences, the clock changes on the way.

use crate::ide::words;
use crate::schedule::Schedule;
use crate::time::{Millis, Timestamp};

/// Occurrences that are shown.
const SHOWN: usize = 5;
/// How far clock changes are looked for.
const YEAR: Millis = Millis::from_secs(366 * 24 * 60 * 60);

/// The text for a cron expression.
pub(super) fn cron(expression: &str, zone: Option<&str>, as_of: Timestamp) -> String {
    let head = format!("**`{expression}`**");
    let Some(zone) = zone else {
        return format!("{head}\n\nNo time zone is known: write `timezone` here or in `defaults`.");
    };
    match Schedule::parse(expression, zone) {
        Ok(schedule) => format!("{head} in {zone}\n\n{}", occurrences(&schedule, as_of)),
        Err(error) => format!("{head} in {zone}\n\nThis cannot be read: {error}."),
    }
}

/// The next occurrences and what a year brings, Markdown.
pub(in crate::ide) fn occurrences(schedule: &Schedule, as_of: Timestamp) -> String {
    let next = schedule.occurrences(as_of, SHOWN);
    if next.is_empty() {
        return "It does not occur any more.".to_owned();
    }
    let mut out = String::from("Next occurrences:\n");
    for at in next {
        out.push_str(&format!("\n- {}", words::local(schedule, at)));
    }
    let changes = schedule.meets_clock_change(as_of, YEAR);
    if !changes.is_empty() {
        out.push_str("\n\nClock changes that it meets within a year:\n");
        for change in changes {
            out.push_str(&format!("\n- {} ({})", change.effect, change.clock));
        }
    }
    for lint in schedule.lints() {
        out.push_str(&format!("\n\nNote: {}.", lint.message));
    }
    out
}

/// The text for a time zone.
pub(super) fn zone(name: &str, as_of: Timestamp) -> Option<String> {
    let zone: chrono_tz::Tz = name.parse().ok()?;
    let local = as_of.to_utc().with_timezone(&zone);
    Some(format!("**{name}** · the local time is {}", local.format("%Y-%m-%d %H:%M %:z (%Z)")))
}
