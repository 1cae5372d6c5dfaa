//! Calls that run outside of a drive: in the background in a process of their own, or in isolation on another host.
//!
//! Such a call is held under a lease of its own, so that whoever drives the session can tell a living process from a
//! gone one. Asks no model.

use super::effects::OwedCall;
use super::tree::call_lease;
use super::{Host, HostError, keep};
use crate::engine::agent::command::{Command as Owed, Notification as AgentNews};
use crate::engine::agent::state::CallState;
use crate::engine::{SessionId, policy};
use crate::host::perform::{Output, ToolRequest};
use crate::ir;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What became of a call that was to run in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worked {
    /// It ran, and what it gave is recorded.
    Ran,
    /// It is not owed: another process has it, it has ended, or its session has.
    NotOwed,
}

/// What became of a deferred call that waited to be isolated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    /// Id of the call.
    pub call: String,
    /// Its tool.
    pub tool: String,
    /// What is missing for it to run here; none: it ran, and what it gave is recorded.
    pub missing: Option<String>,
}

/// How often the session of a running call is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How often the lease of a running call is renewed.
const RENEW: Duration = Duration::from_secs(10);
/// How often a lease that is looked at by another process is asked for again.
const TRIES: u32 = 40;

impl Host {
    /// Runs one call in the background of a session, with all that its policy tries again, and records what it gave.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`; `Held` if another process runs this call.
    pub async fn work_call(&mut self, session: &SessionId, call: &str) -> Result<Worked, HostError> {
        self.take_call_lease(call).await?;
        let outcome = self.work_leased(session, call).await;
        let released = self.store.release(&call_lease(call), &self.holder);
        let worked = outcome?;
        released?;
        Ok(worked)
    }

    async fn work_leased(&mut self, session: &SessionId, call: &str) -> Result<Worked, HostError> {
        let mut worked = Worked::NotOwed;
        loop {
            self.forget(session);
            let owed = self.owed_by_agent(session)?.into_iter().find_map(|owed| match owed {
                Owed::RunTool { call: made, admission, decorators, isolation, background: true }
                    if made.id == call =>
                {
                    Some(OwedCall { call: made, admission, decorators, isolation })
                }
                Owed::RunTool { .. }
                | Owed::CallModel { .. }
                | Owed::KillCall { .. }
                | Owed::StartAgent { .. }
                | Owed::StopAgent { .. }
                | Owed::Report { .. } => None,
            });
            match owed {
                Some(owed) => {
                    if let Some(request) = self.admit(session, owed).await? {
                        self.run_alone(session, request).await?;
                        worked = Worked::Ran;
                        continue;
                    }
                }
                None if !self.may_be_owed(session, call)? => return Ok(worked),
                None => {}
            }
            // As many calls of the turn run as may: this one waits for its turn.
            tokio::time::sleep(LOOK).await;
        }
    }

    fn may_be_owed(&mut self, session: &SessionId, call: &str) -> Result<bool, HostError> {
        let ended = self.agent_state(session)?.is_none_or(|state| state.stopping || state.failed.is_some());
        Ok(!ended && self.call(session, call)?.is_some_and(|call| call.state == CallState::Ready))
    }

    /// Runs the deferred calls of a session that wait to be isolated, as far as this host can, one after the other.
    ///
    /// # Errors
    /// `Unknown`, `Store`, `Stored`; `Held` if another process runs one of them.
    pub async fn run_isolated(&mut self, session: &SessionId) -> Result<Vec<Isolated>, HostError> {
        self.forget(session);
        let Some(state) = self.agent_state(session)? else { return Ok(Vec::new()) };
        let waiting: Vec<_> = state
            .last_calls()
            .iter()
            .filter_map(|call| match &call.state {
                CallState::Deferred { token, isolation: Some(place), .. } => {
                    Some((call.made.clone(), token.clone(), place.clone()))
                }
                CallState::Deferred { isolation: None, .. }
                | CallState::Ready
                | CallState::Running { .. }
                | CallState::Delegated { .. }
                | CallState::Unknown
                | CallState::Completed(_)
                | CallState::Failed(_) => None,
            })
            .collect();
        let mut all = Vec::new();
        for (made, token, place) in waiting {
            let missing = self.isolate(session, &made.id, token, place).await?;
            all.push(Isolated { call: made.id, tool: made.name, missing });
        }
        Ok(all)
    }

