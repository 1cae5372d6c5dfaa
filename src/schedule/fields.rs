//! The five fields of a cron expression, as POSIX and Vixie cron read them.

use super::ScheduleError;
use chrono::{Datelike, NaiveDate};

/// Sets of values as bits, and what of the form matters for clock changes and for the two day fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    minutes: u64,
    hours: u64,
    pub(super) days: u64,
    months: u64,
    pub(super) weekdays: u64,
    /// Both day fields are restricted: either may fit.
    pub(super) either_day: bool,
    /// The hour field does not begin with `*`.
    pub(super) hour_is_fixed: bool,
    /// The minute field does not begin with `*`.
    pub(super) minute_is_fixed: bool,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) least: u32,
    pub(super) most: u32,
    names: &'static [&'static str],
}

/// The months by their whole names.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of the month", least: 1, most: 31, names: &[] },
    Field {
        name: "month",
        least: 1,
        most: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    Field { name: "weekday", least: 0, most: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Field {
    /// The value of a name or number.
    pub(super) fn value(&self, text: &str) -> Option<u32> {
        value(text, self).ok()
    }
}

impl Fields {
    pub(super) fn parse(expression: &str) -> Result<Self, ScheduleError> {
        let trimmed = expression.trim();
        if trimmed.starts_with('@') {
            let known = NICKNAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(trimmed));
            let Some((_, meaning)) = known else {
                let names: Vec<_> = NICKNAMES.iter().map(|(name, _)| *name).collect();
                return Err(fault(
                    expression,
                    trimmed,
                    format!("`{trimmed}` is no nickname of a schedule; there is {}", names.join(", ")),
                ));
            };
            return Self::parse(meaning);
        }
        let words: Vec<&str> = trimmed.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = words.as_slice() else {
            let message = format!(
                "a schedule has five fields (minute, hour, day of the month, month, weekday), this has {}; there \
                 are no seconds and no years",
                words.len()
            );
            return Err(fault(expression, trimmed, message));
        };
        let mut sets = [0_u64; 5];
        for ((word, field), set) in words.iter().zip(&FIELDS).zip(&mut sets) {
            *set = parse_field(expression, word, field)?;
        }
        let [minutes, hours, days, months, weekdays] = sets;
        // 7 is Sunday too.
        let weekdays = (weekdays | (weekdays >> 7)) & 0x7f;
        let _ = month;
        Ok(Self {
            minutes,
            hours,
            days,
            months,
            weekdays,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
            hour_is_fixed: !hour.starts_with('*'),
            minute_is_fixed: !minute.starts_with('*'),
        })
    }

    pub(super) fn minute(&self, minute: u32) -> bool {
        has(self.minutes, minute)
    }

    pub(super) fn hour(&self, hour: u32) -> bool {
        has(self.hours, hour)
    }

    pub(super) fn month(&self, month: u32) -> bool {
        has(self.months, month)
    }

    pub(super) fn day(&self, date: NaiveDate) -> bool {
        let by_day = has(self.days, date.day());
        let by_weekday = has(self.weekdays, date.weekday().num_days_from_sunday());
        if self.either_day { by_day || by_weekday } else { by_day && by_weekday }
    }

    /// Whether the two day fields together leave no day out.
    pub(super) fn every_day(&self) -> bool {
        let (days, weekdays) = ((1..=31).all(|day| has(self.days, day)), self.weekdays == 0x7f);
        if self.either_day { days || weekdays } else { days && weekdays }
    }

    /// Whether it fires at the same distances before and after a change by so many minutes: every hour, at minutes
    /// that the change maps onto each other.
    pub(super) fn keeps_its_pace(&self, by_minutes: u64) -> bool {
        let by = u32::try_from(by_minutes % 60).unwrap_or(0);
        (0..24).all(|hour| self.hour(hour))
            && (0..60).all(|minute| self.minute(minute) == self.minute((minute + by) % 60))
    }

    /// Only a day that none of the months has keeps a schedule from ever occurring.
    pub(super) fn never_occurs(&self) -> bool {
        let longest = |month: u32| match month {
            2 => 29,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let some_day = (1..=12)
            .filter(|month| self.month(*month))
            .any(|month| (1..=longest(month)).any(|day| has(self.days, day)));
        !self.either_day && !some_day
    }
}

pub(super) fn has(set: u64, value: u32) -> bool {
    set.checked_shr(value).is_some_and(|rest| rest & 1 == 1)
}

fn parse_field(expression: &str, word: &str, field: &Field) -> Result<u64, ScheduleError> {
    let mut set = 0;
    for item in word.split(',') {
        let at = if item.is_empty() { word } else { item };
        let wrong = |message: String| fault(expression, at, message);
        if item.is_empty() {
            return Err(wrong(format!("the {} `{word}` has an empty item in its list", field.name)));
        }
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let is_range = range == "*" || range.contains('-');
        let (low, high) = if range == "*" {
            (field.least, if field.most == 7 { 6 } else { field.most })
        } else if let Some((low, high)) = range.split_once('-') {
            (value(low, field).map_err(wrong)?, value(high, field).map_err(wrong)?)
        } else {
            let one = value(range, field).map_err(wrong)?;
            (one, one)
        };
        if low > high {
            return Err(wrong(format!("the range `{range}` of the {} runs backwards", field.name)));
        }
        let step = match step {
            None => 1,
            Some(_) if !is_range => {
                return Err(wrong(format!(
                    "`{item}` has a step without a range; write `{range}-{}/…`",
                    field.most
                )));
            }
            Some(text) => match text.parse::<u32>() {
                Ok(step) if step > 0 && text.bytes().all(|byte| byte.is_ascii_digit()) => step,
                _ => {
                    return Err(wrong(format!(
                        "the step `{text}` of the {} is no number above 0",
                        field.name
                    )));
                }
            },
        };
        let mut value = low;
        while value <= high {
            set |= 1_u64 << value;
            value = value.saturating_add(step);
        }
    }
    Ok(set)
}

fn value(text: &str, field: &Field) -> Result<u32, String> {
    let lower = text.to_ascii_lowercase();
    if let Some(index) = field.names.iter().position(|name| *name == lower) {
        return Ok(u32::try_from(index).unwrap_or(0) + if field.least == 1 { 1 } else { 0 });
    }
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>() {
        Ok(number) if digits && (field.least..=field.most).contains(&number) => Ok(number),
        Ok(_) if digits => {
            Err(format!("the {} `{text}` is not between {} and {}", field.name, field.least, field.most))
        }
        _ => Err(format!("`{text}` is no {}", field.name)),
    }
}

/// A fault at `part`, which must be a slice of `expression`.
fn fault(expression: &str, part: &str, message: String) -> ScheduleError {
    let start = (part.as_ptr() as usize).saturating_sub(expression.as_ptr() as usize).min(expression.len());
    let end = (start + part.len()).min(expression.len());
    ScheduleError::Expression { range: start..end, message }
}
