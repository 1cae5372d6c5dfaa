//! What follows from a notification: events, or why it may not be. Total: never panics, asks no clock, does nothing.

mod calls;
mod history;
mod judge;
mod model;
mod tokens;

use super::command::Notification;
use super::event::{CallMade, Contract, Event, Message, SUBMIT_TOOL, Spec};
use super::evolve::evolve;
use super::state::{Call, CallState, State};
use super::{submit, track};
use crate::engine::{Rejection, RejectionCode};
use crate::ir;
use crate::time::Timestamp;

/// Invalid submissions in a row that end a session.
const REFUSED_MAX: u32 = 5;

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
    deciding.judge_ready(&spec);
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
            Notification::AdmitCall { call, admission, holder, repeatable, definition } => {
                let admit = calls::Admit { call, admission, holder, repeatable, definition };
                self.admit_call(spec, admit)
            }
            Notification::CallReported { call, admission, result } => self.reported(call, admission, result),
            Notification::CallUncertain { call, admission, reason } => {
                self.uncertain(call, admission, reason)
            }
            Notification::HoldersLost { living } => {
                self.holders_lost(&living);
                Ok(())
            }
            Notification::Complete { token, result, by } => self.complete(&token, result, by),
            Notification::Define { token, definition } => self.define(spec, &token, definition),
            Notification::Approve { token, by } => self.approve(&token, by),
            Notification::Refuse { token, reason, by } => self.refuse_deferred(&token, &reason, by),
            Notification::CannotIsolate { call, reason } => self.cannot_isolate(spec, &call, reason),
            Notification::AdmitIsolated { token, holder } => self.admit_isolated(&token, holder),
            Notification::AgentStarted { call } => self.agent_started(call),
            Notification::Resolve { call, resolution, by } => self.resolve(call, resolution, by),
            Notification::ChangeAgent { agent, root, by } => self.change_agent(spec, agent, root, by),
            Notification::Import { turns, from, by } => self.import(spec, turns, from, by),
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
        let moving = others().any(|call| track::is_under_way(call) || call.state == CallState::Ready);
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

    fn submit(&mut self, contract: &Contract, made: CallMade) {
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
            self.emit(Event::CallRefused { call: call.id, reason: reason.to_owned(), by: None });
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
        let runs = calls.iter().any(track::is_under_way);
        self.refuse(waiting, "cancelled");
        if !runs {
            self.emit(Event::Stopped);
        }
    }
}
