//! Schedules: the handed vectors, the field cases of cron, and properties over years of local days.

mod oracle;

use flowright::schedule::{ChangeKind, Outcome, Schedule, ScheduleError};
use flowright::time::{Millis, Timestamp};
use serde_json::Value;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// Vectors that we decide otherwise, and why.
const OTHERWISE: &[(&str, Option<&[&str]>, &str)] = &[
    (
        "C050",
        Some(&[
            "2026-11-01T05:00:00Z",
            "2026-11-01T05:30:00Z",
            "2026-11-02T06:00:00Z",
            "2026-11-02T06:30:00Z",
            "2026-11-03T06:00:00Z",
            "2026-11-03T06:30:00Z",
        ]),
        "section 3: an expression with a fixed hour fires once in an overlap, whatever its minutes",
    ),
    ("C074", Some(&["2026-01-01T01:00:00Z"]), "nicknames are part of the language"),
];

#[test]
fn every_vector_holds() {
    let text = std::fs::read_to_string("corpus/cron-vectors.jsonl").unwrap();
    let mut seen = 0;
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let id = vector["id"].as_str().unwrap();
        let (expr, tz) = (vector["expr"].as_str().unwrap(), vector["tz"].as_str().unwrap());
        let count = vector["n"].as_u64().unwrap_or(3) as usize;
        let own = OTHERWISE.iter().find(|(other, _, _)| *other == id);
        let expected: Option<Vec<String>> = match (own, &vector["expected"]) {
            (Some((_, list, _)), _) => list.map(|list| list.iter().map(|at| (*at).to_owned()).collect()),
            (None, Value::Array(list)) => {
                Some(list.iter().map(|at| at.as_str().unwrap().to_owned()).collect())
            }
            (None, _) => None,
        };
        let parsed = Schedule::parse(expr, tz);
        match expected {
            Some(list) if list.is_empty() => {
                assert!(matches!(parsed, Err(ScheduleError::Never { .. })), "{id} {expr}: {parsed:?}");
            }
            Some(list) => {
                let schedule = parsed.unwrap_or_else(|error| panic!("{id} {expr}: {error}"));
                let count = if own.is_some() { list.len() } else { count.min(list.len()) };
                let found: Vec<_> = schedule
                    .occurrences(at(vector["after"].as_str().unwrap()), count)
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                assert_eq!(found, list[..count], "{id} {expr} {tz}: {}", vector["note"]);
            }
            // Near the end of the calendar there is an answer or none; what counts is that it is bounded.
            None if id == "C104" => {
                let found = parsed.unwrap().occurrences(at("9998-06-01T00:00:00Z"), 5);
                assert!(found.len() < 5);
            }
            None => assert!(parsed.is_err(), "{id} {expr} {tz} is to be refused: {}", vector["note"]),
        }
        seen += 1;
    }
    assert_eq!(seen, text.lines().count());
}

#[test]
fn b18_one_start_on_the_spring_day() {
    let schedule = Schedule::parse("0 2 * * *", "America/New_York").unwrap();
    let found = schedule.occurrences(at("2026-03-08T05:50:00Z"), 5);
    let within: Vec<_> = found.iter().filter(|t| **t <= at("2026-03-08T08:10:00Z")).collect();
    assert_eq!(within, [&at("2026-03-08T07:00:00Z")]);
}

#[test]
fn b21_one_run_at_the_new_offset() {
    let schedule = Schedule::parse("0 10 * * *", "America/New_York").unwrap();
    let found = schedule.occurrences(at("2026-03-07T23:00:00Z"), 2);
    assert_eq!(found, [at("2026-03-08T14:00:00Z"), at("2026-03-09T14:00:00Z")]);
}

#[test]
fn b22_once_a_local_day_for_years() {
    for (expr, zone) in [
        ("0 0 * * *", "America/Santiago"),
        ("30 2 * * *", "America/New_York"),
        ("15 2 * * *", "Australia/Lord_Howe"),
        ("30 2 * * *", "Antarctica/Troll"),
    ] {
        let schedule = Schedule::parse(expr, zone).unwrap();
        let tz: chrono_tz::Tz = zone.parse().unwrap();
        let mut last: Option<chrono::NaiveDate> = None;
        for found in schedule.occurrences(at("2021-01-01T12:00:00Z"), 1500) {
            let day = found.to_utc().with_timezone(&tz).date_naive();
            if let Some(last) = last {
                assert_eq!(day, last.succ_opt().unwrap(), "{zone} {found}");
            }
            last = Some(day);
        }
    }
}

