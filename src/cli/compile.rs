//! `flowright compile`: freezes a workflow.

use super::{Exit, Failure, definition, output, replace};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow file
    flow: PathBuf,
    /// Where the frozen workflow is written; `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the digest as JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let ready = definition::ready(&arguments.flow)?;
    let bytes = ready.workflow.to_bytes();
    match &arguments.output {
        Some(path) if path.as_os_str() == "-" => {
            output::print(&String::from_utf8_lossy(&bytes));
            return Ok(Exit::Done);
        }
        Some(path) => replace::write(path, &bytes, None).map_err(|error| {
            Failure::new(Exit::Fault, format!("{} cannot be written: {error}", path.display()))
        })?,
        None => {}
    }
    let digest = ready.workflow.digest();
    if arguments.json {
        let agents: Vec<_> = ready
            .workflow
            .agents()
            .iter()
            .map(|(key, agent)| json!({ "file": key, "digest": agent.digest().as_str() }))
            .collect();
        output::json(
            &json!({ "version": 1, "name": ready.workflow.name(), "digest": digest.as_str(), "bytes": bytes.len(),
                "agents": agents }),
        );
    } else {
        output::line(&format!("{} {digest}", ready.workflow.name()));
    }
    Ok(Exit::Done)
}
