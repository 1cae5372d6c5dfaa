//! What a long history costs: a step of a session that has one, its loading by a new process, and large results.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::Bencher;
use flowright::compile::{self, MainDocument};
use flowright::engine::agent::command::{Answer, Notification};
use flowright::engine::agent::event::{Message, MessageKind, Spec, ToolResult};
use flowright::engine::agent::state::State;
use flowright::engine::agent::{decide, evolve, pending};
use flowright::engine::{SessionId, agent};
use flowright::host::clock::RealClock;
use flowright::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest};
use flowright::host::run::{Host, Until};
use flowright::ir;
use flowright::store::memory::MemoryStore;
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Append, NewEvent, Store};
use flowright::time::Timestamp;
use indexmap::IndexMap;
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

fn worker() -> ir::Agent {
    let text =
        r#"{"slug":"worker","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}"#;
    let main =
        MainDocument { name: "a.json".to_owned(), package_path: "a.json".to_owned(), bytes: text.into() };
    compile::compile_agent(main).agent.unwrap()
}

fn spec(agent: &ir::Agent) -> Spec {
    Spec {
        session: SessionId("long".to_owned()),
        slug: "worker".to_owned(),
        agent: agent.digest(),
        root: ".".to_owned(),
        owner: "bench".to_owned(),
        prompt: "Begin.".to_owned(),
        with: IndexMap::new(),
        contract: None,
        media: Vec::new(),
        caller: None,
        forked_from: None,
    }
}

/// A session in memory with the events that made it.
struct Long {
    agent: ir::Agent,
    state: State,
    events: Vec<String>,
}

impl Long {
    /// With this many replies, each with one call and a result of some two hundred bytes.
    fn new(replies: u32) -> Self {
        let agent = worker();
        let mut long = Self { state: State::default(), events: Vec::new(), agent };
        long.tell(Notification::Start(spec(&long.agent)));
        for _ in 0..replies {
            long.turn();
        }
        long
    }

    fn tell(&mut self, notification: Notification) {
        let at = Timestamp(1 + self.state.now.0);
        for event in decide::decide(&self.agent, &self.state, at, notification).unwrap() {
            evolve::evolve(&mut self.state, at, &event);
            self.events.push(serde_json::to_string(&event).unwrap());
        }
    }

    /// Asks, gets a call, runs it.
    fn turn(&mut self) {
        let reply = self.state.replies + 1;
        let holder = "bench/-/1".to_owned();
        self.tell(Notification::AdmitModelCall { reply, admission: 1, holder: holder.clone() });
        let calls = vec![(format!("c{reply}"), "bash_look".to_owned(), format!("{{\"number\": {reply}}}"))];
        let answer = Answer { text: "I look at the next one.".to_owned(), calls, ..Answer::default() };
        self.tell(Notification::ModelReplied { reply, admission: 1, answer });
        let call = self.state.last_calls().first().unwrap().made.id.clone();
        let admit = Notification::AdmitCall {
            call: call.clone(),
            admission: 1,
            holder,
            repeatable: true,
            definition: None,
        };
        self.tell(admit);
        let result = ToolResult::Text(format!("the answer to {reply} is {}", "x".repeat(180)));
        self.tell(Notification::CallReported { call, admission: 1, result });
    }

    fn store(self, path: &Path) -> SqliteStore {
        let store = SqliteStore::open(path).unwrap();
        let bytes = ir::canonical_json(&serde_json::to_value(&self.agent).unwrap());
        store.put_blob(bytes.as_bytes()).unwrap();
        let events = self.events.into_iter().map(|body| NewEvent { at: Timestamp(1), body }).collect();
        let first = Append {
            session: SessionId("long".to_owned()),
            expected: 0,
            append_id: "long/0".to_owned(),
            events,
            index: pending::index(&self.agent, &self.state),
            blobs: vec![self.agent.digest()],
        };
        store.create(&first).unwrap();
        store
    }
}

/// The engine's part of a turn: four notifications, each decided on a copy and folded. No store, no request.
#[divan::bench(args = [10, 1_000, 10_000], sample_count = 200)]
fn turn_after(bencher: Bencher, replies: u32) {
    let mut long = Long::new(replies);
    bencher.bench_local(|| {
        // As the host does: a copy is decided and folded, and takes the place of the old one once it is kept.
        let mut next = Long { agent: long.agent.clone(), state: long.state.clone(), events: Vec::new() };
        next.turn();
        long = next;
    });
}

/// A message to a session in a resident host: one decision, one commit of the disk.
#[divan::bench(args = [10, 1_000, 10_000], sample_count = 100)]
fn message_after(bencher: Bencher, replies: u32) {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(Long::new(replies).store(&folder.path().join("db")));
    let mut host = Host::new(store, Arc::new(Nobody), Arc::new(RealClock), "bench/-/1".to_owned());
    let session = SessionId("long".to_owned());
    host.live(&session).unwrap();
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        let id = format!("m{number}");
        let message = Message { id, kind: MessageKind::Person, text: "More.".to_owned(), media: Vec::new() };
        host.tell_agent(&session, agent::command::Notification::Take(message)).unwrap();
    });
}

/// A new process: the database is opened and the session folded from its first event.
#[divan::bench(args = [10, 1_000, 10_000], sample_count = 20)]
fn load_after(bencher: Bencher, replies: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    drop(Long::new(replies).store(&path));
    bencher.bench_local(|| {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
        let mut host = Host::new(store, Arc::new(Nobody), Arc::new(RealClock), "bench/-/1".to_owned());
        let live = host.live(&SessionId("long".to_owned())).unwrap();
        divan::black_box(live.version)
    });
}

