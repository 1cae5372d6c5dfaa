//! `flowright session …`: looks at sessions and acts on them.

mod decide;
mod list;

use super::{Database, Exit, Failure, database, run, view};
use crate::engine::agent::event::ToolResult;
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
    #[command(flatten)]
    database: Database,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List sessions, newest first
    List(list::Arguments),
    /// Show one session
    Show(One),
    /// Print the events of a session, one JSON line each
    Log(One),
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
    /// Admit nothing new until `resume`
    Pause(One),
    /// Cancel the session and everything it started
    Cancel {
        /// Session id, or its beginning
        session: String,
        /// Why
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Make one scheduling step
    Step(One),
    /// Go on: from a pause, from a held step, or after the process was ended
    Resume {
        /// Session id, or its beginning
        session: String,
        /// Wait for schedules and deadlines instead of stopping at them
        #[arg(long)]
        wait: bool,
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
        /// File with the result, `-` for stdin
        file: PathBuf,
    },
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
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut host = database::host(&arguments.database)?;
    let json = arguments.json;
    match &arguments.verb {
        Verb::List(listed) => list::run(&host, listed, json),
        Verb::Show(one) => {
            let session = database::resolve(&host, &one.session)?;
            view::print(&mut host, &session, json)?;
            Ok(Exit::Done)
        }
        Verb::Log(one) => {
            let session = database::resolve(&host, &one.session)?;
            list::log(&host, &session)
        }
        Verb::Step(one) => {
            let session = database::resolve(&host, &one.session)?;
            run::watch(&mut host);
            run::drive(&mut host, &session, Until::Step, json)
        }
        Verb::Resume { session, wait } => {
            let session = database::resolve(&host, session)?;
            run::watch(&mut host);
            decide::unhold(&mut host, &session)?;
            run::drive(&mut host, &session, if *wait { Until::People } else { Until::Rest }, json)
        }
        Verb::Answer { .. }
        | Verb::Accept { .. }
        | Verb::Reject { .. }
        | Verb::Abort { .. }
        | Verb::Retry(_)
        | Verb::Pause(_)
        | Verb::Cancel { .. }
        | Verb::Message { .. }
        | Verb::Complete { .. }
        | Verb::Resolve { .. } => decide::run(&mut host, &arguments.verb, json),
    }
}

/// The content of a result file: a response in JSON form, or text.
fn read_result(path: &std::path::Path) -> Result<ToolResult, Failure> {
    let bytes =
        if path.as_os_str() == "-" { super::definition::stdin()? } else { super::definition::read(path)? };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else {
        return Ok(ToolResult::Text(text));
    };
    let content = value.get("content").cloned();
    Ok(match (value.get("type").and_then(|kind| kind.as_str()), content) {
        (Some("text"), Some(serde_json::Value::String(content))) => ToolResult::Text(content),
        (Some("json"), Some(content)) => ToolResult::Json(content),
        _ => ToolResult::Text(text),
    })
}
