//! `flowright session …`: looks at sessions and acts on them.

pub(in crate::cli) mod stand;
pub(in crate::cli) mod talk;

mod apart;
mod decide;
mod history;
mod list;
mod result;

use super::{Database, Exit, Failure, database, run, view};
use crate::host::run::Until;
use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Agent file of a session to be started, or one that is to go on with it
    #[arg(long, value_name = "FILE", global = true)]
    agent_file: Option<PathBuf>,
    #[command(flatten)]
    database: Database,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start an agent session with a prompt; the model is not asked yet
    Start(talk::Start),
    /// List sessions, newest first
    List(list::Arguments),
    /// Show one session
    Show(One),
    /// Print the events of a session, one JSON line each
    Log(list::Log),
    /// Answer the open question
    Answer {
        /// Session id, or its beginning
        session: String,
        /// The choice
        choice: String,
        /// Free text that goes with it
        #[arg(long, default_value = "")]
        feedback: String,
        /// The asking that is answered; without it the open one
        #[arg(long, value_name = "N")]
        occurrence: Option<u32>,
        #[command(flatten)]
        then: Then,
    },
    /// Accept the candidate under review
    Accept {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        then: Then,
    },
    /// Send the candidate back with feedback
    Reject {
        #[command(flatten)]
        which: Which,
        /// What to change
        #[arg(long)]
        feedback: String,
        #[command(flatten)]
        then: Then,
    },
    /// Give the stage under review up
    Abort {
        #[command(flatten)]
        which: Which,
        /// Why
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        then: Then,
    },
    /// Try a held step again as a new attempt; effects may repeat
    Retry(OneThen),
    /// Take the mark off an iteration that went on after a failure
    Dismiss {
        /// Session id, or its beginning
        session: String,
        /// Number of the mark; without it all
        #[arg(long, value_name = "N")]
        mark: Option<u32>,
    },
    /// Workflow: admit nothing new until `resume`. Agent: another name of `step`
    Pause(talk::Step),
    /// Cancel the session and everything it started
    Cancel {
        /// Session id, or its beginning
        session: String,
        /// Why
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Make one scheduling step; a prompt becomes a user turn first
    Step(talk::Step),
    /// List deferred calls with their tokens
    Pending(talk::Pending),
    /// Go on: from a pause, from a held step, or after the process was ended
    Resume {
        /// Session id, or its beginning
        session: String,
        /// Wait for schedules and deadlines instead of stopping at them
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        pin: talk::Pin,
    },
    /// Say something to an agent session
    Message {
        /// Session id, or its beginning
        session: String,
        /// The words
        text: String,
        #[command(flatten)]
        then: Then,
    },
    /// Give a deferred call its result
    Complete {
        /// Token of the call
        token: String,
        /// File with the result, a response in JSON or text; `-` for stdin
        file: PathBuf,
        #[command(flatten)]
        then: Then,
    },
    /// Let a deferred call run: exactly the call with the arguments that `pending` shows
    Approve {
        /// Token of the call
        token: String,
        #[command(flatten)]
        then: Then,
    },
    /// Refuse a deferred call
    Deny {
        /// Token of the call
        token: String,
        /// Told to the model
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        then: Then,
    },
    /// Run the deferred calls that wait for isolation, where this machine has it
    RunIsolated {
        /// Session id, or its beginning
        session: String,
        #[command(flatten)]
        pin: talk::Pin,
    },
    /// Print the conversation of an agent session
    Print(history::Print),
    /// Edit the turns of an agent session that is at rest
    Edit(history::Edit),
    /// Delete a session and what it started
    Delete(history::Delete),
    /// Write an agent session as a session file
    Export(history::Export),
    /// Take a session file in
    Import(history::Import),
    #[command(hide = true)]
    Work { session: String, call: String },
    /// Settle a call of which nobody knows whether it had its effect
    Resolve {
        /// Session id of the agent, or its beginning
        session: String,
        /// Id of the call
        call: String,
        /// It was done and gave this
        #[arg(long, value_name = "TEXT", group = "how")]
        completed: Option<String>,
        /// It was not done, for this reason
        #[arg(long, value_name = "TEXT", group = "how")]
        failed: Option<String>,
        /// Run it again; its effects may repeat
        #[arg(long, group = "how")]
        retry: bool,
    },
}

