//! The next occurrence. Changes of the clock are looked for only where they can matter, so that a search asks the
//! zone's table a few times at most, inside a gap and an overlap too (B19).

use super::civil;
use super::fields::Fields;
use super::zone::{Change, DAY_MS, LAST_YEAR, MINUTE_MS, Meaning, Zone};
use crate::time::Timestamp;
use chrono::{Datelike, NaiveDateTime, TimeDelta, Timelike};

/// Candidates that changes of the clock may spoil before the search gives up: one or two a year at most.
const TRIES: usize = 64;
/// How far ahead of an instant a change can bring back civil times that have passed: overlaps are a day at most.
const NEAR_MS: i64 = DAY_MS + 2 * 60 * MINUTE_MS;

pub(super) fn next(fields: &Fields, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    if fields.hour_is_fixed { by_civil_time(fields, zone, after) } else { by_real_time(fields, zone, after) }
}

/// Fixed hours: civil times rise, and the instants they mean never fall.
fn by_civil_time(fields: &Fields, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let mut civil = floor_minute(zone.local(after)?);
    for _ in 0..TRIES {
        civil = within_time(civil::next(fields, civil)?)?;
        let minute_later = civil.checked_add_signed(TimeDelta::minutes(1))?;
        civil = match zone.meaning(civil) {
            Meaning::Once(at) | Meaning::Twice(at, _) if at > after => return Some(at),
            Meaning::Once(_) => minute_later,
            Meaning::Twice(first, second) => match zone.change(first, second) {
                // In the second pass the first instants of the whole overlap have passed.
                Some(change) if change.at <= after => ceil_minute(change.old_civil()?).max(minute_later),
                Some(_) | None => minute_later,
            },
            Meaning::Never => {
                let gap = zone.gap_around(civil)?;
                if moves(fields, &gap) && gap.at > after {
                    return Some(gap.at);
                }
                ceil_minute(gap.new_civil()?).max(minute_later)
            }
        };
    }
    None
}

/// Whether what a gap swallows fires at its end.
pub(super) fn moves(fields: &Fields, gap: &Change) -> bool {
    fields.hour_is_fixed && fields.minute_is_fixed && gap.forward_ms() < DAY_MS
}

/// Wildcard hours: every instant whose local time fits.
fn by_real_time(fields: &Fields, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let mut at = Timestamp(after.0.checked_add(1)?);
    for _ in 0..TRIES {
        let local = zone.local(at)?;
        let from = ceil_minute(local);
        let wanted = within_time(civil::next(fields, from)?)?;
        let candidate = Timestamp(at.0.checked_add((wanted - local).num_milliseconds())?);
        let is_near = candidate.0 - at.0 <= NEAR_MS / 2;
        let change = if is_near { zone.change(at, candidate) } else { near_change(zone, at) };
        if is_near && change.is_none() {
            return Some(candidate);
        }
        if let Some(change) = change {
            // Up to the change the clock runs on; behind it the search begins anew.
            if candidate < change.at {
                return Some(candidate);
            }
            at = change.at;
            continue;
        }
        match zone.meaning(wanted) {
            Meaning::Once(instant) | Meaning::Twice(instant, _) if instant >= at => return Some(instant),
            Meaning::Once(_) | Meaning::Twice(..) => at = Timestamp(candidate.0.checked_add(MINUTE_MS)?),
            Meaning::Never => at = zone.gap_around(wanted)?.at,
        }
    }
    None
}

/// The first change soon after an instant.
fn near_change(zone: &Zone, at: Timestamp) -> Option<Change> {
    let ahead = |ms: i64| Timestamp(at.0.saturating_add(ms));
    zone.change(at, ahead(NEAR_MS / 2)).or_else(|| zone.change(ahead(NEAR_MS / 2), ahead(NEAR_MS)))
}

fn within_time(civil: NaiveDateTime) -> Option<NaiveDateTime> {
    (civil.year() <= LAST_YEAR).then_some(civil)
}

pub(super) fn floor_minute(at: NaiveDateTime) -> NaiveDateTime {
    at.with_second(0).and_then(|at| at.with_nanosecond(0)).unwrap_or(at)
}

pub(super) fn ceil_minute(at: NaiveDateTime) -> NaiveDateTime {
    let floor = floor_minute(at);
    if floor == at { at } else { floor.checked_add_signed(TimeDelta::minutes(1)).unwrap_or(at) }
}
