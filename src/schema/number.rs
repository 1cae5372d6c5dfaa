//! Numbers as they were written: exact comparison, wholeness and divisibility for any count of digits.
//!
//! No float is made of them, and nothing is allocated by the size of an exponent.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Digits that arithmetic spells out; a number that needs more is placed by its form alone.
const DIGITS: usize = 4096;

/// A decimal number: `digits` times ten to the `exponent`; no zeros lead or trail, and zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    pub(super) fn of(number: &Number) -> Self {
        Self::read(&number.to_string())
    }

    /// Reads the text of a JSON number.
    fn read(text: &str) -> Self {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes())
            .filter(u8::is_ascii_digit)
            .map(|digit| digit - b'0')
            .skip_while(|digit| *digit == 0)
            .collect();
        let mut exponent = exponent.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
        while digits.last() == Some(&0) {
            digits.pop();
            exponent = exponent.saturating_add(1);
        }
        if digits.is_empty() {
            return Self { is_negative: false, digits, exponent: 0 };
        }
        Self { is_negative: mantissa.starts_with('-'), digits, exponent }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_above_zero(&self) -> bool {
        !self.is_negative && !self.is_zero()
    }

    /// As a count; `u64::MAX` for what is larger.
    pub(super) fn count(&self) -> Option<u64> {
        if self.is_negative || !self.is_whole() {
            return None;
        }
        let zeros = usize::try_from(self.exponent.min(32)).unwrap_or(0);
        let digits = self.digits.iter().copied().chain(std::iter::repeat_n(0, zeros));
        Some(digits.fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit))))
    }

    /// Whether it is a whole multiple of `divisor`, which is above zero. `None` if that takes too many digits.
    pub(super) fn is_multiple_of(&self, divisor: &Self) -> Option<bool> {
        if self.is_zero() {
            return Some(true);
        }
        let zeros = self.exponent.checked_sub(divisor.exponent)?;
        if zeros < 0 {
            // The last digit is not zero, so what divides it would have to end as far behind the point.
            let shift = usize::try_from(zeros.unsigned_abs()).ok().filter(|shift| *shift <= DIGITS)?;
            let mut divisor = divisor.digits.clone();
            divisor.extend(std::iter::repeat_n(0, shift));
            return rest_is_zero(self.digits.iter().copied(), &divisor);
        }
        let zeros = usize::try_from(zeros).ok().filter(|zeros| *zeros <= DIGITS)?;
        rest_is_zero(self.digits.iter().copied().chain(std::iter::repeat_n(0, zeros)), &divisor.digits)
    }
}

/// The exponent as written; far out it only has to be far out.
fn exponent_of(text: &str) -> i64 {
    const FAR: i64 = 1_000_000_000_000;
    let digits = text.trim_start_matches(['+', '-']);
    let size = digits.parse::<i64>().map_or(FAR, |size| size.min(FAR));
    if text.starts_with('-') { -size } else { size }
}

/// Long division by hand: whether nothing is left.
fn rest_is_zero(digits: impl Iterator<Item = u8>, divisor: &[u8]) -> Option<bool> {
    if divisor.len() > DIGITS {
        return None;
    }
    let mut rest: Vec<u8> = Vec::with_capacity(divisor.len() + 1);
    for (i, digit) in digits.enumerate() {
        if i > 2 * DIGITS {
            return None;
        }
        if !(rest.is_empty() && digit == 0) {
            rest.push(digit);
        }
        while !is_below(&rest, divisor) {
            subtract(&mut rest, divisor);
        }
    }
    Some(rest.is_empty())
}

fn is_below(a: &[u8], b: &[u8]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)) == Ordering::Less
}

fn subtract(from: &mut Vec<u8>, what: &[u8]) {
    let mut borrow = 0;
    let mut what = what.iter().rev();
    for digit in from.iter_mut().rev() {
        let take = what.next().copied().unwrap_or(0) + borrow;
        borrow = u8::from(*digit < take);
        *digit = *digit + 10 * borrow - take;
    }
    let zeros = from.iter().take_while(|digit| **digit == 0).count();
    from.drain(..zeros);
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| {
            if number.is_zero() {
                0
            } else if number.is_negative {
                -1
            } else {
                1
            }
        };
        let by_size = || {
            // Place of the first digit, then the digits from the left; none trail with zeros.
            let first = |number: &Self| {
                number.exponent.saturating_add(i64::try_from(number.digits.len()).unwrap_or(i64::MAX))
            };
            let size = first(self).cmp(&first(other)).then_with(|| self.digits.cmp(&other.digits));
            if self.is_negative { size.reverse() } else { size }
        };
        sign(self).cmp(&sign(other)).then_with(by_size)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether two values are equal as JSON Schema means it: numbers by value, objects in any order.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || Decimal::of(a) == Decimal::of(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (Value::Null | Value::Bool(_) | Value::String(_), _)
        | (Value::Number(_) | Value::Array(_) | Value::Object(_), _) => a == b,
    }
}
