//! Keys, tokens and passwords in plain text: where they stand ([`find`]) and how they are shown ([`masked`]).
//!
//! Only well-known shapes count, so that what is found is surely meant. Nothing here reports, and nothing that it
//! returns holds more than the first characters of a secret.

use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is, with its article.
    pub kind: &'static str,
}

/// Characters of a secret that are shown.
const SHOWN: usize = 4;
/// What stands for each of the others.
pub const DOT: char = '•';

/// A shape: its beginning, the least number of characters behind that, and what it is.
struct Shape {
    start: &'static str,
    least: usize,
    kind: &'static str,
}

const fn shape(start: &'static str, least: usize, kind: &'static str) -> Shape {
    Shape { start, least, kind }
}

const SHAPES: [Shape; 25] = [
    shape("sk-", 20, "a key of a model server"),
    shape("sk_live_", 16, "a payment key"),
    shape("sk_test_", 16, "a payment key"),
    shape("rk_live_", 16, "a payment key"),
    shape("ghp_", 30, "a GitHub token"),
    shape("gho_", 30, "a GitHub token"),
    shape("ghu_", 30, "a GitHub token"),
    shape("ghs_", 30, "a GitHub token"),
    shape("ghr_", 30, "a GitHub token"),
    shape("github_pat_", 30, "a GitHub token"),
    shape("glpat-", 20, "a GitLab token"),
    shape("AKIA", 16, "an AWS key"),
    shape("ASIA", 16, "an AWS key"),
    shape("AIza", 30, "a Google key"),
    shape("ya29.", 20, "a Google token"),
    shape("xoxb-", 20, "a Slack token"),
    shape("xoxp-", 20, "a Slack token"),
    shape("xoxa-", 20, "a Slack token"),
    shape("xoxs-", 20, "a Slack token"),
    shape("xapp-", 20, "a Slack token"),
    shape("hf_", 30, "a Hugging Face token"),
    shape("npm_", 30, "an npm token"),
    shape("pypi-", 40, "a PyPI token"),
    shape("gsk_", 30, "a key of a model server"),
    shape("eyJ", 30, "a signed token"),
];

const KEY_BEGIN: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";
/// Endings of names, without `-` and `_`, under which passwords stand.
const NAMES: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "token",
    "credential",
    "authorization",
];

/// All secrets of a text in order; none overlaps another.
#[must_use]
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut from = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(from) {
        let begins = from == 0 || !bytes.get(from - 1).copied().is_some_and(is_word);
        let candidate = b"srgAyxhnpeB-:".contains(byte);
        let secret = if candidate && text.is_char_boundary(from) { at(text, from, begins) } else { None };
        match secret {
            Some(secret) => {
                from = secret.range.end.max(from + 1);
                found.push(secret);
            }
            None => from += 1,
        }
    }
    found
}

/// Whether a password is expected under a name.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.iter().any(|ending| plain.ends_with(ending))
}

/// Whether a text that stands under such a name is a secret and no stand-in for one.
#[must_use]
pub fn is_value(text: &str) -> bool {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let stands_in = text.starts_with(['$', '<', '{', '%'])
        || text.chars().all(|c| matches!(c, '*' | '.' | 'x' | 'X' | DOT))
        || ["env:", "file:", "vault:", "secret:"].iter().any(|start| lower.starts_with(start))
        || ["none", "null", "true", "false", "todo", "changeme", "redacted", "example"]
            .contains(&lower.as_str());
    text.len() >= 4 && !text.chars().any(char::is_whitespace) && !stands_in
}

