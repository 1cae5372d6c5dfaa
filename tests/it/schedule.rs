//! Schedules: the handed vectors, the field cases of cron, and properties over years of local days.

use flowright::schedule::{ChangeKind, Schedule, ScheduleError};
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
