//! One session as data and as text: what `show`, `run` and every deciding verb print.

use super::package::SCHEME;
use super::{Exit, Failure, database, definition, output};
use crate::engine::agent::event::ToolResult;
use crate::engine::agent::state::{CallState, State as AgentState, Turn};
use crate::engine::workflow::event::Decider;
use crate::engine::workflow::state::{Candidate, Hold, Stage, StagePhase, State, Work};
use crate::engine::{IndexRow, SessionId};
use crate::host::run::{Host, Subject};
use crate::ir;
use crate::store::SessionRow;
use serde_json::{Value, json};
use std::path::Path;

/// Prints the session to stdout.
pub(super) fn print(host: &mut Host, session: &SessionId, as_json: bool) -> Result<(), Failure> {
    let value = session_json(host, session)?;
    if as_json {
        output::json(&json!({ "version": 1, "session": value }));
    } else {
        output::print(&output::visible(&text(&value)));
        output::print("\n");
    }
    Ok(())
}

/// The session as versioned data.
pub(super) fn session_json(host: &mut Host, session: &SessionId) -> Result<Value, Failure> {
    let failed = |error: crate::host::run::HostError| database::host_failure(&error);
    let children =
        host.store().children(session).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
    let live = host.live(session).map_err(failed)?;
    let row = live.subject.index();
    let mut value = head(session, live.version, &row);
    match &live.subject {
        Subject::Workflow { ir, state } => workflow_json(&mut value, ir, state),
        Subject::Agent { ir, state } => agent_json(&mut value, ir, state),
    }
    if let Some(child) = children.iter().find(|row| row.index.status == "needs_attention") {
        // The controller itself goes on waiting; what must be settled stands in the child.
        let reason = format!("the agent session {} needs attention: {}", child.session, child.index.detail);
        let attention =
            json!({ "node": child.index.title, "reason": reason, "remedies": [], "session": child.session });
        set(&mut value, "attention", attention);
    }
    if !children.is_empty() {
        let children: Vec<Value> = children.iter().map(row_json).collect();
        set(&mut value, "children", children.into());
    }
    Ok(value)
}

/// A row of a list as data.
pub(super) fn row_json(row: &SessionRow) -> Value {
    let mut value = head(&row.session, row.version, &row.index);
    set(&mut value, "created_at", row.created_at.to_string().into());
    set(&mut value, "updated_at", row.updated_at.to_string().into());
    value
}

fn head(session: &SessionId, version: u64, row: &IndexRow) -> Value {
    json!({
        "id": session.0,
        "kind": row.kind,
        "title": row.title,
        "status": row.status,
        "detail": row.detail,
        "owner": row.owner,
        "version": version,
        "ended": row.ended,
        "wake_at": row.wake_at,
        "parent": row.parent,
        "tokens": row.tokens,
    })
}

fn set(value: &mut Value, key: &str, item: Value) {
    if let Some(map) = value.as_object_mut() {
        map.insert(key.to_owned(), item);
    }
}

fn workflow_json(value: &mut Value, ir: &ir::Workflow, state: &State) {
    set(value, "digest", ir.digest().as_str().into());
    set(value, "started_at", state.started_at.to_string().into());
    if let Some(spec) = &state.spec {
        if let Some(packaged) = spec.source.as_ref().and_then(|source| source.strip_prefix(SCHEME)) {
            set(value, "definition", json!({ "package": packaged }));
        } else if let Some(source) = &spec.source {
            let standing = definition::standing(Path::new(source), ir.digest());
            set(value, "definition", json!({ "file": source, "now": standing }));
        }
        set(value, "inputs", json!(spec.inputs));
    }
    if let Some(position) = &state.position {
        let loops: Vec<Value> = position
            .frames
            .iter()
            .map(|frame| json!({ "loop": frame.node, "iteration": frame.iteration, "deadline_at": frame.deadline_at }))
            .collect();
        set(value, "position", json!({ "node": position.node, "visit": position.visit, "loops": loops }));
    }
    set(value, "waiting", waiting_json(state));
    if let Work::Stage(stage) = &state.work {
        set(value, "stage", stage_json(stage));
    }
    if let Hold::NeedsAttention { node, reason, remedies } = &state.hold {
        set(value, "attention", json!({ "node": node, "reason": reason, "remedies": remedies }));
    }
    if !state.marks.is_empty() {
        let marks: Vec<Value> = state
            .marks
            .iter()
            .map(|mark| {
                json!({ "number": mark.number, "node": mark.node, "visit": mark.visit, "loop": mark.repeat,
                    "iteration": mark.iteration, "reason": mark.reason, "at": mark.at })
            })
            .collect();
        set(value, "marks", marks.into());
    }
    if let Some(ending) = &state.ended {
        set(
            value,
            "ending",
            json!({ "status": ending.status, "reason": ending.reason, "outputs": ending.outputs, "at": ending.at }),
        );
    }
}

