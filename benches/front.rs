//! What judging costs inside the process: one small file, a file of about 2 KB, a thousand of them.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::Bencher;
use divan::counter::ItemsCount;
use flowright::compile::{self, MainDocument, Memory};
use flowright::ir;

/// When everything compiles: 2025-12-01, midnight UTC.
const AS_OF: flowright::time::Timestamp = flowright::time::Timestamp(1_764_547_200_000);

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

const AGENT: &str = r#"{"slug":"worker","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}"#;

/// A workflow of about 2 KB: a question, then reviewed stages that read each other.
fn text(number: usize) -> String {
    let mut text = format!(
        "kind: workflow\nversion: 1\nname: generated-{number}\ninputs:\n  topic: {{ type: string }}\nsteps:\n  - id: ask\n    \
         question: What about ${{{{ inputs.topic }}}}?\n    choices:\n      go: {{ label: Go on, feedback: optional }}\n      \
         no: {{ label: Stop, then: {{ stop: cancelled }} }}\n"
    );
    let mut before = "inputs.topic".to_owned();
    for step in 0..6 {
        text.push_str(&format!(
            "  - id: step-{step}\n    agent: worker\n    task: Do part {step} of ${{{{ inputs.topic }}}}.\n    with:\n      \
             before: ${{{{ {before} }}}}\n    result:\n      type: object\n      required: [text]\n      properties:\n        \
             text: {{ type: string }}\n"
        ));
        before = format!("steps.step-{step}.result.text");
    }
    text
}

fn check(text: &str, files: &Memory) -> Option<ir::Workflow> {
    let main =
        MainDocument { name: "x.yaml".to_owned(), package_path: "x.yaml".to_owned(), bytes: text.into() };
    let compiled = compile::compile(main, files, AS_OF);
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics.first());
    compiled.workflow
}

#[divan::bench]
fn one_file_of_2_kb(bencher: Bencher) {
    let (text, files) = (text(0), Memory::new().with("agents/worker.json", AGENT));
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench(|| check(&text, &files));
}

#[divan::bench(sample_count = 10)]
fn a_thousand_files(bencher: Bencher) {
    let files = Memory::new().with("agents/worker.json", AGENT);
    let texts: Vec<_> = (0..1000).map(text).collect();
    bencher
        .counter(ItemsCount::new(texts.len()))
        .bench(|| texts.iter().filter_map(|text| check(text, &files)).count());
}
