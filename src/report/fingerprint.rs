//! Names for findings that stay the same while their lines move: of the file, the rule and the words at the place.

use super::Found;
use crate::source::Source;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A name for each finding, in order. Findings that are alike are numbered.
pub(super) fn of(all: &[Found<'_>]) -> Vec<String> {
    let mut seen: HashMap<[u8; 32], u32> = HashMap::new();
    all.iter()
        .map(|found| {
            let alike = alike(found);
            let number = seen.entry(alike).or_default();
            *number += 1;
            let mut hash = Sha256::new();
            hash.update(alike);
            hash.update(number.to_be_bytes());
            hex(&hash.finalize())
        })
        .collect()
}

fn alike(found: &Found<'_>) -> [u8; 32] {
    let span = found.diagnostic.span;
    let source = found.sources.get(span.file);
    let mut hash = Sha256::new();
    for part in [
        source.map_or("", Source::name),
        found.diagnostic.rule.name,
        source.map_or("", |s| words(s, span.range())),
    ] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Bytes of the longest line that is taken whole.
const LONGEST: usize = 4096;

/// The line on which the place begins, without its indentation; of a line that is far longer than people write, the
/// place alone.
fn words(source: &Source, range: std::ops::Range<usize>) -> &str {
    let lines = source.lines();
    let line = lines.line_of(range.start);
    let end = if line + 1 < lines.count() { lines.start_of(line + 1) } else { source.text().len() };
    let whole = source.text().get(lines.start_of(line)..end).unwrap_or_default();
    if whole.len() > LONGEST {
        return source.text().get(range).unwrap_or_default();
    }
    whole.trim()
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing into a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}
