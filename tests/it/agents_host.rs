//! Agent sessions with a host, over both stores: a model that says what its script says, tools that are counted.

mod background;
mod calls;
mod children;
mod leases;

use crate::support::world::{START, person};
use flowright::engine::SessionId;
use flowright::engine::agent::command::{Answer, Notification, Said};
use flowright::engine::agent::event::{Event, Spec, ToolResult};
use flowright::engine::agent::state::{Call, CallState, State};
use flowright::host::clock::{Clock, VirtualClock};
use flowright::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest, ToolSpec};
use flowright::host::run::{Host, HostError, Stopped, Subject, Until};
use flowright::ir;
use flowright::store::Store;
use flowright::store::memory::MemoryStore;
use flowright::store::sqlite::SqliteStore;
use flowright::time::Timestamp;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// What the scripted world has seen, and how it answers.
struct Script {
    /// Calls of each reply, by slug and number from 1; behind the last one the model says `done`.
    replies: HashMap<String, Vec<Vec<(String, String)>>>,
    seen: Mutex<Seen>,
    /// Calls of the tool `hold` wait for a permit.
    permits: Semaphore,
    /// What is missing for isolation here.
    missing: Mutex<Option<String>>,
    /// Descriptions of tools.
    described: Mutex<HashMap<String, String>>,
}

#[derive(Default)]
struct Seen {
    /// Session, tool, arguments and admission of each effect, in the order of their beginning.
    ran: Vec<(String, String, String, u32)>,
    /// Effects that were dropped before their end.
    dropped: Vec<String>,
    now: usize,
    most: usize,
    /// What each model was sent last, by slug.
    sent: HashMap<String, Vec<Said>>,
    asked: u32,
}

/// Counts an effect while it lives.
struct Running(Arc<Script>, String, bool);

impl Drop for Running {
    fn drop(&mut self) {
        let mut seen = self.0.seen.lock().unwrap();
        seen.now -= 1;
        if !self.2 {
            seen.dropped.push(self.1.clone());
        }
    }
}

struct Outside(Arc<Script>);

impl Perform for Outside {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let script = Arc::clone(&self.0);
        let slug = request.agent.slug.clone();
        let mut seen = script.seen.lock().unwrap();
        seen.asked += 1;
        seen.sent.insert(slug.clone(), request.messages);
        drop(seen);
        let calls = script.replies.get(&slug).and_then(|replies| replies.get(request.reply as usize - 1));
        let answer = match calls {
            Some(calls) if calls.first().is_some_and(|(tool, _)| tool == "fault") => {
                let message = "401".to_owned();
                Err(ModelFault { message, retryable: false, retry_after_ms: None })
            }
            Some(calls) => {
                let calls = calls
                    .iter()
                    .map(|(tool, arguments)| ("call_0".to_owned(), tool.clone(), arguments.clone()));
                Ok(Answer { calls: calls.collect(), ..Answer::default() })
            }
            None => Ok(Answer { text: format!("done by {slug}"), ..Answer::default() }),
        };
        Box::pin(async move { answer })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        let script = Arc::clone(&self.0);
        let tool = request.call.name.clone();
        {
            let mut seen = script.seen.lock().unwrap();
            let session = request.spec.session.0.clone();
            seen.ran.push((session, tool.clone(), request.call.arguments.clone(), request.admission));
            seen.now += 1;
            seen.most = seen.most.max(seen.now);
        }
        let running = Running(Arc::clone(&script), tool.clone(), false);
        Box::pin(async move {
            let mut running = running;
            // Whatever may run beside this one has begun by then.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            let output = match tool.as_str() {
                "hold" => {
                    script.permits.acquire().await.unwrap().forget();
                    Output::Text("held".to_owned())
                }
                "flaky" if request.admission < 3 => Output::Failed(format!("attempt {}", request.admission)),
                "lost" => Output::Unknown("the server went away".to_owned()),
                "long" => Output::Text("ü".repeat(50_000)),
                _ => Output::Text(format!("{tool} {}", request.call.arguments)),
            };
            running.2 = true;
            output
        })
    }

    fn can_isolate(
        &self,
        _agent: Arc<ir::Agent>,
        _spec: Arc<Spec>,
        _place: ir::Isolation,
    ) -> Doing<Result<(), String>> {
        let missing = self.0.missing.lock().unwrap().clone();
        Box::pin(async move { missing.map_or(Ok(()), Err) })
    }

    fn definition(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, tool: String) -> Doing<Option<ToolSpec>> {
        let found = self.0.described.lock().unwrap().get(&tool).cloned();
        Box::pin(async move {
            let parameters = serde_json::json!({ "type": "object" });
            found.map(|description| ToolSpec { name: tool, description, parameters, repeatable: false })
        })
    }

    fn repeatable(&self, agent: Arc<ir::Agent>, _spec: Arc<Spec>, tool: String) -> Doing<bool> {
        Box::pin(async move { agent.repeatable_tools.contains(&tool) })
    }
}

/// What the model of one agent says: slug, and the calls of each reply.
type Replies = (String, Vec<Vec<(String, String)>>);

/// Replies of one agent.
fn replies(slug: &str, calls: &[&[(&str, &str)]]) -> Replies {
    let one = |calls: &&[(&str, &str)]| {
        calls.iter().map(|(tool, arguments)| ((*tool).to_owned(), (*arguments).to_owned())).collect()
    };
    (slug.to_owned(), calls.iter().map(one).collect())
}

