//! Any text as a scalar with bindings, in double quotes, as a block and as it is.
#![no_main]

use flowright::parse::{self, binding};
use flowright::source::{FileId, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let quoted = format!("k: {text:?}\n");
    let block = format!("k: |2\n  {}\n", text.replace('\n', "\n  "));
    let plain = format!("k: {text}\n");
    for document in [quoted, block, plain] {
        let source = Source::new(FileId::MAIN, "x.yaml", document.as_str());
        let tree = parse::read(&source, &mut Vec::new());
        let Some(scalar) = tree.get("k").and_then(|node| node.text()) else { continue };
        let mut found = Vec::new();
        let template = binding::template(scalar, &mut found);
        for span in template.bindings().map(|binding| binding.span).chain(found.iter().map(|one| one.span)) {
            assert!(document.get(span.range()).is_some());
        }
    }
});
