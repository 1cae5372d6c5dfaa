//! Every definition of the corpus and of the documentation, formatted.

use super::{formatted, verdict};
use crate::corpus::cases;
use flowright::compile::{Folder, MainDocument};
use std::path::PathBuf;

fn files(folder: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path.display().to_string(), found);
        } else {
            found.push(path);
        }
    }
}

/// Comments as a person sees them in these files: from ` #` or a leading `#` on, outside quotes.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut quote = None;
        let mut before = ' ';
        for (i, c) in line.char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if (c == '"' || c == '\'') && !before.is_alphanumeric() => quote = Some(c),
                None if c == '#' && before.is_whitespace() => {
                    found.push(line[i..].trim_end().to_owned());
                    break;
                }
                None => {}
            }
            before = c;
        }
    }
    found
}

fn judge(name: &str, shown: &str, text: &str) {
    let new = formatted(name, text);
    assert_eq!(verdict(name, &new), verdict(name, text), "{shown}\n{new}");
    assert_eq!(comments(&new), comments(text), "{shown}");
}

fn is_broken(name: &str, text: &str) -> bool {
    matches!(flowright::fmt::format(name, text), Err(flowright::fmt::Refusal::Unreadable(_)))
}

#[test]
fn every_file_of_the_corpus() {
    let mut count = 0;
    for case in [cases::of("ok"), cases::of("bad")].into_iter().flatten() {
        let Ok(text) = String::from_utf8(case.bytes()) else { continue };
        if is_broken(&case.file, &text) {
            assert!(case.root.starts_with(cases::folder("bad")), "{}", case.name);
            continue;
        }
        let verdict = |text: &str| {
            let document = MainDocument { bytes: text.as_bytes().to_vec(), ..case.document() };
            let found = case.compile_document(document, &Folder::new(&case.root));
            let workflow = found.workflow.map(|workflow| workflow.digest().to_string());
            let agent = found.agent.map(|agent| agent.digest().to_string());
            let rules: Vec<_> = found.diagnostics.iter().map(|found| found.rule.name).collect();
            (workflow, agent, rules)
        };
        let new = formatted(&case.file, &text);
        assert_eq!(verdict(&new), verdict(&text), "{}\n{new}", case.name);
        assert_eq!(comments(&new), comments(&text), "{}", case.name);
        count += 1;
    }
    assert!(count > 120, "only {count} files");
}

#[test]
fn every_file_of_the_real_packages() {
    let mut found = Vec::new();
    files("corpus/real", &mut found);
    let mut count = 0;
    for path in found {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if [".yaml", ".json", ".agent.md"].iter().any(|ending| name.ends_with(ending)) {
            judge(&name, &path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 5, "only {count} files");
}

#[test]
fn every_block_of_the_documentation() {
    let mut pages = Vec::new();
    files("docs", &mut pages);
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = std::fs::read_to_string(page).unwrap();
        for block in text.split("\n```").skip(1).step_by(2) {
            let (info, body) = block.split_once('\n').unwrap_or((block, ""));
            let name = match info.split_whitespace().next() {
                Some("yaml") => "x.yaml",
                Some("json") => "x.json",
                _ => continue,
            };
            let body = format!("{body}\n");
            if is_broken(name, &body) {
                assert!(page.starts_with("docs/diagnostics"), "{}: {body}", page.display());
                continue;
            }
            judge(name, &page.display().to_string(), &body);
            // What readers copy is in the layout that the tool makes.
            if page.ends_with("language.md") {
                assert_eq!(formatted(name, &body), body);
            }
            count += 1;
        }
    }
    assert!(count > 60, "only {count} blocks");
}
