//! `flowright agent …`: talks to an agent in one go, checks agent files, lists tools, writes a starter.

use super::prompt::Script;
use super::session::talk;
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
    pub file: PathBuf,
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
        Verb::New { name, root } => starter(name, root),
    }
}

/// Starts a session or goes on with one, drives it until it ends or waits, and prints the answer.
fn one_shot(host: &mut Host, run: &Run, json: bool) -> Result<Exit, Failure> {
    let session = match &run.session {
        None => talk::begin(host, &run.file, &run.script)?,
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
            let answer = talk::final_answer(state).unwrap_or_default();
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
                for call in talk::deferred(ir, state) {
                    output::line(&output::visible(&talk::deferred_line(&call)));
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
    let calls: Vec<Value> = talk::last_calls(state)
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

const STARTER_TOOL: &str = "#!/bin/sh
# A tool answers `describe` with JSON, and `run ARG…` with its result.
case \"$1\" in
describe)
  cat <<'JSON'
{
  \"slug\": \"today\",
  \"description\": \"The date of today.\",
  \"args\": [
    { \"name\": \"format\", \"description\": \"A format of date(1)\", \"type\": \"string\", \"backing_type\": \"string\",
      \"arity\": \"optional\", \"mode\": \"positional\" }
  ],
  \"repeatable\": true
}
JSON
  ;;
run) date \"${2:-+%Y-%m-%d}\" ;;
*) echo \"say describe or run\" >&2; exit 2 ;;
esac
";

fn starter(name: &str, root: &Path) -> Result<Exit, Failure> {
    let fits = !name.is_empty()
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !fits {
        return Err(Failure::usage(format!("`{name}` is no kebab-case name such as `planner`")));
    }
    let agent = json!({
        "--": "Keys that begin with two dashes are comments. `flowright explain` and docs/reference.md tell of the others.",
        "slug": name,
        "announce": "What this agent does, for people and for other agents.",
        "flavor": "OpenAIv1",
        "modelUrl": "http://localhost:11434/v1",
        "modelName": "qwen3:4b",
        "systemPrompt": ["You are a careful assistant."],
        "executionMode": "asynchronous",
        "toolCallPolicy": { "default": "runSync", "rules": [
            { "tool": "bash_today", "disposition": { "tag": "decorate", "decorators": [{ "tag": "timeout", "seconds": 10 }],
                "inner": "runSync" } } ] },
        "bashToolboxes": [{ "tag": "FileSystemDirectory", "contents": { "Path": format!("tools/{name}") } }],
    });
    let agents = root.join("agents");
    let file = agents.join(format!("{name}.json"));
    let tool_folder = root.join("tools").join(name);
    let tool = tool_folder.join("today");
    if let Some(there) = [&file, &tool].into_iter().find(|path| path.exists()) {
        return Err(Failure {
            exit: Exit::Refused,
            message: format!("{} is there already; nothing was written", there.display()),
            code: "conflict",
        });
    }
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Failure::usage(format!("{path} cannot be written: {error}"))
    };
    std::fs::create_dir_all(&agents).map_err(failed(&agents))?;
    std::fs::create_dir_all(&tool_folder).map_err(failed(&tool_folder))?;
    std::fs::write(&tool, STARTER_TOOL).map_err(failed(&tool))?;
    make_executable(&tool).map_err(failed(&tool))?;
    let text = serde_json::to_string_pretty(&agent).unwrap_or_default() + "\n";
    std::fs::write(&file, text).map_err(failed(&file))?;
    output::line(&file.display().to_string());
    output::line(&tool.display().to_string());
    Ok(Exit::Done)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
