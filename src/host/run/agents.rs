//! Calls that other agents answer, each in a session of its own: starting, stopping, taking the answer. Asks no model.

use super::effects::Behind;
use super::{Host, HostError, Subject, keep};
use crate::engine::agent::command::Notification as AgentNews;
use crate::engine::agent::event::{CallMade, Caller, Spec, ToolResult};
use crate::engine::agent::state::CallState;
use crate::engine::{SessionId, policy};
use crate::ir;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

impl Host {
    /// Creates the session that answers a call, or finds it. What cannot be started is the answer.
    pub(super) fn start_agent_of(
        &mut self,
        session: &SessionId,
        call: &CallMade,
        child: &SessionId,
        depth: u32,
    ) -> Result<(), HostError> {
        let caller = Caller { session: session.clone(), call: call.id.clone(), depth };
        let news = match self.agent_of(session, call, child, caller)? {
            Ok(()) => AgentNews::AgentStarted { call: call.id.clone() },
            Err(fault) => {
                let result = ToolResult::Error(fault);
                AgentNews::CallReported { call: call.id.clone(), admission: 0, result }
            }
        };
        self.tell_unless_refused(session, news).map(|_| ())
    }

    fn agent_of(
        &mut self,
        session: &SessionId,
        call: &CallMade,
        child: &SessionId,
        caller: Caller,
    ) -> Result<Result<(), String>, HostError> {
        match self.live(child) {
            Ok(live) => {
                let ours = matches!(&live.subject, Subject::Agent { state, .. }
                    if state.spec.as_ref().and_then(|spec| spec.caller.as_ref()) == Some(&caller));
                return Ok(if ours { Ok(()) } else { Err("its session belongs to another call".to_owned()) });
            }
            Err(HostError::Unknown { .. }) => {}
            Err(error) => return Err(error),
        }
        let Some(Behind { agent, spec, .. }) = self.behind(session, &call.id)? else {
            return Ok(Err("the call is not there any more".to_owned()));
        };
        let frozen = match self.frozen_agent(&agent, &spec, &call.name) {
            Ok(frozen) => frozen,
            Err(fault) => return Ok(Err(fault)),
        };
        let asked: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
        let prompt = asked.get("prompt").and_then(Value::as_str).unwrap_or_default().to_owned();
        let spec = Spec {
            session: child.clone(),
            slug: frozen.slug.clone(),
            agent: frozen.digest(),
            root: spec.root.clone(),
            owner: spec.owner.clone(),
            prompt,
            with: IndexMap::new(),
            contract: None,
            media: Vec::new(),
            caller: Some(caller),
            forked_from: None,
        };
        self.start_agent(&frozen, spec).map(Ok)
    }

    /// The agent as it was frozen with its caller; else as it is now, if this host can look.
    fn frozen_agent(
        &mut self,
        caller: &ir::Agent,
        spec: &Spec,
        tool: &str,
    ) -> Result<Arc<ir::Agent>, String> {
        let Some(extra) = policy::agent(caller, tool) else {
            return Err(format!("there is no agent behind `{tool}`"));
        };
        let Some(loader) = &self.loader else {
            return Err(format!("the agent {} cannot be read here", extra.path));
        };
        let found = loader(&extra.path, &spec.root)?;
        if extra.agent.as_ref().is_some_and(|frozen| *frozen != found.own_digest()) {
            return Err(format!(
                "the agent {} has changed since its caller was frozen; nothing else may answer in its place",
                extra.path
            ));
        }
        Ok(Arc::new(found))
    }

    /// Tells the agent that answers a call to stop; one that never began needs no telling.
    pub(super) fn stop_agent(&mut self, session: &SessionId, child: &SessionId) -> Result<(), HostError> {
        match self.deliver(child, AgentNews::Stop) {
            Err(HostError::Unknown { .. }) => {
                let Some(call) = self.delegated_to(session, child)? else { return Ok(()) };
                let result = ToolResult::Error("cancelled before the agent had begun".to_owned());
                let news = AgentNews::CallReported { call, admission: 0, result };
                self.tell_unless_refused(session, news).map(|_| ())
            }
            other => other,
        }
    }

    /// Gives an answer to the call that waits for it. Only the session that the call went to may answer it.
    pub(super) fn take_answer(
        &mut self,
        parent: &SessionId,
        child: &SessionId,
        call: String,
        result: ToolResult,
    ) -> Result<(), HostError> {
        match self.delegated_to(parent, child) {
            Ok(Some(waiting)) if waiting == call => {}
            // It was settled otherwise, or its session is gone: the answer changes nothing.
            Ok(_) | Err(HostError::Unknown { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let decorators = match &self.live(parent)?.subject {
            Subject::Agent { ir, state } => {
                let made = state.call(&call).map(|call| call.made.name.clone()).unwrap_or_default();
                policy::judge(&ir.policy, &made).1
            }
            Subject::Workflow { .. } => Vec::new(),
        };
        let result = keep::answer(self.store.as_ref(), result, &decorators);
        self.tell_unless_refused(parent, AgentNews::CallReported { call, admission: 0, result }).map(|_| ())
    }

    /// The open call that this child answers.
    fn delegated_to(&mut self, session: &SessionId, child: &SessionId) -> Result<Option<String>, HostError> {
        let Some(state) = self.agent_state(session)? else { return Ok(None) };
        let waiting = state
            .last_calls()
            .iter()
            .find(|call| matches!(&call.state, CallState::Delegated { child: known, .. } if known == child));
        Ok(waiting.map(|call| call.made.id.clone()))
    }
}
