//! What follows from what becomes of a call: admission, report, lost holder, an outside result. Judges no submission.

use super::super::command::Resolution;
use super::super::event::{Event, SUBMIT_TOOL, ToolResult};
use super::super::state::{Call, CallState};
use super::super::track;
use super::{Consumed, Deciding, ended, stale};
use crate::engine::{Principal, Rejection, RejectionCode};

/// Times that a repeatable call runs again after its holder was lost.
const LOSSES_MAX: u32 = 3;

impl Deciding<'_> {
    fn call(&self, id: &str) -> Result<&Call, Rejection> {
        track::find(&self.state, id)
            .ok_or_else(|| Rejection::new(RejectionCode::Stale, format!("this session made no call `{id}`")))
    }

    pub(super) fn admit_call(
        &mut self,
        id: String,
        admission: u32,
        holder: String,
        repeatable: bool,
    ) -> Consumed {
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

    pub(super) fn reported(&mut self, id: String, admission: u32, result: ToolResult) -> Consumed {
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
            CallState::Ready | CallState::Deferred { .. } | CallState::Delegated { .. } => false,
        };
        if !fits {
            return stale(format!(
                "admission {admission} of call `{id}` is no longer open; its result changes nothing"
            ));
        }
        self.emit(Event::CallReported { call: id, admission, result, by: None });
        Ok(())
    }

    pub(super) fn holders_lost(&mut self, living: &[String]) {
        let asking = self.state.asking.as_ref();
        let lost =
            asking.filter(|asking| asking.holder.as_ref().is_some_and(|holder| !living.contains(holder)));
        if let Some((reply, admission)) = lost.map(|asking| (asking.reply, asking.admissions)) {
            self.emit(Event::ModelCallLost { reply, admission });
        }
        let mut events = Vec::new();
        for call in track::last_calls(&self.state) {
            let CallState::Running { holder, repeatable, .. } = &call.state else { continue };
            if living.contains(holder) {
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

    pub(super) fn complete(&mut self, token: &str, result: ToolResult, by: Principal) -> Consumed {
        let waiting = track::last_calls(&self.state).iter().find(|call| match &call.state {
            CallState::Deferred { token: known, .. } => known == token,
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Delegated { .. }
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

    pub(super) fn resolve(&mut self, id: String, resolution: Resolution, by: Principal) -> Consumed {
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
}