fn script(all: &[Replies]) -> Arc<Script> {
    Arc::new(Script {
        replies: all.iter().cloned().collect(),
        seen: Mutex::default(),
        permits: Semaphore::new(0),
        missing: Mutex::default(),
        described: Mutex::default(),
    })
}

/// A conversational agent with these rules; four calls side by side at most.
fn agent(slug: &str, rules: &[(&str, ir::Disposition)]) -> ir::Agent {
    let mut agent = crate::support::ir::agent(slug);
    agent.base = None;
    agent.max_concurrency = 4;
    agent.policy.rules = rules
        .iter()
        .map(|(tool, disposition)| ir::PolicyRule {
            tool: (*tool).to_owned(),
            disposition: disposition.clone(),
        })
        .collect();
    agent
}

fn around(decorator: ir::Decorator, inner: ir::Disposition) -> ir::Disposition {
    ir::Disposition::Decorate { decorators: vec![decorator], inner: Box::new(inner) }
}

/// A session at a host.
struct Desk {
    script: Arc<Script>,
    store: Arc<dyn Store>,
    host: Host,
    session: SessionId,
    processes: u32,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

/// The same story over each store.
fn everywhere(frozen: &ir::Agent, script: impl Fn() -> Arc<Script>, story: impl Fn(&mut Desk)) {
    for kind in ["memory", "sqlite"] {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = match kind {
            "memory" => Arc::new(MemoryStore::new()),
            _ => Arc::new(SqliteStore::open(&folder.path().join("s.db")).unwrap()),
        };
        let script = script();
        let host = host(&store, &script, 0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let session = SessionId("00000000-0000-4000-8000-00000000000a".to_owned());
        let mut desk = Desk { script, store, host, session, processes: 0, runtime, _folder: folder };
        desk.host.start_agent(frozen, spec(&desk.session, frozen)).unwrap();
        story(&mut desk);
    }
}

fn spec(session: &SessionId, frozen: &ir::Agent) -> Spec {
    Spec {
        session: session.clone(),
        slug: frozen.slug.clone(),
        agent: frozen.digest(),
        root: "/somewhere".to_owned(),
        owner: "ada".to_owned(),
        prompt: "Go.".to_owned(),
        with: IndexMap::new(),
        contract: None,
        media: Vec::new(),
        caller: None,
        forked_from: None,
    }
}

fn host(store: &Arc<dyn Store>, script: &Arc<Script>, process: u32) -> Host {
    let clock = Arc::new(VirtualClock::new(Timestamp::parse(START).unwrap()));
    let perform = Arc::new(Outside(Arc::clone(script)));
    Host::new(Arc::clone(store), perform, clock as Arc<dyn Clock>, format!("test/-/{process}"))
}

impl Desk {
    /// Another process at the same store.
    fn another(&mut self) -> Host {
        self.processes += 1;
        host(&self.store, &self.script, self.processes)
    }

    fn drive(&mut self, until: Until) -> Stopped {
        let session = self.session.clone();
        self.runtime.block_on(self.host.drive(&session, until)).unwrap()
    }

    fn tell(&mut self, news: Notification) -> Result<bool, HostError> {
        let session = self.session.clone();
        self.host.tell_agent(&session, news)
    }

    fn state_of(&mut self, session: &SessionId) -> State {
        self.host.forget(session);
        match &self.host.live(session).unwrap().subject {
            Subject::Agent { state, .. } => state.clone(),
            Subject::Workflow { .. } => panic!("a workflow session"),
        }
    }

    fn state(&mut self) -> State {
        self.state_of(&self.session.clone())
    }

    fn call(&mut self, index: usize) -> Call {
        self.state().last_calls()[index].clone()
    }

    fn token(&mut self, index: usize) -> String {
        match self.call(index).state {
            CallState::Deferred { token, .. } => token,
            other => panic!("call {index} is {other:?}"),
        }
    }

    fn complete(&mut self, token: &str, said: &str) -> Result<bool, HostError> {
        let (token, result) = (token.to_owned(), ToolResult::Text(said.to_owned()));
        let by = person("ada");
        let owner = self.store.by_token(&token).unwrap().unwrap_or_else(|| self.session.clone());
        self.host.tell_agent(&owner, Notification::Complete { token, result, by })
    }

    fn ran(&self) -> Vec<String> {
        self.script.seen.lock().unwrap().ran.iter().map(|(_, tool, ..)| tool.clone()).collect()
    }

    fn asked(&self) -> u32 {
        self.script.seen.lock().unwrap().asked
    }

    fn events(&self, session: &SessionId) -> Vec<Event> {
        let kept = self.store.events_after(session, 0, 10_000).unwrap();
        kept.iter().map(|kept| serde_json::from_str(&kept.body).unwrap()).collect()
    }

    /// The answers to calls that a model was sent last.
    fn told(&self, slug: &str) -> Vec<String> {
        let seen = self.script.seen.lock().unwrap();
        let blobs = flowright::host::perform::Blobs::default();
        let answers = seen.sent[slug].iter().filter_map(|said| match said {
            Said::Tool { content, .. } => {
                Some(content.iter().map(|part| blobs.text(part)).collect::<String>())
            }
            _ => None,
        });
        answers.collect()
    }
}
