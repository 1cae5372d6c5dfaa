//! The worker: schedules in virtual time, many sessions at once, what other processes hold, kills and signals.

#[cfg(unix)]
mod process;

use crate::support::world::{START, frozen};
use flowright::compile::{self, MainDocument, Memory};
use flowright::engine::SessionId;
use flowright::engine::agent::command::Answer;
use flowright::engine::agent::event::{SUBMIT_TOOL, Spec};
use flowright::host::clock::{Clock, VirtualClock};
use flowright::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest};
use flowright::host::run::{Host, NewWorkflow};
use flowright::host::work::{End, Settings, Tally, Told, work};
use flowright::ir;
use flowright::store::memory::MemoryStore;
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Lease, Store};
use flowright::time::{Millis, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

const REPORT: &str = "corpus/real/scheduled-report/scheduled-report.yaml";

/// Every agent submits at once.
struct Prompt;

impl Perform for Prompt {
    fn call_model(&self, _: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let arguments = r#"{"outcome":"succeeded","summary":"Done.","result":{"report":"r.md"}}"#.to_owned();
        let calls = vec![("c".to_owned(), SUBMIT_TOOL.to_owned(), arguments)];
        Box::pin(async move { Ok(Answer { calls, ..Answer::default() }) })
    }

    fn run_tool(&self, _: ToolRequest) -> Doing<Output> {
        Box::pin(async { Output::Text(String::new()) })
    }

    fn repeatable(&self, _: Arc<ir::Agent>, _: Arc<Spec>, _: String) -> Doing<bool> {
        Box::pin(async { true })
    }
}

struct Desk {
    store: Arc<dyn Store>,
    clock: Arc<VirtualClock>,
    hosts: AtomicU64,
    appends: Arc<AtomicU64>,
    told: Mutex<Vec<Told>>,
}

impl Desk {
    fn new(store: Arc<dyn Store>) -> Self {
        let clock = Arc::new(VirtualClock::new(Timestamp::parse(START).unwrap()));
        let told = Mutex::new(Vec::new());
        Self { store, clock, hosts: AtomicU64::new(0), appends: Arc::default(), told }
    }

    fn host(&self) -> Host {
        let holder = format!("test/-/{}", self.hosts.fetch_add(1, Ordering::SeqCst));
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let mut host = Host::new(Arc::clone(&self.store), Arc::new(Prompt), clock, holder);
        let appends = Arc::clone(&self.appends);
        host.observe(Box::new(move |_| {
            appends.fetch_add(1, Ordering::SeqCst);
        }));
        host
    }

    fn start(&self, definition: &Arc<ir::Workflow>) -> SessionId {
        let new = NewWorkflow {
            definition: Arc::clone(definition),
            root: ".".to_owned(),
            source: None,
            inputs: indexmap::IndexMap::new(),
            owner: "ada".to_owned(),
        };
        self.host().start_workflow(new).unwrap()
    }

    fn work(&self, end: End) -> Tally {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (_sender, signals) = watch::channel(0);
        let told = |told: &Told| self.told.lock().unwrap().push(told.clone());
        let both = (Arc::clone(&self.store), Arc::clone(&self.clock) as Arc<dyn Clock>);
        let settings = Settings { jobs: 16, end };
        runtime.block_on(work(both, &|| self.host(), settings, signals, &told)).unwrap()
    }

    fn status(&self, session: &SessionId) -> String {
        self.store.row(session).unwrap().unwrap().index.status
    }

    /// How often an event of this name was written.
    fn count(&self, session: &SessionId, name: &str) -> usize {
        let kept = self.store.events_after(session, 0, 10_000).unwrap();
        kept.iter().filter(|event| event.body.starts_with(&format!("{{\"{name}\""))).count()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// One agent step behind these steps.
fn flow(before: &str) -> Arc<ir::Workflow> {
    let text = format!(
        "kind: workflow\nversion: 1\nname: once\nsteps:\n{before}  - id: work\n    agent: worker\n    task: Work.\n"
    );
    let agent = r#"{"slug":"worker","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}"#;
    let files = Memory::new().with("agents/worker.json", agent);
    let main = MainDocument {
        name: "once.yaml".to_owned(),
        package_path: "once.yaml".to_owned(),
        bytes: text.into_bytes(),
    };
    compile::compile(main, &files, crate::support::AS_OF).workflow.map(Arc::new).unwrap()
}

#[test]
fn schedules_fire_within_their_minute_for_a_day() {
    let desk = Desk::new(Arc::new(MemoryStore::new()));
    let hourly = frozen(REPORT);
    let sessions: Vec<_> = (0..5).map(|_| desk.start(&hourly)).collect();
    let end = desk.now().plus(Millis(24 * 3_600_000));
    let tally = desk.work(End::At(end));
    assert_eq!(desk.now(), end);
    // From 08:30 on, twenty-four times.
    assert_eq!((tally.fired, tally.failed), (5 * 24, 0));
    for session in &sessions {
        assert_eq!(desk.status(session), "waiting_for_schedule");
        assert_eq!(desk.count(session, "occurrence_fired"), 24);
        assert_eq!(desk.count(session, "occurrence_skipped"), 0);
        assert_eq!(desk.store.children(session).unwrap().len(), 24);
    }
    assert_eq!(desk.store.leases().unwrap(), []);
}

#[test]
fn a_thousand_sessions_that_are_due_at_once_all_end_and_share_commits() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(SqliteStore::with_synchronous(&folder.path().join("db"), "off").unwrap());
    let desk = Desk::new(Arc::clone(&sqlite) as Arc<dyn Store>);
    let nine = flow("  - id: tick\n    cron: \"0 9 * * *\"\n    timezone: UTC\n");
    let sessions: Vec<_> = (0..1000).map(|_| desk.start(&nine)).collect();
    desk.work(End::Idle);
    assert!(sessions.iter().all(|session| desk.status(session) == "waiting_for_schedule"));
    let (commits, appends) = (sqlite.commits(), desk.appends.load(Ordering::SeqCst));
    assert_eq!(desk.store.next_due().unwrap(), Some(Timestamp::parse("2026-03-02T09:00:00Z").unwrap()));
    let tally = desk.work(End::At(desk.now().plus(Millis(3_600_000))));
    assert_eq!((tally.fired, tally.driven, tally.failed), (1000, 1000, 0));
    assert!(sessions.iter().all(|session| desk.status(session) == "completed"));
    let (commits, appends) = (sqlite.commits() - commits, desk.appends.load(Ordering::SeqCst) - appends);
    assert!(appends >= 7000, "{appends}");
    // Leases are taken and given back in commits too, and still there are fewer of them than appends.
    assert!(commits < appends, "{commits} commits, {appends} appends");
}

#[test]
fn what_another_process_holds_is_left_alone_and_taken_once_it_is_released() {
    let desk = Desk::new(Arc::new(MemoryStore::new()));
    let once = flow("");
    let (held, free) = (desk.start(&once), desk.start(&once));
    let other = |session: &SessionId, until| Lease {
        session: session.clone(),
        holder: "other/-/1".to_owned(),
        until,
    };
    let lease = other(&held, desk.now().plus(Millis(20_000)));
    assert_eq!(desk.store.lease(&lease, desk.now(), &|_| false).unwrap(), None);
    let before = desk.store.row(&held).unwrap();
    let tally = desk.work(End::At(desk.now().plus(Millis(10_000))));
    assert_eq!(desk.store.row(&held).unwrap(), before);
    assert_eq!((desk.status(&free).as_str(), tally.failed), ("completed", 0));
    desk.store.release(&held, "other/-/1").unwrap();
    desk.work(End::At(desk.now().plus(Millis(5_000))));
    assert_eq!(desk.status(&held), "completed");

    // One that lapses is taken too.
    let lapsing = desk.start(&once);
    let lease = other(&lapsing, desk.now().plus(Millis(20_000)));
    assert_eq!(desk.store.lease(&lease, desk.now(), &|_| false).unwrap(), None);
    desk.work(End::At(desk.now().plus(Millis(60_000))));
    assert_eq!(desk.status(&lapsing), "completed");
}

/// What a gone process had under way owes nothing and has nothing due: its lease alone tells of it.
#[test]
fn a_tree_that_a_gone_process_left_shows_by_its_lease() {
    let desk = Desk::new(Arc::new(MemoryStore::new()));
    let session = desk.start(&flow(""));
    // A process that is gone: it had asked the model and never heard of it.
    let mut gone = desk.host();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let drive = gone.drive(&session, flowright::host::run::Until::Owed);
        // Everything up to the first wait; then its future is dropped, as if the process had been killed.
        assert!(futures_util::poll!(Box::pin(drive)).is_pending());
    });
    assert_eq!(desk.store.owing(10).unwrap(), []);
    assert_eq!(desk.store.leases().unwrap().len(), 1);
    assert_eq!(desk.status(&session), "agent_running");
    desk.work(End::At(desk.now().plus(Millis(60_000))));
    assert_eq!(desk.status(&session), "completed");
    assert_eq!(desk.store.children(&session).unwrap().len(), 1);
    assert_eq!(desk.store.leases().unwrap(), []);
}

/// A session that cannot be read is told of once, and keeps no other from its turn.
#[test]
fn a_session_that_cannot_be_read_stands_in_nobodys_way() {
    let desk = Desk::new(Arc::new(MemoryStore::new()));
    let once = flow("");
    let broken = desk.start(&once);
    let row = desk.store.row(&broken).unwrap().unwrap();
    let append = flowright::store::Append {
        session: broken.clone(),
        expected: row.version,
        append_id: "x".to_owned(),
        events: vec![flowright::store::NewEvent { at: desk.now(), body: "\"of_tomorrow\"".to_owned() }],
        index: row.index,
        blobs: Vec::new(),
    };
    desk.store.append(&append).unwrap();
    let sessions: Vec<_> = (0..40).map(|_| desk.start(&once)).collect();
    let tally = desk.work(End::Idle);
    assert_eq!(tally.failed, 1);
    assert!(sessions.iter().all(|session| desk.status(session) == "completed"));
    let failed = |told: &&Told| matches!(told, Told::Failed { .. });
    assert_eq!(desk.told.lock().unwrap().iter().filter(failed).count(), 1);
}
