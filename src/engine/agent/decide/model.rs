//! What follows from what a model says, fails to say or is about to be asked. Runs no call.

use super::super::command::Answer;
use super::super::event::{CallMade, Event, SUBMIT_TOOL, Spec};
use super::super::track;
use super::{Consumed, Deciding, stale};
use crate::engine::derived_id;
use crate::time::Millis;

/// Times that a failed model call is tried again.
const MODEL_RETRIES: u32 = 5;
/// The longest wait between two of these.
const LONGEST_WAIT_MS: i64 = 60_000;
/// Calls past the bound of the session that are refused before the session ends.
const PAST_BOUND_MAX: u32 = 32;

impl Deciding<'_> {
    pub(super) fn admit_model(&mut self, reply: u32, admission: u32, holder: String) -> Consumed {
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

    pub(super) fn replied(&mut self, spec: &Spec, reply: u32, admission: u32, answer: Answer) -> Consumed {
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
        let (text, thinking, usage, carry) = (answer.text, answer.thinking, answer.usage, answer.carry);
        self.emit(Event::ModelReplied { reply, text, thinking, calls: calls.clone(), usage, carry });
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

    pub(super) fn model_failed(
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
}
