//! Searching civil time: the next minute of the calendar that fits the fields, no zone involved.

use super::fields::Fields;
use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};

/// Years looked through: a leap day on a certain weekday comes back within forty.
const YEARS: i32 = 50;

/// The first minute at or after `from` that fits; `from` must stand on a whole minute.
pub(super) fn next(fields: &Fields, from: NaiveDateTime) -> Option<NaiveDateTime> {
    let mut date = from.date();
    let mut earliest = from.hour() * 60 + from.minute();
    let last_year = date.year().saturating_add(YEARS);
    while date.year() <= last_year {
        if !fields.month(date.month()) {
            date = first_of_next_month(date)?;
            earliest = 0;
            continue;
        }
        if fields.day(date)
            && let Some(minute) = minute_of_day(fields, earliest)
        {
            return date.and_hms_opt(minute / 60, minute % 60, 0);
        }
        date = date.succ_opt()?;
        earliest = 0;
    }
    None
}

fn first_of_next_month(date: NaiveDate) -> Option<NaiveDate> {
    let (year, month) =
        if date.month() == 12 { (date.year() + 1, 1) } else { (date.year(), date.month() + 1) };
    NaiveDate::from_ymd_opt(year, month, 1)
}

fn minute_of_day(fields: &Fields, earliest: u32) -> Option<u32> {
    let first_hour = earliest / 60;
    for hour in first_hour..24 {
        if !fields.hour(hour) {
            continue;
        }
        let first_minute = if hour == first_hour { earliest % 60 } else { 0 };
        if let Some(minute) = (first_minute..60).find(|minute| fields.minute(*minute)) {
            return Some(hour * 60 + minute);
        }
    }
    None
}
