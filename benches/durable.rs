//! What durability costs: commits of the bare disk, appends of the stores, whole stages on both, in one run.
//!
//! Only ratios within one run count: the price of a synced commit differs by a factor of twenty between a quiet and a
//! busy machine.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::Bencher;
use divan::counter::ItemsCount;
use flowright::compile::{self, MainDocument, Memory};
use flowright::engine::agent::command::Answer;
use flowright::engine::agent::event::{SUBMIT_TOOL, Spec};
use flowright::engine::{IndexRow, SessionId, SessionKind};
use flowright::host::clock::RealClock;
use flowright::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest};
use flowright::host::run::{Host, NewWorkflow, Until};
use flowright::ir;
use flowright::store::memory::MemoryStore;
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Append, NewEvent, Store};
use flowright::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// When everything compiles: 2025-12-01, midnight UTC.
const AS_OF: flowright::time::Timestamp = flowright::time::Timestamp(1_764_547_200_000);

fn main() {
    divan::main();
}

const APPENDS: u64 = 200;
const THREADS: u64 = 32;

fn append(session: &str, expected: u64) -> Append {
    Append {
        session: SessionId(session.to_owned()),
        expected,
        append_id: format!("{session}/{expected}"),
        events: vec![NewEvent {
            at: Timestamp(1),
            body: format!("{{\"step_entered\":{{\"visit\":{expected}}}}}"),
        }],
        index: IndexRow {
            kind: SessionKind::Workflow,
            title: "bench".to_owned(),
            status: "agent_running".to_owned(),
            detail: String::new(),
            wake_at: None,
            tokens: Vec::new(),
            parent: None,
            owner: "bench".to_owned(),
            owes_work: true,
            ended: false,
        },
        blobs: Vec::new(),
    }
}

fn fill(store: &dyn Store, session: &str, count: u64) {
    store.create(&append(session, 0)).unwrap();
    for version in 1..count {
        store.append(&append(session, version)).unwrap();
    }
}

/// A bare table, one row a commit, WAL and FULL: what the disk gives.
#[divan::bench(sample_count = 10)]
fn raw_full_commits(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("raw.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.execute_batch("CREATE TABLE t (n INTEGER, body TEXT)").unwrap();
    bencher.counter(ItemsCount::new(APPENDS)).bench_local(|| {
        for n in 0..APPENDS {
            connection
                .execute("INSERT INTO t VALUES (?1, 'one row of about a hundred bytes')", [n as i64])
                .unwrap();
        }
    });
}

#[divan::bench(sample_count = 10)]
fn appends_memory(bencher: Bencher) {
    let (store, number) = (MemoryStore::new(), AtomicU64::new(0));
    bencher.counter(ItemsCount::new(APPENDS)).bench_local(|| {
        fill(&store, &number.fetch_add(1, Ordering::Relaxed).to_string(), APPENDS);
    });
}

#[divan::bench(sample_count = 10)]
fn appends_sqlite_full_one_thread(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let (store, number) = (SqliteStore::open(&folder.path().join("db")).unwrap(), AtomicU64::new(0));
    bencher.counter(ItemsCount::new(APPENDS)).bench_local(|| {
        fill(&store, &number.fetch_add(1, Ordering::Relaxed).to_string(), APPENDS);
    });
}

/// Group commit: sessions that write at the same moment share an fsync.
#[divan::bench(sample_count = 10)]
fn appends_sqlite_full_32_threads(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let (store, number) = (SqliteStore::open(&folder.path().join("db")).unwrap(), AtomicU64::new(0));
    bencher.counter(ItemsCount::new(APPENDS * THREADS)).bench_local(|| {
        let base = number.fetch_add(THREADS, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let store = &store;
                scope.spawn(move || fill(store, &(base + thread).to_string(), APPENDS));
            }
        });
    });
}

/// A model that submits at once.
struct Instant;

impl Perform for Instant {
    fn call_model(&self, _request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let arguments = r#"{"outcome":"succeeded","summary":"done","result":{"ok":true}}"#.to_owned();
        let calls = vec![(String::new(), SUBMIT_TOOL.to_owned(), arguments)];
        Box::pin(async move { Ok(Answer { calls, ..Answer::default() }) })
    }

    fn run_tool(&self, _request: ToolRequest) -> Doing<Output> {
        Box::pin(async { Output::Text(String::new()) })
    }

    fn repeatable(&self, _agent: Arc<ir::Agent>, _spec: Arc<Spec>, _tool: String) -> Doing<bool> {
        Box::pin(async { true })
    }
}

const STAGES: u64 = 20;

fn stages() -> Arc<ir::Workflow> {
    let flow = format!(
        "kind: workflow\nversion: 1\nname: bench\nsteps:\n  - loop:\n      repeat: {STAGES}\n      steps:\n        \
         - id: work\n          agent: worker\n          task: Work.\n"
    );
    let agent = r#"{"slug":"worker","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}"#;
    let files = Memory::new().with("agents/worker.json", agent);
    let main = MainDocument {
        name: "bench.yaml".to_owned(),
        package_path: "bench.yaml".to_owned(),
        bytes: flow.into_bytes(),
    };
    Arc::new(compile::compile(main, &files, AS_OF).workflow.unwrap())
}

fn run_stages(bencher: Bencher, store: &Arc<dyn Store>) {
    let (definition, runtime) =
        (stages(), tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    bencher.counter(ItemsCount::new(STAGES)).bench_local(|| {
        let mut host =
            Host::new(Arc::clone(store), Arc::new(Instant), Arc::new(RealClock), "bench/-/1".to_owned());
        let new = NewWorkflow {
            definition: Arc::clone(&definition),
            root: ".".to_owned(),
            source: None,
            inputs: indexmap::IndexMap::new(),
            owner: "bench".to_owned(),
        };
        let session = host.start_workflow(new).unwrap();
        let stopped = runtime.block_on(host.drive(&session, Until::Rest)).unwrap();
        assert_eq!(stopped.row.status, "completed");
    });
}

/// A stage is eight appends: admitted, child created, started, model admitted, replied and submitted, sealed, acknowledged.
#[divan::bench(sample_count = 10)]
fn stages_memory(bencher: Bencher) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    run_stages(bencher, &store);
}

#[divan::bench(sample_count = 10)]
fn stages_sqlite_full(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("db")).unwrap());
    run_stages(bencher, &store);
}