fn waiting_json(state: &State) -> Value {
    match &state.work {
        Work::Cron { at: Some(at), .. } => json!({ "for": "schedule", "at": at }),
        Work::Question(asking) => {
            let choices: Vec<Value> = asking
                .choices
                .iter()
                .map(|(value, label)| json!({ "value": value, "label": label }))
                .collect();
            json!({ "for": "answer", "occurrence": asking.occurrence, "text": asking.text, "choices": choices,
                "respondents": asking.respondents, "deadline_at": asking.deadline_at })
        }
        Work::Stage(stage) => match &stage.phase {
            StagePhase::HumanGate { gate, text, respondents, deadline_at } => {
                let candidate = stage.candidates.last();
                json!({ "for": "decision", "invocation": stage.invocation, "gate": gate, "text": text,
                    "respondents": respondents, "deadline_at": deadline_at,
                    "revision": candidate.map(|candidate| candidate.revision),
                    "digest": candidate.map(|candidate| candidate.digest.as_str().to_owned()) })
            }
            StagePhase::Producing
            | StagePhase::MachineGate { .. }
            | StagePhase::CorrectionDue
            | StagePhase::Unsuccessful { .. } => Value::Null,
        },
        Work::Cron { at: None, .. } | Work::None => Value::Null,
    }
}

fn stage_json(stage: &Stage) -> Value {
    let phase = match &stage.phase {
        StagePhase::Producing => "producing",
        StagePhase::HumanGate { .. } => "human_gate",
        StagePhase::MachineGate { .. } => "machine_gate",
        StagePhase::CorrectionDue => "correction_due",
        StagePhase::Unsuccessful { .. } => "unsuccessful",
    };
    let candidates: Vec<Value> = stage.candidates.iter().map(candidate_json).collect();
    json!({ "invocation": stage.invocation, "attempt": stage.attempt, "child": stage.child, "phase": phase,
        "candidates": candidates })
}

fn candidate_json(candidate: &Candidate) -> Value {
    let decisions: Vec<Value> = candidate
        .decisions
        .iter()
        .map(|decided| {
            let by = match &decided.by {
                Decider::Person(principal) => principal.user.clone(),
                Decider::Evaluator { child } => format!("evaluator {child}"),
            };
            json!({ "gate": decided.gate, "decision": decided.word, "text": decided.text, "by": by, "at": decided.at })
        })
        .collect();
    json!({ "revision": candidate.revision, "digest": candidate.digest, "summary": candidate.summary,
        "result": candidate.result, "at": candidate.at, "decisions": decisions })
}

fn agent_json(value: &mut Value, ir: &ir::Agent, state: &AgentState) {
    set(value, "agent", json!({ "slug": ir.slug, "digest": ir.digest(), "model": ir.model_name }));
    set(value, "started_at", state.started_at.to_string().into());
    let turns: Vec<Value> = state.turns.iter().map(turn_json).collect();
    set(value, "turns", turns.into());
    let submissions: Vec<Value> = state.submissions.iter().map(|(_, envelope)| json!(envelope)).collect();
    set(value, "submissions", submissions.into());
    if let Some(reason) = &state.failed {
        set(value, "failed", reason.clone().into());
    }
}

fn turn_json(turn: &Turn) -> Value {
    match turn {
        Turn::Said { text, media, at } => {
            json!({ "turn": "said", "text": text, "media": media, "at": at })
        }
        Turn::Reply { reply, text, thinking: _, calls, usage, carry: _, at } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    let (state, result) = call_state(&call.state);
                    json!({ "id": call.made.id, "tool": call.made.name, "arguments": call.made.arguments,
                        "state": state, "result": result })
                })
                .collect();
            json!({ "turn": "reply", "reply": reply, "text": text, "calls": calls, "usage": usage, "at": at })
        }
    }
}

fn call_state(state: &CallState) -> (&'static str, Value) {
    match state {
        CallState::Ready => ("ready", Value::Null),
        CallState::Running { .. } => ("running", Value::Null),
        CallState::Deferred { token, reason, .. } => {
            ("deferred", json!({ "token": token, "reason": reason }))
        }
        CallState::Delegated { child, .. } => ("delegated", json!({ "session": child })),
        CallState::Unknown => ("unknown", Value::Null),
        CallState::Completed(ToolResult::Text(text) | ToolResult::Error(text)) => {
            ("completed", text.clone().into())
        }
        CallState::Completed(ToolResult::Json(value)) => ("completed", value.clone()),
        CallState::Completed(
            result @ (ToolResult::Kept(_) | ToolResult::Media(_) | ToolResult::Mixed(_)),
        ) => ("completed", json!(result)),
        CallState::Failed(text) => ("failed", text.clone().into()),
    }
}

