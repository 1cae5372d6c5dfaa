//! What becomes of a call before anything runs: policy, bounds, shared results, other agents. Admits nothing.

use super::super::event::{CallMade, Event, SUBMIT_TOOL, Spec};
use super::super::state::{Call, CallState};
use super::super::track;
use super::Deciding;
use crate::engine::{SessionId, derived_id, policy};
use crate::ir;
use serde_json::{Map, Value};

/// Agents above an agent at most (invariant 18).
const DEPTH_MAX: u32 = 4;

impl Deciding<'_> {
    /// What becomes of a call before anything runs; none: it is ready to run, or a submission to be judged.
    pub(super) fn judge_call(
        &self,
        spec: &Spec,
        call: &CallMade,
        number: u32,
        cut_off: bool,
    ) -> Option<Event> {
        let refused = |reason: String| Some(Event::CallRefused { call: call.id.clone(), reason, by: None });
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
        if policy::agent(self.ir, &call.name).is_some()
            && let Some(fault) = agent_fault(self.ir, spec, call, &arguments)
        {
            return refused(fault);
        }
        match policy::judge(&self.ir.policy, &call.name).0 {
            // Where it runs and whether it is awaited is said when it is owed; `judge` has unwrapped decorators.
            ir::Disposition::RunSync
            | ir::Disposition::RunAsync
            | ir::Disposition::RunIsolated { .. }
            | ir::Disposition::Decorate { .. } => None,
            ir::Disposition::Defer { reason } => self.shared(call).or_else(|| {
                Some(Event::CallDeferred {
                    call: call.id.clone(),
                    token: token(spec, &call.id),
                    reason: reason.unwrap_or_else(|| "waits for an outside result".to_owned()),
                    digest: track::digest(&call.name, arguments),
                    isolation: None,
                })
            }),
            ir::Disposition::Deny { reason: Some(reason) } => refused(format!("denied by policy: {reason}")),
            ir::Disposition::Deny { reason: None } => refused("denied by policy".to_owned()),
        }
    }

    /// The result that an equal call had, where the policy lets them share it.
    fn shared(&self, made: &CallMade) -> Option<Event> {
        if self.state.shared.is_empty() {
            return None;
        }
        let key = track::cache_key(self.ir, made)?;
        let from = self.state.shared.get(key.as_str())?;
        match &track::find(&self.state, from)?.state {
            CallState::Completed(result) => {
                let (call, from, result) = (made.id.clone(), from.clone(), result.clone());
                Some(Event::CallCached { call, from, result })
            }
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Deferred { .. }
            | CallState::Delegated { .. }
            | CallState::Unknown
            | CallState::Failed(_) => None,
        }
    }

    /// Ready calls whose result is known already get it; ready calls of other agents go to these, as many as may be
    /// under way at once. What a person let run is run.
    pub(super) fn judge_ready(&mut self, spec: &Spec) {
        if self.has_ended().is_some() {
            return;
        }
        let is_ready = |call: &&Call| call.state == CallState::Ready && call.made.name != SUBMIT_TOOL;
        let ready: Vec<Call> = track::last_calls(&self.state).iter().filter(is_ready).cloned().collect();
        for call in ready {
            let shared = if call.approved.is_none() { self.shared(&call.made) } else { None };
            if let Some(event) = shared {
                self.emit(event);
            } else if policy::agent(self.ir, &call.made.name).is_some()
                && track::slots(self.ir, &self.state) > 0
                && !track::waits_for_equal(self.ir, &self.state, &call)
            {
                let event = delegated(spec, &call);
                self.emit(event);
            }
        }
    }
}

/// The first token of a call.
pub(super) fn token(spec: &Spec, call: &str) -> String {
    derived_id(&[&spec.session.0, "token", call])
}

fn delegated(spec: &Spec, call: &Call) -> Event {
    let session = &spec.session.0;
    let child = match call.failures {
        0 => derived_id(&[session, &call.made.id]),
        failures => derived_id(&[session, &call.made.id, &failures.to_string()]),
    };
    Event::CallDelegated { call: call.made.id.clone(), child: SessionId(child) }
}

/// Why a call of another agent cannot be.
fn agent_fault(
    ir: &ir::Agent,
    spec: &Spec,
    call: &CallMade,
    arguments: &Map<String, Value>,
) -> Option<String> {
    if depth(spec) > DEPTH_MAX {
        return Some(format!(
            "agents may call each other {DEPTH_MAX} deep at most, and this one is called that deep already; \
             do it without another agent"
        ));
    }
    if policy::isolation(&ir.policy, &call.name).is_some() {
        return Some("another agent cannot be run in isolation; its tools can".to_owned());
    }
    if let Some(unknown) = arguments.keys().find(|name| *name != "prompt") {
        return Some(format!("there is no argument `{unknown}`; the agent takes: prompt"));
    }
    match arguments.get("prompt") {
        Some(Value::String(prompt)) if !prompt.trim().is_empty() => None,
        Some(_) => Some("the argument `prompt` must be a text that says what to do".to_owned()),
        None => Some("the argument `prompt` is missing".to_owned()),
    }
}

/// Agents above one that this session calls.
fn depth(spec: &Spec) -> u32 {
    spec.caller.as_ref().map_or(0, |caller| caller.depth).saturating_add(1)
}
