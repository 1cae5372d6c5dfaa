//! Handing out what is owed: messages between sessions at once, effects after their admission.

use super::drive::Flight;
use super::{Host, HostError, Subject, keep};
use crate::engine::agent::command::{Command as Owed, Notification as AgentNews, Report};
use crate::engine::workflow::command::{Command as WorkflowOwed, Notification as WorkflowNews};
use crate::engine::{RejectionCode, SessionId, agent, workflow};
use crate::host::perform::{ModelRequest, ToolRequest};
use std::sync::Arc;

/// What an effect came to.
#[derive(Debug)]
pub(super) struct Landed {
    pub session: SessionId,
    pub command: String,
    pub news: AgentNews,
}

impl Host {
    /// Commands that a session owes now.
    pub(super) fn owed_by_workflow(&mut self, session: &SessionId) -> Result<Vec<WorkflowOwed>, HostError> {
        Ok(match &self.live(session)?.subject {
            Subject::Workflow { ir, state } => workflow::pending::pending(ir, state),
            Subject::Agent { .. } => Vec::new(),
        })
    }

    pub(super) fn owed_by_agent(&mut self, session: &SessionId) -> Result<Vec<Owed>, HostError> {
        Ok(match &self.live(session)?.subject {
            Subject::Agent { ir, state } => agent::pending::pending(ir, state),
            Subject::Workflow { .. } => Vec::new(),
        })
    }

    /// Does what a workflow session owes: all of it is messages to its children.
    pub(super) fn settle_workflow(
        &mut self,
        session: &SessionId,
        owed: WorkflowOwed,
    ) -> Result<(), HostError> {
        match owed {
            WorkflowOwed::StartChild { spec } => {
                let child = spec.session.clone();
                let digest = spec.agent.clone();
                self.create_agent(&digest, spec)?;
                self.tell_workflow(session, WorkflowNews::ChildStarted { child })?;
            }
            WorkflowOwed::Tell { child, message } => {
                let id = message.id.clone();
                self.deliver(&child, AgentNews::Take(message))?;
                self.tell_workflow(session, WorkflowNews::MessageAcknowledged { message: id })?;
            }
            WorkflowOwed::StopWork { child } => {
                let stopped = match self.deliver(&child, AgentNews::Stop) {
                    // Admitted, but never begun: there is nothing to settle.
                    Err(HostError::Unknown { .. }) => true,
                    Err(error) => return Err(error),
                    Ok(()) => self.has_stopped(&child)?,
                };
                if stopped {
                    self.tell_workflow(session, WorkflowNews::WorkSettled { child })?;
                }
            }
        }
        Ok(())
    }

    fn has_stopped(&mut self, child: &SessionId) -> Result<bool, HostError> {
        Ok(match &self.live(child)?.subject {
            Subject::Agent { state, .. } => state.stopped || state.failed.is_some(),
            Subject::Workflow { .. } => true,
        })
    }

