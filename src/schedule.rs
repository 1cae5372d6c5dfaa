//! Cron schedules: five fields and a zone, evaluated by the clock-change rules of section 3 of the language.
//!
//! Times of the day are searched in civil time and then brought to instants: a fixed hour fires once in an overlap
//! (at the first of the two); a fixed minute and hour that a gap under a day swallows fires at the first instant
//! after it; everything else follows real time. No clock is asked here.

mod civil;
mod fields;

use crate::time::{Millis, Timestamp};
use chrono::{DateTime, NaiveDateTime, Offset, TimeZone, Timelike};
use chrono_tz::Tz;
use fields::Fields;
use std::fmt;
use std::ops::Range;

/// A parsed expression in its zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    expression: String,
    fields: Fields,
    zone: Tz,
}

/// Why an expression or a zone is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// The expression is not of the form.
    Expression {
        /// Bytes of the expression.
        range: Range<usize>,
        /// One sentence.
        message: String,
    },
    /// The expression never occurs (30 February).
    Never {
        /// One sentence.
        message: String,
    },
    /// There is no such zone.
    Zone {
        /// The nearest name.
        nearest: Option<&'static str>,
    },
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression { message, .. } | Self::Never { message } => f.write_str(message),
            Self::Zone { nearest: Some(name) } => write!(f, "there is no such zone; did you mean `{name}`?"),
            Self::Zone { nearest: None } => {
                f.write_str("there is no such zone; write an IANA name such as Europe/Berlin")
            }
        }
    }
}

impl std::error::Error for ScheduleError {}

/// A change of the zone's clock that the schedule meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// When the clock changes.
    pub at: Timestamp,
    /// Whether local times are left out or happen twice.
    pub kind: ChangeKind,
    /// The local time concerned, as `2026-03-08 02:30`.
    pub local: String,
    /// What the schedule does about it, one sentence.
    pub effect: String,
}

/// What a clock change does to local times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// They are left out.
    Gap,
    /// They happen twice.
    Overlap,
}

/// Segments looked through for one occurrence of a schedule that follows real time.
const CHANGES: usize = 64;
const LAST_YEAR: i32 = 9998;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

impl Schedule {
    /// Reads an expression of five fields (or a nickname such as `@hourly`) and an IANA zone name.
    ///
    /// # Errors
    /// What is wrong, and where in the expression.
    pub fn parse(expression: &str, zone: &str) -> Result<Self, ScheduleError> {
        let fields = Fields::parse(expression)?;
        let zone: Tz = match zone.parse() {
            Ok(zone) => zone,
            Err(_) => return Err(ScheduleError::Zone { nearest: crate::schedule::nearest_zone(zone) }),
        };
        if fields.never_occurs() {
            return Err(ScheduleError::Never {
                message: format!(
                    "`{}` never occurs: no month that it names has such a day",
                    expression.trim()
                ),
            });
        }
        Ok(Self { expression: expression.trim().to_owned(), fields, zone })
    }