/// What of one line must not be shown: secrets, values under names of passwords, lines of a key.
#[must_use]
pub fn in_line(line: &str) -> Vec<Range<usize>> {
    let trimmed = line.trim();
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let has = |kind: fn(&u8) -> bool| trimmed.as_bytes().iter().any(kind);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    if trimmed.len() >= 40 && is_mixed && trimmed.chars().all(is_base64) {
        let start = line.len() - line.trim_start().len();
        return std::iter::once(start..start + trimmed.len()).collect();
    }
    let mut ranges: Vec<_> = find(line).into_iter().map(|secret| secret.range).collect();
    if let Some(value) = value_of(line)
        && ranges.iter().all(|range| range.end <= value.start || value.end <= range.start)
    {
        ranges.push(value);
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// The text with its secrets cut down to their first characters.
#[must_use]
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in find(text) {
        out.push_str(text.get(from..secret.range.start).unwrap_or_default());
        out.push_str(&shown(text.get(secret.range.clone()).unwrap_or_default()));
        from = secret.range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// A secret in a sentence: its first characters and an ellipsis.
#[must_use]
pub fn shown(secret: &str) -> String {
    let keep = if secret.chars().count() > 3 * SHOWN { SHOWN } else { 0 };
    let start: String = secret.chars().take(keep).collect();
    format!("{start}…")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn at(text: &str, from: usize, begins: bool) -> Option<Secret> {
    let rest = text.get(from..)?;
    if rest.starts_with(KEY_BEGIN) {
        return private_key(rest).map(|len| Secret { range: from..from + len, kind: "a private key" });
    }
    if rest.starts_with("://") {
        let (start, end) = userinfo(rest)?;
        return Some(Secret { range: from + start..from + end, kind: "a password in a URL" });
    }
    if !begins {
        return None;
    }
    if let Some(token) = rest.strip_prefix("Bearer ").or_else(|| rest.strip_prefix("Basic ")) {
        let start = from + (rest.len() - token.len());
        let len = token.bytes().take_while(|byte| is_word(*byte) || b"+/=.~".contains(byte)).count();
        let has_digit = token.get(..len).is_some_and(|token| token.bytes().any(|byte| byte.is_ascii_digit()));
        return (len >= 16 && has_digit)
            .then_some(Secret { range: start..start + len, kind: "a token of a header" });
    }
    let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.start))?;
    let is_dotted = matches!(shape.start, "eyJ" | "ya29.");
    let tail = rest.get(shape.start.len()..)?;
    let len = tail.bytes().take_while(|byte| is_word(*byte) || (is_dotted && *byte == b'.')).count();
    let body = tail.get(..len)?;
    let fits = len >= shape.least
        && body.bytes().any(|byte| byte.is_ascii_digit())
        && (!shape.kind.contains("AWS")
            || (len == 16 && !body.bytes().any(|byte| byte.is_ascii_lowercase())))
        && (shape.start != "eyJ" || body.matches('.').count() == 2)
        && !is_stand_in(body);
    fits.then(|| Secret { range: from..from + shape.start.len() + len, kind: shape.kind })
}

/// Whether the characters are those of documentation: one repeated, or words that say so.
fn is_stand_in(body: &str) -> bool {
    let lower = body.to_ascii_lowercase();
    let first = body.chars().next();
    lower.contains("example") || lower.contains("xxxx") || body.chars().all(|c| Some(c) == first)
}

fn private_key(rest: &str) -> Option<usize> {
    let line = rest.lines().next()?;
    if !line.contains("PRIVATE KEY-----") {
        return None;
    }
    let Some(end) = rest.find(KEY_END) else { return Some(line.len()) };
    let last = rest.get(end..)?.find("KEY-----").map_or(end, |at| end + at + "KEY-----".len());
    Some(last)
}

/// The password in `://user:password@host`.
fn userinfo(rest: &str) -> Option<(usize, usize)> {
    let authority = rest.get(3..)?;
    let end = authority.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'));
    let authority = authority.get(..end.unwrap_or(authority.len()))?;
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':').unwrap_or(("", user));
    let start = 3 + if user.contains(':') { name.len() + 1 } else { 0 };
    is_value(password).then_some((start, start + password.len()))
}

/// The first value on a line that stands behind a name as `password: value` or `password=value`.
fn value_of(line: &str) -> Option<Range<usize>> {
    line.match_indices([':', '=']).find_map(|(at, _)| {
        let name = line.get(..at)?.trim_end_matches(['"', '\'', ' ']);
        let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        let name = name.get(start.map_or(0, |start| start + 1)..);
        let rest = line.get(at + 1..)?;
        let value = rest.trim_start().trim_start_matches(['"', '\'']);
        let start = line.len() - value.len();
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '}' | ']');
        let len = value.find(ends).unwrap_or(value.len());
        let value = value.get(..len)?;
        let is_secret = name.is_some_and(is_secret_name) && value.len() >= 6 && is_value(value);
        is_secret.then_some(start..start + len)
    })
}
