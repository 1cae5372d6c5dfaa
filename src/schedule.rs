//! Cron schedules: five fields and a zone, evaluated by the clock-change rules of section 3 of the language.
//!
//! Times of the day are searched in civil time and then brought to instants: a fixed hour fires once in an overlap
//! (at the first of the two); a fixed minute and hour that a gap under a day swallows fires at the first instant
//! after it; everything else follows real time. No clock is asked here.

mod change;
mod civil;
mod describe;
mod fields;
mod lint;
mod search;
mod zone;

use crate::time::{Millis, Timestamp};
use chrono_tz::Tz;
use fields::Fields;
use std::fmt;
use std::ops::Range;

pub use change::{ChangeKind, ClockChange, Outcome};
pub use lint::Lint;

/// A parsed expression in its zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    expression: String,
    fields: Fields,
    lints: Vec<Lint>,
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
        let lints = lint::lints(expression, &fields);
        Ok(Self { expression: expression.trim().to_owned(), fields, lints, zone })
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

    /// An instant by the clock of the zone.
    #[must_use]
    pub fn local(&self, at: Timestamp) -> chrono::DateTime<Tz> {
        at.to_utc().with_timezone(&self.zone)
    }

    /// Oddities of the expression that are no errors.
    #[must_use]
    pub fn lints(&self) -> &[Lint] {
        &self.lints
    }

    /// The expression in plain English, without the zone: `at 09:30 on Monday to Friday`.
    #[must_use]
    pub fn describe(&self) -> String {
        describe::describe(&self.fields)
    }

    /// The first occurrence strictly after `after`; `None` past the year 9998.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.next_with_lookups(after).0
    }

    /// The first occurrence strictly after `after`, and how many times the zone's table was asked for it. The count
    /// is small whatever the expression, the zone and the instant are (B19).
    #[must_use]
    pub fn next_with_lookups(&self, after: Timestamp) -> (Option<Timestamp>, u32) {
        let zone = zone::Zone::new(self.zone);
        (search::next(&self.fields, &zone, after), zone.lookups())
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

    /// Changes of the zone's clock between `from` and `from + within` that swallow, move or repeat an occurrence.
    #[must_use]
    pub fn meets_clock_change(&self, from: Timestamp, within: Millis) -> Vec<ClockChange> {
        change::met(&self.fields, &zone::Zone::new(self.zone), from, within)
    }
}

/// Names of all zones, sorted.
pub fn zone_names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<_> = chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name()).collect();
    names.sort_unstable();
    names.into_iter()
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
