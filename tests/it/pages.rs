//! Every page of a rule proves itself: its wrong example gives the rule, its right example does not.

use crate::support::AS_OF;
use flowright::compile::{MainDocument, Memory};
use flowright::diagnostic::{Diagnostic, Rule, Severity};
use flowright::settings::{self, Settings};
use flowright::source::{FileId, Source};
use flowright::verdict::{self, Under};
use flowright::{check, parse};
use std::path::Path;

/// Agents that examples may name.
pub(crate) fn package() -> Memory {
    ["planner", "critic", "builder", "health-reporter", "worker", "writer"].iter().fold(Memory::new(), |files, name| {
        let text = format!(
            r#"{{ "slug": "{name}", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "qwen3:4b",
  "modelUrl": "http://localhost:11434/v1", "systemPrompt": ["You work."] }}"#
        );
        files.with(&format!("agents/{name}.json"), text)
    })
}

struct Block {
    section: String,
    info: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut open: Option<Block> = None;
    for line in page.split_inclusive('\n') {
        match &mut open {
            Some(_) if line.trim_end() == "```" => found.extend(open.take()),
            Some(block) => block.text.push_str(line),
            None if line.starts_with("```") => {
                let info = line.trim_start_matches('`').trim().to_owned();
                open = Some(Block { section: section.clone(), info, text: String::new() });
            }
            None if line.starts_with("## ") => section = line[3..].trim().to_owned(),
            None => {}
        }
    }
    found
}

fn run(block: &Block, files: &Memory) -> Vec<(String, Severity, String)> {
    if block.info.starts_with("toml") {
        let source = Source::new(FileId::MAIN, ".flowright.toml", block.text.clone());
        return said(settings::read(&source, Path::new("")).1);
    }
    let json = block.info.starts_with("json");
    let markdown = block.info.starts_with("md") || block.info.starts_with("markdown");
    let ending = if json {
        "json"
    } else if markdown {
        "agent.md"
    } else {
        "yaml"
    };
    let name = format!("example.{ending}");
    let main =
        MainDocument { name: name.clone(), package_path: name, bytes: block.text.clone().into_bytes() };
    let under = Under { settings: &Settings::default(), path: "example" };
    said(verdict::judge(main, files, under, AS_OF).diagnostics)
}

fn said(diagnostics: Vec<Diagnostic>) -> Vec<(String, Severity, String)> {
    diagnostics.into_iter().map(|found| (found.rule.name.to_owned(), found.severity, found.message)).collect()
}

fn judge(rule: &Rule) -> Result<(), String> {
    let all = blocks(rule.page);
    let mut files = package();
    for block in &all {
        if let Some(path) = block.info.split_whitespace().find_map(|word| word.strip_prefix("file=")) {
            files = files.with(path, block.text.clone());
        }
    }
    let first = |section: &str| {
        all.iter()
            .find(|block| block.section == section && !block.info.contains("file="))
            .ok_or_else(|| format!("{}: the page has no example under `{section}`", rule.name))
    };
    let wrong = run(first("Wrong")?, &files);
    if !wrong.iter().any(|(name, ..)| name == rule.name) {
        return Err(format!("{}: the wrong example does not give it, but {wrong:?}", rule.name));
    }
    let right = run(first("Right")?, &files);
    if right.iter().any(|(name, severity, _)| name == rule.name || *severity == Severity::Error) {
        return Err(format!("{}: the right example gives {right:?}", rule.name));
    }
    Ok(())
}

fn faults(rules: &[&Rule], filled: impl Fn(&Rule) -> bool) -> Vec<String> {
    rules.iter().filter(|rule| filled(rule)).filter_map(|rule| judge(rule).err()).collect()
}

#[test]
fn every_page_of_a_check_proves_itself() {
    let faults = faults(check::ALL, |_| true);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_of_reading_proves_itself() {
    // Rules about bytes that a Markdown page cannot hold, or about sizes, describe their examples in words.
    let words = [
        "not-utf8",
        "control-character",
        "too-large",
        "too-deep",
        "scalar-too-long",
        "too-many-steps",
        "too-many-choices",
        "empty-document",
    ];
    let faults = faults(parse::rules::ALL, |rule| !words.contains(&rule.name));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn rule_names_are_unique_and_pages_begin_with_them() {
    let mut names = std::collections::HashSet::new();
    for rule in check::ALL.iter().chain(parse::rules::ALL) {
        assert!(names.insert(rule.name), "two rules are named {}", rule.name);
        assert!(
            rule.page.starts_with(&format!("# {}\n", rule.name)),
            "the page of {} has another title",
            rule.name
        );
    }
}
