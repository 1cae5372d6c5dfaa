//! Any text through the YAML and the JSON reader; every place must lie on characters inside the text.
#![no_main]

use flowright::diagnostic::Diagnostic;
use flowright::parse;
use flowright::source::{FileId, Source};
use flowright::tree::{Node, Value};
use libfuzzer_sys::fuzz_target;

/// `is_clean`: without a finding a run says what stands in the text; a refused character reads as a blank.
fn places(text: &str, node: &Node, is_clean: bool) {
    assert!(text.get(node.span.range()).is_some());
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| places(text, item, is_clean)),
        Value::Map(entries) => entries.iter().for_each(|entry| {
            assert!(text.get(entry.key.span.range()).is_some());
            places(text, &entry.value, is_clean);
        }),
        Value::Text(scalar) => {
            for run in scalar.runs.iter().filter(|_| is_clean) {
                let (value, at, len) = (run.value_start as usize, run.source_start as usize, run.len as usize);
                assert_eq!(scalar.value.as_bytes()[value..value + len], text.as_bytes()[at..at + len]);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Hole => {}
    }
}

fuzz_target!(|text: &str| {
    for name in ["x.yaml", "x.json"] {
        let source = Source::new(FileId::MAIN, name, text);
        let mut found: Vec<Diagnostic> = Vec::new();
        let tree = parse::read(&source, &mut found);
        places(text, &tree, found.is_empty());
        for one in &found {
            assert!(text.get(one.span.range()).is_some());
            assert!(one.labels.iter().all(|label| text.get(label.span.range()).is_some()));
        }
    }
});
