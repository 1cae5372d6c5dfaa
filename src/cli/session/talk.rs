//! Agent sessions by hand: start one, make a step, see what it waits for, let a deferred call run or not.

use super::super::prompt::{Script, Thinking};
use super::super::{Exit, Failure, database, definition, operator, output, run};
use super::{Then, stand};
use crate::engine::SessionId;
use crate::engine::agent::command::{Command as Owed, Notification};
use crate::engine::agent::event::{Message, MessageKind, Spec};
use crate::engine::agent::pending;
use crate::host::run::{Host, Subject, Until};
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// `session start`.
#[derive(Debug, clap::Args)]
pub(super) struct Start {
    /// Make one scheduling step at once
    #[arg(long)]
    step: bool,
    #[command(flatten)]
    script: Script,
}

/// `session step`.
#[derive(Debug, clap::Args)]
pub(super) struct Step {
    /// Session id, or its beginning
    pub session: String,
    #[command(flatten)]
    pub script: Script,
    #[command(flatten)]
    pub pin: Pin,
}

/// What is done about an agent file that has changed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::cli) struct Pin {
    /// Go on with the agent file as it is now, though it has changed since the session began
    #[arg(long)]
    pub accept_agent_change: bool,
}

/// `session pending`.
#[derive(Debug, clap::Args)]
pub(super) struct Pending {
    /// Session id, or its beginning; without it all sessions
    session: Option<String>,
}

/// Starts an agent session: the prompt is kept, no model is asked unless `--step` says so.
pub(super) fn start(
    host: &mut Host,
    start: &Start,
    file: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let file = file.ok_or_else(|| Failure::usage("say which agent: --agent-file FILE"))?;
    let session = begin(host, file, &start.script)?;
    if !start.step {
        stand::report(host, &session, None, json)?;
        return Ok(Exit::Done);
    }
    listen(host, &start.script);
    one_step(host, &session, json)
}

/// A new session of the agent in `file`, with the prompt of a script.
pub(in crate::cli) fn begin(host: &mut Host, file: &Path, script: &Script) -> Result<SessionId, Failure> {
    let ready = definition::agent(file)?;
    let (prompt, media) = script.read(&operator::alias)?.keep(host.store().as_ref())?;
    let session = SessionId(host.fresh_id());
    let spec = Spec {
        session: session.clone(),
        slug: ready.agent.slug.clone(),
        agent: ready.agent.digest(),
        root: ready.root.display().to_string(),
        owner: operator::user(),
        prompt,
        with: IndexMap::new(),
        contract: None,
        media,
        caller: None,
        forked_from: None,
    };
    host.start_agent(&ready.agent, spec).map_err(|error| database::host_failure(&error))?;
    Ok(session)
}

/// One scheduling step of an existing session; a prompt of the script comes first.
pub(super) fn step(host: &mut Host, step: &Step, agent: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let session = database::resolve(host, &step.session)?;
    pinned(host, &session, step.pin, agent)?;
    if !step.script.is_empty() {
        say(host, &session, &step.script)?;
    }
    run::watch(host);
    if !is_agent(host, &session)? {
        return run::drive(host, &session, Until::Step, json);
    }
    listen(host, &step.script);
    one_step(host, &session, json)
}

/// Adds the prompt of a script as a user turn. A turn whose calls are still open takes none.
pub(in crate::cli) fn say(host: &mut Host, session: &SessionId, script: &Script) -> Result<(), Failure> {
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    if let Subject::Agent { state, .. } = &live.subject {
        let open: Vec<&str> = stand::last_calls(state)
            .iter()
            .filter(|call| !call.state.is_terminal())
            .map(|call| call.made.name.as_str())
            .collect();
        if !open.is_empty() {
            return Err(Failure {
                exit: Exit::Refused,
                message: format!(
                    "the turn is not over: {} is still open; complete it first, or use `session message`",
                    open.join(", ")
                ),
                code: "not_waiting",
            });
        }
    }
    let (text, media) = script.read(&operator::alias)?.keep(host.store().as_ref())?;
    let message = Message { id: host.fresh_id(), kind: MessageKind::Person, text, media };
    host.tell_agent(session, Notification::Take(message)).map_err(|error| database::host_failure(&error))?;
    Ok(())
}

