//! Files of the corpus with random damage: nothing panics, every place lies on characters inside its file, what is
//! said stays in proportion to what was written, and every report can be printed.
//!
//! The damage comes from a seeded generator, so every run is the same. `FLOWRIGHT_MUTATIONS` asks for another number of
//! inputs and `FLOWRIGHT_SEED` for other ones, for long runs.

use crate::corpus::cases;
use crate::support::AS_OF;
use flowright::compile::{MainDocument, Memory, compile, compile_agent};
use flowright::diagnostic::Diagnostic;
use flowright::source::{FileId, Source, Sources};
use flowright::tree::{Node, Value};
use flowright::{ir, parse, preview, report};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Inputs above this size are left out: they take long and show nothing that smaller ones do not.
const MAX_BYTES: usize = 4096;

/// Pieces that matter to the readers.
const PIECES: &[&str] = &[
    ": ",
    ":",
    " #",
    "#",
    "- ",
    "-",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "|",
    "|2-",
    ">",
    ">+",
    "&a ",
    "*a",
    "!t ",
    "!!str ",
    "<<: ",
    "? ",
    "%",
    "@",
    "`",
    "\t",
    "\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "    ",
    "\\",
    "\\x",
    "\\u00e9",
    "\\ud800",
    "---\n",
    "...\n",
    "${{",
    "}}",
    "${{ steps.a.result.b[0] }}",
    "$${{",
    "é",
    "漢",
    "😀",
    "\u{feff}",
    "\0",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "null",
    "~",
    "true",
    "yes",
    "0x1f",
    ".inf",
    "1e999",
    "-0",
    "99999999999999999999",
    "steps:",
    "loop: ",
    "agent: worker",
    "task: x",
    "id: a",
    "cron: ",
    "* * * * *",
    "then: ",
    "break",
    "next",
    "hold",
    "stop: failed",
    "{ steps: [] }",
    "cases: ",
    "default: ",
    "result: ",
    "type: object",
    "$ref: '#'",
    "$ref: '#/$defs/a'",
    "pattern: '(a+)+$'",
    "properties: ",
    "oneOf: [",
    "kind: workflow\n",
    "version: 1\n",
    "deadline: 1s",
    "P1Y",
    "previous.a.value",
    "guarantees: ",
    "agents: ",
    "./agents/worker.json",
    "../x",
    "--x",
    "\"tag\": \"decorate\"",
    "\"inner\": ",
];

/// A small generator of even quality (xorshift with a multiplier).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % end.max(1)
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Damages a text in one to six places.
fn damage(random: &mut Random, text: &str, other: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(6) {
        let at = border(random, &text);
        let end = border(random, &text).max(at).min(floor(&text, at + random.below(40)));
        match random.below(8) {
            0..=2 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            3 => text.replace_range(at..end.max(at), ""),
            4 => text.replace_range(at..end.max(at), PIECES[random.below(PIECES.len())]),
            5 => {
                let copy = text[at..end.max(at)].repeat(1 + random.below(3));
                let to = border(random, &text);
                text.insert_str(to, &copy);
            }
            6 => {
                // One line takes another's place, deeper or less deep.
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                let (from, to) = (random.below(lines.len()), random.below(lines.len()));
                let line = lines.get(from).map_or(String::new(), |line| (*line).to_owned());
                let moved = format!("{}{}", " ".repeat(random.below(9)), line.trim_start_matches(' '));
                let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
                if let Some(slot) = lines.get_mut(to) {
                    *slot = moved;
                }
                text = lines.concat();
            }
            _ => {
                let (from, to) = (border(random, other), border(random, other));
                text.insert_str(at, &other[from.min(to)..from.max(to)]);
            }
        }
    }
    text.truncate(floor(&text, MAX_BYTES));
    text
}

fn border(random: &mut Random, text: &str) -> usize {
    floor(text, random.below(text.len() + 1))
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn seeds(is_wanted: impl Fn(&cases::Case) -> bool) -> Vec<String> {
    let all = cases::of("bad").into_iter().chain(cases::of("ok"));
    all.filter(is_wanted)
        .filter_map(|case| String::from_utf8(case.bytes()).ok())
        .filter(|text| text.len() <= MAX_BYTES)
        .collect()
}

fn run(salt: u64, count: u64, seeds: &[String], mut look: impl FnMut(&str)) {
    assert!(seeds.len() > 1, "{} seeds", seeds.len());
    let mut random = Random(number("FLOWRIGHT_SEED", 0x5eed) * 1000 + salt + 1);
    for i in 0..number("FLOWRIGHT_MUTATIONS", count) {
        let (one, other) = (random.below(seeds.len()), random.below(seeds.len()));
        let text = damage(&mut random, &seeds[one], &seeds[other]);
        let outcome = catch_unwind(AssertUnwindSafe(|| look(&text)));
        if let Err(why) = outcome {
            let why = why.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned());
            panic!("input {i}: {why}\n{text:?}\n{text}");
        }
    }
}

