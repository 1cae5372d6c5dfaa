//! The command line: arguments, streams, exit codes. One file a verb. Nothing here decides anything.

mod agent;
mod check;
mod compile;
mod confined;
mod database;
mod definition;
mod demo;
mod explain;
mod fmt;
mod graph;
mod lsp;
mod mcp;
mod operator;
mod output;
mod package;
mod prompt;
mod replace;
mod run;
mod schema;
mod session;
mod simulate;
mod store;
mod test;
mod view;
mod walk;
mod why;
mod work;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// There were findings, or the session failed.
    Findings,
    /// The command was used wrongly.
    Usage,
    /// It stopped to wait for something outside.
    Waiting,
    /// It was refused: stale, conflicting, not allowed, held by another.
    Refused,
    /// A fault of ours or of the machine.
    Fault,
}

impl Exit {
    /// The number that the process ends with.
    fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Waiting => 3,
            Self::Refused => 4,
            Self::Fault => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command did not do it: one sentence, and how the process ends.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    code: &'static str,
}

impl Failure {
    fn new(exit: Exit, message: impl Into<String>) -> Self {
        let code = match exit {
            Exit::Done => "done",
            Exit::Findings => "findings",
            Exit::Usage => "usage",
            Exit::Waiting => "waiting",
            Exit::Refused => "refused",
            Exit::Fault => "fault",
        };
        Self { exit, message: message.into(), code }
    }

    fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
}

/// Workflows in which AI agents do the work and people sign it off: checked, drawn, frozen and run.
#[derive(Debug, Parser)]
#[command(
    name = "flowright",
    version,
    max_term_width = 100,
    after_help = "\
Exit codes: 0 done · 1 findings, or the session failed · 2 wrong use · 3 stopped to wait for something outside · \
4 refused (stale, conflicting, not allowed, held by another) · 70 a fault of ours."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Find what is wrong with workflow and agent files
    Check(check::Arguments),
    /// Bring workflow and agent files into one layout; what they mean stays
    Fmt(fmt::Arguments),
    /// Freeze a workflow: its graph, agents and schemas with one digest
    Compile(compile::Arguments),
    /// Draw a workflow
    Graph(graph::Arguments),
    /// Tell what leads to a step, what it can reach, and why it can run for ever
    Why(why::Arguments),
    /// Play the cases of test files: scripted agents, people and clock on the real engine
    Test(test::Arguments),
    /// Walk every path of a workflow: what each ends in, what never ends, what is never reached
    Simulate(simulate::Arguments),
    /// Explain a rule, with an example
    Explain(explain::Arguments),
    /// Print JSON Schemas, grammars, and the tables of keys and rules
    Schema(schema::Arguments),
    /// Serve an editor: findings, hover, completion and more over the language server protocol
    Lsp(lsp::Arguments),
    /// Start a session and drive it until it ends or waits
    Run(run::Arguments),
    /// Drive every session of a store: what is due, what owes work, what others leave behind
    Work(work::Arguments),
    /// Operate durable sessions: start, step, pause, resume, …
    Session(session::Arguments),
    /// Talk to an agent in one go, check agent files, list tools, write a starter
    Agent(agent::Arguments),
    /// Make, check, build and install packages of workflows and agents
    Package(package::Arguments),
    /// Serve the agents of a folder as tools to programs that speak MCP
    Mcp(mcp::Arguments),
    /// See a durable session at work, without a key and without a network
    Demo(demo::Arguments),
    #[command(hide = true)]
    Confined(confined::Arguments),
}

/// Which database.
#[derive(Clone, Debug, clap::Args)]
struct Database {
    /// Database file [default: .flowright/flowright.db of the nearest folder upward that has a .flowright/, else the
    /// user's data folder]
    #[arg(long, value_name = "FILE", env = "FLOWRIGHT_DB", global = true)]
    db: Option<PathBuf>,
    /// Where sessions are kept: sqlite:FILE or file:FOLDER. Several: the first is written, the others are read behind
    /// it. Goes before --db
    #[arg(long, value_name = "STORE", env = "FLOWRIGHT_STORE", value_delimiter = ',', global = true)]
    store: Vec<store::Kept>,
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            // A closed stream is no reason to fail in another way.
            let _ = error.print();
            return exit.into();
        }
    };
    let json = wants_json(&arguments.verb);
    let outcome = match arguments.verb {
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Fmt(arguments) => fmt::run(&arguments),
        Verb::Compile(arguments) => compile::run(&arguments),
        Verb::Graph(arguments) => graph::run(&arguments),
        Verb::Why(arguments) => why::run(&arguments),
        Verb::Test(arguments) => test::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Explain(arguments) => explain::run(&arguments),
        Verb::Schema(arguments) => schema::run(&arguments),
        Verb::Lsp(arguments) => lsp::run(&arguments),
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Work(arguments) => work::run(&arguments),
        Verb::Session(arguments) => session::run(&arguments),
        Verb::Agent(arguments) => agent::run(&arguments),
        Verb::Package(arguments) => package::run(&arguments),
        Verb::Mcp(arguments) => mcp::run(&arguments),
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Confined(arguments) => confined::run(&arguments),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::failure(&failure, json);
            failure.exit.into()
        }
    }
}

fn wants_json(verb: &Verb) -> bool {
    match verb {
        Verb::Run(arguments) => arguments.json,
        Verb::Work(arguments) => arguments.json,
        Verb::Session(arguments) => arguments.json,
        Verb::Agent(arguments) => arguments.json,
        Verb::Compile(arguments) => arguments.json,
        Verb::Package(arguments) => arguments.json,
        Verb::Why(arguments) => arguments.json,
        Verb::Simulate(arguments) => arguments.json,
        Verb::Check(_)
        | Verb::Fmt(_)
        | Verb::Graph(_)
        | Verb::Test(_)
        | Verb::Explain(_)
        | Verb::Schema(_)
        | Verb::Demo(_)
        | Verb::Confined(_)
        | Verb::Mcp(_)
        | Verb::Lsp(_) => false,
    }
}
