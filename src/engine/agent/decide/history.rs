//! What follows when the history or the agent of a session is to be another one. Both need a session at rest.

use super::super::event::{Event, Spec};
use super::super::state::{CallState, Turn};
use super::super::track;
use super::{Consumed, Deciding, ended};
use crate::engine::{Principal, Rejection, RejectionCode};
use crate::ir::Digest;
use std::collections::HashSet;

impl Deciding<'_> {
    /// Neither the model nor a call is at work, and nobody else relies on what is to be changed (invariants 8, 15).
    fn is_at_rest(&self, spec: &Spec, what: &str) -> Consumed {
        if let Some(why) = self.has_ended() {
            return ended(why);
        }
        if spec.contract.is_some() {
            let message = format!("this session works for a workflow; {what} would change its result");
            return Err(Rejection::new(RejectionCode::NotAllowed, message));
        }
        if spec.caller.is_some() && !self.state.answered {
            let message = format!("another agent waits for this session; {what} has to wait too");
            return Err(Rejection::new(RejectionCode::NotAllowed, message));
        }
        if track::turn_is_open(&self.state) {
            let message = format!("a turn is open; {what} has to wait until its calls have ended");
            return Err(Rejection::new(RejectionCode::Conflict, message));
        }
        Ok(())
    }

    pub(super) fn change_agent(
        &mut self,
        spec: &Spec,
        agent: Digest,
        root: Option<String>,
        by: Principal,
    ) -> Consumed {
        let root = root.filter(|root| *root != spec.root);
        if *self.state.agent.as_ref().unwrap_or(&spec.agent) == agent && root.is_none() {
            return Ok(());
        }
        self.is_at_rest(spec, "another agent")?;
        self.emit(Event::AgentChanged { agent, root, by });
        Ok(())
    }

    pub(super) fn import(&mut self, spec: &Spec, turns: Vec<Turn>, from: String, by: Principal) -> Consumed {
        self.is_at_rest(spec, "another history")?;
        if let Some(fault) = fault(&turns) {
            return Err(Rejection::new(RejectionCode::Invalid, fault));
        }
        self.emit(Event::Imported { turns, from, by });
        // Calls that were never begun are judged as if they had been made just now.
        let ready: Vec<_> = track::last_calls(&self.state)
            .iter()
            .filter(|call| call.state == CallState::Ready)
            .map(|call| call.made.clone())
            .collect();
        let number = self.state.calls_made;
        for call in ready {
            if let Some(event) = self.judge_call(spec, &call, number, false) {
                self.emit(event);
            }
        }
        Ok(())
    }
}

/// Why turns cannot be a history.
fn fault(turns: &[Turn]) -> Option<String> {
    let mut ids = HashSet::new();
    for turn in turns {
        let Turn::Reply { calls, .. } = turn else { continue };
        for call in calls {
            if call.made.id.is_empty() {
                return Some(format!("a call of `{}` has no id", call.made.name));
            }
            if !ids.insert(call.made.id.as_str()) {
                return Some(format!("two calls have the id `{}`", call.made.id));
            }
        }
    }
    turns.is_empty().then(|| "a history has at least one turn".to_owned())
}
