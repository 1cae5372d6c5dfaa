//! `flowright schema`: what is printed from the tables of the language and of the rules. It reads no file.

use super::{Exit, Failure, explain, output};
use crate::grammar;
use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to print
    #[arg(value_enum, default_value = "workflow")]
    name: Name,
    /// List what there is to print
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// JSON Schema of workflow files
    Workflow,
    /// JSON Schema of agent files
    Agent,
    /// JSON Schema of test files
    Test,
    /// The keys of the language as Markdown tables
    Reference,
    /// The grammar of the language
    Grammar,
    /// The grammar of bindings, `${{ … }}`
    Bindings,
    /// The rules of the checker as a Markdown table
    Rules,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.list {
        for name in Name::value_variants() {
            let Some(value) = name.to_possible_value() else { continue };
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            output::line(&format!("{:<10} {help}", value.get_name()));
        }
        return Ok(Exit::Done);
    }
    match arguments.name {
        Name::Workflow => output::json(&grammar::json_schema()),
        Name::Agent => output::json(&grammar::agent_schema()),
        Name::Test => output::json(&grammar::test_schema()),
        Name::Reference => output::print(&grammar::reference_markdown()),
        Name::Grammar => output::print(&grammar::ebnf()),
        Name::Bindings => output::print(grammar::BINDINGS),
        Name::Rules => output::print(&explain::markdown()),
    }
    Ok(Exit::Done)
}
