//! The stage of one case: a host over a store in memory with a virtual clock, and what has happened on it.

use super::actor::{Actor, Reply};
use crate::engine::agent::command::Notification as AgentNews;
use crate::engine::agent::event::{Message, MessageKind, Spec};
use crate::engine::workflow::command::Notification;
use crate::engine::workflow::event::Event;
use crate::engine::workflow::state::{StagePhase, State, Work};
use crate::engine::{IndexRow, SessionId};
use crate::host::clock::{Clock, VirtualClock};
use crate::host::run::{Appended, Host, HostError, NewWorkflow, Subject, Until};
use crate::ir::{self, NodeKind};
use crate::store::memory::MemoryStore;
use crate::time::Timestamp;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// Things that may come due in one move of the clock.
const MOST_DUE: u32 = 10_000;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Of which session: the workflow's, or an agent's below it.
    pub session: SessionId,
    /// Whether it is the workflow's.
    pub is_workflow: bool,
    /// What, as it is kept.
    pub event: Value,
}

/// An agent that is to reply.
#[derive(Clone, Debug)]
pub(super) struct AtWork {
    /// The step that it works at.
    pub node: String,
    /// What it was started with.
    pub spec: Spec,
}

impl AtWork {
    /// Whether a test file means it by this name: its slug, or the step of an agent that produces.
    pub(super) fn is(&self, name: &str) -> bool {
        self.spec.slug == name || (!self.judges() && self.node == name)
    }

    /// Whether it judges a candidate.
    pub(super) fn judges(&self) -> bool {
        self.spec.contract.as_ref().is_some_and(|contract| contract.evaluator)
    }
}

/// A session that is played.
pub(super) struct Stage {
    host: Host,
    ir: Arc<ir::Workflow>,
    clock: Arc<VirtualClock>,
    actor: Arc<Actor>,
    session: SessionId,
    log: Arc<Mutex<Vec<Happened>>>,
    said: u32,
}

impl Stage {
    /// Starts the session.
    pub(super) async fn open(
        ir: &Arc<ir::Workflow>,
        inputs: IndexMap<String, Value>,
        owner: &str,
        at: Timestamp,
    ) -> Result<Self, String> {
        let clock = Arc::new(VirtualClock::new(at));
        let actor = Arc::new(Actor::default());
        let mut host = Host::new(
            Arc::new(MemoryStore::new()),
            Arc::clone(&actor) as _,
            Arc::clone(&clock) as Arc<dyn Clock>,
            "rehearsal".to_owned(),
        );
        let log: Arc<Mutex<Vec<Happened>>> = Arc::default();
        let (seen, name) = (Arc::clone(&log), Arc::new(Mutex::new(None::<SessionId>)));
        host.observe(Box::new(move |appended: &Appended| {
            // The first session that is written is the workflow's.
            let mut root = name.lock().unwrap_or_else(PoisonError::into_inner);
            let is_workflow = *root.get_or_insert_with(|| appended.session.clone()) == appended.session;
            let happened = |event: &Value| Happened {
                session: appended.session.clone(),
                is_workflow,
                event: event.clone(),
            };
            seen.lock().unwrap_or_else(PoisonError::into_inner).extend(appended.events.iter().map(happened));
        }));
        let new = NewWorkflow {
            definition: Arc::clone(ir),
            root: ".".to_owned(),
            source: None,
            inputs,
            owner: owner.to_owned(),
        };
        let session = host.start_workflow(new).map_err(words)?;
        let mut stage = Self { host, ir: Arc::clone(ir), clock, actor, session, log, said: 0 };
        stage.settle().await?;
        Ok(stage)
    }

    /// What the session is now.
    pub(super) fn state(&mut self) -> Result<State, String> {
        match &self.host.live(&self.session).map_err(words)?.subject {
            Subject::Workflow { state, .. } => Ok(state.clone()),
            Subject::Agent { .. } => Err("the session is no workflow".to_owned()),
        }
    }

    /// What a list shows of it.
    pub(super) fn row(&mut self) -> Result<IndexRow, String> {
        Ok(self.host.live(&self.session).map_err(words)?.subject.index())
    }

