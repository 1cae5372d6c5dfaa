//! One call of the server: a durable agent session is begun or gone on with, driven to its rest, and told of. What is
//! dropped in between stays in the store, as after the end of a process.

use super::super::prompt::Script;
use super::super::session::{stand, talk};
use super::super::{Database, Exit, Failure, agent, database, definition, run};
use super::agents::Offered;
use crate::engine::SessionId;
use crate::host::run::{Host, Subject, Until};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// What a call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    prompt: String,
    session: Option<String>,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The report, as `agent run --json` gives it.
    pub report: Value,
    /// Whether the session has failed.
    pub is_failure: bool,
    /// A sentence beside the report.
    pub note: Option<String>,
}

impl Asked {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// One sentence for the client.
    pub(super) fn read(arguments: &Map<String, Value>) -> Result<Self, String> {
        let known = ["prompt", "session"];
        if let Some(name) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("there is no argument `{name}`; the tool takes: prompt, session"));
        }
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Err(format!("the argument `{name}` must be text"))
            }
        };
        let (prompt, session) = (text("prompt")?, text("session")?.trim().to_owned());
        if prompt.trim().is_empty() && session.is_empty() {
            return Err("the argument `prompt` is missing".to_owned());
        }
        Ok(Self { prompt, session: (!session.is_empty()).then_some(session) })
    }
}

/// Does what a call asks for; `gone` ends when nobody waits for it any more, and `told` hears of the session.
pub(super) fn work(
    database: &Database,
    offered: &Offered,
    asked: &Asked,
    told: &UnboundedSender<String>,
    gone: impl Future<Output = ()>,
) -> Result<Outcome, Failure> {
    let mut host = database::host(database)?;
    let session = match &asked.session {
        None => talk::begin(&mut host, &offered.file, &Script::of(&asked.prompt))?,
        Some(written) => {
            let session = database::resolve(&host, written)?;
            own(&mut host, &session, offered)?;
            talk::pinned(&mut host, &session, talk::Pin { accept_agent_change: false }, None)?;
            session
        }
    };
    // Nobody may listen any more.
    let _ = told.send(session.0.clone());
    let driven = run::block_on(async {
        tokio::select! {
            outcome = driven(&mut host, &session, asked) => Some(outcome),
            () = gone => None,
        }
    })?;
    match driven {
        Some(outcome) => outcome,
        None => {
            host.let_go(&session).map_err(|error| database::host_failure(&error))?;
            Err(Failure::new(Exit::Waiting, format!("the call was taken back; session {session} can go on")))
        }
    }
}

async fn driven(host: &mut Host, session: &SessionId, asked: &Asked) -> Result<Outcome, Failure> {
    if asked.session.is_none() {
        return rest(host, session).await;
    }
    let has_words = !asked.prompt.trim().is_empty();
    if open_calls(host, session)? || !has_words {
        let mut outcome = rest(host, session).await?;
        if !has_words || outcome.is_failure {
            return Ok(outcome);
        }
        if open_calls(host, session)? {
            outcome.note = Some("the prompt was not taken: the session still waits".to_owned());
            return Ok(outcome);
        }
    }
    talk::say(host, session, &Script::of(&asked.prompt))?;
    rest(host, session).await
}

/// Drives a session until it ends or waits, and tells where it stands.
async fn rest(host: &mut Host, session: &SessionId) -> Result<Outcome, Failure> {
    let stopped = host.drive(session, Until::Rest).await.map_err(|error| database::host_failure(&error))?;
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else { return Err(not_an_agent(session)) };
    let (status, detail) = (stopped.row.status.as_str(), stopped.row.detail);
    let mut is_failure = false;
    let report = match status {
        "idle" => {
            let answer = stand::final_answer(state).unwrap_or_default();
            json!({ "status": "completed", "session_id": session.0, "answer": answer })
        }
        "failed" | "cancelled" => {
            is_failure = true;
            json!({ "status": status, "reason": detail, "session_id": session.0 })
        }
        _ => {
            let mut report = agent::paused(session, state, ir);
            let has_none = report.get("deferred_calls").and_then(Value::as_array).is_none_or(Vec::is_empty);
            if let (true, Some(map)) = (has_none, report.as_object_mut()) {
                // It waits for something else.
                let reason = if detail.is_empty() { status.replace('_', " ") } else { detail };
                map.insert("reason".to_owned(), reason.into());
            }
            report
        }
    };
    Ok(Outcome { report, is_failure, note: None })
}

fn open_calls(host: &mut Host, session: &SessionId) -> Result<bool, Failure> {
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { state, .. } = &live.subject else { return Err(not_an_agent(session)) };
    Ok(stand::last_calls(state).iter().any(|call| !call.state.is_terminal()))
}

/// Refuses a session that is not of the agent of the tool, or that works for another.
fn own(host: &mut Host, session: &SessionId, offered: &Offered) -> Result<(), Failure> {
    let root = definition::package(&offered.file).root;
    let root = root.canonicalize().unwrap_or(root).display().to_string();
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else { return Err(not_an_agent(session)) };
    let spec = state.spec.as_ref();
    if spec.is_some_and(|spec| spec.contract.is_some() || spec.caller.is_some()) {
        return Err(Failure::new(Exit::Refused, format!("session {session} works for another session")));
    }
    if ir.slug != offered.slug || spec.is_some_and(|spec| spec.root != root) {
        return Err(Failure::new(
            Exit::Refused,
            format!("session {session} is not of the agent `{}` of this folder", offered.slug),
        ));
    }
    Ok(())
}

fn not_an_agent(session: &SessionId) -> Failure {
    Failure::new(Exit::Refused, format!("session {session} is a workflow session"))
}
