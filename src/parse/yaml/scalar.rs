//! What a plain scalar means in YAML's core schema. Digits are kept; only the form is brought to JSON's.

use crate::tree::Value;

/// `None` if the scalar is text; an `Err` if it is a number that JSON cannot hold.
pub(super) fn resolve(text: &str) -> Option<Result<Value, ()>> {
    let first = *text.as_bytes().first()?;
    match first {
        b'n' | b'N' | b'~' if matches!(text, "null" | "Null" | "NULL" | "~") => Some(Ok(Value::Null)),
        b't' | b'T' if matches!(text, "true" | "True" | "TRUE") => Some(Ok(Value::Bool(true))),
        b'f' | b'F' if matches!(text, "false" | "False" | "FALSE") => Some(Ok(Value::Bool(false))),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        _ => None,
    }
}

fn number(text: &str) -> Option<Result<Value, ()>> {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Err(()));
    }
    let radix = |rest: &str, radix: u32| -> Option<Result<Value, ()>> {
        let digits: Option<Vec<u32>> = rest.chars().map(|c| c.to_digit(radix)).collect();
        let digits = digits.filter(|digits| !digits.is_empty())?;
        Some(if digits.len() > 128 { Err(()) } else { Ok(Value::Number(decimal(&digits, radix))) })
    };
    if let Some(rest) = text.strip_prefix("0x") {
        return radix(rest, 16);
    }
    if let Some(rest) = text.strip_prefix("0o") {
        return radix(rest, 8);
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if matches!(rest, ".inf" | ".Inf" | ".INF") {
        return Some(Err(()));
    }
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let all_digits = |s: &str| s.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !has_digits || !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !all_digits(digits) {
            return None;
        }
    }
    let whole = whole.trim_start_matches('0');
    let mut out = String::with_capacity(text.len() + 2);
    if negative {
        out.push('-');
    }
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        out.push('e');
        out.push_str(exponent);
    }
    Some(Ok(Value::Number(out)))
}

/// Digits of some radix, the highest first, as decimal digits of any length.
fn decimal(digits: &[u32], radix: u32) -> String {
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits {
        let mut carry = u64::from(*digit);
        for limb in &mut limbs {
            let value = *limb * u64::from(radix) + carry;
            *limb = value % 1_000_000_000;
            carry = value / 1_000_000_000;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut parts = limbs.iter().rev();
    let mut out = parts.next().map(u64::to_string).unwrap_or_default();
    for part in parts {
        out.push_str(&format!("{part:09}"));
    }
    out
}

/// Whether YAML 1.1 read this plain word as a boolean, and which.
pub(crate) fn yes_no_word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" => Some(true),
        "no" | "off" | "n" => Some(false),
        _ => None,
    }
}
