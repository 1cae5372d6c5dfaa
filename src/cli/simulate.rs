//! `flowright simulate`: walks every path of a workflow and prints what each ends in.

use super::{Exit, Failure, definition, output};
use crate::rehearse::simulate::{self, BOUND, End, Path, Simulated};
use crate::report::counted;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow file, or a frozen one
    flow: PathBuf,
    /// Look at so many different states at most
    #[arg(long, value_name = "N", default_value_t = BOUND)]
    bound: usize,
    /// Print versioned JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let ready = definition::ready(&arguments.flow)?;
    let simulated = simulate::simulate(&ready.workflow, arguments.bound.max(1));
    let exit = if simulated.endless.is_empty() && simulated.unreached.is_empty() {
        Exit::Done
    } else {
        Exit::Findings
    };
    if arguments.json {
        output::json(&as_json(ready.workflow.name(), &simulated));
    } else {
        output::print(&output::visible(&as_text(ready.workflow.name(), &simulated)));
    }
    for gap in &simulated.gaps {
        output::note(gap);
    }
    Ok(exit)
}

fn as_text(name: &str, simulated: &Simulated) -> String {
    let walked = match (simulated.is_complete, simulated.gaps.is_empty()) {
        (true, _) => "every path was walked",
        (false, true) => "the bound was reached",
        (false, false) => "paths are missing",
    };
    let mut text = format!(
        "{name}: {}, {}; {walked}\n",
        counted(simulated.states, "state"),
        counted(simulated.moves, "move")
    );
    for (title, is_held) in [("ends", false), ("held", true)] {
        let ends: Vec<&End> = simulated.ends.iter().filter(|end| end.is_held == is_held).collect();
        if ends.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{title}\n"));
        for end in ends {
            let word = if is_held { String::new() } else { format!(" ({})", end.status) };
            let reason = if end.reason.is_empty() { String::new() } else { format!(": {}", end.reason) };
            text.push_str(&format!("  {}{word}{reason}\n    {}\n", end.path.step, way(&end.path)));
        }
    }
    if !simulated.endless.is_empty() {
        text.push_str("\nnever ends\n");
        for path in &simulated.endless {
            text.push_str(&format!("  {}\n    {}\n", path.step, way(path)));
        }
    }
    if !simulated.unreached.is_empty() {
        text.push_str(&format!("\nnever reached\n  {}\n", simulated.unreached.join(", ")));
    }
    text
}

fn way(path: &Path) -> String {
    if path.moves.is_empty() { "at once".to_owned() } else { path.moves.join(" → ") }
}

fn as_json(name: &str, simulated: &Simulated) -> Value {
    let path = |path: &Path| json!({ "step": path.step, "moves": path.moves });
    let ends = simulated.ends.iter().map(|end| {
        json!({
            "step": end.path.step,
            "status": end.status,
            "reason": end.reason,
            "states": end.states,
            "moves": end.path.moves,
        })
    });
    json!({
        "version": 1,
        "workflow": name,
        "states": simulated.states,
        "moves": simulated.moves,
        "complete": simulated.is_complete,
        "ends": ends.collect::<Vec<_>>(),
        "endless": simulated.endless.iter().map(path).collect::<Vec<_>>(),
        "unreached": simulated.unreached,
        "gaps": simulated.gaps,
    })
}
