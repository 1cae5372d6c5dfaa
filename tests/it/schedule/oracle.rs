//! Schedules against a slow oracle that looks at every minute, over random expressions, zones and years; and how
//! few looks into the zone's table a search takes (B19).

use chrono::{Datelike, NaiveDateTime, Offset, TimeDelta, TimeZone, Timelike};
use chrono_tz::Tz;
use flowright::schedule::Schedule;
use flowright::time::Timestamp;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

/// Zones with an instant near something unusual.
const PLACES: &[(&str, &str)] = &[
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Europe/Berlin", "2027-03-28T01:00:00Z"),
    ("Europe/London", "2026-10-25T01:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("America/Sao_Paulo", "2018-02-18T02:00:00Z"),
    ("America/Santiago", "2026-04-05T03:00:00Z"),
    ("America/Santiago", "2026-09-06T04:00:00Z"),
    ("Africa/Cairo", "2026-04-23T22:00:00Z"),
    ("Africa/Cairo", "2026-10-29T21:00:00Z"),
    ("Asia/Beirut", "2026-03-28T22:00:00Z"),
    ("Asia/Gaza", "2024-04-20T00:00:00Z"),
    ("Africa/Casablanca", "2026-02-15T02:00:00Z"),
    ("Africa/Casablanca", "2026-03-22T02:00:00Z"),
    ("Antarctica/Troll", "2026-03-29T01:00:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ("Pacific/Kwajalein", "1993-08-21T12:00:00Z"),
    ("Pacific/Chatham", "2026-04-04T14:00:00Z"),
    ("Asia/Pyongyang", "2018-05-04T15:00:00Z"),
    ("America/Caracas", "2007-12-09T07:00:00Z"),
    ("Asia/Kolkata", "2026-06-01T00:00:00Z"),
    ("UTC", "2024-02-29T00:00:00Z"),
];

/// An expression and what its fields mean, kept apart from the reader under test.
#[derive(Clone, Debug)]
struct Made {
    text: String,
    sets: [Vec<u32>; 5],
    stars: [bool; 5],
}

impl Made {
    fn fits(&self, at: NaiveDateTime) -> bool {
        let [minutes, hours, days, months, weekdays] = &self.sets;
        let by_day = days.contains(&at.day());
        let by_weekday = weekdays.contains(&at.weekday().num_days_from_sunday());
        let day = if !self.stars[2] && !self.stars[4] { by_day || by_weekday } else { by_day && by_weekday };
        minutes.contains(&at.minute()) && hours.contains(&at.hour()) && months.contains(&at.month()) && day
    }
}

fn field(least: u32, most: u32, star: u32) -> impl Strategy<Value = (String, Vec<u32>, bool)> {
    prop_oneof![
        star => Just(("*".to_owned(), (least..=most).collect(), true)),
        2 => (2..=most / 2).prop_map(move |step| {
            (format!("*/{step}"), (least..=most).step_by(step as usize).collect(), true)
        }),
        4 => prop::collection::btree_set(least..=most, 1..4).prop_map(|set: BTreeSet<u32>| {
            let words: Vec<_> = set.iter().map(ToString::to_string).collect();
            (words.join(","), set.into_iter().collect(), false)
        }),
        2 => (least..=most, least..=most).prop_map(|(a, b)| {
            let (a, b) = (a.min(b), a.max(b));
            (format!("{a}-{b}"), (a..=b).collect(), false)
        }),
    ]
}

fn expression() -> impl Strategy<Value = Made> {
    (field(0, 59, 2), field(0, 23, 4), field(1, 31, 12), field(1, 12, 20), field(0, 6, 12)).prop_map(
        |(a, b, c, d, e)| Made {
            text: [&a.0, &b.0, &c.0, &d.0, &e.0].map(String::as_str).join(" "),
            stars: [a.2, b.2, c.2, d.2, e.2],
            sets: [a.1, b.1, c.1, d.1, e.1],
        },
    )
}

/// Every occurrence in `[from, to)`, minute by minute, by the words of section 3.
fn slowly(made: &Made, tz: Tz, from: i64, to: i64) -> Vec<i64> {
    let local = |at: i64| {
        let utc = chrono::DateTime::from_timestamp_millis(at).unwrap().naive_utc();
        utc + TimeDelta::seconds(i64::from(tz.offset_from_utc_datetime(&utc).fix().local_minus_utc()))
    };
    let [minute_is_fixed, hour_is_fixed] = [!made.stars[0], !made.stars[1]];
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    // A day and more before the window, so that the first of two times is known.
    let start = from - 26 * 3_600_000;
    let mut before = local(start - 60_000);
    for at in (start..to).step_by(60_000) {
        let now = local(at);
        let gap = now - before - TimeDelta::minutes(1);
        let mut fires = made.fits(now) && (seen.insert(now) || !hour_is_fixed);
        if gap > TimeDelta::zero() && gap < TimeDelta::days(1) && minute_is_fixed && hour_is_fixed {
            let swallowed = (1..=gap.num_minutes()).map(|i| before + TimeDelta::minutes(i));
            fires |= swallowed.into_iter().any(|civil| made.fits(civil));
        }
        if fires && at >= from {
            found.push(at);
        }
        before = now;
    }
    found
}

fn minute_of(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().0 / 60_000 * 60_000
}

/// `PROPTEST_CASES` for long runs.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_occurrence_is_missed_or_made_up(made in expression(), place in 0..PLACES.len(), ahead in 0..4_320_i64, ms in 0..60_000_i64) {
        let (zone, near) = PLACES[place];
        let Ok(schedule) = Schedule::parse(&made.text, zone) else { return Ok(()) };
        let from = minute_of(near) - ahead * 60_000;
        let to = from + 4 * 86_400_000;
        let expected = slowly(&made, zone.parse().unwrap(), from, to);
        // A millisecond before the window, and somewhere within its first minute.
        for after in [from - 1, from + ms] {
            let mut at = Timestamp(after);
            let mut found = Vec::new();
            while let Some(next) = schedule.next_after(at).filter(|next| next.0 < to) {
                prop_assert!(next > at, "{} {zone}: {next} is not after {at}", made.text);
                found.push(next.0);
                at = next;
            }
            let expected: Vec<_> = expected.iter().copied().filter(|at| *at > after).collect();
            prop_assert_eq!(&found, &expected, "{} {} from {}", made.text, zone, Timestamp(after));
        }
    }

    /// What lies far away is neither overlooked nor overtaken: nothing the oracle knows lies before it.
    #[test]
    fn the_first_occurrence_is_the_first(made in expression(), place in 0..PLACES.len(), days in 0..400_i64) {
        let (zone, near) = PLACES[place];
        let Ok(schedule) = Schedule::parse(&made.text, zone) else { return Ok(()) };
        let after = Timestamp(minute_of(near) - days * 86_400_000);
        let window = minute_of(near) - 2 * 86_400_000;
        let Some(next) = schedule.next_after(after) else { return Ok(()) };
        prop_assert!(next > after);
        let from = window.max(after.0 + 60_000);
        let first = slowly(&made, zone.parse().unwrap(), from, from + 4 * 86_400_000).into_iter().next();
        if let Some(first) = first {
            prop_assert!(next.0 <= first, "{} {zone}: {next} overlooks {}", made.text, Timestamp(first));
        }
    }

    /// B19: whatever is asked, the table is looked at a few times.
    #[test]
    fn b19_a_search_takes_few_looks(made in expression(), place in 0..PLACES.len(), minutes in -3_000..3_000_i64) {
        let (zone, near) = PLACES[place];
        let Ok(schedule) = Schedule::parse(&made.text, zone) else { return Ok(()) };
        let after = Timestamp(minute_of(near) + minutes * 60_000);
        let (_, looks) = schedule.next_with_lookups(after);
        prop_assert!(looks <= MOST_LOOKS, "{} {zone} after {after}: {looks}", made.text);
    }
}

