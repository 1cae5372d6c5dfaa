//! `flowright run`: starts a workflow session and drives it until it ends or waits.

use super::session::stand;
use super::{Database, Exit, Failure, database, definition, operator, output, package, view};
use crate::engine::{IndexRow, SessionId};
use crate::host::run::{Appended, Host, NewWorkflow, Stopped, Until};
use crate::ir;
use indexmap::IndexMap;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Workflow file, a frozen one, or PACKAGE/WORKFLOW[@VERSION] of an installed package
    flow: PathBuf,
    /// An input; `@FILE` as the value reads a file
    #[arg(short, long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Inputs as one JSON object in a file
    #[arg(long, value_name = "FILE")]
    inputs_file: Option<PathBuf>,
    /// Package root, for tools and scripts [default: the root of the file's package]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    /// Start the session and leave driving it to others
    #[arg(long)]
    detach: bool,
    /// Wait for schedules and deadlines instead of stopping at them
    #[arg(long, conflicts_with = "detach")]
    wait: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    database: Database,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let packaged = package::workflow(&arguments.flow)?;
    let flow = packaged.as_ref().map_or(&arguments.flow, |packaged| &packaged.path);
    let ready = definition::ready(flow)?;
    let inputs = read_inputs(arguments, &ready.workflow)?;
    let mut host = database::host(&arguments.database)?;
    watch(&mut host);
    let root = match &arguments.root {
        Some(root) => root.canonicalize().map_err(|error| {
            Failure::usage(format!("the package root {} cannot be used: {error}", root.display()))
        })?,
        None => ready.root,
    };
    let source = match &packaged {
        Some(packaged) => packaged.source.clone(),
        None => flow.canonicalize().unwrap_or_else(|_| flow.clone()).display().to_string(),
    };
    let new = NewWorkflow {
        definition: ready.workflow,
        root: root.display().to_string(),
        source: Some(source),
        inputs,
        owner: operator::user(),
    };
    let session = host.start_workflow(new).map_err(|error| database::host_failure(&error))?;
    if arguments.detach {
        view::print(&mut host, &session, arguments.json)?;
        return Ok(Exit::Done);
    }
    drive(&mut host, &session, if arguments.wait { Until::People } else { Until::Rest }, arguments.json)
}

/// Drives the session and prints where it stopped.
pub(super) fn drive(host: &mut Host, session: &SessionId, until: Until, json: bool) -> Result<Exit, Failure> {
    let stopped = block_on(host.drive(session, until))?.map_err(|error| database::host_failure(&error))?;
    stand::report(host, session, None, json)?;
    Ok(exit_of(&stopped, until))
}

/// Waits for a future on a runtime of its own.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))?;
    Ok(runtime.block_on(future))
}

fn exit_of(stopped: &Stopped, until: Until) -> Exit {
    let row: &IndexRow = &stopped.row;
    match row.status.as_str() {
        "completed" | "idle" => Exit::Done,
        "failed" | "cancelled" => Exit::Findings,
        _ if until == Until::Step && row.owes_work => Exit::Done,
        _ => Exit::Waiting,
    }
}

/// Progress lines for a person who watches.
pub(super) fn watch(host: &mut Host) {
    host.observe(Box::new(|appended: &Appended| {
        for event in &appended.events {
            let name = match event {
                Value::Object(map) => map.keys().next().cloned().unwrap_or_default(),
                Value::String(name) => name.clone(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => String::new(),
            };
            let what = ["node", "invocation", "call", "reply"].iter().find_map(|key| {
                let value = event.get(&name)?.get(*key)?;
                Some(value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned))
            });
            let short: String = appended.session.0.chars().take(8).collect();
            output::progress(&format!(
                "{short} {:>4}  {name} {}",
                appended.version,
                what.unwrap_or_default()
            ));
        }
    }));
}

fn read_inputs(arguments: &Arguments, workflow: &ir::Workflow) -> Result<IndexMap<String, Value>, Failure> {
    let mut inputs = IndexMap::new();
    if let Some(path) = &arguments.inputs_file {
        let value: Value = serde_json::from_slice(&definition::read(path)?)
            .map_err(|error| Failure::usage(format!("{} is no JSON: {error}", path.display())))?;
        let Value::Object(map) = value else {
            return Err(Failure::usage(format!("{} must hold one JSON object", path.display())));
        };
        inputs.extend(map);
    }
    for written in &arguments.inputs {
        let Some((name, value)) = written.split_once('=') else {
            return Err(Failure::usage(format!("--input `{written}` is not of the form NAME=VALUE")));
        };
        let text = match value.strip_prefix('@') {
            Some(path) => {
                let bytes = definition::read(std::path::Path::new(path))?;
                String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{path} is not UTF-8")))?
            }
            None => value.to_owned(),
        };
        inputs.insert(name.to_owned(), typed(workflow, name, text));
    }
    Ok(inputs)
}

/// Text where the schema takes text, else the JSON that the text is (numbers keep their digits).
fn typed(workflow: &ir::Workflow, name: &str, text: String) -> Value {
    let kind = workflow.inputs().get(name).and_then(|input| input.schema.get("type"));
    if kind.is_none_or(|kind| kind == "string") {
        return Value::String(text);
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
