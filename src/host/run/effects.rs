//! Effects: admitted, begun, and what they came to. Runs no agent's call in another session.

use super::dispatch::Landed;
use super::flight::{Effect, Flight};
use super::{Host, HostError, Subject, keep};
use crate::engine::agent::command::Notification as AgentNews;
use crate::engine::agent::event::{CallMade, Spec};
use crate::engine::agent::state::{Call, CallState, State, Turn};
use crate::engine::{SessionId, agent};
use crate::host::perform::{ModelRequest, ToolRequest};
use crate::ir;
use std::sync::Arc;

/// A call that is owed.
pub(super) struct OwedCall {
    pub call: CallMade,
    pub admission: u32,
    pub decorators: Vec<ir::Decorator>,
    pub isolation: Option<ir::Isolation>,
}

/// Whose call it is.
pub(super) struct Behind {
    pub agent: Arc<ir::Agent>,
    pub spec: Arc<Spec>,
    /// The reply that made it.
    pub reply: u32,
}

impl Host {
    pub(super) fn begin_model_call(
        &mut self,
        session: &SessionId,
        command: String,
        (reply, admission): (u32, u32),
        flight: &mut Flight,
    ) -> Result<(), HostError> {
        let holder = self.holder.clone();
        match self.tell_agent(session, AgentNews::AdmitModelCall { reply, admission, holder }) {
            Ok(_) => {}
            // Others have written meanwhile: it is not owed any more.
            Err(HostError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
        let Subject::Agent { ir, state } = &self.live(session)?.subject else { return Ok(()) };
        let Some(spec) = state.spec.clone() else { return Ok(()) };
        let agent = Arc::clone(ir);
        let messages = agent::conversation::messages(ir, state);
        let blobs = keep::blobs(self.store.as_ref(), &messages)?;
        let request = ModelRequest {
            agent,
            spec: Arc::new(spec),
            messages,
            reply,
            idempotency_key: format!("{session}/{reply}"),
            blobs,
            watcher: self.watcher.clone(),
        };
        let doing = self.perform.call_model(request);
        let effect = Effect::Model { reply, admission };
        flight.begin(session, command, effect, async move {
            match doing.await {
                Ok(answer) => AgentNews::ModelReplied { reply, admission, answer },
                Err(fault) => AgentNews::ModelFailed {
                    reply,
                    admission,
                    error: fault.message,
                    retryable: fault.retryable,
                    retry_after_ms: fault.retry_after_ms,
                },
            }
        });
        Ok(())
    }

    pub(super) async fn begin_call(
        &mut self,
        session: &SessionId,
        command: String,
        owed: OwedCall,
        flight: &mut Flight,
    ) -> Result<(), HostError> {
        let Some(request) = self.admit(session, owed).await? else { return Ok(()) };
        let (call, admission) = (request.call.id.clone(), request.admission);
        let decorators = request.decorators.clone();
        let doing = self.perform.run_tool(request);
        let store = Arc::clone(&self.store);
        flight.called.insert(session.clone());
        let effect = Effect::Call { call: call.clone(), admission };
        flight.begin(session, command, effect, async move {
            let output = keep::truncate(doing.await, &decorators);
            keep::news(store.as_ref(), output, call, admission)
        });
        Ok(())
    }

    /// Admits a call and gives what it needs to run; none: it may not run here, or not any more.
    pub(super) async fn admit(
        &mut self,
        session: &SessionId,
        owed: OwedCall,
    ) -> Result<Option<ToolRequest>, HostError> {
        let OwedCall { call, admission, decorators, isolation } = owed;
        let Some(Behind { agent, spec, reply }) = self.behind(session, &call.id)? else { return Ok(None) };
        if let Some(place) = isolation.clone()
            && let Err(reason) = self.perform.can_isolate(Arc::clone(&agent), Arc::clone(&spec), place).await
        {
            let news = AgentNews::CannotIsolate { call: call.id, reason };
            return self.tell_unless_refused(session, news).map(|_| None);
        }
        let tool = call.name.clone();
        let repeatable = self.perform.repeatable(Arc::clone(&agent), Arc::clone(&spec), tool).await;
        let definition = if self.call(session, &call.id)?.is_some_and(|call| call.approved.is_some()) {
            self.definition(&agent, &spec, &call.name).await
        } else {
            None
        };
        let holder = self.holder.clone();
        let id = call.id.clone();
        let news = AgentNews::AdmitCall { call: id, admission, holder, repeatable, definition };
        self.tell_unless_refused(session, news)?;
        if !self.runs_here(session, &call.id, admission)? {
            return Ok(None);
        }
        let token = None;
        Ok(Some(ToolRequest { agent, spec, call, reply, decorators, isolation, admission, token }))
    }

    /// Answers whether it was taken: what others have settled meanwhile is refused, and that is no fault.
    pub(super) fn tell_unless_refused(
        &mut self,
        session: &SessionId,
        news: AgentNews,
    ) -> Result<bool, HostError> {
        match self.tell_agent(session, news) {
            Ok(_) => Ok(true),
            Err(HostError::Refused(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the call runs in this process under this admission: what a person approved and is no longer the same
    /// does not.
    pub(super) fn runs_here(
        &mut self,
        session: &SessionId,
        call: &str,
        admission: u32,
    ) -> Result<bool, HostError> {
        let own = self.holder.clone();
        Ok(self.call(session, call)?.is_some_and(|call| {
            call.admissions == admission
                && matches!(&call.state, CallState::Running { holder, .. } if *holder == own)
        }))
    }

    /// A call of an agent session.
    pub(super) fn call(&mut self, session: &SessionId, call: &str) -> Result<Option<Call>, HostError> {
        Ok(self.agent_state(session)?.and_then(|state| state.call(call)).cloned())
    }

    pub(super) fn agent_state(&mut self, session: &SessionId) -> Result<Option<&State>, HostError> {
        Ok(match &self.live(session)?.subject {
            Subject::Agent { state, .. } => Some(state),
            Subject::Workflow { .. } => None,
        })
    }

    /// Agent, spec and reply number behind a call.
    pub(super) fn behind(&mut self, session: &SessionId, call: &str) -> Result<Option<Behind>, HostError> {
        let Subject::Agent { ir, state } = &self.live(session)?.subject else { return Ok(None) };
        let Some(spec) = state.spec.clone() else { return Ok(None) };
        let reply = state.turns.iter().rev().find_map(|turn| match turn {
            Turn::Reply { reply, calls, .. } if calls.iter().any(|known| known.made.id == call) => {
                Some(*reply)
            }
            Turn::Reply { .. } | Turn::Said { .. } => None,
        });
        Ok(reply.map(|reply| Behind { agent: Arc::clone(ir), spec: Arc::new(spec), reply }))
    }

    async fn definition(&self, agent: &Arc<ir::Agent>, spec: &Arc<Spec>, tool: &str) -> Option<ir::Digest> {
        let found = self.perform.definition(Arc::clone(agent), Arc::clone(spec), tool.to_owned()).await;
        found.map(|tool| tool.digest())
    }

    /// Takes in what an effect came to.
    pub(super) async fn land(&mut self, landed: Landed) -> Result<(), HostError> {
        let replied = matches!(landed.news, AgentNews::ModelReplied { .. });
        if self.tell_unless_refused(&landed.session, landed.news)? && replied {
            self.define_deferred(&landed.session).await?;
        }
        Ok(())
    }

    /// Records what the tools of deferred calls are, so that a person is asked again if they change (B36).
    async fn define_deferred(&mut self, session: &SessionId) -> Result<(), HostError> {
        let Some(state) = self.agent_state(session)? else { return Ok(()) };
        let deferred: Vec<_> = state
            .last_calls()
            .iter()
            .filter(|call| state.notes.get(&call.made.id).is_none_or(|note| note.definition.is_none()))
            .filter_map(|call| token(call).map(|token| (token, call.made.clone())))
            .collect();
        for (token, made) in deferred {
            self.define(session, &made, token).await?;
        }
        Ok(())
    }

    async fn define(&mut self, session: &SessionId, made: &CallMade, token: String) -> Result<(), HostError> {
        let Some(Behind { agent, spec, .. }) = self.behind(session, &made.id)? else { return Ok(()) };
        if let Some(definition) = self.definition(&agent, &spec, &made.name).await {
            self.tell_unless_refused(session, AgentNews::Define { token, definition })?;
        }
        Ok(())
    }

    /// Lets a deferred call run, unless its tool has changed since it was called: then the call waits anew, under
    /// another token, and this is refused.
    ///
    /// # Errors
    /// `Refused`, `Unknown`, `Store`.
    pub async fn approve(
        &mut self,
        session: &SessionId,
        token: &str,
        by: crate::engine::Principal,
    ) -> Result<bool, HostError> {
        let state = self.agent_state(session)?;
        let call = state.and_then(|state| {
            let mut calls = state.last_calls().iter();
            calls.find(|call| self::token(call).as_deref() == Some(token)).map(|call| call.made.clone())
        });
        if let Some(made) = call {
            self.define(session, &made, token.to_owned()).await?;
        }
        self.tell_agent(session, AgentNews::Approve { token: token.to_owned(), by })
    }
}

/// The token of a call that waits for a result or for a person's word.
fn token(call: &Call) -> Option<String> {
    match &call.state {
        CallState::Deferred { token, isolation: None, .. } => Some(token.clone()),
        CallState::Deferred { isolation: Some(_), .. }
        | CallState::Ready
        | CallState::Running { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => None,
    }
}
