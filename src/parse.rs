//! Text into trees: YAML and JSON into [`tree::Node`], and that into [`crate::ast`].
//!
//! Every function returns a value and adds to a list of diagnostics; none fails, opens a file or knows a clock.
//! What could not be read is a hole, and its consequences are not reported.

pub mod agent;
pub mod binding;
pub mod comment;
mod fields;
pub mod json;
pub mod rehearsal;
pub mod rules;
mod schema;
pub mod workflow;
pub mod yaml;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Source, Span};
use crate::tree;

/// Bytes of the largest document that is read.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;
/// How deep values may be nested; the document itself is level 1.
pub const MAX_DEPTH: usize = 32;
/// Bytes of the longest scalar.
pub const MAX_SCALAR_BYTES: usize = 64 * 1024;
/// Steps of one definition, nested lists included.
pub const MAX_STEPS: usize = 500;
/// Choices of a question and cases of a switch.
pub const MAX_CHOICES: usize = 64;

/// Reads a text into a tree: as JSON if the name of the source ends in `.json`, else as YAML.
pub fn read(source: &Source, diagnostics: &mut Vec<Diagnostic>) -> tree::Node {
    if is_json(source.name()) { json::read(source, diagnostics) } else { yaml::read(source, diagnostics) }
}

/// Whether a file of this name is read as JSON.
#[must_use]
pub fn is_json(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("json"))
}

/// The bytes as text. The diagnostic carries an empty span of `file`: where the bytes are no text there is none
/// to point into, so the message says the byte and the line.
///
/// # Errors
/// `not-utf8` with the position of the first byte that is not UTF-8.
pub fn decode(file: FileId, bytes: Vec<u8>) -> Result<String, Box<Diagnostic>> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = bytes.get(..offset).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = bytes.get(offset).copied().unwrap_or_default();
        let message =
            format!("byte {offset} of the file (line {line}) is `0x{byte:02x}`, which is not UTF-8");
        let wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
        let help =
            if wide { "the file looks like UTF-16; save it as UTF-8" } else { "save the file as UTF-8" };
        Box::new(Diagnostic::new(&rules::NOT_UTF8, Span::new(file, 0, 0), message).help(help))
    })
}

/// Whether the text may be read at all; says `too-large` or `control-character` otherwise. A control character
/// does not stop the reading: it is replaced by a space of the same length.
fn prepare<'a>(
    source: &Source,
    text: &'a str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<std::borrow::Cow<'a, str>> {
    let file = source.id();
    if text.len() > MAX_DOCUMENT_BYTES {
        let message = format!("the document has {} bytes; the limit is {MAX_DOCUMENT_BYTES}", text.len());
        let found = Diagnostic::new(&rules::TOO_LARGE, Span::new(file, 0, 0), message);
        diagnostics.push(found.help("move long texts into files of their own that agents read"));
        return None;
    }
    // The second line of controls begins with the same byte in UTF-8, so most texts are looked at once, by bytes.
    let is_plain =
        |byte: u8| (byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r')) && byte != 0x7f && byte != 0xc2;
    if text.bytes().all(is_plain) {
        return Some(std::borrow::Cow::Borrowed(text));
    }
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let mut controls = text.char_indices().filter(|(_, c)| is_control(*c));
    let Some((first, c)) = controls.next() else { return Some(std::borrow::Cow::Borrowed(text)) };
    let count = 1 + controls.count();
    let code = u32::from(c);
    let mut message = format!("the control character U+{code:04X} stands in the text");
    if count > 1 {
        message.push_str(&format!(" (and {} more of its kind)", count - 1));
    }
    let span = Span::new(file, first, first + c.len_utf8());
    diagnostics.push(
        Diagnostic::new(&rules::CONTROL_CHARACTER, span, message)
            .help("remove it, or write it as an escape in double quotes")
            .note("an invisible character"),
    );
    let blank = |c: char| if is_control(c) { " ".repeat(c.len_utf8()) } else { c.to_string() };
    let clean = text.chars().map(blank).collect();
    Some(std::borrow::Cow::Owned(clean))
}

fn hole(file: FileId, at: usize) -> tree::Node {
    tree::Node { span: Span::new(file, at, at), value: tree::Value::Hole }
}

/// The entry that marks a map as incomplete: something of it could not be read, so nothing is known to be missing.
fn hole_entry(file: FileId, at: usize) -> tree::Entry {
    let node = hole(file, at);
    tree::Entry { key: crate::source::Spanned::new(String::new(), node.span), value: node }
}

/// What YAML 1.1 read a plain word such as `yes` or `off` as; here it is text.
#[must_use]
pub fn yes_no_word(text: &str) -> Option<bool> {
    yaml::scalar::yes_no_word(text)
}

/// Whether an entry is such a mark.
fn is_hole_entry(entry: &tree::Entry) -> bool {
    entry.key.value.is_empty() && entry.key.span.is_empty() && entry.value.value == tree::Value::Hole
}
