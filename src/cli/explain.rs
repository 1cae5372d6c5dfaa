//! `flowright explain`: the page of a rule.

use super::{Exit, Failure, output};
use crate::diagnostic::{Rule, nearest};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of the rule; without one all rules are listed
    rule: Option<String>,
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
        let hint = nearest(name, rules.iter().map(|rule| rule.name)).map_or_else(
            || "`flowright explain` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(Failure::usage(format!("there is no rule `{name}`; {hint}")));
    };
    if arguments.json {
        output::json(&json!({ "version": 1, "rule": one(rule), "page": rule.page }));
    } else {
        output::print(rule.page);
    }
    Ok(Exit::Done)
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
