//! `flowright graph`: draws a workflow.

use super::{Exit, Failure, definition, output};
use crate::preview;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow file, or a frozen one
    flow: PathBuf,
    /// How to draw
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture for pages, light and dark
    Svg,
    /// A page with the picture and the details of each node
    Html,
    /// Nodes and edges, versioned
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let ready = definition::ready(&arguments.flow)?;
    let format = match arguments.format {
        Format::Text => preview::Format::Text,
        Format::Mermaid => preview::Format::Mermaid,
        Format::Dot => preview::Format::Dot,
        Format::Svg => preview::Format::Svg,
        Format::Html => preview::Format::Html,
        Format::Json => preview::Format::Json,
    };
    let mut text = preview::print(format, &ready.workflow);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    output::print(&text);
    Ok(Exit::Done)
}