/// The same as lines for a person, from the data, so that both always say the same.
fn text(value: &Value) -> String {
    let mut lines = vec![format!("session {}  {}", word(value, "/id"), word(value, "/title"))];
    let (status, detail) = (word(value, "/status").replace('_', " "), word(value, "/detail"));
    lines.push(if detail.is_empty() { status } else { format!("{status}: {detail}") });
    if let Some(ending) = value.get("ending") {
        let reason = word(ending, "/reason");
        if !reason.is_empty() {
            lines.push(format!("reason: {reason}"));
        }
        for (name, output) in ending.get("outputs").and_then(Value::as_object).into_iter().flatten() {
            lines.push(format!("output {name}: {}", plain(output)));
        }
    }
    let now = word(value, "/definition/now");
    if !now.is_empty() && now != "same" && value.get("ending").is_none() {
        let file = word(value, "/definition/file");
        let how = match now.as_str() {
            "gone" => "is gone",
            "broken" => "has changed and does not compile",
            _ => "has changed",
        };
        lines.push(format!("{file} {how}; the session goes on with the definition that it began with"));
    }
    let id = word(value, "/id");
    match value.pointer("/waiting/for").and_then(Value::as_str) {
        Some("answer") => answer_lines(value, &id, &mut lines),
        Some("decision") => decision_lines(value, &id, &mut lines),
        Some("schedule") => lines.push(format!("next occurrence: {}", word(value, "/waiting/at"))),
        Some(_) | None => {}
    }
    if let Some(attention) = value.get("attention") {
        lines.push(format!(
            "needs attention at `{}`: {}",
            word(attention, "/node"),
            word(attention, "/reason")
        ));
        let child = word(attention, "/session");
        if !child.is_empty() {
            lines.push(format!("  flowright session show {child}"));
            lines.push(format!(
                "  flowright session resolve {child} CALL --completed TEXT | --failed TEXT | --retry"
            ));
        }
        for remedy in attention.get("remedies").and_then(Value::as_array).into_iter().flatten() {
            lines.push(format!("  flowright session {} {id}", plain(remedy)));
        }
    }
    mark_lines(value, &id, &mut lines);
    for turn in value.get("turns").and_then(Value::as_array).into_iter().flatten() {
        turn_lines(turn, &mut lines);
    }
    for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
        let (child_id, title, status) = (word(child, "/id"), word(child, "/title"), word(child, "/status"));
        lines.push(format!("child {child_id}  {title}  {}", status.replace('_', " ")));
        if status == "waiting_external" {
            lines.push(format!("  flowright session pending {child_id}"));
        }
    }
    lines.join("\n")
}

fn mark_lines(value: &Value, id: &str, lines: &mut Vec<String>) {
    for mark in value.get("marks").and_then(Value::as_array).into_iter().flatten() {
        let (number, node, reason) = (word(mark, "/number"), word(mark, "/node"), word(mark, "/reason"));
        let (repeat, iteration) = (word(mark, "/loop"), word(mark, "/iteration"));
        lines.push(format!("marked {number}: `{node}` in iteration {iteration} of `{repeat}`: {reason}"));
        lines.push(format!("  flowright session dismiss {id} --mark {number}"));
    }
}

fn answer_lines(value: &Value, id: &str, lines: &mut Vec<String>) {
    lines.push(format!("question: {}", word(value, "/waiting/text")));
    let choices = value.pointer("/waiting/choices").and_then(Value::as_array);
    for choice in choices.into_iter().flatten() {
        lines.push(format!("  {:<16} {}", word(choice, "/value"), word(choice, "/label")));
    }
    lines.push(format!("answer it: flowright session answer {id} CHOICE [--feedback TEXT] --resume"));
}

fn decision_lines(value: &Value, id: &str, lines: &mut Vec<String>) {
    lines.push(format!("review: {}", word(value, "/waiting/text")));
    let revision = word(value, "/waiting/revision");
    let candidates = value.pointer("/stage/candidates").and_then(Value::as_array);
    if let Some(candidate) = candidates.and_then(|all| all.last()) {
        lines.push(format!("revision {revision}  {}", word(candidate, "/digest")));
        lines.push(format!("summary: {}", word(candidate, "/summary")));
        let result = candidate.get("result").cloned().unwrap_or_default();
        lines.push(serde_json::to_string_pretty(&result).unwrap_or_default());
    }
    lines.push(format!("decide: flowright session accept {id} --revision {revision} --resume"));
    lines.push(format!(
        "        flowright session reject {id} --revision {revision} --feedback TEXT --resume"
    ));
    lines.push(format!("        flowright session abort {id} --revision {revision} [--reason TEXT]"));
}

fn turn_lines(turn: &Value, lines: &mut Vec<String>) {
    let who = if word(turn, "/turn") == "said" { "user" } else { "model" };
    let said = word(turn, "/text");
    if !said.is_empty() {
        lines.push(format!("[{who}] {said}"));
    }
    for call in turn.get("calls").and_then(Value::as_array).into_iter().flatten() {
        let (id, tool, state) = (word(call, "/id"), word(call, "/tool"), word(call, "/state"));
        lines.push(format!("[call {id}] {tool} {} — {state}", word(call, "/arguments")));
        let result = call.get("result").map(plain).unwrap_or_default();
        if !result.is_empty() {
            lines.push(format!("  {result}"));
        }
    }
}

fn word(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
