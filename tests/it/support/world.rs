//! A whole world for scenarios: a store, a virtual clock, the real effects over packages of the corpus.

use flowright::compile::{self, Folder, MainDocument};
use flowright::engine::workflow::command::{Decision, Notification};
use flowright::engine::{Principal, SessionId};
use flowright::host::clock::{Clock, VirtualClock};
use flowright::host::model::keys::Keys;
use flowright::host::real::RealPerform;
use flowright::host::run::{Host, HostError, NewWorkflow, Stopped, Subject, Until};
use flowright::ir;
use flowright::store::Store;
use flowright::time::Timestamp;
use indexmap::IndexMap;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

pub(crate) const START: &str = "2026-03-02T08:30:00Z";

pub(crate) struct World {
    pub(crate) host: Host,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<VirtualClock>,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn person(user: &str) -> Principal {
    Principal { user: user.to_owned(), roles: Vec::new(), via: "test".to_owned() }
}

/// Compiles a workflow of the corpus; its findings must be none.
pub(crate) fn frozen(path: &str) -> Arc<ir::Workflow> {
    let path = Path::new(path);
    let root = compile::package_root(path);
    let bytes = std::fs::read(path).unwrap();
    let package_path = path.file_name().unwrap().to_string_lossy().into_owned();
    let main = MainDocument { name: path.display().to_string(), package_path, bytes };
    let compiled = compile::compile(main, &Folder::new(root), super::AS_OF);
    let messages: Vec<_> = compiled.diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(compiled.workflow.is_some(), "{messages:?}");
    Arc::new(compiled.workflow.unwrap())
}

impl World {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let clock = Arc::new(VirtualClock::new(Timestamp::parse(START).unwrap()));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let perform = Arc::new(RealPerform::new(Keys::default()));
        let host = Host::new(
            Arc::clone(&store),
            perform,
            Arc::clone(&clock) as Arc<dyn Clock>,
            "test/-/1".to_owned(),
        );
        Self { host, store, clock, runtime }
    }

    pub(crate) fn start(&mut self, path: &str, inputs: &[(&str, Value)]) -> SessionId {
        let definition = frozen(path);
        let root = compile::package_root(Path::new(path)).canonicalize().unwrap().display().to_string();
        let inputs: IndexMap<_, _> =
            inputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let new = NewWorkflow { definition, root, source: None, inputs, owner: "ada".to_owned() };
        self.host.start_workflow(new).unwrap()
    }

    pub(crate) fn drive(&mut self, session: &SessionId) -> Stopped {
        self.runtime.block_on(self.host.drive(session, Until::Rest)).unwrap()
    }

    pub(crate) fn tell(
        &mut self,
        session: &SessionId,
        notification: Notification,
    ) -> Result<bool, HostError> {
        self.host.tell_workflow(session, notification)
    }

    pub(crate) fn answer(
        &mut self,
        session: &SessionId,
        choice: &str,
        feedback: &str,
    ) -> Result<bool, HostError> {
        let (choice, feedback) = (choice.to_owned(), feedback.to_owned());
        self.tell(session, Notification::Answer { occurrence: None, choice, feedback, by: person("ada") })
    }

    pub(crate) fn decide(
        &mut self,
        session: &SessionId,
        revision: u32,
        decision: Decision,
    ) -> Result<bool, HostError> {
        self.decide_as(session, revision, decision, person("ada"))
    }

    pub(crate) fn decide_as(
        &mut self,
        session: &SessionId,
        revision: u32,
        decision: Decision,
        by: Principal,
    ) -> Result<bool, HostError> {
        self.tell(
            session,
            Notification::Decide {
                revision: Some(revision),
                digest: None,
                gate: None,
                invocation: None,
                decision,
                by,
            },
        )
    }

    pub(crate) fn advance(&mut self, to: &str) {
        self.clock.advance_to(Timestamp::parse(to).unwrap());
    }

    pub(crate) fn status(&mut self, session: &SessionId) -> String {
        self.host.live(session).unwrap().subject.index().status
    }

    pub(crate) fn workflow_state(
        &mut self,
        session: &SessionId,
    ) -> flowright::engine::workflow::state::State {
        match &self.host.live(session).unwrap().subject {
            Subject::Workflow { state, .. } => state.clone(),
            Subject::Agent { .. } => panic!("an agent session"),
        }
    }

    /// Names of the session's events, in order.
    pub(crate) fn events(&self, session: &SessionId) -> Vec<String> {
        let kept = self.store.events_after(session, 0, 10_000).unwrap();
        kept.iter().map(|kept| event_name(&kept.body)).collect()
    }
}

fn event_name(body: &str) -> String {
    match serde_json::from_str(body).unwrap() {
        Value::Object(map) => map.keys().next().unwrap().clone(),
        Value::String(name) => name,
        other => panic!("{other}"),
    }
}
