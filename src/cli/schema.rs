//! `flowright schema`: what the table of the language prints.

use super::{Exit, Failure, output};
use crate::grammar;
use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to print
    #[arg(value_enum, default_value = "workflow")]
    name: Name,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// JSON Schema of workflow files
    Workflow,
    /// The keys of the language as Markdown tables
    Reference,
    /// The grammar of the language
    Grammar,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match arguments.name {
        Name::Workflow => output::json(&grammar::json_schema()),
        Name::Reference => output::print(&grammar::reference_markdown()),
        Name::Grammar => output::print(&grammar::ebnf()),
    }
    Ok(Exit::Done)
}
