//! `flowright explain`: the page of a rule, and the list of all rules.
//!
//! It knows the rules by their table only and never what a file holds.

use super::{Exit, Failure, output};
use crate::diagnostic::{Rule, nearest};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of the rule; without one all rules are listed
    rule: Option<String>,
    /// List all rules with their severity and what they find
    #[arg(long, conflicts_with = "rule")]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let rules = all();
    let Some(name) = &arguments.rule else {
        list(&rules, arguments.json);
        return Ok(Exit::Done);
    };
    let Some(rule) = rules.iter().find(|rule| rule.name == name) else {
        return Err(Failure::usage(format!("there is no rule `{name}`; {}", hint(name, &rules))));
    };
    if arguments.json {
        output::json(&json!({ "version": 1, "rule": one(rule), "page": rule.page }));
    } else {
        output::print(rule.page);
    }
    Ok(Exit::Done)
}

/// What stands above the table of the rules.
const HEAD: &str = "# Rules

`flowright explain NAME` prints the page of a rule. Settings and comments may move warnings and hints, never errors:
[checking](checking.md).

| rule | severity | finds |
|---|---|---|
";

/// Every rule as a Markdown table with links to the pages, for `flowright schema rules`.
pub(super) fn markdown() -> String {
    let mut text = HEAD.to_owned();
    for rule in all() {
        let (name, severity) = (rule.name, rule.severity.word());
        let summary = rule.summary.replace('|', "\\|");
        text.push_str(&format!("| [`{name}`](diagnostics/{name}.md) | {severity} | {summary} |\n"));
    }
    text
}

/// What may have been meant: the nearest name, else the names that hold what was written.
fn hint(name: &str, rules: &[&'static Rule]) -> String {
    if let Some(near) = nearest(name, rules.iter().map(|rule| rule.name)) {
        return format!("did you mean `{near}`?");
    }
    let word = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let holding: Vec<_> = rules
        .iter()
        .filter(|rule| word.len() > 2 && rule.name.contains(&word))
        .map(|rule| format!("`{}`", rule.name))
        .collect();
    if holding.is_empty() {
        return "`flowright explain --list` lists them".to_owned();
    }
    format!("there are {}", holding.join(", "))
}

fn list(rules: &[&'static Rule], as_json: bool) {
    if as_json {
        let rules: Vec<_> = rules.iter().map(|rule| one(rule)).collect();
        output::json(&json!({ "version": 1, "rules": rules }));
        return;
    }
    for rule in rules {
        output::line(&format!("{:<28} {:<8} {}", rule.name, rule.severity.word(), rule.summary));
    }
}

fn one(rule: &Rule) -> serde_json::Value {
    json!({ "name": rule.name, "severity": rule.severity.word(), "summary": rule.summary })
}

/// Every rule, by name.
fn all() -> Vec<&'static Rule> {
    let mut rules: Vec<_> = crate::parse::rules::ALL.iter().chain(crate::check::ALL).copied().collect();
    rules.sort_by_key(|rule| rule.name);
    rules
}
