//! The formatter against generated layouts: indentation, quotes, blank lines and comments at random.

use super::formatted;
use flowright::parse;
use flowright::source::{FileId, Source};
use proptest::prelude::{ProptestConfig, any, proptest};
use serde_json::Value;

/// Choices that shrink: a used-up list always gives the first.
struct Dice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % sides
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == n - 1
    }
}

struct Writer<'a> {
    dice: Dice<'a>,
    out: String,
    comments: usize,
    /// The last thing written is a block scalar, below which a deep line is text.
    after_block: bool,
}

impl Writer<'_> {
    fn comment(&mut self) {
        let stuck = if self.dice.one_in(4) { "" } else { " " };
        self.out.push_str(&format!("#{stuck}c{}", self.comments));
        self.comments += 1;
    }

    fn spaces(&mut self, n: usize) {
        self.out.push_str(&" ".repeat(n));
    }

    /// Ends the line: perhaps with a comment, blank lines, comments of their own.
    fn end(&mut self, indent: usize) {
        if !self.after_block && self.dice.one_in(5) {
            let gap = 1 + self.dice.roll(3);
            self.spaces(gap);
            self.comment();
        }
        if self.dice.one_in(6) && !self.after_block {
            self.out.push_str("  ");
        }
        self.out.push('\n');
        while self.dice.one_in(5) {
            if self.dice.one_in(2) {
                self.out.push('\n');
            } else {
                let deep = if self.after_block { 0 } else { self.dice.roll(5) };
                self.spaces(indent + deep);
                self.comment();
                self.out.push('\n');
            }
        }
        self.after_block = false;
    }

    fn word(&mut self, in_flow: bool) {
        const WORDS: [&str; 16] = [
            "plan",
            "plan it now",
            "yes",
            "4h",
            "12",
            "+1",
            "0x1F",
            "1.50",
            "true",
            "~",
            "a-b",
            "x_y",
            "don't",
            "null",
            "No",
            "ümlaut é",
        ];
        const QUOTED: [&str; 12] = [
            "'plain'",
            "\"plain\"",
            "'it''s'",
            "\"a # b\"",
            "'a: b'",
            "\"x\\ty\"",
            "''",
            "\"\"",
            "'${{ inputs.x }}'",
            "'a, b'",
            "'say \"x\"'",
            "\"\\u0041b\"",
        ];
        let word = if self.dice.one_in(2) { QUOTED[self.dice.roll(12)] } else { WORDS[self.dice.roll(16)] };
        self.out.push_str(word);
        if in_flow && self.dice.one_in(6) {
            self.out.push(' ');
        }
    }

    fn key(&mut self, i: usize) {
        let names = ["a", "b-c", "on", "d e", "1", "f_g"];
        let name = format!("{}{i}", names[self.dice.roll(6)]);
        let key = match self.dice.roll(4) {
            2 => format!("'{name}'"),
            3 => format!("\"{name}\""),
            _ => name,
        };
        self.out.push_str(&key);
    }

    fn long(&mut self, indent: usize) {
        let deeper = indent + 1 + self.dice.roll(4);
        match self.dice.roll(5) {
            0 | 1 => {
                let header = ["|", ">", "|-", ">-", "|+", ">+", "| # no", "|  "][self.dice.roll(8)];
                let header = if let Some(mark) = header.strip_suffix(" # no") {
                    self.out.push_str(mark);
                    self.out.push(' ');
                    self.comment();
                    ""
                } else {
                    header
                };
                self.out.push_str(header);
                for _ in 0..=self.dice.roll(4) {
                    let line = ["one", "  two", "", "three  # text", "- x", "a: b"][self.dice.roll(6)];
                    self.out.push('\n');
                    let is_first = !self.out.trim_end().ends_with("one");
                    let line = if is_first && line.starts_with(' ') { "two" } else { line };
                    if !line.is_empty() {
                        self.spaces(deeper);
                    }
                    self.out.push_str(line);
                }
                self.after_block = true;
            }
            2 => {
                let (open, close) = [("", ""), ("'", "'"), ("\"", "\"")][self.dice.roll(3)];
                self.out.push_str(open);
                self.out.push_str("one  ");
                for _ in 0..=self.dice.roll(3) {
                    self.out.push('\n');
                    if !self.dice.one_in(4) {
                        self.spaces(deeper);
                        self.out.push_str(
                            ["two", "three four ", "'s"][self.dice.roll(if open == "'" { 2 } else { 3 })],
                        );
                    }
                }
                self.out.push('\n');
                self.spaces(deeper);
                self.out.push_str("end");
                self.out.push_str(close);
            }
            _ => self.flow(indent, 0),
        }
    }

    /// A break or blanks between the items of a flow collection.
    fn between(&mut self, indent: usize) {
        if self.dice.one_in(5) {
            self.out.push(' ');
            self.end(indent + 1);
            self.spaces(indent + 1);
        } else {
            let gap = self.dice.roll(3);
            self.spaces(gap);
        }
    }

    fn flow(&mut self, indent: usize, depth: usize) {
        let is_map = self.dice.one_in(2);
        self.out.push(if is_map { '{' } else { '[' });
        let count = self.dice.roll(5);
        for i in 0..count {
            self.between(indent);
            if is_map {
                self.key(i);
                self.out.push(':');
                self.out.push(' ');
                self.between(indent);
            }
            if depth < 3 && self.dice.one_in(4) {
                self.flow(indent, depth + 1);
            } else {
                self.word(true);
            }
            if i + 1 < count || self.dice.one_in(6) {
                self.between(indent);
                self.out.push(',');
                if self.dice.one_in(2) {
                    self.out.push(' ');
                }
            }
        }
        self.between(indent);
        self.out.push(if is_map { '}' } else { ']' });
    }

    fn map(&mut self, indent: usize, depth: usize) {
        for i in 0..=self.dice.roll(4) {
            if i > 0 {
                self.spaces(indent);
            }
            self.key(i);
            self.out.push(':');
            self.child(indent, depth, true);
        }
    }

    fn list(&mut self, indent: usize, depth: usize) {
        for i in 0..=self.dice.roll(3) {
            if i > 0 {
                self.spaces(indent);
            }
            self.out.push('-');
            self.child(indent, depth, false);
        }
    }

    fn child(&mut self, indent: usize, depth: usize, is_key: bool) {
        let gap = 1 + self.dice.roll(3);
        match self.dice.roll(if depth > 4 { 4 } else { 9 }) {
            0 | 1 => {
                self.spaces(gap);
                self.word(false);
                self.end(indent);
            }
            2 => self.end(indent),
            3 => {
                self.spaces(gap);
                self.long(indent);
                self.end(indent);
            }
            kind => {
                let is_map = kind < 7;
                let mut deeper = indent + 1 + self.dice.roll(4);
                if is_key || self.dice.one_in(3) {
                    if is_key && !is_map && self.dice.one_in(2) {
                        deeper = indent;
                    }
                    self.end(indent);
                    self.spaces(deeper);
                } else {
                    self.spaces(gap);
                    deeper = indent + 1 + gap;
                }
                if is_map { self.map(deeper, depth + 1) } else { self.list(deeper, depth + 1) }
            }
        }
    }
}

