//! What follows from what becomes of a call: admission, report, lost holder, an outside result. Judges no submission.

use super::super::command::Resolution;
use super::super::event::{Event, SUBMIT_TOOL, Spec, ToolResult};
use super::super::state::{Call, CallState};
use super::super::track;
use super::{Consumed, Deciding, ended, stale};
use crate::engine::{Principal, Rejection, RejectionCode, policy};
use crate::ir::Digest;

/// Times that a repeatable call runs again after its holder was lost.
const LOSSES_MAX: u32 = 3;

/// An admission that a host asks for.
pub(super) struct Admit {
    pub call: String,
    pub admission: u32,
    pub holder: String,
    pub repeatable: bool,
    pub definition: Option<Digest>,
}

impl Deciding<'_> {
    pub(super) fn call(&self, id: &str) -> Result<&Call, Rejection> {
        track::find(&self.state, id)
            .ok_or_else(|| Rejection::new(RejectionCode::Stale, format!("this session made no call `{id}`")))
    }

    /// Whether one more call may be under way.
    pub(super) fn room_for_a_call(&self) -> Consumed {
        if track::slots(self.ir, &self.state) > 0 {
            return Ok(());
        }
        let most = self.ir.max_concurrency.max(1);
        let message = format!("{most} calls of this turn run already, which is the bound");
        Err(Rejection::new(RejectionCode::NotWaiting, message))
    }

    pub(super) fn admit_call(&mut self, spec: &Spec, admit: Admit) -> Consumed {
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        let Admit { call: id, admission, holder, repeatable, definition } = admit;
        let call = self.call(&id)?.clone();
        let name = &call.made.name;
        let next = call.admissions.saturating_add(1);
        let elsewhere = name == SUBMIT_TOOL || policy::agent(self.ir, name).is_some();
        if call.state != CallState::Ready || elsewhere || next != admission {
            return stale(format!("admission {admission} of call `{id}` is not owed"));
        }
        let digest = track::digest_of(&call.made);
        if let Some(changed) = self.changed_since_approval(&call, &digest, definition.as_ref()) {
            self.defer_anew(spec, &call, changed, None);
            if let Some(definition) = definition {
                self.emit(Event::CallDefined { call: id, definition });
            }
            return Ok(());
        }
        self.room_for_a_call()?;
        let repeatable = repeatable || self.ir.repeatable_tools.contains(name);
        self.emit(Event::CallAdmitted { call: id, admission, holder, repeatable, digest });
        Ok(())
    }

    /// Why a person must be asked again about a call that one has let run (B30, B36).
    fn changed_since_approval(
        &self,
        call: &Call,
        digest: &Digest,
        definition: Option<&Digest>,
    ) -> Option<&'static str> {
        let approved = call.approved.as_ref()?;
        if approved != digest {
            return Some("it is no longer the call that was approved: its tool or arguments differ");
        }
        let known = self.state.notes.get(&call.made.id).and_then(|note| note.definition.as_ref())?;
        (definition? != known).then_some("its tool has changed since it was approved; look at both again")
    }

    pub(super) fn reported(&mut self, id: String, admission: u32, result: ToolResult) -> Consumed {
        let call = self.call(&id)?;
        let fits = match &call.state {
            CallState::Running { .. } => admission == call.admissions,
            CallState::Delegated { .. } => admission == 0,
            // Whichever admission it was: now somebody knows.
            CallState::Unknown => (1..=call.admissions).contains(&admission),
            CallState::Completed(_) | CallState::Failed(_) => {
                let again = policy::agent(self.ir, &call.made.name).is_some() || admission > 0;
                if admission == call.admissions && again && call.state == track::ended(&result) {
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
        let cache = self.shared_under(call, &result);
        let again = track::is_under_way(call) && self.has_ended().is_none() && self.is_tried_again(call);
        let event = match (again, result) {
            (true, ToolResult::Error(error)) => Event::CallFailed { call: id, admission, error },
            (true | false, result) => Event::CallReported { call: id, admission, result, by: None, cache },
        };
        self.emit(event);
        Ok(())
    }

    fn is_tried_again(&self, call: &Call) -> bool {
        call.failures < policy::retries(&policy::judge(&self.ir.policy, &call.made.name).1)
    }

    /// A host began a call and cannot say what became of it.
    pub(super) fn uncertain(&mut self, id: String, admission: u32, reason: String) -> Consumed {
        let call = self.call(&id)?;
        if call.state == CallState::Unknown && admission == call.admissions {
            return Ok(());
        }
        if !track::is_running(call) || admission != call.admissions {
            return stale(format!("admission {admission} of call `{id}` is no longer open"));
        }
        self.emit(Event::CallUnknown { call: id, admission, reason: Some(reason) });
        Ok(())
    }

    /// The session that answers a call is there.
    pub(super) fn agent_started(&mut self, id: String) -> Consumed {
        match &self.call(&id)?.state {
            CallState::Delegated { started: false, .. } => self.emit(Event::AgentStarted { call: id }),
            CallState::Delegated { started: true, .. }
            | CallState::Ready
            | CallState::Running { .. }
            | CallState::Deferred { .. }
            | CallState::Unknown
            | CallState::Completed(_)
            | CallState::Failed(_) => {}
        }
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
                Event::CallUnknown { call: id, admission, reason: None }
            });
        }
        for event in events {
            self.emit(event);
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
                let cache = self.shared_under(self.call(&id)?, &result);
                self.emit(Event::CallReported { call: id, admission, result, by: Some(by), cache });
            }
            (None, Some(why)) => return ended(why),
            (None, None) => self.emit(Event::CallRetried { call: id, by }),
        }
        Ok(())
    }
}