/// Asks nobody.
struct Nobody;

impl Perform for Nobody {
    fn call_model(&self, _request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let fault = ModelFault { message: "nobody".to_owned(), retryable: false, retry_after_ms: None };
        Box::pin(async { Err(fault) })
    }

    fn run_tool(&self, _request: ToolRequest) -> Doing<Output> {
        Box::pin(async { Output::Text(String::new()) })
    }

    fn repeatable(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, _tool: String) -> Doing<bool> {
        Box::pin(async { true })
    }
}

/// Twenty turns, each with a result of a megabyte; then it is done.
struct Large;

impl Perform for Large {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let reply = request.reply;
        let calls = if reply > 20 {
            Vec::new()
        } else {
            vec![(format!("c{reply}"), "bash_large".to_owned(), format!("{{\"n\":{reply}}}"))]
        };
        Box::pin(async move { Ok(Answer { text: "On.".to_owned(), calls, ..Answer::default() }) })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        // No two of them alike, so that none is kept once for two.
        let line = format!("{} of {}\n", request.call.arguments, request.call.id);
        Box::pin(async move { Output::Text(line.repeat(1024 * 1024 / line.len())) })
    }

    fn repeatable(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, _tool: String) -> Doing<bool> {
        Box::pin(async { true })
    }
}

/// Twenty results of a megabyte: what the database weighs is printed; measured is a new process that loads the session
/// and has its whole conversation at hand.
#[divan::bench(sample_count = 20)]
fn resume_with_twenty_megabytes(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = SessionId("long".to_owned());
    {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
        let mut host = Host::new(store, Arc::new(Large), Arc::new(RealClock), "bench/-/1".to_owned());
        let agent = worker();
        host.start_agent(&agent, spec(&agent)).unwrap();
        runtime.block_on(host.drive(&session, Until::Rest)).unwrap();
    }
    let weight: u64 =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    eprintln!("database of twenty results of 1 MiB: {weight} bytes");
    bencher.bench_local(|| {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
        let mut host =
            Host::new(Arc::clone(&store), Arc::new(Large), Arc::new(RealClock), "bench/-/1".to_owned());
        let digests: Vec<ir::Digest> = {
            let live = host.live(&session).unwrap();
            let flowright::host::run::Subject::Agent { state, .. } = &live.subject else { return 0 };
            state.turns.iter().flat_map(kept).collect()
        };
        digests.iter().map(|digest| store.blob(digest).unwrap().unwrap().len()).sum::<usize>()
    });
}

/// Turns that each have a result of this many bytes, unlike one another.
struct Even(u32, usize);

impl Perform for Even {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let reply = request.reply;
        let calls = if reply > self.0 {
            Vec::new()
        } else {
            vec![(format!("c{reply}"), "bash_even".to_owned(), format!("{{\"n\":{reply}}}"))]
        };
        Box::pin(async move { Ok(Answer { calls, ..Answer::default() }) })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        let mut text = format!("the answer to {} ", request.call.arguments).repeat(self.1);
        text.truncate(self.1);
        Box::pin(async move { Output::Text(text) })
    }

    fn repeatable(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, _tool: String) -> Doing<bool> {
        Box::pin(async { true })
    }
}

/// Whole turns with results of 1 KiB, FULL: `benches/peers/langgraph_turns.py` does the same with its own engine. Four commits
/// a turn: the model call admitted, its reply, the call admitted, its result.
#[divan::bench(args = [200, 1_000], sample_count = 5)]
fn turns_of_a_kibibyte(bencher: Bencher, turns: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.counter(divan::counter::ItemsCount::new(turns)).bench_local(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        {
            let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path).unwrap());
            let perform = Arc::new(Even(turns, 1024));
            let mut host = Host::new(store, perform, Arc::new(RealClock), "bench/-/1".to_owned());
            let agent = worker();
            host.start_agent(&agent, spec(&agent)).unwrap();
            runtime.block_on(host.drive(&SessionId("long".to_owned()), Until::Rest)).unwrap();
        }
        let connection = rusqlite::Connection::open(&path).unwrap();
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        drop(connection);
        let weight = std::fs::metadata(&path).unwrap().len();
        eprintln!("{turns} turns: {} bytes a turn", weight / u64::from(turns));
    });
}

/// The same turns in memory: what the engine and the host take of them.
#[divan::bench(args = [200, 1_000], sample_count = 5)]
fn turns_in_memory(bencher: Bencher, turns: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    bencher.counter(divan::counter::ItemsCount::new(turns)).bench_local(|| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let perform = Arc::new(Even(turns, 1024));
        let mut host = Host::new(store, perform, Arc::new(RealClock), "bench/-/1".to_owned());
        let agent = worker();
        host.start_agent(&agent, spec(&agent)).unwrap();
        runtime.block_on(host.drive(&SessionId("long".to_owned()), Until::Rest)).unwrap();
    });
}

fn kept(turn: &agent::state::Turn) -> Vec<ir::Digest> {
    let agent::state::Turn::Reply { calls, .. } = turn else { return Vec::new() };
    let kept = calls.iter().filter_map(|call| {
        if let agent::state::CallState::Completed(ToolResult::Kept(kept)) = &call.state {
            Some(kept.digest.clone())
        } else {
            None
        }
    });
    kept.collect()
}
