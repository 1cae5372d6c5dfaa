//! What a compile says of whole definitions.

use crate::pages::package;
use flowright::compile::{Compiled, MainDocument, compile};
use flowright::ir;

fn compiled(text: &str) -> Compiled {
    let name = "example.yaml".to_owned();
    compile(MainDocument { name: name.clone(), package_path: name, bytes: text.as_bytes().to_vec() }, &package())
}

fn corpus(name: &str) -> String {
    let path = format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// One line a finding: `line:column rule [text] message | help`.
fn told(compiled: &Compiled) -> Vec<String> {
    let tell = |found: &flowright::diagnostic::Diagnostic| {
        let source = compiled.sources.get(found.span.file).unwrap();
        let at = source.position(found.span.start as usize);
        let text = source.slice(found.span);
        let help = found.help.as_deref().unwrap_or("");
        format!("{}:{} {} [{text}] {} | {help}", at.line, at.column, found.rule.name, found.message)
    };
    compiled.diagnostics.iter().map(tell).collect()
}

fn frozen(text: &str) -> ir::Workflow {
    let compiled = compiled(text);
    let told = told(&compiled);
    compiled.workflow.unwrap_or_else(|| panic!("{told:#?}"))
}

#[test]
fn all_of_ok_compiles_without_an_error() {
    let folder = format!("{}/corpus/ok", env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let compiled = compiled(&std::fs::read_to_string(&path).unwrap());
        assert!(compiled.workflow.is_some(), "{}: {:#?}", path.display(), told(&compiled));
        count += 1;
    }
    assert!(count >= 2, "the corpus holds {count} files");
}

#[test]
fn the_scheduled_example_gives_no_finding_at_all() {
    let compiled = compiled(&corpus("ok/scheduled-report.yaml"));
    assert_eq!(told(&compiled), Vec::<String>::new());
}