    /// The expression as written.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The zone's name.
    #[must_use]
    pub fn zone(&self) -> &'static str {
        self.zone.name()
    }

    /// Oddities of the expression that are no errors, one sentence each.
    #[must_use]
    pub fn lints(&self) -> &[String] {
        self.fields.lints()
    }

    /// The first occurrence strictly after `after`; `None` past the year 9998.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        if self.fields.hour_is_fixed { self.next_by_civil(after) } else { self.next_by_real_time(after) }
    }

    /// The next `count` occurrences after `after`.
    #[must_use]
    pub fn occurrences(&self, after: Timestamp, count: usize) -> Vec<Timestamp> {
        std::iter::successors(self.next_after(after), |at| self.next_after(*at)).take(count).collect()
    }

    /// The shortest distance between two of the next fifty occurrences.
    #[must_use]
    pub fn shortest_period_ms(&self, from: Timestamp) -> Option<Millis> {
        let next = self.occurrences(from, 50);
        next.iter().zip(next.iter().skip(1)).map(|(a, b)| b.since(*a)).min()
    }

    /// Fixed hours: civil times rise, and the instants they mean never fall.
    fn next_by_civil(&self, after: Timestamp) -> Option<Timestamp> {
        let mut civil = floor_minute(self.local(after)?);
        loop {
            civil = civil::next(&self.fields, civil)?;
            if chrono::Datelike::year(&civil) > LAST_YEAR {
                return None;
            }
            if let Some(at) = self.instant_of(civil)
                && at > after
            {
                return Some(at);
            }
            civil += chrono::TimeDelta::minutes(1);
        }
    }

    /// The one instant that a civil time of a fixed hour means.
    fn instant_of(&self, civil: NaiveDateTime) -> Option<Timestamp> {
        if let Some(at) = self.zone.from_local_datetime(&civil).earliest() {
            return Some(Timestamp(at.timestamp_millis()));
        }
        if !self.fields.minute_is_fixed {
            return None;
        }
        let (end, length_ms) = self.gap_around(civil)?;
        (length_ms < DAY_MS).then_some(end)
    }

    /// End of the gap that swallows a civil time, and its length.
    fn gap_around(&self, civil: NaiveDateTime) -> Option<(Timestamp, i64)> {
        let as_utc = civil.and_utc().timestamp_millis();
        // No offset is further than a day from UTC, so both sides of the gap lie within two days.
        let low = Timestamp(as_utc - 2 * DAY_MS);
        let high = Timestamp(as_utc + 2 * DAY_MS);
        let before_civil = |at: Timestamp| self.local(at).is_none_or(|local| local < civil);
        let end = first_that(low, high, |at| !before_civil(at))?;
        let earlier = self.offset_ms(Timestamp(end.0 - 1))?;
        Some((end, self.offset_ms(end)? - earlier))
    }

    /// Wildcard hours: every instant whose local time fits.
    fn next_by_real_time(&self, after: Timestamp) -> Option<Timestamp> {
        let mut at = Timestamp(after.0.div_euclid(MINUTE_MS).checked_add(1)?.checked_mul(MINUTE_MS)?);
        for _ in 0..CHANGES {
            let local = self.local(at)?;
            let wanted = civil::next(&self.fields, ceil_minute(local))?;
            if chrono::Datelike::year(&wanted) > LAST_YEAR {
                return None;
            }
            let candidate = Timestamp(at.0.checked_add((wanted - local).num_milliseconds())?);
            if self.local(candidate)? == wanted {
                return Some(candidate);
            }
            // The clock changes on the way: go on from the change.
            let offset = self.offset_ms(at)?;
            at = first_that(at, candidate, |x| self.offset_ms(x) != Some(offset))?;
        }
        None
    }

    /// Changes of the zone's clock between `from` and `from + within` that swallow or repeat an occurrence.
    #[must_use]
    pub fn meets_clock_change(&self, from: Timestamp, within: Millis) -> Vec<ClockChange> {
        if !self.fields.hour_is_fixed {
            return Vec::new();
        }
        let end = from.plus(within);
        let mut found = Vec::new();
        let mut at = from;
        while at < end {
            let next = Timestamp(at.0 + DAY_MS / 2).min(end);
            let (Some(old), Some(new)) = (self.offset_ms(at), self.offset_ms(next)) else { break };
            if old != new
                && let Some(change) = first_that(at, next, |x| self.offset_ms(x) != Some(old))
            {
                found.extend(self.effect_of(change, old, new));
            }
            at = next;
        }
        found
    }

    fn effect_of(&self, at: Timestamp, old_ms: i64, new_ms: i64) -> Option<ClockChange> {
        let utc = at.to_utc().naive_utc();
        let (old, new) = (chrono::TimeDelta::milliseconds(old_ms), chrono::TimeDelta::milliseconds(new_ms));
        let (low, high) = if new_ms > old_ms { (utc + old, utc + new) } else { (utc + new, utc + old) };
        let civil = civil::next(&self.fields, ceil_minute(low)).filter(|civil| *civil < high)?;
        let local = civil.format("%Y-%m-%d %H:%M").to_string();
        let kind = if new_ms > old_ms { ChangeKind::Gap } else { ChangeKind::Overlap };
        let effect = match kind {
            ChangeKind::Overlap => format!("{local} happens twice; it fires once, at the first of the two"),
            ChangeKind::Gap if self.fields.minute_is_fixed && new_ms - old_ms < DAY_MS => {
                format!("{local} does not exist; it fires at {at}, the first instant after the gap")
            }
            ChangeKind::Gap => format!("{local} does not exist; nothing fires for it"),
        };
        Some(ClockChange { at, kind, local, effect })
    }

    fn local(&self, at: Timestamp) -> Option<NaiveDateTime> {
        Some(self.in_zone(at)?.naive_local())
    }

    fn offset_ms(&self, at: Timestamp) -> Option<i64> {
        Some(i64::from(self.in_zone(at)?.offset().fix().local_minus_utc()) * 1000)
    }

    fn in_zone(&self, at: Timestamp) -> Option<DateTime<Tz>> {
        let utc = DateTime::from_timestamp_millis(at.0)?;
        // Far ends of time leave no room for an offset.
        (chrono::Datelike::year(&utc).abs() <= LAST_YEAR + 1).then(|| utc.with_timezone(&self.zone))
    }
}

/// The first millisecond in `(low, high]` where `holds`, by halving; it must fail at `low`.
fn first_that(low: Timestamp, high: Timestamp, holds: impl Fn(Timestamp) -> bool) -> Option<Timestamp> {
    let (mut low, mut high) = (low.0, high.0);
    if !holds(Timestamp(high)) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(Timestamp(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(Timestamp(high))
}

fn floor_minute(at: NaiveDateTime) -> NaiveDateTime {
    at.with_second(0).and_then(|at| at.with_nanosecond(0)).unwrap_or(at)
}

fn ceil_minute(at: NaiveDateTime) -> NaiveDateTime {
    let floor = floor_minute(at);
    if floor == at { at } else { floor + chrono::TimeDelta::minutes(1) }
}

/// The nearest zone name, by spelling.
#[must_use]
pub fn nearest_zone(written: &str) -> Option<&'static str> {
    if let Ok(zone) = Tz::from_str_insensitive(written) {
        return Some(zone.name());
    }
    chrono_tz::TZ_VARIANTS
        .iter()
        .map(|zone| (strsim::damerau_levenshtein(written, zone.name()), zone.name()))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(4))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Whether there is such a zone.
#[must_use]
pub fn is_zone(name: &str) -> bool {
    name.parse::<Tz>().is_ok()
}