#[derive(Debug, clap::Args)]
struct One {
    /// Session id, or its beginning
    session: String,
}

#[derive(Debug, clap::Args)]
struct OneThen {
    /// Session id, or its beginning
    session: String,
    #[command(flatten)]
    then: Then,
}

/// What happens after it is recorded.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Then {
    /// Drive the session on after it is recorded
    #[arg(short, long)]
    resume: bool,
    #[command(flatten)]
    pin: talk::Pin,
}

/// Which candidate. A decision names what it decides.
#[derive(Debug, clap::Args)]
struct Which {
    /// Session id, or its beginning
    session: String,
    /// Revision of the candidate
    #[arg(long, value_name = "N", required_unless_present = "digest")]
    revision: Option<u32>,
    /// Digest of the candidate, or a beginning of at least eight digits
    #[arg(long)]
    digest: Option<String>,
    /// Gate of the review, counted from 1; needed where you have accepted the same candidate at an earlier one
    #[arg(long, value_name = "N")]
    gate: Option<std::num::NonZeroU32>,
    /// Invocation whose candidate it is, as `session show --json` names it; without it the one under review now
    #[arg(long, value_name = "STEP/VISIT/ATTEMPT")]
    invocation: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut host = database::host(&arguments.database)?;
    let json = arguments.json;
    match &arguments.verb {
        Verb::List(listed) => list::list(&host, listed, json),
        Verb::Show(one) => {
            let session = database::resolve(&host, &one.session)?;
            view::print(&mut host, &session, json)?;
            Ok(Exit::Done)
        }
        Verb::Log(log) => {
            let session = database::resolve(&host, &log.session)?;
            list::log(&host, &session, log)
        }
        Verb::Start(start) => talk::start(&mut host, start, arguments.agent_file.as_deref(), json),
        Verb::Step(step) => talk::step(&mut host, step, arguments.agent_file.as_deref(), json),
        Verb::Pause(step) if talk::is_agent_session(&mut host, &step.session)? => {
            talk::step(&mut host, step, arguments.agent_file.as_deref(), json)
        }
        Verb::Pending(pending) => talk::pending(&mut host, pending, json),
        Verb::Approve { token, then } => talk::judge(&mut host, token, None, *then, json),
        Verb::Deny { token, reason, then } => talk::judge(&mut host, token, Some(reason), *then, json),
        Verb::RunIsolated { session, pin } => {
            apart::run_isolated(&mut host, session, *pin, arguments.agent_file.as_deref(), json)
        }
        Verb::Print(print) => history::print(&mut host, print, json),
        Verb::Edit(edit) => history::edit(&mut host, edit, json),
        Verb::Delete(delete) => history::delete(&mut host, delete, json),
        Verb::Export(export) => history::export(&mut host, export),
        Verb::Import(import) => history::import(&mut host, import, arguments.agent_file.as_deref(), json),
        Verb::Work { session, call } => apart::work(&mut host, session, call),
        Verb::Resume { session, wait, pin } => {
            let session = database::resolve(&host, session)?;
            talk::pinned(&mut host, &session, *pin, arguments.agent_file.as_deref())?;
            run::watch(&mut host);
            decide::unhold(&mut host, &session)?;
            run::drive(&mut host, &session, if *wait { Until::People } else { Until::Rest }, json)
        }
        Verb::Answer { .. }
        | Verb::Accept { .. }
        | Verb::Reject { .. }
        | Verb::Abort { .. }
        | Verb::Retry(_)
        | Verb::Dismiss { .. }
        | Verb::Pause(_)
        | Verb::Cancel { .. }
        | Verb::Message { .. }
        | Verb::Complete { .. }
        | Verb::Resolve { .. } => decide::run(&mut host, &arguments.verb, json),
    }
}