/// Every place of a finding lies on characters inside its file, and what is said is in proportion.
fn check_findings(sources: &Sources, found: &[Diagnostic]) {
    let bytes: usize = sources.iter().map(|source| source.text().len()).sum();
    let mut said = 0;
    for one in found {
        let edits = one.fix.iter().flat_map(|fix| &fix.edits);
        let spans = one.labels.iter().map(|label| label.span).chain(edits.clone().map(|edit| edit.span));
        for span in spans.chain([one.span]) {
            let source = sources.get(span.file).unwrap_or_else(|| panic!("no file for {one:?}"));
            assert!(source.text().get(span.range()).is_some(), "{span:?} of {one:?}");
        }
        let mut edits: Vec<_> = edits.map(|edit| edit.span).collect();
        edits.sort();
        assert!(edits.windows(2).all(|pair| pair[0].end <= pair[1].start), "edits overlap in {one:?}");
        assert!(!one.message.is_empty() && !one.message.ends_with('.'), "{one:?}");
        said += one.message.len() + one.labels.iter().map(|label| label.text.len()).sum::<usize>();
    }
    // A step of a few characters can break many rules; a rule can show a path of many steps.
    assert!(found.len() <= 40 + bytes, "{} findings for {bytes} bytes", found.len());
    assert!(said <= 20_000 + 600 * bytes, "{said} bytes of messages for {bytes} bytes");
}

/// Nodes and runs of a tree, all of them placed inside the source.
fn measure(source: &Source, node: &Node) -> usize {
    assert!(source.text().get(node.span.range()).is_some(), "{:?}", node.span);
    1 + match &node.value {
        Value::Text(text) => {
            let mut found = Vec::new();
            let template = parse::binding::template(text, &mut found);
            for span in
                template.bindings().map(|binding| binding.span).chain(found.iter().map(|one| one.span))
            {
                assert!(source.text().get(span.range()).is_some(), "{span:?}");
            }
            text.runs.len()
        }
        Value::List(items) => items.iter().map(|item| measure(source, item)).sum(),
        Value::Map(entries) => entries
            .iter()
            .map(|entry| {
                assert!(source.text().get(entry.key.span.range()).is_some(), "{:?}", entry.key);
                1 + measure(source, &entry.value)
            })
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => 0,
    }
}

fn print_all(sources: &Sources, found: &[Diagnostic]) {
    for format in report::Format::ALL {
        for color in [true, false] {
            let mut out = Vec::new();
            report::write(format, sources, found, &mut out, report::Look { color, width: 80 }).unwrap();
            let text = String::from_utf8(out).expect("a report is UTF-8");
            assert!(color || !text.contains('\u{1b}'), "a report drives the terminal: {text:?}");
        }
    }
}

fn draw_all(workflow: &ir::Workflow) {
    for format in preview::Format::ALL {
        assert!(!preview::print(format, workflow).is_empty());
    }
}

#[test]
fn the_readers_take_any_damage() {
    run(1, 14_000, &seeds(|_| true), |text| {
        for name in ["x.yaml", "x.json"] {
            let mut sources = Sources::default();
            let source = sources.add(name, text);
            let mut found = Vec::new();
            let tree = parse::read(&source, &mut found);
            let nodes = measure(&source, &tree);
            assert!(nodes <= 50 + 3 * text.len(), "{nodes} nodes and runs for {} bytes", text.len());
            check_findings(&sources, &found);
        }
    });
}

#[test]
fn the_agent_readers_take_any_damage() {
    let seeds = seeds(|case| case.is_agent());
    run(2, 4_000, &seeds, |text| {
        for name in ["x.json", "x.agent.md"] {
            let main = MainDocument {
                name: name.to_owned(),
                package_path: name.to_owned(),
                bytes: text.as_bytes().to_vec(),
            };
            let compiled = compile_agent(main);
            check_findings(&compiled.sources, &compiled.diagnostics);
        }
    });
}

#[test]
fn the_whole_compile_takes_any_damage() {
    let seeds = seeds(|case| !case.is_agent());
    let mut files = Memory::new();
    for name in ["worker", "writer", "critic"] {
        let path = cases::folder("bad").join(format!("agents/{name}.json"));
        files = files.with(&format!("agents/{name}.json"), std::fs::read(path).unwrap());
    }
    let mut frozen = 0;
    run(3, 3_000, &seeds, |text| {
        let name = if text.starts_with('{') { "x.json" } else { "x.yaml" };
        let main = MainDocument {
            name: name.to_owned(),
            package_path: name.to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        let compiled = compile(main, &files, AS_OF);
        assert!(compiled.sources.get(FileId::MAIN).is_some());
        check_findings(&compiled.sources, &compiled.diagnostics);
        print_all(&compiled.sources, &compiled.diagnostics);
        let has_errors = flowright::compile::has_errors(&compiled.diagnostics);
        assert_eq!(compiled.workflow.is_none(), has_errors, "frozen if and only if nothing is an error");
        if let Some(workflow) = &compiled.workflow {
            draw_all(workflow);
            frozen += 1;
        }
    });
    assert!(frozen > 0, "no damaged file was sound, so nothing behind the checks was reached");
}