#[test]
fn b24_weekly_stays_weekly() {
    let after = at("2025-01-04T00:00:00Z");
    let first = |expr: &str| Schedule::parse(expr, "UTC").unwrap().next_after(after).unwrap().to_string();
    assert_eq!(first("0 0 * * 0"), "2025-01-05T00:00:00Z");
    assert_eq!(first("0 0 1 * *"), "2025-02-01T00:00:00Z");
    assert_eq!(first("0 0 31 * 7"), "2025-01-05T00:00:00Z");
}

#[test]
fn b19_always_later_inside_gap_and_overlap() {
    for expr in ["* * * * *", "*/7 * * * *", "0 * * * *", "30 1 * * *", "* 2 * * *", "0 0 29 2 */2"] {
        for zone in [
            "America/New_York",
            "Australia/Lord_Howe",
            "America/Sao_Paulo",
            "Pacific/Apia",
            "Africa/Casablanca",
        ] {
            let schedule = Schedule::parse(expr, zone).unwrap();
            for start in [
                "2026-03-08T06:58:30Z",
                "2026-11-01T05:59:59Z",
                "2011-12-29T23:00:00Z",
                "2018-11-04T02:59:00Z",
            ] {
                let mut now = at(start);
                for _ in 0..50 {
                    let next = schedule.next_after(now).unwrap();
                    assert!(next > now, "{expr} {zone} {now}");
                    now = next;
                }
            }
        }
    }
}

#[test]
fn an_hourly_job_fires_every_hour_of_a_changed_day() {
    let schedule = Schedule::parse("0 * * * *", "Europe/Berlin").unwrap();
    let count =
        |from: &str, to: &str| schedule.occurrences(at(from), 40).iter().filter(|t| **t <= at(to)).count();
    assert_eq!(count("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"), 23);
    assert_eq!(count("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"), 25);
}

#[test]
fn clock_changes_are_named_with_their_dates() {
    let schedule = Schedule::parse("30 2 * * *", "America/New_York").unwrap();
    let changes = schedule.meets_clock_change(at("2026-01-01T00:00:00Z"), Millis(365 * 86_400_000));
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].kind, changes[0].local.as_str()), (ChangeKind::Gap, "2026-03-08 02:30"));
    assert_eq!(changes[0].at, at("2026-03-08T07:00:00Z"));
    let hourly = Schedule::parse("30 * * * *", "America/New_York").unwrap();
    assert_eq!(hourly.meets_clock_change(at("2026-01-01T00:00:00Z"), Millis(365 * 86_400_000)), []);
}

#[test]
fn faults_point_into_the_expression() {
    let range = |expr: &str| match Schedule::parse(expr, "UTC") {
        Err(ScheduleError::Expression { range, .. }) => expr[range].to_owned(),
        other => panic!("{expr}: {other:?}"),
    };
    assert_eq!(range("0 25 * * *"), "25");
    assert_eq!(range("0 0 1,40 * *"), "40");
    assert_eq!(range("0 0 * * FRI-MON"), "FRI-MON");
    assert_eq!(range("0 0 0 * * *"), "0 0 0 * * *");
    assert!(matches!(
        Schedule::parse("0 0 * * *", "Europe/Berln"),
        Err(ScheduleError::Zone { nearest: Some("Europe/Berlin") })
    ));
    assert_eq!(Schedule::parse("*/90 * * * *", "UTC").unwrap().lints().len(), 1);
}

/// The next occurrence lies behind a change that is undone again soon after it.
#[test]
fn a_change_right_before_the_occurrence_hides_nothing() {
    let table = [
        ("0 * 1 11 *", "America/New_York", "2026-11-01T04:00:00Z"),
        ("0 * * 11 0", "America/New_York", "2026-11-01T04:00:00Z"),
        ("*/30 * 25 10 *", "Europe/Berlin", "2026-10-24T22:00:00Z"),
    ];
    for (expr, zone, first) in table {
        let schedule = Schedule::parse(expr, zone).unwrap();
        assert_eq!(schedule.next_after(at("2026-01-01T00:00:00Z")), Some(at(first)), "{expr} {zone}");
    }
    let hourly = Schedule::parse("0 * 1 11 *", "America/New_York").unwrap();
    let found = hourly.occurrences(at("2026-01-01T00:00:00Z"), 30);
    assert_eq!(found.iter().filter(|t| **t < at("2027-01-01T00:00:00Z")).count(), 25, "the day has 25 hours");
}