fn is_agent(host: &mut Host, session: &SessionId) -> Result<bool, Failure> {
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    Ok(matches!(live.subject, Subject::Agent { .. }))
}

/// The kinds of a scheduling step (R8).
fn one_step(host: &mut Host, session: &SessionId, json: bool) -> Result<Exit, Failure> {
    let kind = next_step(host, session)?;
    let stopped = run::block_on(host.drive(session, Until::Step))?;
    stand::report(host, session, Some(kind), json)?;
    let row = stopped.map_err(|error| database::host_failure(&error))?.row;
    Ok(match row.status.as_str() {
        "idle" | "ready" | "running" => Exit::Done,
        "failed" | "cancelled" => Exit::Findings,
        _ => Exit::Waiting,
    })
}

fn next_step(host: &mut Host, session: &SessionId) -> Result<&'static str, Failure> {
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else { return Ok("fired") };
    let owed = pending::pending(ir, state);
    Ok(if owed.iter().any(|owed| matches!(owed, Owed::CallModel { .. })) {
        "asked the model"
    } else if owed.iter().any(|owed| matches!(owed, Owed::RunTool { .. } | Owed::StartAgent { .. })) {
        "ran calls"
    } else {
        "nothing to do"
    })
}

/// Shows a model's thinking, and its text as it comes in where a person watches.
pub(in crate::cli) fn listen(host: &mut Host, script: &Script) {
    run::watch(host);
    if let Some(watcher) =
        output::thinking(script.thinking != Thinking::None, script.thinking == Thinking::Stderr)
    {
        host.watch_replies(watcher);
    }
}

/// Refuses to drive a session whose agent file has changed since it began, unless told to take the change (R24).
/// `named` is another agent file that is to go on with it.
pub(in crate::cli) fn pinned(
    host: &mut Host,
    session: &SessionId,
    pin: Pin,
    named: Option<&Path>,
) -> Result<(), Failure> {
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else { return Ok(()) };
    let Some(spec) = &state.spec else { return Ok(()) };
    if spec.contract.is_some() || spec.caller.is_some() {
        // Whose definition is frozen with its parent.
        return Ok(());
    }
    let (known, at, file) = (ir.digest(), spec.root.clone(), ir.file.clone());
    let (now, path, root) = match named {
        Some(path) => {
            let ready = definition::agent(path)?;
            (Some(ready.agent), path.to_path_buf(), Some(ready.root.display().to_string()))
        }
        None if file.is_empty() && ir.model_url.is_none() => {
            return Err(Failure {
                exit: Exit::Refused,
                message:
                    "another tool wrote this session, and nobody knows its agent; --agent-file FILE with \
                          --accept-agent-change says who goes on with it"
                        .to_owned(),
                code: "unknown_agent",
            });
        }
        None if file.is_empty() => return Ok(()),
        None => {
            let path = PathBuf::from(&at).join(&file);
            if !path.exists() {
                output::note(&format!(
                    "{} is gone; the session goes on with the agent it began with",
                    path.display()
                ));
                return Ok(());
            }
            (definition::agent_quietly(&path), path, None)
        }
    };
    let moved = root.as_ref().is_some_and(|root| *root != at);
    if now.as_ref().is_some_and(|now| now.digest() == known) && !moved {
        return Ok(());
    }
    match (pin.accept_agent_change, now) {
        (true, Some(agent)) => {
            let by = operator::principal()?;
            host.change_agent(session, &agent, root, by).map_err(|error| database::host_failure(&error))?;
            Ok(())
        }
        (true, None) => Err(Failure::new(
            Exit::Findings,
            format!("{} does not compile; `flowright agent check` says why", path.display()),
        )),
        (false, _) => {
            let what = if named.is_some() {
                "is not the agent that the session has"
            } else {
                "has changed since the session began"
            };
            Err(Failure {
                exit: Exit::Refused,
                message: format!("{} {what}; --accept-agent-change goes on with it as it is", path.display()),
                code: "agent_changed",
            })
        }
    }
}