fn layout(bytes: &[u8]) -> (String, usize) {
    let dice = Dice { bytes, at: 0 };
    let mut writer = Writer { dice, out: String::new(), comments: 0, after_block: false };
    if writer.dice.one_in(3) {
        writer.comment();
        writer.out.push_str("\n\n");
    }
    writer.map(0, 0);
    let is_crlf = writer.dice.one_in(4);
    let text = if is_crlf { writer.out.replace('\n', "\r\n") } else { writer.out };
    (text, writer.comments)
}

fn value(text: &str) -> Option<Value> {
    let mut found = Vec::new();
    let tree = parse::read(&Source::new(FileId::MAIN, "x.yaml", text), &mut found);
    let is_error =
        |found: &flowright::diagnostic::Diagnostic| found.severity == flowright::diagnostic::Severity::Error;
    (!found.iter().any(is_error)).then(|| tree.to_json())
}

fn judge(bytes: &[u8]) -> bool {
    let (text, comments) = layout(bytes);
    let Some(before) = value(&text) else { return false };
    let new = formatted("x.yaml", &text);
    assert_eq!(value(&new), Some(before), "from\n{text}\nto\n{new}");
    let mut at = 0;
    for i in 0..comments {
        let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
        let found = [format!("#c{i}"), format!("# c{i}")].iter().find_map(|comment| {
            let mut all = new[at..].match_indices(comment.as_str());
            all.find(|(place, _)| is_whole(&new[at + place + comment.len()..])).map(|(place, _)| place)
        });
        let place = found.unwrap_or_else(|| panic!("comment {i} is lost or moved; from\n{text}\nto\n{new}"));
        at += place + 3;
    }
    for line in new.lines() {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_text = ["one", "two", "three", "- x", "a: b", "end", "'s"]
            .iter()
            .any(|word| line.trim_start().starts_with(word));
        assert!(is_text || (indent % 2 == 0 && line.trim_end() == line), "{line:?} in\n{new}");
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_layouts_are_formatted_without_loss(bytes in proptest::collection::vec(any::<u8>(), 0..220)) {
        judge(&bytes);
    }
}

/// The generator makes what the formatter accepts, mostly.
#[test]
fn most_generated_layouts_can_be_read() {
    let seeds = (0..200_u32).map(|seed| {
        let mut state = u64::from(seed) * 2_654_435_761 + 1;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        (0..150).map(next).collect::<Vec<u8>>()
    });
    let read = seeds.filter(|bytes| judge(bytes)).count();
    assert!(read > 120, "only {read} of 200");
}