    /// Runs one deferred call in isolation; what is missing, in words for people.
    async fn isolate(
        &mut self,
        session: &SessionId,
        call: &str,
        token: String,
        place: ir::Isolation,
    ) -> Result<Option<String>, HostError> {
        let Some(behind) = self.behind(session, call)? else { return Ok(None) };
        let (agent, spec) = (Arc::clone(&behind.agent), Arc::clone(&behind.spec));
        if let Err(missing) = self.perform.can_isolate(agent, spec, place.clone()).await {
            return Ok(Some(missing));
        }
        self.take_call_lease(call).await?;
        let news = AgentNews::AdmitIsolated { token: token.clone(), holder: self.holder.clone() };
        let outcome = match self.tell_agent(session, news) {
            Ok(_) => match self.call(session, call)? {
                Some(running) => {
                    let decorators = policy::judge(&behind.agent.policy, &running.made.name).1;
                    let request = ToolRequest {
                        agent: behind.agent,
                        spec: behind.spec,
                        call: running.made,
                        reply: behind.reply,
                        decorators,
                        isolation: Some(place),
                        admission: running.admissions,
                        token: Some(token),
                    };
                    self.run_alone(session, request).await.map(|()| None)
                }
                None => Ok(None),
            },
            Err(HostError::Refused(rejection)) => Ok(Some(rejection.message)),
            Err(error) => Err(error),
        };
        let released = self.store.release(&call_lease(call), &self.holder);
        let missing = outcome?;
        released?;
        Ok(missing)
    }

    async fn take_call_lease(&mut self, call: &str) -> Result<(), HostError> {
        let session = call_lease(call);
        let mut tries = 0;
        loop {
            match self.take_lease(&session) {
                // Whoever drives the session may be looking at this very lease.
                Err(HostError::Held { .. }) if tries < TRIES => tries += 1,
                other => return other,
            }
            tokio::time::sleep(LOOK / 10).await;
        }
    }

    /// Runs an admitted call to its end, or until its session is told to stop, and records what it gave.
    async fn run_alone(&mut self, session: &SessionId, request: ToolRequest) -> Result<(), HostError> {
        let (call, admission) = (request.call.id.clone(), request.admission);
        let decorators = request.decorators.clone();
        let mut doing = self.perform.run_tool(request);
        let mut renewed = Instant::now();
        let output = loop {
            tokio::select! {
                output = &mut doing => break output,
                () = tokio::time::sleep(LOOK) => {
                    if renewed.elapsed() >= RENEW {
                        self.take_lease(&call_lease(&call))?;
                        renewed = Instant::now();
                    }
                    if !self.is_wanted(session, &call, admission)? {
                        break Output::Failed(super::dispatch::STOPPED.to_owned());
                    }
                }
            }
        };
        // What runs is killed before its end is recorded.
        drop(doing);
        let news = keep::news(self.store.as_ref(), keep::truncate(output, &decorators), call, admission);
        self.tell_unless_refused(session, news).map(|_| ())
    }

    /// Whether anybody still waits for what this admission of a call gives.
    fn is_wanted(&mut self, session: &SessionId, call: &str, admission: u32) -> Result<bool, HostError> {
        let known = self.live(session)?.version;
        if self.store.row(session)?.is_some_and(|row| row.version != known) {
            self.forget(session);
        }
        let Some(state) = self.agent_state(session)? else { return Ok(false) };
        let open = state.call(call).is_some_and(|call| {
            call.admissions == admission
                && matches!(call.state, CallState::Running { .. } | CallState::Unknown)
        });
        Ok(open && !state.stopping)
    }
}