/// Deferred calls of one session, or of all that wait.
pub(super) fn pending(host: &mut Host, pending: &Pending, json: bool) -> Result<Exit, Failure> {
    let sessions = match &pending.session {
        Some(written) => vec![database::resolve(host, written)?],
        None => waiting(host)?,
    };
    let mut all = Vec::new();
    for session in sessions {
        let live = host.live(&session).map_err(|error| database::host_failure(&error))?;
        let Subject::Agent { ir, state } = &live.subject else { continue };
        for mut call in stand::deferred(ir, state) {
            if let Some(map) = call.as_object_mut() {
                map.insert("session".to_owned(), session.0.clone().into());
                map.insert("agent".to_owned(), ir.slug.clone().into());
            }
            all.push(call);
        }
    }
    if json {
        output::json(&json!({ "version": 1, "pending": all }));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        output::line("nothing is deferred");
    }
    for call in &all {
        let session = call.get("session").and_then(Value::as_str).unwrap_or_default();
        output::line(&output::visible(&format!("{session}  {}", stand::deferred_line(call))));
    }
    Ok(Exit::Done)
}

/// Sessions that wait under a token.
fn waiting(host: &Host) -> Result<Vec<SessionId>, Failure> {
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let page = host
            .store()
            .awaiting(after.as_ref(), 500)
            .map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
        let Some(last) = page.last() else { return Ok(out) };
        after = Some(last.clone());
        out.extend(page);
    }
}

/// Lets a deferred call run, or refuses it.
pub(super) fn judge(
    host: &mut Host,
    token: &str,
    refuse: Option<&str>,
    then: Then,
    json: bool,
) -> Result<Exit, Failure> {
    let by = operator::principal()?;
    let session = by_token(host, token)?;
    let outcome = match refuse {
        None => run::block_on(host.approve(&session, token, by))?,
        Some(reason) => {
            let (token, reason) = (token.to_owned(), reason.to_owned());
            host.tell_agent(&session, Notification::Refuse { token, reason, by })
        }
    };
    outcome.map_err(|error| database::host_failure(&error))?;
    after(host, &session, then, json)
}

/// The session that a token belongs to, by the store's index.
pub(super) fn by_token(host: &Host, token: &str) -> Result<SessionId, Failure> {
    host.store().by_token(token).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?.ok_or_else(
        || Failure {
            exit: Exit::Refused,
            message: format!("no call waits under the token `{token}`"),
            code: "stale",
        },
    )
}

/// After something was recorded: whether the turn is complete now (R53), or the session driven on.
pub(super) fn after(host: &mut Host, session: &SessionId, then: Then, json: bool) -> Result<Exit, Failure> {
    if then.resume {
        let root = root_of(host, session)?;
        pinned(host, &root, then.pin, None)?;
        run::watch(host);
        return run::drive(host, &root, Until::Rest, json);
    }
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { state, .. } = &live.subject else { return Ok(Exit::Done) };
    let open = stand::last_calls(state).iter().filter(|call| !call.state.is_terminal()).count();
    let turn = if open == 0 { "complete" } else { "partial" };
    if json {
        output::json(&json!({ "version": 1, "session": session.0, "turn": turn, "open": open }));
    } else if open == 0 {
        output::line(&format!("session {session}: the turn is complete"));
    } else {
        let calls = if open == 1 { "one call is" } else { "some calls are" };
        output::line(&format!("session {session}: the turn is partial, {calls} still open"));
    }
    Ok(Exit::Done)
}

/// The session at the top of the tree, which is the one that is driven.
fn root_of(host: &Host, session: &SessionId) -> Result<SessionId, Failure> {
    let mut at = session.clone();
    for _ in 0..16 {
        let row = host.store().row(&at).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
        match row.and_then(|row| row.index.parent) {
            Some(parent) => at = parent,
            None => break,
        }
    }
    Ok(at)
}

/// Whether a written id names an agent session.
pub(super) fn is_agent_session(host: &mut Host, written: &str) -> Result<bool, Failure> {
    let session = database::resolve(host, written)?;
    is_agent(host, &session)
}
