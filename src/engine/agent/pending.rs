//! What an agent session owes, derived from its state. Never stored, never decided here.

use super::command::Command;
use super::event::SUBMIT_TOOL;
use super::state::{Call, CallState, State};
use super::track;
use crate::engine::{IndexRow, SessionId, SessionKind, policy};
use crate::ir;
use crate::time::Timestamp;

/// Everything owed now, in an order that follows from the state alone.
#[must_use]
pub fn pending(ir: &ir::Agent, state: &State) -> Vec<Command> {
    let mut owed = Vec::new();
    let calls = track::last_calls(state);
    if state.stopping {
        owed.extend(calls.iter().filter_map(stop));
    } else if state.failed.is_none() {
        owed.extend(model_call(state));
        owed.extend(agents(ir, state));
        owed.extend(tool_calls(ir, state));
    }
    owed.extend(reports(state));
    owed
}

/// The sessions of other agents that answer calls of the last reply.
#[must_use]
pub fn children(state: &State) -> Vec<SessionId> {
    track::last_calls(state).iter().filter_map(|call| delegate(&call.state).cloned()).collect()
}

fn delegate(state: &CallState) -> Option<&SessionId> {
    match state {
        CallState::Delegated { child, .. } => Some(child),
        CallState::Ready
        | CallState::Running { .. }
        | CallState::Deferred { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    }
}

/// What ends a call of a session that was told to stop.
fn stop(call: &Call) -> Option<Command> {
    if let Some(child) = delegate(&call.state) {
        return Some(Command::StopAgent { child: child.clone() });
    }
    track::is_running(call).then(|| Command::KillCall { call: call.made.id.clone() })
}

fn reports(state: &State) -> Vec<Command> {
    let Some(parent) = parent(state) else { return Vec::new() };
    let owed = state.owed_reports.iter();
    owed.map(|(id, report)| Command::Report {
        parent: parent.clone(),
        id: id.clone(),
        report: report.clone(),
    })
    .collect()
}

/// Whose child it is: of a workflow, or of an agent that called it.
fn parent(state: &State) -> Option<&SessionId> {
    let spec = state.spec.as_ref()?;
    let workflow = spec.contract.as_ref().map(|contract| &contract.parent);
    workflow.or_else(|| spec.caller.as_ref().map(|caller| &caller.session))
}

fn model_call(state: &State) -> Option<Command> {
    let asking = state.asking.as_ref()?;
    let waits = asking.not_before.is_some_and(|not_before| not_before > state.now);
    let admission = asking.admissions.saturating_add(1);
    (asking.holder.is_none() && !waits).then_some(Command::CallModel { reply: asking.reply, admission })
}

/// Sessions of other agents that are recorded and not there yet.
fn agents(ir: &ir::Agent, state: &State) -> Vec<Command> {
    let above = state.spec.as_ref().and_then(|spec| spec.caller.as_ref()).map_or(0, |caller| caller.depth);
    let begun = track::last_calls(state).iter().filter_map(|call| match &call.state {
        CallState::Delegated { child, started: false } => {
            let agent = policy::agent(ir, &call.made.name);
            Some(Command::StartAgent {
                call: call.made.clone(),
                slug: agent.map(|agent| agent.slug.clone()).unwrap_or_default(),
                child: child.clone(),
                depth: above.saturating_add(1),
            })
        }
        CallState::Delegated { started: true, .. }
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Deferred { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    });
    begun.collect()
}

/// The first ready calls, as many as may still start beside those under way; those that are awaited come before those
/// in the background.
fn tool_calls(ir: &ir::Agent, state: &State) -> Vec<Command> {
    let room = track::slots(ir, state);
    if room == 0 {
        return Vec::new();
    }
    let ready = track::last_calls(state).iter().filter(|call| {
        call.state == CallState::Ready
            && call.made.name != SUBMIT_TOOL
            && policy::agent(ir, &call.made.name).is_none()
            && !track::waits_for_equal(ir, state, call)
    });
    let (behind, before): (Vec<&Call>, Vec<&Call>) =
        ready.partition(|call| policy::in_background(&ir.policy, &call.made.name));
    let ordered = before.into_iter().chain(behind);
    ordered.take(room).map(|call| run_tool(ir, call)).collect()
}

fn run_tool(ir: &ir::Agent, call: &Call) -> Command {
    let tool = &call.made.name;
    Command::RunTool {
        call: call.made.clone(),
        admission: call.admissions.saturating_add(1),
        decorators: policy::judge(&ir.policy, tool).1,
        isolation: policy::isolation(&ir.policy, tool),
        background: policy::in_background(&ir.policy, tool),
    }
}

/// When it must be looked at again: the model is asked again after a failure.
#[must_use]
pub fn wake_at(state: &State) -> Option<Timestamp> {
    let asking = state.asking.as_ref().filter(|asking| asking.holder.is_none())?;
    asking.not_before
}

/// What a list shows of it.
#[must_use]
pub fn index(ir: &ir::Agent, state: &State) -> IndexRow {
    let (status, detail) = status(ir, state);
    let spec = state.spec.as_ref();
    let tokens = track::last_calls(state).iter().filter_map(|call| match &call.state {
        CallState::Deferred { token, .. } => Some(token.clone()),
        CallState::Ready
        | CallState::Running { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    });
    IndexRow {
        kind: SessionKind::Agent,
        title: ir.slug.clone(),
        status: status.to_owned(),
        detail,
        wake_at: wake_at(state),
        tokens: tokens.collect(),
        parent: parent(state).cloned(),
        owner: spec.map(|spec| spec.owner.clone()).unwrap_or_default(),
        owes_work: !pending(ir, state).is_empty(),
        ended: state.stopped || state.failed.is_some(),
    }
}

/// The word of its state and one line of detail.
fn status(ir: &ir::Agent, state: &State) -> (&'static str, String) {
    if let Some(reason) = &state.failed {
        return ("failed", reason.clone());
    }
    let calls = track::last_calls(state);
    let named = |fits: &dyn Fn(&Call) -> bool| {
        let names: Vec<&str> =
            calls.iter().filter(|call| fits(call)).map(|call| call.made.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    if state.stopped {
        return ("cancelled", String::new());
    }
    if state.stopping {
        let names = named(&track::is_under_way);
        return ("cancelling", names.map_or_else(String::new, |names| format!("waits for {names}")));
    }
    if let Some(names) = named(&|call| call.state == CallState::Unknown) {
        return ("needs_attention", doubt(state, &names));
    }
    let behind = |call: &Call| policy::in_background(&ir.policy, &call.made.name);
    if let Some(names) = named(&|call| track::is_running(call) && !behind(call)) {
        return ("running", format!("runs {names}"));
    }
    if let Some(asking) = &state.asking {
        return match (&asking.holder, asking.not_before) {
            (Some(_), Some(_) | None) => ("running", "asks the model".to_owned()),
            (None, Some(not_before)) if not_before > state.now => {
                ("ready", format!("asks the model again at {not_before}"))
            }
            (None, Some(_) | None) => ("ready", "is about to ask the model".to_owned()),
        };
    }
    // A ready call that nothing owes waits for one of those under way.
    if !tool_calls(ir, state).is_empty() {
        let ready = |call: &Call| call.state == CallState::Ready && call.made.name != SUBMIT_TOOL;
        return ("ready", format!("is about to run {}", named(&ready).unwrap_or_default()));
    }
    let waits: Vec<String> = calls.iter().filter_map(|call| waits_for(ir, call)).collect();
    if !waits.is_empty() {
        return ("waiting_external", waits.join("; "));
    }
    let detail = match (state.spec.is_some(), state.submitted) {
        (true, true) => "has submitted",
        (true, false) => "waits for a message",
        (false, true | false) => "has not begun",
    };
    ("idle", detail.to_owned())
}

fn doubt(state: &State, names: &str) -> String {
    let known = state.notes.values().find_map(|note| note.doubt.as_ref());
    let why = known.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("nobody knows whether {names} had its effect{why}")
}

/// What an open call waits for, with the label that the policy gives it.
fn waits_for(ir: &ir::Agent, call: &Call) -> Option<String> {
    let tool = &call.made.name;
    let name = match policy::label(&ir.policy, tool) {
        Some(label) => format!("{label} ({tool})"),
        None => tool.clone(),
    };
    match &call.state {
        CallState::Deferred { reason, .. } => Some(format!("{name}: {reason}")),
        CallState::Running { .. } => Some(format!("{name} runs in the background")),
        CallState::Delegated { child, .. } => Some(format!("{name} is answered by the session {child}")),
        CallState::Ready | CallState::Unknown | CallState::Completed(_) | CallState::Failed(_) => None,
    }
}
