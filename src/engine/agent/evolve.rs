//! The only way the state of an agent session changes. Reads every event ever written; judges nothing, refuses
//! nothing: an event that fits nowhere only counts.

use super::command::Report;
use super::event::{CallMade, Event, Message, SUBMIT_TOOL, ToolResult};
use super::state::{Asking, Call, CallState, State, Turn};
use super::track;
use crate::engine::derived_id;
use crate::time::Timestamp;

/// Completed tokens that are remembered at most.
const TOKENS_KEPT: usize = 256;

/// Folds one event.
pub fn evolve(state: &mut State, at: Timestamp, event: &Event) {
    state.now = state.now.max(at);
    state.sequence = state.sequence.saturating_add(1);
    match event {
        Event::Started(spec) => {
            state.started_at = at;
            state.turns.push(Turn::Said { text: spec.prompt.clone(), media: spec.media.clone(), at });
            state.spec = Some(spec.clone());
            ask(state);
        }
        Event::MessageTaken(message) => take(state, message),
        Event::ModelCallAdmitted { .. }
        | Event::ModelReplied { .. }
        | Event::ModelFailed { .. }
        | Event::ModelCallDue { .. }
        | Event::ModelCallLost { .. }
        | Event::Yielded { .. } => model(state, at, event),
        Event::CallAdmitted { .. }
        | Event::CallDeferred { .. }
        | Event::CallRefused { .. }
        | Event::CallReported { .. }
        | Event::CallLost { .. }
        | Event::CallUnknown { .. }
        | Event::CallRetried { .. } => call(state, at, event),
        // Their slices are being written.
        Event::CallApproved { .. }
        | Event::CallFailed { .. }
        | Event::CallCached { .. }
        | Event::CallDelegated { .. }
        | Event::AgentChanged { .. }
        | Event::Imported { .. } => {}
        Event::Submitted { call, submission, envelope } => {
            set(state, call, CallState::Completed(ToolResult::Text("submitted".to_owned())));
            state.submissions.push((call.clone(), envelope.clone()));
            state.submitted = true;
            state.refused_in_a_row = 0;
            let report = Report::Submitted { submission: *submission, envelope: envelope.clone() };
            owe(state, "submitted", *submission, report);
        }
        Event::SubmissionRefused { call, reason } => {
            set(state, call, CallState::Failed(reason.clone()));
            state.refused_in_a_row = state.refused_in_a_row.saturating_add(1);
        }
        Event::ReportAcknowledged { report } => state.owed_reports.retain(|(id, _)| id != report),
        Event::StopRequested => {
            state.stopping = true;
            // Nothing depends on the answer any more: a model call under way counts as stopped at once.
            state.asking = None;
        }
        Event::Stopped => {
            state.stopped = true;
            owe(state, "settled", 0, Report::Settled);
        }
        Event::Failed { reason } => {
            state.asking = None;
            state.failed = Some(reason.clone());
            owe(state, "failed", 0, Report::Failed { reason: reason.clone() });
        }
    }
    settle(state, at);
}

/// What happens between the session and its model.
fn model(state: &mut State, at: Timestamp, event: &Event) {
    match event {
        Event::ModelCallAdmitted { reply, admission, holder } => {
            let asking = state.asking.get_or_insert_with(|| fresh(*reply));
            asking.admissions = *admission;
            asking.holder = Some(holder.clone());
            asking.not_before = None;
        }
        Event::ModelReplied { reply, text, thinking, calls, usage, carry } => {
            state.asking = None;
            state.replies = *reply;
            let counted = calls.iter().filter(|call| call.name != SUBMIT_TOOL).count();
            state.calls_made = state.calls_made.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
            state.turns.push(Turn::Reply {
                reply: *reply,
                text: text.clone(),
                thinking: thinking.clone(),
                calls: calls.iter().map(tracked).collect(),
                usage: *usage,
                carry: carry.clone(),
                at,
            });
        }
        Event::ModelFailed { retry_at, .. } => {
            if let Some(asking) = &mut state.asking {
                asking.holder = None;
                asking.failures = asking.failures.saturating_add(1);
                asking.not_before = *retry_at;
            }
        }
        Event::ModelCallDue { .. } => {
            if let Some(asking) = &mut state.asking {
                asking.not_before = None;
            }
        }
        Event::ModelCallLost { .. } => {
            if let Some(asking) = &mut state.asking {
                asking.holder = None;
            }
        }
        Event::Yielded { reply } => {
            if !state.submitted {
                owe(state, "yielded", *reply, Report::Yielded { reply: *reply });
            }
        }
        Event::Started(_)
        | Event::MessageTaken(_)
        | Event::CallAdmitted { .. }
        | Event::CallDeferred { .. }
        | Event::CallRefused { .. }
        | Event::CallReported { .. }
        | Event::CallLost { .. }
        | Event::CallUnknown { .. }
        | Event::CallRetried { .. }
        | Event::CallApproved { .. }
        | Event::CallFailed { .. }
        | Event::CallCached { .. }
        | Event::CallDelegated { .. }
        | Event::AgentChanged { .. }
        | Event::Imported { .. }
        | Event::Submitted { .. }
        | Event::SubmissionRefused { .. }
        | Event::ReportAcknowledged { .. }
        | Event::StopRequested
        | Event::Stopped
        | Event::Failed { .. } => {}
    }
}

