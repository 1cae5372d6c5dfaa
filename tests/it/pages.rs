//! Every page of a rule proves itself: its wrong example gives the rule, its right example does not.

use crate::support::AS_OF;
use flowright::compile::{MainDocument, Memory};
use flowright::diagnostic::{Diagnostic, Rule, Severity};
use flowright::report::{Format, Look};
use flowright::settings::{self, Settings};
use flowright::source::Sources;
use flowright::verdict::{self, Under};
use flowright::{check, parse};
use std::path::Path;

/// Agents that examples may name, and the tools of their folder.
pub(crate) fn package() -> Memory {
    let tools = ["push", "build"].iter().fold(Memory::new(), |files, name| {
        let text = format!(
            "#!/bin/sh\necho '{{ \"slug\": \"{name}\", \"description\": \"Does it.\", \"args\": [] }}'\n"
        );
        files.with(&format!("tools/{name}"), text)
    });
    ["planner", "critic", "builder", "health-reporter", "worker", "writer"].iter().fold(tools, |files, name| {
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

fn run(block: &Block, files: &Memory) -> (Sources, Vec<Diagnostic>) {
    if block.info.starts_with("toml") {
        let mut sources = Sources::default();
        let source = sources.add(".flowright.toml", block.text.clone());
        let found = settings::read(&source, Path::new("")).1;
        return (sources, found);
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
    let verdict = verdict::judge(main, files, under, AS_OF);
    (verdict.sources, verdict.diagnostics)
}

/// The report of a wrong example as a terminal shows it, without colours.
fn report(sources: &Sources, found: &[Diagnostic]) -> String {
    let look = Look { color: false, width: 100 };
    let mut out = Vec::new();
    flowright::report::write(Format::Human, sources, found, &mut out, look).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<_> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Puts the report behind the wrong example of a page, in place of the one that is there.
fn bless(rule: &Rule, report: &str) {
    let path = format!("{}/docs/diagnostics/{}.md", env!("CARGO_MANIFEST_DIR"), rule.name);
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find("## Wrong\n").unwrap();
    let end = page[start..].find("\n## Right").map_or(page.len(), |at| start + at);
    let old = page[start..end].find("```text\n").map_or(end, |at| start + at);
    let behind = page[old..end].find("\n```\n").map_or(end, |at| old + at + "\n```\n".len());
    let head = page[..old].trim_end();
    let tail = page[behind..].trim_start_matches('\n');
    std::fs::write(&path, format!("{head}\n\n```text\n{report}```\n\n{tail}")).unwrap();
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
            .find(|block| block.section == section && block.info != "text" && !block.info.contains("file="))
            .ok_or_else(|| format!("{}: the page has no example under `{section}`", rule.name))
    };
    let (sources, wrong) = run(first("Wrong")?, &files);
    if !wrong.iter().any(|found| found.rule == rule) {
        return Err(format!("{}: the wrong example does not give it, but {wrong:?}", rule.name));
    }
    let (_, right) = run(first("Right")?, &files);
    if right.iter().any(|found| found.rule == rule || found.severity == Severity::Error) {
        return Err(format!("{}: the right example gives {right:?}", rule.name));
    }
    let actual = report(&sources, &wrong);
    let shown = all.iter().find(|block| block.section == "Wrong" && block.info == "text");
    if shown.is_some_and(|shown| shown.text == actual) {
        return Ok(());
    }
    if std::env::var_os("FLOWRIGHT_BLESS").is_some() {
        bless(rule, &actual);
        return Ok(());
    }
    Err(format!("{}: the page shows another report than\n{actual}", rule.name))
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
        // Found by rehearsals, which play a file against another.
        "failed-expectation",
        "refused-step",
        "unusable-workflow",
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
