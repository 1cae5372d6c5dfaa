//! Making untrusted text harmless for a terminal, a page and a log: [`visible`], [`visible_lines`], [`json_text`]; and
//! for the inside of a URI: [`percent_encoded`].
//!
//! Source lines, titles, messages of models and tools may hold characters that drive a terminal or hide from the
//! reader. Here they become `\u{…}`. Nothing here prints, and nothing is left out.

use std::borrow::Cow;

/// Whether a character is shown as `\u{…}`: controls, bidirectional overrides, tags and other characters that take
/// no place on the screen and change what is read.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text for one line of a terminal: every hidden character, line ends and tabs included, as `\u{…}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The text for a terminal with its line ends and tabs kept; `\r\n` counts as a line end.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| c != '\n' && c != '\t' && is_hidden(c);
    if text.contains("\r\n") {
        return Cow::Owned(escaped(&text.replace("\r\n", "\n"), hidden).into_owned());
    }
    escaped(text, hidden)
}

/// A JSON text in which no character drives a terminal: what `serde_json` leaves raw becomes `\uXXXX`. `json` must be
/// well formed; its own line ends stay.
#[must_use]
pub fn json_text(json: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// What may stand in the path or fragment of a URI beside letters and digits (RFC 3986, `pchar` and `/`).
pub const URI_PATH: &[u8] = b"-._~/!$&'()*+,;=:@";

/// The text for the inside of a URI: each byte but ASCII letters, digits and those of `kept` as `%XX`.
#[must_use]
pub fn percent_encoded(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text that [`percent_encoded`] was given; `None` if a `%` has no two digits behind it, or the bytes are not
/// UTF-8.
#[must_use]
pub fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}
