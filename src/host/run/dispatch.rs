//! Handing out what is owed: messages between sessions at once, effects after their admission.

use super::effects::OwedCall;
use super::flight::{Flight, flight_key};
use super::{Host, HostError, Subject};
use crate::engine::agent::command::{Command as Owed, Notification as AgentNews, Report};
use crate::engine::workflow::command::{Command as WorkflowOwed, Notification as WorkflowNews};
use crate::engine::{RejectionCode, SessionId, agent, workflow};

/// What a model is told of a call that was ended from outside.
pub(super) const STOPPED: &str = "the call was stopped; it may have had effects";

/// What an effect came to.
#[derive(Debug)]
pub(super) struct Landed {
    pub session: SessionId,
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
    pub(super) fn deliver(&mut self, child: &SessionId, news: AgentNews) -> Result<(), HostError> {
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
        let command = flight_key(session, &owed);
        match owed {
            Owed::Report { parent, id, report } => {
                self.deliver_report(session, &parent, report)?;
                self.tell_agent(session, AgentNews::ReportAcknowledged { report: id })?;
            }
            Owed::CallModel { reply, admission } => {
                self.begin_model_call(session, command, (reply, admission), flight)?;
            }
            Owed::RunTool { call, admission, decorators, isolation, background: _ } => {
                let owed = OwedCall { call, admission, decorators, isolation };
                self.begin_call(session, command, owed, flight).await?;
            }
            Owed::StartAgent { call, slug: _, child, depth } => {
                self.start_agent_of(session, &call, &child, depth)?;
            }
            Owed::StopAgent { child } => self.stop_agent(session, &child)?,
            Owed::KillCall { call } => {
                // What another process runs is ended by that process: it looks whether it is still wanted.
                flight.abort(session, &call);
            }
        }
        Ok(())
    }

    /// Gives a report to the session that it is for. One that comes too late changes nothing there and is done with.
    fn deliver_report(
        &mut self,
        session: &SessionId,
        parent: &SessionId,
        report: Report,
    ) -> Result<(), HostError> {
        let child = session.clone();
        let news = match report {
            Report::Submitted { submission, envelope } => {
                WorkflowNews::Submitted { child, submission, envelope }
            }
            Report::Yielded { reply } => WorkflowNews::Yielded { child, turn: reply },
            Report::Failed { reason } => WorkflowNews::ChildFailed { child, reason },
            Report::Settled => WorkflowNews::WorkSettled { child },
            Report::Answered { call, result } => return self.take_answer(parent, session, call, result),
        };
        match self.tell_workflow(parent, news) {
            Ok(_) | Err(HostError::Refused(_) | HostError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