/// One bisection of a day takes seventeen looks; a search needs two of them at most, but for schedules whose every
/// occurrence falls into a gap.
const MOST_LOOKS: u32 = 120;

/// The worst places by name: inside a gap, inside both passes of an overlap, a skipped day, a far wildcard hour.
#[test]
fn b19_few_looks_at_the_worst_places() {
    let table = [
        ("* 2 * * *", "America/New_York", "2026-03-08T06:59:59Z"),
        ("* 2 8 3 *", "America/New_York", "2026-01-01T00:00:00Z"),
        ("* 1 * * *", "America/New_York", "2026-11-01T06:00:00Z"),
        ("*/7 1-2 * * *", "Antarctica/Troll", "2026-10-25T01:00:30Z"),
        ("* 0-23 30 12 *", "Pacific/Apia", "2011-12-30T09:59:59Z"),
        ("* * 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00Z"),
        ("* * 21 8 *", "Pacific/Kwajalein", "1993-08-20T00:00:00Z"),
        ("30 */23 29 10 *", "Africa/Cairo", "2026-01-01T00:00:00Z"),
        ("0 * 29 2 */5", "America/Santiago", "2096-03-01T00:00:00Z"),
        ("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"),
        ("59 23 31 12 *", "Pacific/Kiritimati", "9997-12-31T12:00:00Z"),
    ];
    for (expr, zone, after) in table {
        let schedule = Schedule::parse(expr, zone).unwrap();
        let mut at = Timestamp::parse(after).unwrap();
        for _ in 0..200 {
            let (next, looks) = schedule.next_with_lookups(at);
            assert!(looks <= MOST_LOOKS, "{expr} {zone} after {at}: {looks}");
            let Some(next) = next else { break };
            assert!(next > at);
            at = next;
        }
    }
}
