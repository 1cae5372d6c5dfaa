//! Instants and durations, in whole milliseconds. Both wings use them; nobody here asks a clock.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An instant: milliseconds since 1970-01-01T00:00:00Z. Serialized as RFC 3339 text in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// `self` moved by a duration; stays at the end of time instead of overflowing.
    #[must_use]
    pub fn plus(self, duration: Millis) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// How long after `earlier` this is; never negative.
    #[must_use]
    pub fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0).max(0))
    }

    /// As a chrono instant in UTC; the nearest one it can hold.
    #[must_use]
    pub fn to_utc(self) -> chrono::DateTime<chrono::Utc> {
        chrono::DateTime::from_timestamp_millis(self.0).unwrap_or(if self.0 < 0 {
            chrono::DateTime::<chrono::Utc>::MIN_UTC
        } else {
            chrono::DateTime::<chrono::Utc>::MAX_UTC
        })
    }

    /// Reads RFC 3339, any offset.
    ///
    /// # Errors
    /// A sentence if the text is no such instant.
    pub fn parse(text: &str) -> Result<Self, String> {
        chrono::DateTime::parse_from_rfc3339(text)
            .map(|at| Self(at.timestamp_millis()))
            .map_err(|_| format!("`{text}` is no RFC 3339 instant such as 2026-01-31T09:00:00Z"))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.to_utc();
        let form = if self.0.rem_euclid(1000) == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%.3fZ" };
        write!(f, "{}", at.format(form))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A duration in milliseconds, never negative. Serialized as the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Reads `90s`, `15m`, `2h30m`, `3d` or ISO 8601 (`PT2H`, `P1DT30M`). Zero is refused.
    ///
    /// # Errors
    /// A sentence that names the accepted forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is no duration; write 90s, 15m, 2h30m, 3d or ISO 8601 such as PT2H");
        let total = if let Some(rest) = text.strip_prefix('P') {
            parse_iso(rest).ok_or_else(fault)?
        } else {
            parse_units(text, &[('d', DAY), ('h', HOUR), ('m', MINUTE), ('s', 1)]).ok_or_else(fault)?
        };
        if total == 0 {
            return Err("a duration must be longer than nothing".to_owned());
        }
        Ok(Self(total.checked_mul(1000).ok_or_else(fault)?))
    }
}

impl Millis {
    /// The form of the language for what people also write: blanks between the parts and whole words, such as
    /// `1 hour 30 min`. `None` if it could mean anything else.
    #[must_use]
    pub fn meant(text: &str) -> Option<String> {
        const WORDS: [(char, &[&str]); 4] = [
            ('d', &["d", "day", "days"]),
            ('h', &["h", "hr", "hrs", "hour", "hours"]),
            ('m', &["m", "min", "mins", "minute", "minutes"]),
            ('s', &["s", "sec", "secs", "second", "seconds"]),
        ];
        let mut short = String::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            short.push_str(rest.strip_suffix(behind)?);
            let word = behind.trim_start();
            rest = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let word = word.strip_suffix(rest)?.to_ascii_lowercase();
            let (unit, _) = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()))?;
            short.push(*unit);
            rest = rest.trim_start_matches([' ', ',']);
        }
        Self::parse(&short).is_ok().then_some(short)
    }
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

fn parse_iso(rest: &str) -> Option<i64> {
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) if !time.is_empty() => (date, time),
        Some(_) => return None,
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let days = if date.is_empty() { 0 } else { parse_units(date, &[('W', 7 * DAY), ('D', DAY)])? };
    let clock = if time.is_empty() { 0 } else { parse_units(time, &[('H', HOUR), ('M', MINUTE), ('S', 1)])? };
    days.checked_add(clock)
}

/// Numbers each followed by a unit; units in falling order, each at most once.
fn parse_units(text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut total: i64 = 0;
    let mut digits = String::new();
    let mut left = units.iter();
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let (_, seconds) = left.by_ref().find(|(unit, _)| *unit == c)?;
        let count: i64 = digits.parse().ok()?;
        total = total.checked_add(count.checked_mul(*seconds)?)?;
        digits.clear();
    }
    (digits.is_empty() && !text.is_empty()).then_some(total)
}

impl fmt::Display for Millis {
    /// The short form that [`Millis::parse`] reads, for whole seconds; `250ms` below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 1000 != 0 || self.0 == 0 {
            return write!(f, "{}ms", self.0);
        }
        let mut rest = self.0 / 1000;
        for (unit, seconds) in [('d', DAY), ('h', HOUR), ('m', MINUTE), ('s', 1)] {
            if rest >= seconds {
                write!(f, "{}{unit}", rest / seconds)?;
                rest %= seconds;
            }
        }
        Ok(())
    }
}
