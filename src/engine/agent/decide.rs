//! What follows from a notification: events, or why it may not be. Total: never panics, asks no clock, does nothing.

use super::command::{Answer, Notification, Resolution};
use super::event::{CallMade, Event, Message, SUBMIT_TOOL, Spec, ToolResult};
use super::evolve::evolve;
use super::state::{Call, CallState, State};
use super::{submit, track};
use crate::engine::{Principal, Rejection, RejectionCode, derived_id, policy};
use crate::ir;
use crate::time::{Millis, Timestamp};

/// Times that a failed model call is tried again.
const MODEL_RETRIES: u32 = 5;
/// The longest wait between two of these.
const LONGEST_WAIT_MS: i64 = 60_000;
/// Times that a repeatable call runs again after its holder was lost.
const LOSSES_MAX: u32 = 3;
/// Invalid submissions in a row that end a session.
const REFUSED_MAX: u32 = 5;
/// Calls past the bound of the session that are refused before the session ends.
const PAST_BOUND_MAX: u32 = 32;

/// What happened, or why it may not. No event: success without effect.
///
/// # Errors
/// A rejection with its kind and one sentence; nothing has changed then.
pub fn decide(
    ir: &ir::Agent,
    state: &State,
    at: Timestamp,
    notification: Notification,
) -> Result<Vec<Event>, Rejection> {
    let mut deciding = Deciding { ir, at: at.max(state.now), state: state.clone(), events: Vec::new() };
    if let Notification::Start(spec) = notification {
        deciding.start(spec)?;
        return Ok(deciding.events);
    }
    let Some(spec) = state.spec.clone() else {
        return Err(Rejection::new(RejectionCode::NotWaiting, "this session has not begun"));
    };
    deciding.expire();
    deciding.consume(&spec, notification)?;
    deciding.judge_submissions(&spec);
    deciding.come_to_rest();
    Ok(deciding.events)
}

/// A decision under way: a copy of the state that folds what was decided so far.
struct Deciding<'a> {
    ir: &'a ir::Agent,
    at: Timestamp,
    state: State,
    events: Vec<Event>,
}

type Consumed = Result<(), Rejection>;

fn stale(message: impl Into<String>) -> Consumed {
    Err(Rejection::new(RejectionCode::Stale, message))
}

fn ended(message: impl Into<String>) -> Consumed {
    Err(Rejection::new(RejectionCode::Ended, message))
}

