//! What follows from what people and hosts do with deferred calls, each named by its token.

use super::super::event::{Event, Spec, ToolResult};
use super::super::state::{Call, CallState, Settled};
use super::super::track;
use super::{Consumed, Deciding, ended, judge, stale};
use crate::engine::{Principal, Rejection, RejectionCode, derived_id, policy};
use crate::ir;
use crate::ir::Digest;

fn conflict(message: impl Into<String>) -> Consumed {
    Err(Rejection::new(RejectionCode::Conflict, message))
}

/// What a deferred call is waiting with.
struct Waiting {
    call: Call,
    digest: Digest,
    isolation: Option<ir::Isolation>,
}

impl Deciding<'_> {
    fn waiting(&self, token: &str) -> Option<Waiting> {
        let call = track::deferred(&self.state, token)?;
        match &call.state {
            CallState::Deferred { digest, isolation, .. } => {
                Some(Waiting { call: call.clone(), digest: digest.clone(), isolation: isolation.clone() })
            }
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Delegated { .. }
            | CallState::Unknown
            | CallState::Completed(_)
            | CallState::Failed(_) => None,
        }
    }

    /// Why a token names nothing that waits.
    fn not_waiting(&self, token: &str) -> Consumed {
        if self.state.used_tokens.iter().any(|(used, _)| used == token) {
            return stale("this call already has its result");
        }
        let settled = self.state.settled_tokens.iter().rev().find(|(known, _)| known == token);
        match settled.map(|(_, how)| how) {
            Some(Settled::Replaced) => {
                stale("this call is waiting anew under another token; look at it again")
            }
            Some(Settled::Approved) => conflict("a person has let this call run, which stands"),
            Some(Settled::Refused(_)) if self.state.stopping => {
                ended("this session was stopped and its deferred calls with it")
            }
            Some(Settled::Refused(_)) => conflict("this call was refused, which stands"),
            Some(Settled::Isolated) => conflict("a host has taken this call to run it in isolation"),
            None if self.state.stopping => ended("this session was stopped and its deferred calls with it"),
            None => stale("no deferred call of this session has this token"),
        }
    }

    pub(super) fn complete(&mut self, token: &str, result: ToolResult, by: Principal) -> Consumed {
        if let Some(call) = track::deferred(&self.state, token) {
            let cache = self.shared_under(call, &result);
            let call = call.made.id.clone();
            self.emit(Event::CallReported { call, admission: 0, result, by: Some(by), cache });
            return Ok(());
        }
        match self.state.used_tokens.iter().find(|(used, _)| used == token) {
            Some((_, before)) if *before == result => Ok(()),
            Some(_) => conflict("this call was already completed with another result, which stands"),
            None => self.not_waiting(token),
        }
    }

    /// Under what equal calls find this result.
    pub(super) fn shared_under(&self, call: &Call, result: &ToolResult) -> Option<Digest> {
        match result {
            ToolResult::Error(_) => None,
            ToolResult::Text(_)
            | ToolResult::Json(_)
            | ToolResult::Kept(_)
            | ToolResult::Media(_)
            | ToolResult::Mixed(_) => track::cache_key(self.ir, &call.made),
        }
    }

    /// What a person approves is exactly what was deferred (B30).
    pub(super) fn approve(&mut self, token: &str, by: Principal) -> Consumed {
        let Some(waiting) = self.waiting(token) else {
            let known = self
                .state
                .settled_tokens
                .iter()
                .any(|(known, how)| known == token && *how == Settled::Approved);
            return if known { Ok(()) } else { self.not_waiting(token) };
        };
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        if waiting.isolation.is_some() {
            let message =
                "this call waits for a host that can isolate it; nobody's word lets it run elsewhere";
            return Err(Rejection::new(RejectionCode::NotWaiting, message));
        }
        if track::digest_of(&waiting.call.made) != waiting.digest {
            return conflict(
                "this call is no longer the one that was deferred: its tool or arguments differ",
            );
        }
        self.emit(Event::CallApproved { call: waiting.call.made.id, digest: waiting.digest, by });
        Ok(())
    }

    pub(super) fn refuse_deferred(&mut self, token: &str, reason: &str, by: Principal) -> Consumed {
        let words = if reason.trim().is_empty() {
            "a person refused this call; it was not run".to_owned()
        } else {
            format!("a person refused this call, it was not run: {reason}")
        };
        if let Some(call) = track::deferred(&self.state, token) {
            let call = call.made.id.clone();
            self.emit(Event::CallRefused { call, reason: words, by: Some(by) });
            return Ok(());
        }
        let settled = self.state.settled_tokens.iter().rev().find(|(known, _)| known == token);
        match settled {
            Some((_, Settled::Refused(before))) if *before == words => Ok(()),
            Some(_) | None => self.not_waiting(token),
        }
    }

    /// The definition of a tool that has changed since a person last saw it voids the token (B36).
    pub(super) fn define(&mut self, spec: &Spec, token: &str, definition: Digest) -> Consumed {
        let Some(waiting) = self.waiting(token) else { return self.not_waiting(token) };
        let id = waiting.call.made.id.clone();
        let known = self.state.notes.get(&id).and_then(|note| note.definition.clone());
        match known {
            Some(known) if known == definition => Ok(()),
            Some(_) => {
                let reason = "its tool has changed since it was called; look at both again";
                self.defer_anew(spec, &waiting.call, reason, waiting.isolation);
                self.emit(Event::CallDefined { call: id, definition });
                Ok(())
            }
            None => {
                self.emit(Event::CallDefined { call: id, definition });
                Ok(())
            }
        }
    }

    /// Puts a call to people under a token that it never had.
    pub(super) fn defer_anew(
        &mut self,
        spec: &Spec,
        call: &Call,
        reason: &str,
        isolation: Option<ir::Isolation>,
    ) {
        let id = call.made.id.clone();
        let token = derived_id(&[&spec.session.0, "token", &id, &self.state.sequence.to_string()]);
        let digest = track::digest_of(&call.made);
        self.emit(Event::CallDeferred { call: id, token, reason: reason.to_owned(), digest, isolation });
    }

    /// A call that this host cannot isolate waits for one that can.
    pub(super) fn cannot_isolate(&mut self, spec: &Spec, id: &str, reason: String) -> Consumed {
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        let call = self.call(id)?.clone();
        let isolation = policy::isolation(&self.ir.policy, &call.made.name);
        if call.state != CallState::Ready || isolation.is_none() {
            return stale(format!("call `{id}` does not wait to be isolated"));
        }
        if call.admissions > 0 || call.approved.is_some() {
            self.defer_anew(spec, &call, &reason, isolation);
        } else {
            let (token, digest) = (judge::token(spec, id), track::digest_of(&call.made));
            self.emit(Event::CallDeferred { call: id.to_owned(), token, reason, digest, isolation });
        }
        Ok(())
    }

    /// A host that can isolate takes a call that waits for one.
    pub(super) fn admit_isolated(&mut self, token: &str, holder: String) -> Consumed {
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        let Some(waiting) = self.waiting(token) else { return self.not_waiting(token) };
        if waiting.isolation.is_none() {
            let message = "this call waits for its result or for a person, not to be isolated";
            return Err(Rejection::new(RejectionCode::NotWaiting, message));
        }
        let digest = track::digest_of(&waiting.call.made);
        if digest != waiting.digest {
            return conflict(
                "this call is no longer the one that was deferred: its tool or arguments differ",
            );
        }
        self.room_for_a_call()?;
        let made = waiting.call.made;
        let repeatable = self.ir.repeatable_tools.contains(&made.name);
        let admission = waiting.call.admissions.saturating_add(1);
        self.emit(Event::CallAdmitted { call: made.id, admission, holder, repeatable, digest });
        Ok(())
    }
}
