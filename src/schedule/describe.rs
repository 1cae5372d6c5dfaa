//! An expression in plain English. It says what the fields say, not when the next occurrence is.

use super::fields::{Fields, MONTHS, has};

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Times of the day that are named one by one.
const TIMES: usize = 6;

pub(super) fn describe(fields: &Fields) -> String {
    let (times, is_of_day) = times(fields);
    let days = days(fields);
    let months = months(fields);
    let mut out = times;
    match (days, &months) {
        (Some(days), _) => out.push_str(&format!(" {days}")),
        (None, None) if is_of_day => out.push_str(" every day"),
        (None, Some(_)) if is_of_day => out.push_str(" every day"),
        (None, _) => {}
    }
    if let Some(months) = months {
        out.push_str(&format!(" in {months}"));
    }
    out
}

/// The times of a day, and whether they are named times.
fn times(fields: &Fields) -> (String, bool) {
    let minutes: Vec<u32> = (0..60).filter(|minute| fields.minute(*minute)).collect();
    let hours: Vec<u32> = (0..24).filter(|hour| fields.hour(*hour)).collect();
    if minutes.len() * hours.len() <= TIMES {
        let all =
            hours.iter().flat_map(|hour| minutes.iter().map(move |minute| format!("{hour:02}:{minute:02}")));
        return (format!("at {}", joined(&all.collect::<Vec<_>>())), true);
    }
    let (every_minute, every_hour) = (minutes.len() == 60, hours.len() == 24);
    let in_hours = || format!("of the {}", counted("hour", &hours));
    match (every_minute, every_hour) {
        (true, true) => ("every minute".to_owned(), false),
        (true, false) => (format!("every minute {}", in_hours()), false),
        (false, true) => match pace(&minutes, 60) {
            Some(pace) => (format!("every {pace} minutes"), false),
            None => (format!("every hour, at {}", counted("minute", &minutes)), false),
        },
        (false, false) => {
            let at = match pace(&minutes, 60) {
                Some(pace) => format!("every {pace} minutes"),
                None => format!("at {}", counted("minute", &minutes)),
            };
            match pace(&hours, 24) {
                Some(hours) if minutes.len() == 1 => (format!("every {hours} hours, {at}"), false),
                Some(_) | None => (format!("{at} {}", in_hours()), false),
            }
        }
    }
}

/// `5` if the values are 0, 5, 10 … and come out even.
fn pace(values: &[u32], size: u32) -> Option<u32> {
    let step = values.get(1)?.checked_sub(*values.first()?)?;
    let even = values.first() == Some(&0) && step > 1 && size.is_multiple_of(step);
    (even && values.iter().copied().eq((0..size).step_by(step as usize))).then_some(step)
}

fn days(fields: &Fields) -> Option<String> {
    let days: Vec<u32> = (1..=31).filter(|day| has(fields.days, *day)).collect();
    let weekdays: Vec<u32> = (0..7).filter(|day| has(fields.weekdays, *day)).collect();
    let of_month = || format!("on the {} of the month", ranges(&days, ordinal));
    let of_week = || {
        // From Monday on: the week ends with Sunday.
        let mut from_monday: Vec<u32> = weekdays.iter().map(|day| if *day == 0 { 7 } else { *day }).collect();
        from_monday.sort_unstable();
        format!("on {}", ranges(&from_monday, |day| named(&WEEKDAYS, day % 7)))
    };
    if fields.every_day() {
        return None;
    }
    match (days.len() == 31, weekdays.len() == 7) {
        (true, true) => None,
        (false, true) if !fields.either_day => Some(of_month()),
        (true, false) if !fields.either_day => Some(of_week()),
        (_, _) if fields.either_day => Some(format!("{} and also {}", of_month(), of_week())),
        (_, _) => Some(format!("{}, if it falls {}", of_month(), of_week())),
    }
}

fn months(fields: &Fields) -> Option<String> {
    let months: Vec<u32> = (1..=12).filter(|month| fields.month(*month)).collect();
    (months.len() < 12).then(|| ranges(&months, |month| named(&MONTHS, month - 1)))
}

fn named(names: &[&str], index: u32) -> String {
    names.get(index as usize).map(|name| (*name).to_owned()).unwrap_or_default()
}

fn ordinal(day: u32) -> String {
    let ending = match (day % 10, day / 10) {
        (1, 0 | 2 | 3) => "st",
        (2, 0 | 2 | 3) => "nd",
        (3, 0 | 2 | 3) => "rd",
        (_, _) => "th",
    };
    format!("{day}{ending}")
}

/// `minute 5` or `minutes 5, 10 and 20 to 25`.
fn counted(unit: &str, values: &[u32]) -> String {
    let plural = if values.len() == 1 { "" } else { "s" };
    format!("{unit}{plural} {}", ranges(values, |value| value.to_string()))
}

/// Runs of three and more as `a to b`.
fn ranges(values: &[u32], name: impl Fn(u32) -> String) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *value => *last = *value,
            Some(_) | None => runs.push((*value, *value)),
        }
    }
    let words = runs.into_iter().flat_map(|(first, last)| match last - first {
        0 => vec![name(first)],
        1 => vec![name(first), name(last)],
        _ => vec![format!("{} to {}", name(first), name(last))],
    });
    joined(&words.collect::<Vec<_>>())
}

/// `a, b and c`.
fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