    /// A message that the receiver refuses since it has ended has still been received.
    fn deliver(&mut self, child: &SessionId, news: AgentNews) -> Result<(), HostError> {
        match self.tell_agent(child, news) {
            Ok(_) => Ok(()),
            Err(HostError::Refused(rejection)) if rejection.code == RejectionCode::Ended => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Does what an agent session owes. Effects are admitted and begun; what they come to is reported later.
    pub(super) async fn settle_agent(
        &mut self,
        session: &SessionId,
        owed: Owed,
        flight: &mut Flight,
    ) -> Result<(), HostError> {
        let command = super::drive::flight_key(session, &owed);
        match owed {
            Owed::Report { parent, id, report } => {
                let child = session.clone();
                let news = match report {
                    Report::Submitted { submission, envelope } => {
                        WorkflowNews::Submitted { child, submission, envelope }
                    }
                    Report::Yielded { reply } => WorkflowNews::Yielded { child, turn: reply },
                    Report::Failed { reason } => WorkflowNews::ChildFailed { child, reason },
                    Report::Settled | Report::Answered { .. } => WorkflowNews::WorkSettled { child },
                };
                match self.tell_workflow(&parent, news) {
                    // A report that comes too late changes nothing there and is done with.
                    Ok(_) | Err(HostError::Refused(_) | HostError::Unknown { .. }) => {}
                    Err(error) => return Err(error),
                }
                self.tell_agent(session, AgentNews::ReportAcknowledged { report: id })?;
            }
            Owed::CallModel { reply, admission } => {
                let holder = self.holder.clone();
                self.tell_agent(session, AgentNews::AdmitModelCall { reply, admission, holder })?;
                self.begin_model_call(session, command, reply, admission, flight)?;
            }
            Owed::RunTool { call, admission, decorators, isolation, background: _ } => {
                let Some((frozen, spec, reply)) = self.caller(session, &call.id)? else { return Ok(()) };
                let repeatable =
                    self.perform.repeatable(Arc::clone(&frozen), Arc::clone(&spec), call.name.clone()).await;
                let holder = self.holder.clone();
                let id = call.id.clone();
                self.tell_agent(
                    session,
                    AgentNews::AdmitCall { call: id.clone(), admission, holder, repeatable },
                )?;
                let request = ToolRequest {
                    agent: frozen,
                    spec,
                    call,
                    reply,
                    decorators,
                    isolation,
                    admission,
                    token: None,
                };
                let doing = self.perform.run_tool(request);
                let session = session.clone();
                let store = Arc::clone(&self.store);
                flight.begin(command.clone(), async move {
                    let news = match keep::output(store.as_ref(), doing.await) {
                        Ok(result) => AgentNews::CallReported { call: id, admission, result },
                        Err(reason) => AgentNews::CallUncertain { call: id, admission, reason },
                    };
                    Landed { session, command, news }
                });
            }
            // Agents that other agents call come with their own slice.
            Owed::StartAgent { .. } | Owed::StopAgent { .. } => {}
            Owed::KillCall { call } => {
                let prefix = format!("{session} call/{call}/");
                let admission = flight.abort(&prefix).unwrap_or_default();
                let result = agent::event::ToolResult::Error(
                    "the call was stopped; it may have had effects".to_owned(),
                );
                self.tell_agent(session, AgentNews::CallReported { call, admission, result })?;
            }
        }
        Ok(())
    }

    fn begin_model_call(
        &mut self,
        session: &SessionId,
        command: String,
        reply: u32,
        admission: u32,
        flight: &mut Flight,
    ) -> Result<(), HostError> {
        let Subject::Agent { ir, state } = &self.live(session)?.subject else { return Ok(()) };
        let Some(spec) = state.spec.clone() else { return Ok(()) };
        let messages = agent::conversation::messages(ir, state);
        let blobs = keep::blobs(self.store.as_ref(), &messages)?;
        let Subject::Agent { ir, .. } = &self.live(session)?.subject else { return Ok(()) };
        let request = ModelRequest {
            agent: Arc::clone(ir),
            spec: Arc::new(spec),
            messages,
            reply,
            idempotency_key: format!("{session}/{reply}"),
            blobs,
            watcher: self.watcher.clone(),
        };
        let doing = self.perform.call_model(request);
        let session = session.clone();
        flight.begin(command.clone(), async move {
            let news = match doing.await {
                Ok(answer) => AgentNews::ModelReplied { reply, admission, answer },
                Err(fault) => AgentNews::ModelFailed {
                    reply,
                    admission,
                    error: fault.message,
                    retryable: fault.retryable,
                    retry_after_ms: fault.retry_after_ms,
                },
            };
            Landed { session, command, news }
        });
        Ok(())
    }

    /// Agent, spec and reply number behind a call.
    #[expect(clippy::type_complexity, reason = "three parts that are taken apart at once")]
    fn caller(
        &mut self,
        session: &SessionId,
        call: &str,
    ) -> Result<Option<(Arc<crate::ir::Agent>, Arc<agent::event::Spec>, u32)>, HostError> {
        let Subject::Agent { ir, state } = &self.live(session)?.subject else { return Ok(None) };
        let Some(spec) = state.spec.clone() else { return Ok(None) };
        let reply = state.turns.iter().rev().find_map(|turn| match turn {
            agent::state::Turn::Reply { reply, calls, .. }
                if calls.iter().any(|known| known.made.id == call) =>
            {
                Some(*reply)
            }
            agent::state::Turn::Reply { .. } | agent::state::Turn::Said { .. } => None,
        });
        Ok(reply.map(|reply| (Arc::clone(ir), Arc::new(spec), reply)))
    }
}