/// The second pass of an overlap over midnight, seen from far away.
#[test]
fn a_far_wildcard_hour_fires_in_the_second_pass_of_midnight() {
    let schedule = Schedule::parse("30 */23 29 10 *", "Africa/Cairo").unwrap();
    let found: Vec<_> =
        schedule.occurrences(at("2026-01-01T00:00:00Z"), 4).iter().map(ToString::to_string).collect();
    let expected =
        ["2026-10-28T21:30:00Z", "2026-10-29T20:30:00Z", "2026-10-29T21:30:00Z", "2027-10-28T22:30:00Z"];
    assert_eq!(found, expected);
}

#[test]
fn the_end_of_time_is_no_fault() {
    for expr in ["* * * * *", "0 2 * * *", "0 */2 * * *", "0 0 29 2 *"] {
        let schedule = Schedule::parse(expr, "Europe/Berlin").unwrap();
        for ms in [i64::MIN, i64::MIN + 1, -(1 << 60), 253_402_300_799_999, 1 << 60, i64::MAX - 1, i64::MAX] {
            let from = Timestamp(ms);
            let next = schedule.next_after(from);
            assert!(next.is_none_or(|next| next > from), "{expr} {ms}");
            assert!(schedule.meets_clock_change(from, Millis(i64::MAX)).len() < 100_000);
            assert!(schedule.occurrences(from, 3).len() <= 3);
        }
        assert_eq!(schedule.next_after(at("9998-12-31T23:59:59Z")), None);
    }
}

/// What becomes of occurrences is said for each kind of expression; nothing is said of what only follows real time.
#[test]
fn clock_changes_say_what_happens() {
    let year = Millis(365 * 86_400_000);
    let told = |expr: &str, zone: &str| -> Vec<String> {
        let schedule = Schedule::parse(expr, zone).unwrap();
        let changes = schedule.meets_clock_change(at("2026-01-01T00:00:00Z"), year);
        changes.into_iter().map(|change| change.effect).collect()
    };
    let table: &[(&str, &str, &[&str])] = &[
        (
            "30 2 * * *",
            "America/New_York",
            &["02:30 does not exist on 2026-03-08; instead it fires once at 03:00"],
        ),
        (
            "30 1 * * *",
            "America/New_York",
            &["01:30 happens twice on 2026-11-01; it fires once, at the first of the two"],
        ),
        (
            "*/15 2 * * *",
            "America/New_York",
            &["02:00, 02:15, 02:30 and 02:45 do not exist on 2026-03-08; nothing fires for them"],
        ),
        (
            "0 */2 * * *",
            "Europe/Berlin",
            &[
                "02:00 does not exist on 2026-03-29; nothing fires for it",
                "02:00 happens twice on 2026-10-25; it fires both times",
            ],
        ),
        (
            "* 2 * * *",
            "America/New_York",
            &["60 local times from 02:00 to 02:59 do not exist on 2026-03-08; nothing fires for them"],
        ),
        ("0 * * * *", "Europe/Berlin", &[]),
        ("*/15 * * * *", "Europe/Berlin", &[]),
        ("0 * * * *", "Australia/Lord_Howe", &["02:00 does not exist on 2026-10-04; nothing fires for it"]),
        ("*/30 * * * *", "Australia/Lord_Howe", &[]),
        ("0 12 * * *", "Europe/Berlin", &[]),
        (
            "15,45 2 * * *",
            "Europe/Berlin",
            &[
                "02:15 and 02:45 do not exist on 2026-03-29; instead it fires once at 03:00",
                "02:15 and 02:45 happen twice on 2026-10-25; each fires once, at the first of its two times",
            ],
        ),
        (
            "30 23 * * *",
            "Africa/Cairo",
            &["23:30 happens twice on 2026-10-29; it fires once, at the first of the two"],
        ),
        ("30 2 * * *", "UTC", &[]),
    ];
    for (expr, zone, expected) in table {
        assert_eq!(told(expr, zone), *expected, "{expr} {zone}");
    }
    let skipped = Schedule::parse("0 9 30 12 *", "Pacific/Apia").unwrap();
    let changes = skipped.meets_clock_change(at("2011-06-01T00:00:00Z"), year);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].clock, "the clock goes from 2011-12-30 00:00 to 2011-12-31 00:00");
    assert_eq!(changes[0].outcome, Outcome::Skipped);
}

