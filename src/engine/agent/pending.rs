//! What an agent session owes, derived from its state. Never stored, never decided here.

use super::command::Command;
use super::event::SUBMIT_TOOL;
use super::state::{Call, CallState, State};
use super::track;
use crate::engine::{IndexRow, SessionKind, policy};
use crate::ir;
use crate::time::Timestamp;

/// Everything owed now, in an order that follows from the state alone.
#[must_use]
pub fn pending(ir: &ir::Agent, state: &State) -> Vec<Command> {
    let mut owed = Vec::new();
    let calls = track::last_calls(state);
    if state.stopping {
        let running = calls.iter().filter(|call| track::is_running(call));
        owed.extend(running.map(|call| Command::KillCall { call: call.made.id.clone() }));
    } else if state.failed.is_none() {
        owed.extend(model_call(state));
        owed.extend(tool_calls(ir, calls));
    }
    if let Some(contract) = state.spec.as_ref().and_then(|spec| spec.contract.as_ref()) {
        owed.extend(state.owed_reports.iter().map(|(id, report)| Command::Report {
            parent: contract.parent.clone(),
            id: id.clone(),
            report: report.clone(),
        }));
    }
    owed
}

fn model_call(state: &State) -> Option<Command> {
    let asking = state.asking.as_ref()?;
    let waits = asking.not_before.is_some_and(|not_before| not_before > state.now);
    let admission = asking.admissions.saturating_add(1);
    (asking.holder.is_none() && !waits).then_some(Command::CallModel { reply: asking.reply, admission })
}

/// The first ready calls, as many as may still start beside those that run.
fn tool_calls(ir: &ir::Agent, calls: &[Call]) -> Vec<Command> {
    let running = calls.iter().filter(|call| track::is_running(call)).count();
    let most = usize::try_from(ir.max_concurrency.max(1)).unwrap_or(usize::MAX);
    let ready = calls.iter().filter(|call| call.state == CallState::Ready && call.made.name != SUBMIT_TOOL);
    ready
        .take(most.saturating_sub(running))
        .map(|call| Command::RunTool {
            call: call.made.clone(),
            admission: call.admissions.saturating_add(1),
            decorators: policy::judge(&ir.policy, &call.made.name).1,
            isolation: None,
            background: false,
        })
        .collect()
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
    let (status, detail) = status(state);
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
        parent: spec.and_then(|spec| spec.contract.as_ref()).map(|contract| contract.parent.clone()),
        owner: spec.map(|spec| spec.owner.clone()).unwrap_or_default(),
        owes_work: !pending(ir, state).is_empty(),
        ended: state.stopped || state.failed.is_some(),
    }
}

/// The word of its state and one line of detail.
fn status(state: &State) -> (&'static str, String) {
    if let Some(reason) = &state.failed {
        return ("failed", reason.clone());
    }
    let calls = track::last_calls(state);
    let named = |fits: fn(&CallState) -> bool| {
        let names: Vec<&str> =
            calls.iter().filter(|call| fits(&call.state)).map(|call| call.made.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    let running = named(|call| matches!(call, CallState::Running { .. }));
    if state.stopped {
        return ("cancelled", String::new());
    }
    if state.stopping {
        return ("cancelling", running.map_or_else(String::new, |names| format!("waits for {names}")));
    }
    if let Some(names) = named(|call| matches!(call, CallState::Unknown)) {
        return ("needs_attention", format!("nobody knows whether {names} had its effect"));
    }
    if let Some(names) = running {
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
    if let Some(names) = named(|call| matches!(call, CallState::Ready)) {
        return ("ready", format!("is about to run {names}"));
    }
    if let Some(detail) = calls.iter().find_map(waits_for) {
        return ("waiting_external", detail);
    }
    let detail = match (state.spec.is_some(), state.submitted) {
        (true, true) => "has submitted",
        (true, false) => "waits for a message",
        (false, true | false) => "has not begun",
    };
    ("idle", detail.to_owned())
}

fn waits_for(call: &Call) -> Option<String> {
    match &call.state {
        CallState::Deferred { reason, .. } => Some(format!("{}: {reason}", call.made.name)),
        CallState::Ready
        | CallState::Running { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    }
}
