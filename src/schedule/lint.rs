//! Expressions that are right and easily misread. Nothing here changes what an expression means.

use super::fields::{FIELDS, Fields, MONTHS, has};
use std::ops::Range;

/// An oddity of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// Bytes of the expression.
    pub range: Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to write instead, if that can be said.
    pub help: Option<String>,
}

impl std::fmt::Display for Lint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Oddities of an expression that has been read; nicknames have none.
pub(super) fn lints(expression: &str, fields: &Fields) -> Vec<Lint> {
    let words: Vec<(usize, &str)> = words(expression);
    let [(_, minute), (_, hour), day, _, weekday] = words.as_slice() else { return Vec::new() };
    let mut found = Vec::new();
    for ((start, word), field) in words.iter().zip(&FIELDS) {
        for (at, item) in items(word) {
            let range = start + at..start + at + item.len();
            found.extend(step(item, field).map(|message| Lint { range, message, help: None }));
        }
    }
    if fields.either_day {
        found.push(either_day(fields, *day, *weekday));
    }
    if *minute == "*" && !hour.starts_with('*') {
        let start = words.first().map_or(0, |(start, _)| *start);
        found.push(Lint {
            range: start..start + minute.len(),
            message: format!("this fires every minute of the hour `{hour}`, sixty times"),
            help: Some(format!("for once in the hour write `0 {hour}` in front, for every minute `0-59`")),
        });
    }
    found.extend(short_months(fields, *day));
    found
}

fn words(expression: &str) -> Vec<(usize, &str)> {
    expression
        .split_whitespace()
        .map(|word| ((word.as_ptr() as usize).saturating_sub(expression.as_ptr() as usize), word))
        .collect()
}

fn items(word: &str) -> Vec<(usize, &str)> {
    word.split(',')
        .map(|item| ((item.as_ptr() as usize).saturating_sub(word.as_ptr() as usize), item))
        .collect()
}

/// A step that is larger than its range, or that does not come out even where the field begins again.
fn step(item: &str, field: &super::fields::Field) -> Option<String> {
    let (range, step) = item.split_once('/')?;
    let step: u32 = step.parse().ok()?;
    let most = if field.most == 7 { 6 } else { field.most };
    let (low, high) = match range.split_once('-') {
        Some((low, high)) => (field.value(low)?, field.value(high)?),
        None => (field.least, most),
    };
    if step > 1 && step > high - low {
        return Some(format!(
            "the step in `{item}` is larger than the range of the {}: it only ever takes {low}",
            field.name
        ));
    }
    let size = most + 1 - field.least;
    if range != "*" || step < 2 || field.name == "day of the month" && step == 2 {
        return (range == "*" && step == 2).then(|| {
            "`*/2` begins again at 1 in each month: after a 31st comes a 1st, the day after".to_owned()
        });
    }
    let rest = size % step;
    if rest == 0 {
        return None;
    }
    let last = low + (size - 1) / step * step;
    let unit = match field.name {
        "day of the month" | "weekday" => "day",
        name => name,
    };
    let left = size - (last - low);
    let plural = if left == 1 { "" } else { "s" };
    let (size, begins) = if field.name == "day of the month" {
        (format!("{size} {unit}s"), "a month begins at 1 again".to_owned())
    } else {
        (format!("{size} {unit}s"), format!("after {last} it begins at {low} again"))
    };
    Some(format!("{step} does not divide {size}: {begins}, {left} {unit}{plural} later"))
}

fn either_day(fields: &Fields, day: (usize, &str), weekday: (usize, &str)) -> Lint {
    let range = day.0..weekday.0 + weekday.1.len();
    let (day, weekday) = (day.1, weekday.1);
    let (message, help) = if fields.every_day() {
        ("one of the two day fields allows every day, so the other one restricts nothing", "write `*` for it")
    } else {
        (
            "both day fields are restricted, so either suffices",
            "to restrict by one alone write `*` for the other",
        )
    };
    Lint {
        range,
        message: format!(
            "{message}: this fires on the days `{day}` of the month and on the weekdays `{weekday}`"
        ),
        help: Some(help.to_owned()),
    }
}

/// Months that have none of the days.
fn short_months(fields: &Fields, day: (usize, &str)) -> Option<Lint> {
    if fields.either_day || (1..=28).any(|day| has(fields.days, day)) {
        return None;
    }
    let longest = |month: u32| match month {
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let lacks =
        |month: &u32| fields.month(*month) && !(29..=longest(*month)).any(|day| has(fields.days, day));
    let names: Vec<_> =
        (1..=12).filter(lacks).filter_map(|month| MONTHS.get(month as usize - 1).copied()).collect();
    if names.is_empty() || (1..=12).all(|month| !fields.month(month) || lacks(&month)) {
        return None;
    }
    Some(Lint {
        range: day.0..day.0 + day.1.len(),
        message: format!(
            "{} {} not have such a day, so nothing fires there",
            names.join(", "),
            if names.len() == 1 { "does" } else { "do" }
        ),
        help: None,
    })
}