#[test]
fn expressions_are_described() {
    let table = [
        ("@hourly", "every hour, at minute 0"),
        ("30 9 * * MON-FRI", "at 09:30 on Monday to Friday"),
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("0 */2 * * *", "every 2 hours, at minute 0"),
        ("5,35 * * * *", "every hour, at minutes 5 and 35"),
        ("0 0 * * *", "at 00:00 every day"),
        ("0,30 8,17 * * *", "at 08:00, 08:30, 17:00 and 17:30 every day"),
        ("0 0 1,15 * *", "at 00:00 on the 1st and 15th of the month"),
        ("0 0 13 * 5", "at 00:00 on the 13th of the month and also on Friday"),
        ("0 0 29 2 *", "at 00:00 on the 29th of the month in February"),
        ("0 6 * 6-8 0,6", "at 06:00 on Saturday and Sunday in June to August"),
        ("* 2 * * *", "every minute of the hour 2"),
        ("*/10 9-17 * * 1-5", "every 10 minutes of the hours 9 to 17 on Monday to Friday"),
        ("3 * * 12 *", "every hour, at minute 3 in December"),
        (
            "0 0 */2 * 1-5",
            "at 00:00 on the 1st, 3rd, 5th, 7th, 9th, 11th, 13th, 15th, 17th, 19th, 21st, 23rd, 25th, \
            27th, 29th and 31st of the month, if it falls on Monday to Friday",
        ),
        ("0 0 1-31 * 1", "at 00:00 every day"),
    ];
    for (expr, words) in table {
        assert_eq!(Schedule::parse(expr, "UTC").unwrap().describe(), words, "{expr}");
    }
}

#[test]
fn oddities_are_named_at_their_field() {
    let told = |expr: &str| -> Vec<(String, String)> {
        let schedule = Schedule::parse(expr, "UTC").unwrap();
        let lints = schedule.lints().iter();
        lints.map(|lint| (expr[lint.range.clone()].to_owned(), lint.message.clone())).collect()
    };
    let table = [
        ("*/90 * * * *", "*/90", "only ever takes 0"),
        (
            "*/7 * * * *",
            "*/7",
            "7 does not divide 60 minutes: after 56 it begins at 0 again, 4 minutes later",
        ),
        ("0 */5 * * *", "*/5", "5 does not divide 24 hours: after 20 it begins at 0 again, 4 hours later"),
        ("0 0 */2 * *", "*/2", "begins again at 1 in each month"),
        ("0 0 */10 * *", "*/10", "10 does not divide 31 days"),
        ("0 0 13 * 5", "13 * 5", "either suffices"),
        ("0 0 1-31 * 1", "1-31 * 1", "restricts nothing"),
        ("* 9 * * *", "*", "every minute of the hour `9`"),
        ("0 0 31 * *", "31", "February, April, June, September, November do not have such a day"),
    ];
    for (expr, place, words) in table {
        let lints = told(expr);
        assert_eq!(lints.len(), 1, "{expr}: {lints:?}");
        assert_eq!(lints[0].0, place, "{expr}");
        assert!(lints[0].1.contains(words), "{expr}: {}", lints[0].1);
    }
    for expr in [
        "*/15 * * * *",
        "0 */6 * * *",
        "5-59/20 3 * * *",
        "0 9 * * 1-5",
        "@hourly",
        "0 0 29 2 *",
        "0 0 31 1 *",
    ] {
        assert_eq!(told(expr), [], "{expr}");
    }
}

#[test]
fn zones_are_listed_once_and_in_order() {
    let names: Vec<_> = flowright::schedule::zone_names().collect();
    assert!(names.is_sorted() && names.contains(&"Europe/Berlin") && names.len() > 500);
    assert!(names.windows(2).all(|two| two[0] != two[1]));
}
