//! `flowright graph`: draws a workflow, or what changed between two.

use super::{Exit, Failure, definition, output};
use crate::host::clock::{Clock, RealClock};
use crate::preview::{Format, Sketch, diff};
use crate::time::Timestamp;
use crate::why;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "With --diff the exit code is 0 if nothing differs and 1 if something does.")]
pub(super) struct Arguments {
    /// Workflow file, or a frozen one
    flow: PathBuf,
    /// How to draw
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Compare with this older workflow: what was added, removed and changed is marked
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,
    /// The instant after which schedules show their next occurrences, such as 2026-01-31T09:00:00Z [default: now];
    /// `none` shows none, so that the same workflow always gives the same bytes
    #[arg(long, value_name = "INSTANT")]
    as_of: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture for pages, light and dark
    Svg,
    /// A page with the picture and the details of each step
    Html,
    /// Nodes and edges, versioned
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let as_of = as_of(arguments)?;
    let (sketch, exit) = match &arguments.diff {
        None => {
            let ready = definition::ready(&arguments.flow)?;
            let mut sketch = Sketch::of(&ready.workflow, as_of);
            sketch.proved = ready.ast.map(|ast| why::proved(&ast, &ready.workflow)).unwrap_or_default();
            (sketch, Exit::Done)
        }
        Some(old) => {
            let (old, new) = (definition::ready(old)?, definition::ready(&arguments.flow)?);
            let sketch = diff::diff(&old.workflow, &new.workflow, as_of);
            let exit = if diff::differs(&sketch) { Exit::Findings } else { Exit::Done };
            (sketch, exit)
        }
    };
    let format = match arguments.format {
        Form::Text => Format::Text,
        Form::Mermaid => Format::Mermaid,
        Form::Dot => Format::Dot,
        Form::Svg => Format::Svg,
        Form::Html => Format::Html,
        Form::Json => Format::Json,
    };
    output::print(&match format {
        Format::Text if output::color() => sketch.print_in_colour(),
        Format::Text | Format::Mermaid | Format::Dot | Format::Svg | Format::Html | Format::Json => {
            sketch.print(format)
        }
    });
    Ok(exit)
}

fn as_of(arguments: &Arguments) -> Result<Option<Timestamp>, Failure> {
    match arguments.as_of.as_deref() {
        None => Ok(Some(RealClock.now())),
        Some("none") => Ok(None),
        Some(instant) => Timestamp::parse(instant).map(Some).map_err(Failure::usage),
    }
}
