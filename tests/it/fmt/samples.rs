//! Every definition of the corpus and of the documentation, formatted.

use super::{formatted, verdict};
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
    let mut found = Vec::new();
    files("corpus", &mut found);
    let mut count = 0;
    for path in found {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_ours = [".yaml", ".yml", ".json", ".agent.md"].iter().any(|ending| name.ends_with(ending));
        let Ok(mut text) = std::fs::read_to_string(&path) else { continue };
        if name.ends_with(".grow.yaml") {
            text = crate::corpus::cases::grow(&text);
        }
        let is_bad = path.starts_with("corpus/bad");
        if !is_ours || is_bad && is_broken(&name, &text) {
            continue;
        }
        judge(&name, &path.display().to_string(), &text);
        count += 1;
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
