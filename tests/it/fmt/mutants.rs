//! The formatter against definitions that something has been done to: whatever can still be read is formatted.

use crate::corpus::cases;
use flowright::fmt::{Refusal, format};
use proptest::prelude::{ProptestConfig, any, proptest};

/// What is put in: everything that YAML has a use for.
const PIECES: [&str; 40] = [
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "#",
    " #",
    "# x\n",
    "-",
    "- ",
    ":",
    ": ",
    "'",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "|",
    ">",
    "|+\n",
    ">-\n",
    "? ",
    "%",
    "~",
    "\\",
    "''",
    "\n  ",
    "\n    - ",
    "a: b\n",
    "---\n",
    "...\n",
    "é",
    "\u{feff}",
    "[ # c\n",
    "|2-\n",
    "${{ inputs.x }}",
    "\r",
];

static TEXTS: std::sync::OnceLock<Vec<(String, String)>> = std::sync::OnceLock::new();

fn texts() -> Vec<(String, String)> {
    let all = [cases::of("ok"), cases::of("bad")].into_iter().flatten();
    all.filter(|case| !case.file.contains(".grow."))
        .filter_map(|case| Some((case.file.clone(), String::from_utf8(case.bytes()).ok()?)))
        .filter(|(_, text)| text.len() < 4000)
        .collect()
}

fn mutated(text: &str, bytes: &[u8]) -> String {
    let mut text = text.to_owned();
    for choice in bytes.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([choice[0], choice[1]])) % (text.len() + 1);
        let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let end = (at + usize::from(choice[2] % 8)).min(text.len());
        let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap();
        let piece = PIECES.get(usize::from(choice[3]) % (PIECES.len() + 10)).copied().unwrap_or("");
        text.replace_range(at..end, piece);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_can_be_read_can_be_formatted(which in any::<usize>(), bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        let all = TEXTS.get_or_init(texts);
        let (name, text) = &all[which % all.len()];
        let text = mutated(text, &bytes);
        match format(name, &text) {
            Ok(new) => {
                let again = format(name, &new);
                assert_eq!(again.as_ref(), Ok(&new), "{name}: not stable, from\n{text}\nto\n{new}\nto\n{}", again.clone().unwrap_or_default());
            }
            Err(Refusal::Unreadable(found)) => assert!(!found.is_empty()),
            Err(Refusal::Different(why)) => panic!("{name}: {why}: {text:?}\n{text}"),
        }
    }
}
