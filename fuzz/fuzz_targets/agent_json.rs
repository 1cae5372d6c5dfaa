//! Any bytes as an agent file, JSON and Markdown.
#![no_main]

use flowright::compile::{MainDocument, compile_agent};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for name in ["x.json", "x.agent.md"] {
        let main = MainDocument { name: name.to_owned(), package_path: name.to_owned(), bytes: bytes.to_vec() };
        let compiled = compile_agent(main);
        for one in &compiled.diagnostics {
            let source = compiled.sources.get(one.span.file).expect("a finding has a file");
            assert!(source.text().get(one.span.range()).is_some());
        }
    }
});
