//! `flowright why`: what leads to a step, what it can reach, what happens if nobody answers, why it can run for ever;
//! or the paths behind the findings of a rule.

use super::{Exit, Failure, definition, output};
use crate::diagnostic::{Rule, nearest};
use crate::resolve::resolve;
use crate::why::{self, Questions};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A step of the workflow, `end`, `hold`, or the name of a rule
    name: String,
    /// Workflow file
    flow: PathBuf,
    /// What leads to the step, and what it can reach
    #[arg(long)]
    reach: bool,
    /// What happens if nobody answers
    #[arg(long)]
    nobody_answers: bool,
    /// Why it can run for ever
    #[arg(long)]
    forever: bool,
    /// Print versioned JSON
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// All questions where none is chosen.
    fn questions(&self) -> Questions {
        let Self { reach, nobody_answers, forever, .. } = *self;
        if reach || nobody_answers || forever {
            Questions { reach, nobody_answers, forever }
        } else {
            Questions::ALL
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let compiled = definition::judge_file(&arguments.flow)?;
    let Some(ast) = &compiled.ast else {
        definition::print_findings(&compiled);
        let path = arguments.flow.display();
        return Err(Failure::new(Exit::Findings, format!("{path} cannot be read as a workflow")));
    };
    let resolved = resolve(ast, &compiled.agents);
    if let Some(answer) = why::answer(&resolved, &arguments.name, arguments.questions()) {
        if arguments.json {
            output::json(&why::json(&answer, &compiled.sources));
        } else {
            output::print(&why::text(&answer, &compiled.sources));
        }
        return Ok(Exit::Done);
    }
    let rules = || crate::parse::rules::ALL.iter().chain(crate::check::ALL).copied();
    let Some(rule) = rules().find(|rule: &&Rule| rule.name == arguments.name) else {
        let known = why::names(&resolved).into_iter().chain(rules().map(|rule| rule.name));
        let hint = nearest(&arguments.name, known).map_or_else(
            || "give the id of a step, `end`, `hold`, or the name of a rule".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let path = arguments.flow.display();
        return Err(Failure::usage(format!(
            "{path} has no step `{}`, and no rule is named so; {hint}",
            arguments.name
        )));
    };
    let findings = why::findings(&compiled.diagnostics, rule.name);
    if arguments.json {
        output::json(&why::findings_json(rule.name, &findings, &compiled.sources));
    } else {
        output::print(&why::findings_text(rule.name, &findings, &compiled.sources));
    }
    Ok(Exit::Done)
}
