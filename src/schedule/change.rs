//! Changes of a zone's clock that an expression meets, and what becomes of its occurrences then. It searches no
//! occurrence for anybody.

use super::civil;
use super::fields::Fields;
use super::search::{ceil_minute, moves};
use super::zone::{Change, DAY_MS, MINUTE_MS, Zone};
use crate::time::{Millis, Timestamp};
use chrono::{NaiveDateTime, TimeDelta};

/// A change of the zone's clock that the schedule meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// When the clock changes.
    pub at: Timestamp,
    /// Whether local times are left out or happen twice.
    pub kind: ChangeKind,
    /// The first local time concerned, as `2026-03-08 02:30`.
    pub local: String,
    /// What the clock shows instead, as `the clock goes from 02:00 to 03:00`.
    pub clock: String,
    /// What the schedule does about it, one sentence.
    pub effect: String,
    /// What becomes of the occurrences.
    pub outcome: Outcome,
}

/// What a clock change does to local times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// They are left out.
    Gap,
    /// They happen twice.
    Overlap,
}

/// What becomes of occurrences at a clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They fire once, at the first of the two times.
    First,
    /// They fire at both times.
    Both,
    /// They fire at the first instant after the gap.
    Moved,
    /// They do not fire.
    Skipped,
}

/// Zones stand still for longer than this between two changes.
const STEP_MS: i64 = 5 * DAY_MS;
/// Local times that are named.
const NAMED: usize = 4;

pub(super) fn met(fields: &Fields, zone: &Zone, from: Timestamp, within: Millis) -> Vec<ClockChange> {
    let end = from.plus(within);
    let mut found = Vec::new();
    let mut at = from;
    while at < end {
        let next = Timestamp(at.0.saturating_add(STEP_MS)).min(end);
        found.extend(zone.change(at, next).and_then(|change| effect(fields, &change)));
        if zone.offset_ms(next).is_none() {
            break;
        }
        at = next;
    }
    found
}

fn effect(fields: &Fields, change: &Change) -> Option<ClockChange> {
    let (old, new) = (change.old_civil()?, change.new_civil()?);
    let (low, high) = (old.min(new), old.max(new));
    if !fields.hour_is_fixed && fields.keeps_its_pace((change.forward_ms() / MINUTE_MS).unsigned_abs()) {
        return None;
    }
    let (first, count, times) = concerned(fields, low, high)?;
    let kind = if change.forward_ms() > 0 { ChangeKind::Gap } else { ChangeKind::Overlap };
    let outcome = match kind {
        ChangeKind::Gap if moves(fields, change) => Outcome::Moved,
        ChangeKind::Gap => Outcome::Skipped,
        ChangeKind::Overlap if fields.hour_is_fixed => Outcome::First,
        ChangeKind::Overlap => Outcome::Both,
    };
    let (it, does) = if count == 1 { ("it", "fires") } else { ("they", "fire") };
    let (exists, happens) =
        if count == 1 { ("does not exist", "happens") } else { ("do not exist", "happen") };
    let day = first.format("%Y-%m-%d");
    let effect = match outcome {
        Outcome::First if count == 1 => {
            format!("{times} {happens} twice on {day}; it fires once, at the first of the two")
        }
        Outcome::First => {
            format!("{times} happen twice on {day}; each fires once, at the first of its two times")
        }
        Outcome::Both => format!("{times} {happens} twice on {day}; {it} {does} both times"),
        Outcome::Moved => format!("{times} {exists} on {day}; instead it fires once at {}", clock(new, low)),
        Outcome::Skipped => {
            format!("{times} {exists} on {day}; nothing fires for {}", if count == 1 { "it" } else { "them" })
        }
    };
    let back = if kind == ChangeKind::Overlap { "back " } else { "" };
    Some(ClockChange {
        at: change.at,
        kind,
        local: first.format("%Y-%m-%d %H:%M").to_string(),
        clock: format!("the clock goes {back}from {} to {}", clock(old, new), clock(new, old)),
        effect,
        outcome,
    })
}

/// A time of the day, with its date if it is on another day than `other`.
fn clock(at: NaiveDateTime, other: NaiveDateTime) -> String {
    let form = if at.date() == other.date() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.format(form).to_string()
}

/// The first of the local times in `[low, high)` that fit, how many there are, and a few of them in words.
fn concerned(
    fields: &Fields,
    low: NaiveDateTime,
    high: NaiveDateTime,
) -> Option<(NaiveDateTime, usize, String)> {
    let mut all = Vec::new();
    let mut from = ceil_minute(low);
    while let Some(civil) = civil::next(fields, from).filter(|civil| *civil < high) {
        all.push(civil);
        // A day at most is swallowed or repeated.
        if all.len() > 24 * 60 {
            break;
        }
        from = civil.checked_add_signed(TimeDelta::minutes(1))?;
    }
    let first = *all.first()?;
    let last = all.last().map(|at| clock(*at, first))?;
    let mut words = format!("{} local times from {} to {last}", all.len(), clock(first, first));
    if all.len() <= NAMED {
        let named: Vec<_> = all.iter().map(|at| clock(*at, first)).collect();
        words = match named.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            one => one.concat(),
        };
    }
    Some((first, all.len(), words))
}
