//! Where an agent session stands: the kind of its last turn, its deferred calls, its answer, as data and as lines.

use super::super::{Failure, database, output, view};
use crate::engine::agent::state::{CallState, State, Turn};
use crate::engine::{SessionId, policy};
use crate::host::run::{Host, Subject};
use crate::ir;
use serde_json::{Value, json};

pub(in crate::cli) fn last_calls(state: &State) -> &[crate::engine::agent::state::Call] {
    match state.turns.last() {
        Some(Turn::Reply { calls, .. }) => calls,
        Some(Turn::Said { .. }) | None => &[],
    }
}

/// What the last turn is, in the words of session files.
fn turn(state: &State) -> &'static str {
    let calls = last_calls(state);
    match state.turns.last() {
        None | Some(Turn::Said { .. }) => "UserTurn",
        Some(Turn::Reply { .. }) if calls.is_empty() => "completed",
        Some(Turn::Reply { .. })
            if calls.iter().any(|call| call.state == CallState::Ready && call.admissions == 0) =>
        {
            "LlmTurn"
        }
        Some(Turn::Reply { .. }) if calls.iter().any(|call| !call.state.is_terminal()) => "PartialUserTurn",
        Some(Turn::Reply { .. }) => "UserTurn",
    }
}

/// Where an agent session stands after a start or a step.
pub(in crate::cli) fn report(
    host: &mut Host,
    session: &SessionId,
    step: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    let mut value = view::session_json(host, session)?;
    let live = host.live(session).map_err(|error| database::host_failure(&error))?;
    let Subject::Agent { ir, state } = &live.subject else { return view::print(host, session, json) };
    let turn = turn(state);
    let deferred = deferred(ir, state);
    let answer = final_answer(state);
    if json {
        if let Some(map) = value.as_object_mut() {
            map.insert("turn".to_owned(), turn.into());
            map.insert("step".to_owned(), step.into());
            map.insert("deferred".to_owned(), deferred.into());
            map.insert("answer".to_owned(), answer.into());
        }
        output::json(&json!({ "version": 1, "session": value }));
        return Ok(());
    }
    let row = live.subject.index();
    let mut lines = vec![format!("session {session}  {}", ir.slug)];
    if let Some(step) = step {
        lines.push(format!("step: {step}"));
    }
    lines.push(format!("state: {turn}"));
    let detail = if row.detail.is_empty() { String::new() } else { format!(": {}", row.detail) };
    lines.push(format!("{}{detail}", row.status.replace('_', " ")));
    for call in &deferred {
        lines.push(deferred_line(call));
    }
    if let Some(answer) = answer {
        lines.push(String::new());
        lines.push(answer);
    }
    output::print(&output::visible(&lines.join("\n")));
    output::print("\n");
    Ok(())
}

/// The last reply, once the session waits for nothing but words.
pub(in crate::cli) fn final_answer(state: &State) -> Option<String> {
    match state.turns.last() {
        Some(Turn::Reply { text, calls, .. }) if calls.is_empty() => Some(text.clone()),
        Some(Turn::Reply { .. } | Turn::Said { .. }) | None => None,
    }
}

/// Deferred calls as data.
pub(in crate::cli) fn deferred(ir: &ir::Agent, state: &State) -> Vec<Value> {
    let mut out = Vec::new();
    for call in last_calls(state) {
        let CallState::Deferred { token, reason, digest, isolation } = &call.state else { continue };
        let around = policy::judge(&ir.policy, &call.made.name).1;
        let label = around.iter().find_map(|decorator| match decorator {
            ir::Decorator::Label { label } => Some(label.clone()),
            ir::Decorator::Timeout { .. }
            | ir::Decorator::Retries { .. }
            | ir::Decorator::Cache { .. }
            | ir::Decorator::Truncate { .. } => None,
        });
        out.push(json!({
            "token": token,
            "call": call.made.id,
            "tool": call.made.name,
            "arguments": call.made.arguments,
            "reason": reason,
            "disposition": if isolation.is_some() { "runIsolated" } else { "defer" },
            "isolation": isolation,
            "label": label,
            "digest": digest,
        }));
    }
    out
}

pub(in crate::cli) fn deferred_line(call: &Value) -> String {
    let word = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or_default();
    let label =
        call.get("label").and_then(Value::as_str).map(|label| format!("  [{label}]")).unwrap_or_default();
    format!(
        "{}: {}  {} {}{label}  {}",
        if word("disposition") == "defer" { "deferred" } else { "to isolate" },
        word("token"),
        word("tool"),
        word("arguments"),
        word("reason"),
    )
}