/// What happens to one call.
fn call(state: &mut State, at: Timestamp, event: &Event) {
    match event {
        Event::CallAdmitted { call, admission, holder, repeatable, digest } => {
            if let Some(found) = track::find_mut(state, call) {
                found.admissions = *admission;
                found.state = CallState::Running {
                    holder: holder.clone(),
                    repeatable: *repeatable,
                    digest: digest.clone(),
                    since: at,
                };
            }
        }
        Event::CallDeferred { call, token, reason, digest, isolation } => {
            let (token, reason, digest) = (token.clone(), reason.clone(), digest.clone());
            set(state, call, CallState::Deferred { token, reason, digest, isolation: isolation.clone() });
        }
        Event::CallRefused { call, reason } => set(state, call, CallState::Failed(reason.clone())),
        Event::CallReported { call, result, .. } => report(state, call, result),
        Event::CallLost { call, .. } => {
            if let Some(found) = track::find_mut(state, call) {
                found.losses = found.losses.saturating_add(1);
                found.state = CallState::Ready;
            }
        }
        Event::CallUnknown { call, .. } => set(state, call, CallState::Unknown),
        Event::CallRetried { call, .. } => {
            if let Some(found) = track::find_mut(state, call) {
                found.losses = 0;
                found.state = CallState::Ready;
            }
        }
        Event::Started(_)
        | Event::MessageTaken(_)
        | Event::ModelCallAdmitted { .. }
        | Event::ModelReplied { .. }
        | Event::ModelFailed { .. }
        | Event::ModelCallDue { .. }
        | Event::ModelCallLost { .. }
        | Event::Yielded { .. }
        | Event::CallApproved { .. }
        | Event::CallFailed { .. }
        | Event::CallCached { .. }
        | Event::CallDelegated { .. }
        | Event::AgentChanged { .. }
        | Event::Imported { .. }
        | Event::Submitted { .. }
        | Event::SubmissionRefused { .. }
        | Event::ReportAcknowledged { .. }
        | Event::StopRequested
        | Event::Stopped
        | Event::Failed { .. } => {}
    }
}

/// Closes the turn if nothing of it is open: waiting messages join, and the model is owed whatever it has not seen.
fn settle(state: &mut State, at: Timestamp) {
    if state.spec.is_none() || state.stopping || state.failed.is_some() || track::turn_is_open(state) {
        return;
    }
    if !state.waiting_messages.is_empty() {
        for message in std::mem::take(&mut state.waiting_messages) {
            state.turns.push(Turn::Said { text: message.text, media: message.media, at });
        }
        state.submitted = false;
        ask(state);
        return;
    }
    if !state.submitted && !track::last_calls(state).is_empty() {
        ask(state);
    }
}

fn take(state: &mut State, message: &Message) {
    state.known_messages.push(message.id.clone());
    state.waiting_messages.push(message.clone());
}

fn report(state: &mut State, call: &str, result: &ToolResult) {
    let Some(found) = track::find_mut(state, call) else { return };
    let before = std::mem::replace(&mut found.state, track::ended(result));
    if let CallState::Deferred { token, .. } = before {
        state.used_tokens.push((token, result.clone()));
        if state.used_tokens.len() > TOKENS_KEPT {
            state.used_tokens.remove(0);
        }
    }
}

fn ask(state: &mut State) {
    let next = state.replies.saturating_add(1);
    state.asking.get_or_insert_with(|| fresh(next));
}

fn fresh(reply: u32) -> Asking {
    Asking { reply, admissions: 0, failures: 0, holder: None, not_before: None }
}

fn tracked(made: &CallMade) -> Call {
    Call {
        made: made.clone(),
        state: CallState::Ready,
        admissions: 0,
        losses: 0,
        failures: 0,
        approved: None,
    }
}

fn set(state: &mut State, call: &str, to: CallState) {
    if let Some(found) = track::find_mut(state, call) {
        found.state = to;
    }
}

/// Owes the parent a report, where there is a parent. The id follows from its cause.
fn owe(state: &mut State, kind: &str, number: u32, report: Report) {
    let Some(spec) = &state.spec else { return };
    if spec.contract.is_none() {
        return;
    }
    let id = derived_id(&[&spec.session.0, "report", kind, &number.to_string()]);
    state.owed_reports.push((id, report));
}
