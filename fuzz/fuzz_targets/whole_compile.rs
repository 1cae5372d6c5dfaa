//! Any bytes through the whole compile, its reports and, where nothing is an error, its pictures.
#![no_main]

use flowright::compile::{MainDocument, Memory, compile};
use flowright::time::Timestamp;
use flowright::{preview, report};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const WORKER: &str = include_str!("../../corpus/bad/agents/worker.json");

static FILES: LazyLock<Memory> = LazyLock::new(|| Memory::new().with("agents/worker.json", WORKER));

fuzz_target!(|bytes: &[u8]| {
    let name = if bytes.first() == Some(&b'{') { "x.json" } else { "x.yaml" };
    let main = MainDocument { name: name.to_owned(), package_path: name.to_owned(), bytes: bytes.to_vec() };
    let compiled = compile(main, &*FILES, Timestamp(1_764_547_200_000));
    for format in [report::Format::Human, report::Format::Short, report::Format::Json] {
        let mut out = Vec::new();
        report::write(format, &compiled.sources, &compiled.diagnostics, &mut out, report::Look::default())
            .expect("memory takes what is written");
    }
    if let Some(workflow) = &compiled.workflow {
        for format in [preview::Format::Text, preview::Format::Mermaid, preview::Format::Dot, preview::Format::Json] {
            assert!(!preview::print(format, workflow).is_empty());
        }
    }
});
