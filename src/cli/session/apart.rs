//! Calls that run apart from the session: in isolation on this machine, or one in a process of its own.

use super::super::{Exit, Failure, database, output, run};
use super::talk::{Pin, pinned};
use crate::engine::SessionId;
use crate::host::run::Host;
use serde_json::{Value, json};
use std::path::Path;

/// Runs the deferred calls that wait for isolation, as far as this machine has it (R50).
pub(super) fn run_isolated(
    host: &mut Host,
    written: &str,
    pin: Pin,
    agent: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let session = database::resolve(host, written)?;
    pinned(host, &session, pin, agent)?;
    run::watch(host);
    let ran = run::block_on(host.run_isolated(&session))?.map_err(|error| database::host_failure(&error))?;
    let left = ran.iter().filter(|call| call.missing.is_some()).count();
    if json {
        let calls: Vec<Value> = ran
            .iter()
            .map(|call| json!({ "call": call.call, "tool": call.tool, "missing": call.missing }))
            .collect();
        output::json(&json!({ "version": 1, "session": session.0, "calls": calls, "left": left }));
    } else if ran.is_empty() {
        output::line(&format!("session {session}: no deferred call waits for isolation"));
    } else {
        for call in &ran {
            let what = call
                .missing
                .as_ref()
                .map_or_else(|| "ran".to_owned(), |missing| format!("not run: {missing}"));
            output::line(&output::visible(&format!("{}  {}", call.tool, what)));
        }
        output::line(&format!(
            "session {session}: {} of {} deferred isolated calls ran",
            ran.len().saturating_sub(left),
            ran.len()
        ));
    }
    Ok(if left == 0 { Exit::Done } else { Exit::Waiting })
}

/// The process that runs one call in the background.
pub(super) fn work(host: &mut Host, session: &str, call: &str) -> Result<Exit, Failure> {
    let session = SessionId(session.to_owned());
    run::block_on(host.work_call(&session, call))?.map_err(|error| database::host_failure(&error))?;
    Ok(Exit::Done)
}
