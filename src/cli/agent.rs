//! `flowright agent …`: talks to an agent in one go, checks agent files, lists tools, writes a starter.

mod starter;

use super::prompt::Script;
use super::session::{stand, talk};
use super::{Database, Exit, Failure, check, database, definition, output, run, view};
use crate::engine::agent::state::CallState;
use crate::engine::{SessionId, policy};
use crate::host::perform::ToolSpec;
use crate::host::run::{Host, Subject, Until};
use crate::ir;
use clap::Subcommand;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say something to an agent and print its answer, or what it waits for
    Run(Run),
    /// Find what is wrong with agent files
    Check {
        /// Agent files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List the tools of an agent, and what its policy does with calls of them
    Tools {
        /// Agent file
        file: PathBuf,
        #[command(flatten)]
        database: Database,
    },
    /// Write a starter: an agent file and a folder with a first tool
    New {
        /// Name of the agent, kebab-case
        name: String,
        /// Folder of the package
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        root: PathBuf,
    },
}

/// What `agent run` takes, and `run` with an agent file.
#[derive(Debug, clap::Args)]
pub(super) struct Run {
    /// Agent file
    #[arg(value_name = "FILE")]
    pub agent: PathBuf,
    /// Go on with this session instead of starting one
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    #[command(flatten)]
    pub script: Script,
    #[command(flatten)]
    pub pin: talk::Pin,
    #[command(flatten)]
    pub database: Database,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.verb {
        Verb::Run(run) => {
            let mut host = database::host(&run.database)?;
            one_shot(&mut host, run, arguments.json)
        }
        Verb::Check { files } => check::agents(files, arguments.json),
        Verb::Tools { file, database } => tools(file, database, arguments.json),
        Verb::New { name, root } => starter::write(name, root),
    }
}

/// Starts a session or goes on with one, drives it until it ends or waits, and prints the answer.
fn one_shot(host: &mut Host, run: &Run, json: bool) -> Result<Exit, Failure> {
    let session = match &run.session {
        None => talk::begin(host, &run.agent, &run.script)?,
        Some(written) => {
            let session = database::resolve(host, written)?;
            talk::pinned(host, &session, run.pin)?;
            talk::say(host, &session, &run.script)?;
            session
        }
    };
    talk::listen(host, &run.script);
    drive(host, &session, json)
}

/// Drives an agent session to its rest and prints the answer, or what it waits for.
pub(super) fn drive(host: &mut Host, session: &SessionId, json: bool) -> Result<Exit, Failure> {
    let stopped =
        run::block_on(host.drive(session, Until::Rest))?.map_err(|error| database::host_failure(&error))?;
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else {
        view::print(host, session, json)?;
        return Ok(Exit::Done);
    };
    match stopped.row.status.as_str() {
        "idle" => {
            let answer = stand::final_answer(state).unwrap_or_default();
            if json {
                output::json(
                    &json!({ "version": 1, "status": "completed", "session_id": session.0, "answer": answer }),
                );
            } else {
                output::print(&output::visible(&answer));
                output::print("\n");
            }
            Ok(Exit::Done)
        }
        "waiting_external" => {
            let paused = paused(session, state, ir);
            if json {
                output::json(&paused);
            } else {
                for call in stand::deferred(ir, state) {
                    output::line(&output::visible(&stand::deferred_line(&call)));
                }
                output::note(&format!(
                    "session {session} waits for outside results; `flowright session complete` gives one, \
                     `flowright session resume {session}` goes on"
                ));
            }
            Ok(Exit::Waiting)
        }
        status => {
            let exit = if matches!(status, "failed" | "cancelled") { Exit::Findings } else { Exit::Waiting };
            view::print(host, session, json)?;
            Ok(exit)
        }
    }
}

/// The paused report, in the form that other tools of the kind give it.
pub(super) fn paused(
    session: &SessionId,
    state: &crate::engine::agent::state::State,
    _ir: &ir::Agent,
) -> Value {
    let calls: Vec<Value> = stand::last_calls(state)
        .iter()
        .filter_map(|call| match &call.state {
            CallState::Deferred { token, .. } => Some(json!({
                "tool": call.made.name, "tool_call_id": call.made.id, "continuation_token": token })),
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Delegated { .. }
            | CallState::Unknown
            | CallState::Completed(_)
            | CallState::Failed(_) => None,
        })
        .collect();
    json!({ "status": "paused", "reason": "waiting for deferred tool calls", "session_id": session.0,
        "deferred_calls": calls })
}

fn tools(file: &Path, database: &Database, json: bool) -> Result<Exit, Failure> {
    let ready = definition::agent(file)?;
    let host = database::host(database)?;
    let listing = run::block_on(host.tools(&ready.agent, &ready.root))?;
    let word = |tool: &ToolSpec| disposition(&ready.agent.policy, &tool.name);
    if json {
        let tools: Vec<Value> = listing
            .tools
            .iter()
            .map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters,
                    "repeatable": tool.repeatable, "disposition": word(tool) })
            })
            .collect();
        output::json(
            &json!({ "version": 1, "agent": ready.agent.slug, "tools": tools, "faults": listing.faults }),
        );
    } else {
        for tool in &listing.tools {
            let first = tool.description.lines().next().unwrap_or_default();
            output::line(&output::visible(&format!("{}  {}  {first}", tool.name, word(tool))));
        }
        for fault in &listing.faults {
            output::note(fault);
        }
    }
    Ok(if listing.faults.is_empty() { Exit::Done } else { Exit::Findings })
}

/// What a policy does with calls of a tool, in a few words.
fn disposition(policy: &ir::Policy, tool: &str) -> String {
    let (base, around) = policy::judge(policy, tool);
    let mut words = match base {
        ir::Disposition::RunSync | ir::Disposition::Decorate { .. } => "runSync".to_owned(),
        ir::Disposition::RunAsync => "runAsync".to_owned(),
        ir::Disposition::Defer { .. } => "defer".to_owned(),
        ir::Disposition::Deny { .. } => "deny".to_owned(),
        ir::Disposition::RunIsolated { .. } => "runIsolated".to_owned(),
    };
    for decorator in around {
        words.push_str(&match decorator {
            ir::Decorator::Timeout { seconds } => format!(" timeout={seconds}s"),
            ir::Decorator::Retries { count } => format!(" retries={count}"),
            ir::Decorator::Cache { .. } => " cache".to_owned(),
            ir::Decorator::Label { label } => format!(" label={label}"),
            ir::Decorator::Truncate { max_bytes } => format!(" truncate={max_bytes}"),
        });
    }
    words
}
