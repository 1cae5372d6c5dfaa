//! The pages of the rules: what they call wrong is found wrong, what they call right is clean.

use super::source;
use flowright::diagnostic::Diagnostic;
use flowright::parse;

fn findings(language: &str, text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if language == "yaml" {
        let source = source("page.yaml", text);
        let tree = parse::read(&source, &mut found);
        parse::workflow::workflow(&source, &tree, &mut found);
    } else {
        parse::agent::agent(
            &source(if language == "json" { "page.json" } else { "page.agent.md" }, text),
            &mut found,
        );
    }
    found
}

/// The language and text of the first fenced block under a heading.
fn block<'a>(page: &'a str, heading: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n\n```"))?;
    let (language, rest) = rest.split_once('\n')?;
    Some((language, &rest[..rest.find("\n```")? + 1]))
}

#[test]
fn examples_of_the_pages() {
    for rule in parse::rules::ALL {
        assert!(rule.page.starts_with(&format!("# {}\n\nSeverity: {}.\n", rule.name, rule.severity.word())));
        let Some((language, wrong)) = block(rule.page, "Wrong") else {
            assert!(rule.page.contains("(No example:"), "{} has no example and no reason", rule.name);
            continue;
        };
        let names: Vec<&str> = findings(language, wrong).iter().map(|found| found.rule.name).collect();
        assert_eq!(names, [rule.name], "{wrong}");
        let (language, right) = block(rule.page, "Right").expect("a wrong example has a right one");
        assert_eq!(findings(language, right), [], "{right}");
    }
}
