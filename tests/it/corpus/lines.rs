//! Lines and columns: the same as a plain count, and no dearer at the end of a long line than at its beginning.

use flowright::diagnostic::Diagnostic;
use flowright::parse::rules;
use flowright::report::{self, Look};
use flowright::source::{BLOCK_BYTES, LineIndex, Position, Sources, Span};
use proptest::prelude::*;

/// Counted the plain way.
fn plain(text: &str, offset: usize) -> (Position, (u32, u32)) {
    let mut start = 0;
    let mut line = 0;
    for (at, c) in text.char_indices().take_while(|(at, _)| *at < offset) {
        let ends = c == '\n' || c == '\r' && !text[at + 1..].starts_with('\n');
        if ends {
            (line, start) = (line + 1, at + c.len_utf8());
        }
    }
    let before = &text[start..offset];
    let mark = usize::from(start == 0 && before.starts_with('\u{feff}'));
    let number = |n: usize| u32::try_from(n).unwrap();
    let position = Position { line: number(line + 1), column: number(before.chars().count() - mark + 1) };
    (position, (number(line), number(before.encode_utf16().count())))
}

proptest! {
    #[test]
    fn places_are_those_of_a_plain_count(
        parts in prop::collection::vec(("[a-z ]{0,90}", prop::sample::select(vec!["é", "漢", "😀", "\n", "\r\n", "\r", "", "\u{feff}"])), 0..12),
        ascii in any::<bool>(),
    ) {
        let text: String = parts.iter().map(|(text, c)| if ascii && !c.is_ascii() { text.clone() } else { format!("{text}{c}") }).collect();
        let index = LineIndex::new(&text);
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            // Between the two characters of one line end there is no place.
            if text[..offset].ends_with('\r') && text[offset..].starts_with('\n') {
                continue;
            }
            let (position, utf16) = plain(&text, offset);
            prop_assert_eq!(index.position(&text, offset), position);
            prop_assert_eq!(index.utf16_position(&text, offset), utf16);
            let start = index.start_of(index.line_of(offset));
            prop_assert_eq!(index.offset_of_character(&text, start, text[start..offset].chars().count()), offset);
            prop_assert_eq!(index.offset_of_utf16(&text, utf16.0, utf16.1), offset);
        }
        for line in 0..index.count() {
            let far = index.offset_of_utf16(&text, u32::try_from(line).unwrap(), u32::MAX);
            prop_assert!(!text[index.start_of(line)..far].contains(['\n', '\r']));
        }
    }
}

/// The place is found although all of the line but the last block before it has become something else: so only that
/// block is looked at.
#[test]
fn a_place_in_a_long_line_costs_a_block_and_not_the_line() {
    let text = "é漢a😀".repeat(100_000);
    let index = LineIndex::new(&text);
    for offset in text.char_indices().map(|(at, _)| at).step_by(997) {
        let from = offset / BLOCK_BYTES * BLOCK_BYTES;
        let window_start =
            (0..=3).map(|back| from.saturating_sub(back)).find(|at| text.is_char_boundary(*at)).unwrap();
        let other = format!(
            "{}{}{}",
            "x".repeat(window_start),
            &text[window_start..offset],
            "x".repeat(text.len() - offset)
        );
        let position = index.position(&other, offset);
        assert_eq!(position.column as usize, text[..offset].chars().count() + 1);
    }
}

/// A thousand findings in a line of a megabyte: every report says each at its place, and prints little of the line.
#[test]
fn a_thousand_findings_in_one_long_line() {
    let mut sources = Sources::default();
    let source = sources.add("long.json", "é漢a😀".repeat(100_000));
    let found: Vec<_> = (0..1000)
        .map(|i| {
            let at = i * 1000;
            Diagnostic::new(&rules::BAD_VALUE, Span::new(source.id(), at, at + 2), "something is wrong")
        })
        .collect();
    for format in report::Format::ALL {
        let mut out = Vec::new();
        report::write(format, &sources, &found, &mut out, Look::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        // The last begins at byte 999 000, and ten bytes are four characters.
        let has_columns = !matches!(format, report::Format::Gitlab | report::Format::Junit);
        assert!(!has_columns || text.contains("399601"), "{format:?}: {}", &text[..400]);
        assert!(text.len() < 2_000_000, "{format:?}: {} bytes", text.len());
    }
}
