//! The only way the state of an agent session changes. Reads every event ever written; judges nothing, refuses
//! nothing: an event that fits nowhere only counts.

mod history;

use super::command::Report;
use super::event::{CallMade, Event, Message, SUBMIT_TOOL, ToolResult};
use super::state::{Asking, Call, CallState, Settled, State, Turn};
use super::track;
use crate::engine::derived_id;
use crate::ir::Digest;
use crate::time::Timestamp;

/// Settled tokens that are remembered at most.
const TOKENS_KEPT: usize = 256;
/// Shared results that are found again at most.
const SHARED_KEPT: usize = 1024;

/// Folds one event.
pub fn evolve(state: &mut State, at: Timestamp, event: &Event) {
    state.now = state.now.max(at);
    state.sequence = state.sequence.saturating_add(1);
    fold(state, at, event);
    settle(state, at);
}

fn fold(state: &mut State, at: Timestamp, event: &Event) {
    match event {
        Event::Started(spec) => {
            state.started_at = at;
            state.turns.push_back_mut(Turn::Said {
                text: spec.prompt.clone(),
                media: spec.media.clone(),
                at,
            });
            state.spec = Some(spec.clone());
            ask(state);
        }
        Event::MessageTaken(message) => take(state, message),
        Event::ModelCallAdmitted { reply, admission, holder } => {
            let asking = state.asking.get_or_insert_with(|| fresh(*reply));
            asking.admissions = *admission;
            asking.holder = Some(holder.clone());
            asking.not_before = None;
        }
        Event::ModelReplied { reply, text, thinking, calls, usage, carry } => {
            count(state, *reply, calls);
            state.turns.push_back_mut(Turn::Reply {
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
        Event::Yielded { reply } => yielded(state, *reply),
        Event::CallAdmitted { call, admission, holder, repeatable, digest } => {
            let (holder, repeatable, digest) = (holder.clone(), *repeatable, digest.clone());
            let before = set(state, call, CallState::Running { holder, repeatable, digest, since: at });
            change(state, call, |found| found.admissions = *admission);
            spend(state, before, Settled::Isolated);
        }
        Event::CallDeferred { call, token, reason, digest, isolation } => {
            let (token, reason, digest) = (token.clone(), reason.clone(), digest.clone());
            let isolation = isolation.clone();
            let before = set(state, call, CallState::Deferred { token, reason, digest, isolation });
            change(state, call, |found| found.approved = None);
            state.notes.shift_remove(call);
            spend(state, before, Settled::Replaced);
        }
        Event::CallDefined { call, definition } => {
            state.notes.entry(call.clone()).or_default().definition = Some(definition.clone());
        }
        Event::CallApproved { call, digest, .. } => {
            let before = set(state, call, CallState::Ready);
            change(state, call, |found| found.approved = Some(digest.clone()));
            spend(state, before, Settled::Approved);
        }
        Event::CallRefused { call, reason, .. } => {
            let before = set(state, call, CallState::Failed(reason.clone()));
            spend(state, before, Settled::Refused(reason.clone()));
        }
        Event::CallDelegated { call, child } => {
            set(state, call, CallState::Delegated { child: child.clone(), started: false });
        }
        Event::AgentStarted { call } => change(state, call, |found| {
            if let CallState::Delegated { started, .. } = &mut found.state {
                *started = true;
            }
        }),
        Event::CallFailed { call, .. } => change(state, call, |found| {
            found.failures = found.failures.saturating_add(1);
            found.state = CallState::Ready;
        }),
        Event::CallCached { call, result, .. } => {
            set(state, call, CallState::Completed(result.clone()));
        }
        Event::CallReported { call, result, cache, .. } => report(state, call, result, cache.as_ref()),
        Event::CallLost { call, .. } => change(state, call, |found| {
            found.losses = found.losses.saturating_add(1);
            found.state = CallState::Ready;
        }),
        Event::CallUnknown { call, reason, .. } => {
            set(state, call, CallState::Unknown);
            if reason.is_some() {
                state.notes.entry(call.clone()).or_default().doubt.clone_from(reason);
            }
        }
        Event::CallRetried { call, .. } => {
            change(state, call, |found| {
                found.losses = 0;
                found.state = CallState::Ready;
            });
            state.notes.shift_remove(call);
        }
        Event::AgentChanged { agent, root, .. } => {
            state.agent = Some(agent.clone());
            if let (Some(spec), Some(root)) = (&mut state.spec, root) {
                spec.root.clone_from(root);
            }
        }
        Event::Imported { turns, .. } => history::import(state, turns),
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
            answer(state, ToolResult::Error("the agent was stopped before it had answered".to_owned()));
        }
        Event::Failed { reason } => {
            state.asking = None;
            state.failed = Some(reason.clone());
            owe(state, "failed", 0, Report::Failed { reason: reason.clone() });
            answer(state, ToolResult::Error(format!("the agent could not go on: {reason}")));
        }
    }
}

/// Closes the turn if nothing of it is open: waiting messages join, and the model is owed whatever it has not seen.
fn settle(state: &mut State, at: Timestamp) {
    if state.spec.is_none() || state.stopping || state.failed.is_some() || track::turn_is_open(state) {
        return;
    }
    if !state.notes.is_empty() {
        state.notes.clear();
    }
    if !state.waiting_messages.is_empty() {
        for message in std::mem::take(&mut state.waiting_messages) {
            state.turns.push_back_mut(Turn::Said { text: message.text, media: message.media, at });
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
    state.known_messages.insert_mut(message.id.clone());
    state.waiting_messages.push(message.clone());
}

/// Counts a reply and its calls.
fn count(state: &mut State, reply: u32, calls: &[CallMade]) {
    state.asking = None;
    state.replies = reply;
    let counted = calls.iter().filter(|call| call.name != SUBMIT_TOOL).count();
    state.calls_made = state.calls_made.saturating_add(u32::try_from(counted).unwrap_or(u32::MAX));
}

fn yielded(state: &mut State, reply: u32) {
    if !state.submitted {
        owe(state, "yielded", reply, Report::Yielded { reply });
    }
    let said = match state.turns.last() {
        Some(Turn::Reply { text, .. }) => text.clone(),
        Some(Turn::Said { .. }) | None => String::new(),
    };
    answer(state, ToolResult::Text(said));
}

fn report(state: &mut State, call: &str, result: &ToolResult, cache: Option<&Digest>) {
    let before = set(state, call, track::ended(result));
    if let Some(CallState::Deferred { token, .. }) = before {
        state.used_tokens.push((token, result.clone()));
        if state.used_tokens.len() > TOKENS_KEPT {
            state.used_tokens.remove(0);
        }
    }
    if let Some(key) = cache {
        state.shared.insert(key.as_str().to_owned(), call.to_owned());
        if state.shared.len() > SHARED_KEPT {
            state.shared.shift_remove_index(0);
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

fn change(state: &mut State, call: &str, how: impl FnOnce(&mut Call)) {
    if let Some(found) = track::find_mut(state, call) {
        how(found);
    }
}

/// Where the call stood before.
fn set(state: &mut State, call: &str, to: CallState) -> Option<CallState> {
    let found = track::find_mut(state, call)?;
    Some(std::mem::replace(&mut found.state, to))
}

/// The token of a call that was deferred names nothing any more.
fn spend(state: &mut State, before: Option<CallState>, how: Settled) {
    let Some(CallState::Deferred { token, .. }) = before else { return };
    state.settled_tokens.push((token, how));
    if state.settled_tokens.len() > TOKENS_KEPT {
        state.settled_tokens.remove(0);
    }
}

/// Owes the workflow a report, where it works for one. The id follows from its cause.
fn owe(state: &mut State, kind: &str, number: u32, report: Report) {
    let Some(spec) = &state.spec else { return };
    if spec.contract.is_none() {
        return;
    }
    let id = derived_id(&[&spec.session.0, "report", kind, &number.to_string()]);
    state.owed_reports.push((id, report));
}

/// Owes the calling agent the answer to its call, where there is one; the first answer stands.
fn answer(state: &mut State, result: ToolResult) {
    let Some(caller) = state.spec.as_ref().and_then(|spec| spec.caller.as_ref()) else { return };
    if state.answered {
        return;
    }
    let id = derived_id(&[&caller.session.0, "answer", &caller.call]);
    let call = caller.call.clone();
    state.owed_reports.push((id, Report::Answered { call, result }));
    state.answered = true;
}