impl Deciding<'_> {
    fn emit(&mut self, event: Event) {
        evolve(&mut self.state, self.at, &event);
        self.events.push(event);
    }

    fn start(&mut self, spec: Spec) -> Consumed {
        match &self.state.spec {
            None => self.emit(Event::Started(spec)),
            Some(known) if *known == spec => {}
            Some(_) => {
                let message = "this session was already started with another assignment";
                return Err(Rejection::new(RejectionCode::Conflict, message));
            }
        }
        Ok(())
    }

    /// What came due before the notification is judged.
    fn expire(&mut self) {
        let due = self.state.asking.as_ref().filter(|asking| {
            asking.holder.is_none() && asking.not_before.is_some_and(|not_before| not_before <= self.at)
        });
        if let Some(reply) = due.map(|asking| asking.reply) {
            self.emit(Event::ModelCallDue { reply });
        }
    }

    fn consume(&mut self, spec: &Spec, notification: Notification) -> Consumed {
        match notification {
            Notification::Start(_) | Notification::Tick => Ok(()),
            Notification::Take(message) => self.take(message),
            Notification::AdmitModelCall { reply, admission, holder } => {
                self.admit_model(reply, admission, holder)
            }
            Notification::ModelReplied { reply, admission, answer } => {
                self.replied(spec, reply, admission, answer)
            }
            Notification::ModelFailed { reply, admission, error, retryable, retry_after_ms } => {
                let again = retryable.then_some(retry_after_ms);
                self.model_failed(reply, admission, error, again)
            }
            Notification::AdmitCall { call, admission, holder, repeatable } => {
                self.admit_call(call, admission, holder, repeatable)
            }
            Notification::CallReported { call, admission, result } => self.reported(call, admission, result),
            Notification::HoldersLost { living } => {
                self.holders_lost(&living);
                Ok(())
            }
            Notification::Complete { token, result, by } => self.complete(&token, result, by),
            Notification::Resolve { call, resolution, by } => self.resolve(call, resolution, by),
            Notification::ReportAcknowledged { report } => {
                // A report that is no longer owed was acknowledged before: a repeat.
                if self.state.owed_reports.iter().any(|(id, _)| *id == report) {
                    self.emit(Event::ReportAcknowledged { report });
                }
                Ok(())
            }
            Notification::Stop => {
                if !self.state.stopping {
                    self.emit(Event::StopRequested);
                }
                Ok(())
            }
        }
    }

    fn has_ended(&self) -> Option<&'static str> {
        if self.state.stopping {
            return Some("this session was stopped");
        }
        self.state.failed.is_some().then_some("this session has failed and takes nothing more")
    }

    fn take(&mut self, message: Message) -> Consumed {
        if self.state.known_messages.contains(&message.id) {
            return Ok(());
        }
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        self.emit(Event::MessageTaken(message));
        Ok(())
    }

    // ---- the model -------------------------------------------------------------------------------------------

    fn admit_model(&mut self, reply: u32, admission: u32, holder: String) -> Consumed {
        let Some(asking) = &self.state.asking else {
            return stale("no model call is owed");
        };
        if asking.holder.is_some() {
            return stale("the model is already being asked");
        }
        let next = asking.admissions.saturating_add(1);
        if asking.reply != reply || next != admission {
            return stale(format!(
                "admission {next} of reply {} is owed, not {admission} of {reply}",
                asking.reply
            ));
        }
        if let Some(not_before) = asking.not_before {
            return stale(format!("the model is asked again at {not_before}, not earlier"));
        }
        self.emit(Event::ModelCallAdmitted { reply, admission, holder });
        Ok(())
    }

    /// Whether exactly this model call is under way.
    fn is_asked(&self, reply: u32, admission: u32) -> bool {
        let asking = self.state.asking.as_ref();
        asking.is_some_and(|it| it.holder.is_some() && it.reply == reply && it.admissions == admission)
    }

    fn replied(&mut self, spec: &Spec, reply: u32, admission: u32, answer: Answer) -> Consumed {
        if !self.is_asked(reply, admission) {
            if track::is_known_reply(&self.state, reply, &answer) {
                return Ok(());
            }
            return stale(format!("admission {admission} of reply {reply} is not the model call under way"));
        }
        let mut calls = Vec::new();
        for (index, (provider_id, name, arguments)) in answer.calls.into_iter().enumerate() {
            let id = derived_id(&[&spec.session.0, "call", &reply.to_string(), &index.to_string()]);
            calls.push(CallMade { id, provider_id, name, arguments });
        }
        let made_before = self.state.calls_made;
        let (text, thinking, usage) = (answer.text, answer.thinking, answer.usage);
        self.emit(Event::ModelReplied { reply, text, thinking, calls: calls.clone(), usage });
        if calls.is_empty() && self.state.asking.is_none() {
            self.emit(Event::Yielded { reply });
        }
        let mut number = made_before;
        for call in calls {
            if call.name != SUBMIT_TOOL {
                number = number.saturating_add(1);
            }
            if let Some(event) = self.judge_call(spec, &call, number, answer.cut_off) {
                self.emit(event);
            }
        }
        self.bound_of_calls(made_before);
        Ok(())
    }

    /// What becomes of a call before anything runs; none: it is ready to run, or a submission to be judged.
    fn judge_call(&self, spec: &Spec, call: &CallMade, number: u32, cut_off: bool) -> Option<Event> {
        let refused = |reason: String| Some(Event::CallRefused { call: call.id.clone(), reason });
        if cut_off {
            return refused(
                "the reply was cut off by its length, so this call may be incomplete; it was not run".into(),
            );
        }
        if call.name == SUBMIT_TOOL {
            return None;
        }
        let arguments = match track::arguments(&call.arguments) {
            Ok(arguments) => arguments,
            Err(fault) => return refused(fault),
        };
        if let Some(max) = self.ir.max_tool_calls.filter(|max| number > *max) {
            return refused(format!(
                "this session may make {max} tool calls and has made them; finish without tools"
            ));
        }
        match policy::judge(&self.ir.policy, &call.name).0 {
            // A call in the background is awaited like any other in this version.
            ir::Disposition::RunSync | ir::Disposition::RunAsync => None,
            // `judge` has unwrapped all decorators.
            ir::Disposition::Decorate { .. } => None,
            ir::Disposition::Defer { reason } => Some(Event::CallDeferred {
                call: call.id.clone(),
                token: derived_id(&[&spec.session.0, "token", &call.id]),
                reason: reason.unwrap_or_else(|| "waits for an outside result".to_owned()),
                digest: track::digest(&call.name, arguments),
            }),
            ir::Disposition::Deny { reason: Some(reason) } => refused(format!("denied by policy: {reason}")),
            ir::Disposition::Deny { reason: None } => refused("denied by policy".to_owned()),
            ir::Disposition::RunIsolated { .. } => refused(format!(
                "`{}` must run in isolation, and isolation of single calls is not available in this version; \
                 it was not run",
                call.name
            )),
        }
    }

    /// A model that goes on calling long after its bound would cost for ever.
    fn bound_of_calls(&mut self, made_before: u32) {
        let past =
            self.ir.max_tool_calls.is_some_and(|max| made_before >= max.saturating_add(PAST_BOUND_MAX));
        let open = track::last_calls(&self.state).iter().any(|call| !call.state.is_terminal());
        if past && !open && !track::last_calls(&self.state).is_empty() {
            let max = self.ir.max_tool_calls.unwrap_or_default();
            let reason = format!("the model went on calling tools long after the bound of {max} calls");
            self.emit(Event::Failed { reason });
        }
    }

    fn model_failed(
        &mut self,
        reply: u32,
        admission: u32,
        error: String,
        again: Option<Option<Millis>>,
    ) -> Consumed {
        if !self.is_asked(reply, admission) {
            return stale(format!("admission {admission} of reply {reply} is not the model call under way"));
        }
        let failures = self.state.asking.as_ref().map_or(0, |asking| asking.failures);
        let retry_at = again.filter(|_| failures < MODEL_RETRIES).map(|retry_after_ms| {
            let doubled = 1000_i64.checked_shl(failures).unwrap_or(LONGEST_WAIT_MS);
            let wait = retry_after_ms.map_or(doubled, |asked| asked.0.max(0));
            self.at.plus(Millis(wait.min(LONGEST_WAIT_MS)))
        });
        self.emit(Event::ModelFailed { reply, admission, error: error.clone(), retry_at });
        if retry_at.is_none() {
            self.emit(Event::Failed { reason: format!("the model did not answer: {error}") });
        }
        Ok(())
    }

    // ---- calls -----------------------------------------------------------------------------------------------

    fn call(&self, id: &str) -> Result<&Call, Rejection> {
        track::find(&self.state, id)
            .ok_or_else(|| Rejection::new(RejectionCode::Stale, format!("this session made no call `{id}`")))
    }

    fn admit_call(&mut self, id: String, admission: u32, holder: String, repeatable: bool) -> Consumed {
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        let call = self.call(&id)?;
        let next = call.admissions.saturating_add(1);
        if call.state != CallState::Ready || call.made.name == SUBMIT_TOOL || next != admission {
            return stale(format!("admission {admission} of call `{id}` is not owed"));
        }
        let running = track::last_calls(&self.state).iter().filter(|call| track::is_running(call)).count();
        let most = usize::try_from(self.ir.max_concurrency.max(1)).unwrap_or(usize::MAX);
        if running >= most {
            let message = format!("{running} calls of this turn run already, the bound is {most}");
            return Err(Rejection::new(RejectionCode::NotWaiting, message));
        }
        let repeatable = repeatable || self.ir.repeatable_tools.contains(&call.made.name);
        let digest =
            track::digest(&call.made.name, track::arguments(&call.made.arguments).unwrap_or_default());
        self.emit(Event::CallAdmitted { call: id, admission, holder, repeatable, digest });
        Ok(())
    }

    fn reported(&mut self, id: String, admission: u32, result: ToolResult) -> Consumed {
        let call = self.call(&id)?;
        let fits = match &call.state {
            CallState::Running { .. } => admission == call.admissions,
            // Whichever admission it was: now somebody knows.
            CallState::Unknown => (1..=call.admissions).contains(&admission),
            CallState::Completed(_) | CallState::Failed(_) => {
                if admission == call.admissions && admission > 0 && call.state == track::ended(&result) {
                    return Ok(());
                }
                false
            }
            CallState::Ready | CallState::Deferred { .. } => false,
        };
        if !fits {
            return stale(format!(
                "admission {admission} of call `{id}` is no longer open; its result changes nothing"
            ));
        }
        self.emit(Event::CallReported { call: id, admission, result, by: None });
        Ok(())
    }

    fn holders_lost(&mut self, living: &str) {
        let asking = self.state.asking.as_ref();
        let lost = asking.filter(|asking| asking.holder.as_ref().is_some_and(|holder| holder != living));
        if let Some((reply, admission)) = lost.map(|asking| (asking.reply, asking.admissions)) {
            self.emit(Event::ModelCallLost { reply, admission });
        }
        let mut events = Vec::new();
        for call in track::last_calls(&self.state) {
            let CallState::Running { holder, repeatable, .. } = &call.state else { continue };
            if holder == living {
                continue;
            }
            let again = *repeatable || self.ir.repeatable_tools.contains(&call.made.name);
            let (id, admission) = (call.made.id.clone(), call.admissions);
            events.push(if again && call.losses < LOSSES_MAX {
                Event::CallLost { call: id, admission }
            } else {
                Event::CallUnknown { call: id, admission }
            });
        }
        for event in events {
            self.emit(event);
        }
    }

    fn complete(&mut self, token: &str, result: ToolResult, by: Principal) -> Consumed {
        let waiting = track::last_calls(&self.state).iter().find(|call| match &call.state {
            CallState::Deferred { token: known, .. } => known == token,
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Unknown
            | CallState::Completed(_)
            | CallState::Failed(_) => false,
        });
        if let Some(call) = waiting.map(|call| call.made.id.clone()) {
            self.emit(Event::CallReported { call, admission: 0, result, by: Some(by) });
            return Ok(());
        }
        match self.state.used_tokens.iter().find(|(used, _)| used == token) {
            Some((_, before)) if *before == result => Ok(()),
            Some(_) => {
                let message = "this call was already completed with another result, which stands";
                Err(Rejection::new(RejectionCode::Conflict, message))
            }
            None if self.state.stopping => ended("this session was stopped and its deferred calls with it"),
            None => stale("no deferred call of this session has this token"),
        }
    }

    fn resolve(&mut self, id: String, resolution: Resolution, by: Principal) -> Consumed {
        let call = self.call(&id)?;
        let admission = call.admissions;
        let result = match resolution {
            Resolution::Completed(result) => Some(result),
            Resolution::Failed(reason) => Some(ToolResult::Error(reason)),
            Resolution::Retry => None,
        };
        if call.state != CallState::Unknown {
            if result.as_ref().is_some_and(|result| call.state == track::ended(result)) {
                return Ok(());
            }
            return stale(format!(
                "the outcome of call `{id}` is not unknown; nothing is to be settled by hand"
            ));
        }
        match (result, self.has_ended()) {
            (Some(result), Some(_) | None) => {
                self.emit(Event::CallReported { call: id, admission, result, by: Some(by) });
            }
            (None, Some(why)) => return ended(why),
            (None, None) => self.emit(Event::CallRetried { call: id, by }),
        }
        Ok(())
    }

    // ---- what follows ----------------------------------------------------------------------------------------

    /// Submissions are judged when no other call of the reply can still change what the agent knows (invariant 17).
    fn judge_submissions(&mut self, spec: &Spec) {
        if self.state.stopping || self.state.failed.is_some() {
            return;
        }
        let calls = track::last_calls(&self.state);
        let owed = |call: &&Call| call.made.name == SUBMIT_TOOL && call.state == CallState::Ready;
        let waiting: Vec<CallMade> = calls.iter().filter(owed).map(|call| call.made.clone()).collect();
        if waiting.is_empty() {
            return;
        }
        let others = || calls.iter().filter(|call| call.made.name != SUBMIT_TOOL);
        let outside = others()
            .find(|call| matches!(call.state, CallState::Deferred { .. } | CallState::Unknown))
            .map(|call| call.made.name.clone());
        let moving = others().any(|call| matches!(call.state, CallState::Ready | CallState::Running { .. }));
        let Some(contract) = &spec.contract else {
            self.refuse(waiting, "this session has nothing to submit to: it was not started by a workflow");
            return;
        };
        if let Some(name) = outside {
            let reason =
                format!("finish the open call of `{name}` first: a submission is refused while it is open");
            self.refuse(waiting, &reason);
            return;
        }
        if moving {
            return;
        }
        for call in waiting {
            if self.state.submitted {
                self.refuse(
                    vec![call],
                    "a result was already submitted in this reply; the first valid one stands",
                );
            } else if self.state.refused_in_a_row >= REFUSED_MAX {
                self.refuse(vec![call], "not submitted: too many invalid submissions");
            } else {
                self.submit(contract, call);
            }
        }
        if self.state.refused_in_a_row >= REFUSED_MAX {
            let reason = "five invalid submissions in a row; the last one says what was wrong".to_owned();
            self.emit(Event::Failed { reason });
        }
    }

    fn submit(&mut self, contract: &super::event::Contract, made: CallMade) {
        let call = made.id;
        match submit::judge(contract, &made.arguments) {
            Ok(envelope) => {
                let number = u32::try_from(self.state.submissions.len()).unwrap_or(u32::MAX);
                self.emit(Event::Submitted { call, submission: number.saturating_add(1), envelope });
            }
            Err(reason) => self.emit(Event::SubmissionRefused { call, reason }),
        }
    }

    fn refuse(&mut self, calls: Vec<CallMade>, reason: &str) {
        for call in calls {
            self.emit(Event::CallRefused { call: call.id, reason: reason.to_owned() });
        }
    }

    /// A session that was told to stop has stopped when nothing runs any more.
    fn come_to_rest(&mut self) {
        if !self.state.stopping || self.state.stopped {
            return;
        }
        let calls = track::last_calls(&self.state);
        let never = |call: &&Call| matches!(call.state, CallState::Ready | CallState::Deferred { .. });
        let waiting: Vec<CallMade> = calls.iter().filter(never).map(|call| call.made.clone()).collect();
        let runs = calls.iter().any(track::is_running);
        self.refuse(waiting, "cancelled");
        if !runs {
            self.emit(Event::Stopped);
        }
    }
}
