//! A time zone as the search needs it: offsets, and where they change. It counts how often its table is asked.

use crate::time::Timestamp;
use chrono::{DateTime, Datelike, MappedLocalTime, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::Tz;
use std::cell::Cell;

pub(super) const LAST_YEAR: i32 = 9998;
pub(super) const MINUTE_MS: i64 = 60_000;
pub(super) const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

pub(super) struct Zone {
    tz: Tz,
    lookups: Cell<u32>,
}

/// A change of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The first instant with the new offset.
    pub(super) at: Timestamp,
    pub(super) old_ms: i64,
    pub(super) new_ms: i64,
}

/// What a civil time is in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// One instant.
    Once(Timestamp),
    /// Two instants.
    Twice(Timestamp, Timestamp),
    /// None: the clock leaves it out.
    Never,
}

impl Zone {
    pub(super) fn new(tz: Tz) -> Self {
        Self { tz, lookups: Cell::new(0) }
    }

    pub(super) fn lookups(&self) -> u32 {
        self.lookups.get()
    }

    fn count(&self) {
        self.lookups.set(self.lookups.get().saturating_add(1));
    }

    /// `None` at the far ends of time, which leave no room for an offset.
    pub(super) fn offset_ms(&self, at: Timestamp) -> Option<i64> {
        self.count();
        let utc = DateTime::from_timestamp_millis(at.0)?;
        let offset = self.tz.offset_from_utc_datetime(&utc.naive_utc());
        (utc.year().abs() <= LAST_YEAR + 1).then(|| i64::from(offset.fix().local_minus_utc()) * 1000)
    }

    /// The civil time at an instant.
    pub(super) fn local(&self, at: Timestamp) -> Option<NaiveDateTime> {
        civil(at, self.offset_ms(at)?)
    }

    pub(super) fn meaning(&self, civil: NaiveDateTime) -> Meaning {
        self.count();
        let instant = |at: DateTime<Tz>| Timestamp(at.timestamp_millis());
        match self.tz.from_local_datetime(&civil) {
            MappedLocalTime::Single(at) => Meaning::Once(instant(at)),
            MappedLocalTime::Ambiguous(a, b) => Meaning::Twice(instant(a.min(b)), instant(a.max(b))),
            MappedLocalTime::None => Meaning::Never,
        }
    }

    /// The first change in `(from, to]`, which must be so short that at most one is in it.
    pub(super) fn change(&self, from: Timestamp, to: Timestamp) -> Option<Change> {
        let old_ms = self.offset_ms(from)?;
        let new_ms = self.offset_ms(to)?;
        if old_ms == new_ms {
            return None;
        }
        // Zones change on whole seconds.
        let (mut low, mut high) =
            (from.0.div_euclid(1000), to.0.div_euclid(1000) + i64::from(to.0 % 1000 != 0));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.offset_ms(Timestamp(middle * 1000)) == Some(old_ms) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let at = Timestamp(high * 1000);
        Some(Change { at, old_ms, new_ms: self.offset_ms(at)? })
    }

    /// The change whose gap swallows a civil time.
    pub(super) fn gap_around(&self, civil: NaiveDateTime) -> Option<Change> {
        let as_utc = civil.and_utc().timestamp_millis();
        // The instant lies at `civil` less one of the two offsets.
        let far = |days: i64| Timestamp(as_utc.saturating_add(days * DAY_MS));
        let offsets = [self.offset_ms(far(-2))?, self.offset_ms(far(2))?];
        let (low, high) = (offsets.iter().max()?, offsets.iter().min()?);
        self.change(Timestamp(as_utc - low - 1000), Timestamp(as_utc - high + 1000))
            .or_else(|| self.change(far(-2), far(2)))
    }
}

impl Change {
    /// The clock just before it, had it run on.
    pub(super) fn old_civil(&self) -> Option<NaiveDateTime> {
        civil(self.at, self.old_ms)
    }

    /// The clock at it.
    pub(super) fn new_civil(&self) -> Option<NaiveDateTime> {
        civil(self.at, self.new_ms)
    }

    /// How far the clock goes forward; below zero if it goes back.
    pub(super) fn forward_ms(&self) -> i64 {
        self.new_ms - self.old_ms
    }
}

fn civil(at: Timestamp, offset_ms: i64) -> Option<NaiveDateTime> {
    let utc = DateTime::from_timestamp_millis(at.0)?.naive_utc();
    utc.checked_add_signed(TimeDelta::milliseconds(offset_ms))
}