    /// Everything that has happened.
    pub(super) fn events(&self) -> Vec<Happened> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The steps visited so far, loops left out.
    pub(super) fn visits(&self) -> Vec<String> {
        let entered =
            self.events().into_iter().filter(|happened| happened.is_workflow).filter_map(|happened| {
                match serde_json::from_value::<Event>(happened.event) {
                    Ok(Event::StepEntered { node, .. }) => Some(node),
                    Ok(_) | Err(_) => None,
                }
            });
        let is_loop = |name: &String| {
            self.ir.graph().by_name(name).is_some_and(|node| matches!(node.kind, NodeKind::Loop { .. }))
        };
        entered.filter(|name| !is_loop(name)).collect()
    }

    /// The agent that is to reply, if one is.
    pub(super) fn at_work(&mut self) -> Result<Option<AtWork>, String> {
        let state = self.state()?;
        let (Work::Stage(stage), None) = (&state.work, &state.ended) else { return Ok(None) };
        let child = match &stage.phase {
            StagePhase::Producing | StagePhase::CorrectionDue => &stage.child,
            StagePhase::MachineGate { child, .. } => child,
            StagePhase::HumanGate { .. } | StagePhase::Unsuccessful { .. } => return Ok(None),
        };
        let node = state.position.as_ref().map(|position| position.node.clone()).unwrap_or_default();
        let known = state.children.get(child).map(|child| child.spec.clone());
        Ok(known.map(|spec| AtWork { node, spec }))
    }

    /// Tells the session something; what follows between sessions is done.
    pub(super) async fn tell(&mut self, notification: Notification) -> Result<(), String> {
        self.host.tell_workflow(&self.session, notification).map_err(words)?;
        self.pass_on().await
    }

    /// A person speaks to the agent.
    pub(super) async fn say_to(&mut self, agent: &AtWork, text: &str) -> Result<(), String> {
        self.said += 1;
        let id = format!("person/{}", self.said);
        let message = Message { id, kind: MessageKind::Person, text: text.to_owned(), media: Vec::new() };
        self.host.tell_agent(&agent.spec.session, AgentNews::Take(message)).map_err(words)?;
        self.settle().await
    }

    /// The agent replies. A submission that does not fit is refused, in the words that the agent reads.
    pub(super) async fn reply(&mut self, reply: Reply) -> Result<(), String> {
        let before = self.events().len();
        self.actor.prepare(reply);
        self.host.drive(&self.session, Until::Step).await.map_err(words)?;
        if self.actor.take().is_some() {
            return Err("the agent is not asked for a reply now".to_owned());
        }
        self.settle().await?;
        let refusal = self.events().iter().skip(before).find_map(|happened| {
            let reason = happened.event.get("submission_refused")?.get("reason")?.as_str()?;
            Some(format!("the submission is refused: {}", faults_of(reason)))
        });
        refusal.map_or(Ok(()), Err)
    }

    /// Moves the clock; what comes due on the way happens when it does.
    pub(super) async fn advance(&mut self, to: Timestamp) -> Result<(), String> {
        for _ in 0..MOST_DUE {
            let due = self.host.live(&self.session).map_err(words)?.subject.wake_at();
            let Some(at) = due.filter(|at| *at <= to) else { return self.jump(to).await };
            self.clock.advance_to(at);
            if !self.tick().await? {
                return self.jump(to).await;
            }
        }
        Err(format!("more than {MOST_DUE} things come due on the way"))
    }

    /// Moves the clock while nobody is there.
    pub(super) async fn jump(&mut self, to: Timestamp) -> Result<(), String> {
        self.clock.advance_to(to);
        self.tick().await.map(|_| ())
    }

    /// What the clock shows.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    async fn tick(&mut self) -> Result<bool, String> {
        let happened = match self.host.tell_workflow(&self.session, Notification::Tick) {
            Ok(happened) => happened,
            Err(HostError::Refused(_)) => false,
            Err(error) => return Err(words(error)),
        };
        self.pass_on().await?;
        Ok(happened)
    }

    /// What the workflow owes; where that is nothing, no session has anything to tell another.
    async fn pass_on(&mut self) -> Result<(), String> {
        if self.row()?.owes_work { self.settle().await } else { Ok(()) }
    }

    /// Messages between the sessions; no agent is asked.
    async fn settle(&mut self) -> Result<(), String> {
        self.host.drive(&self.session, Until::Messages).await.map(|_| ()).map_err(words)
    }
}

fn words(error: HostError) -> String {
    error.to_string()
}

/// The faults that an agent reads as a list, on one line and without what it is to do about them.
fn faults_of(reason: &str) -> String {
    let faults: Vec<&str> = reason.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    if faults.is_empty() { reason.replace('\n', " ") } else { faults.join("; ") }
}
