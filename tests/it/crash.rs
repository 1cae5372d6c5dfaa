//! `kill -9` between any two writes of W04: processes of this test binary are killed for real and followed by others.
//!
//! The operator of the story is a program: it starts the session if there is none, answers, rejects revision 1, accepts
//! revision 2, and drives on. Killed anywhere and started again, it must come to the end that it comes to undisturbed.

use crate::support::kill_store::{KillStore, When};
use crate::support::world::{frozen, person};
use flowright::engine::agent::command::{Notification as AgentNews, Resolution};
use flowright::engine::agent::event::ToolResult;
use flowright::engine::agent::state::{CallState, State as AgentState, Turn};
use flowright::engine::workflow::command::{Decision, Notification};
use flowright::engine::workflow::state::{Hold, Stage, StagePhase, State, Work};
use flowright::engine::{RejectionCode, SessionId};
use flowright::host::clock::{Clock, RealClock};
use flowright::host::holder;
use flowright::host::model::keys::Keys;
use flowright::host::real::RealPerform;
use flowright::host::run::{Host, HostError, NewWorkflow, Subject, Until};
use flowright::store::Store;
use flowright::store::sqlite::SqliteStore;
use flowright::time::Timestamp;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

const W04: &str = "corpus/real/w04-plan-review-build-test/plan-review-build-test.yaml";
const SESSION: &str = "00000000-0000-4000-8000-000000000001";
/// The operator found a call of which nobody knows whether it had its effect.
const ATTENTION: i32 = 7;

/// Real time; the session's id is always the same, so that all runs can be compared.
struct OneSession;

impl Clock for OneSession {
    fn now(&self) -> Timestamp {
        RealClock.now()
    }

    fn fresh_id(&self) -> String {
        SESSION.to_owned()
    }

    fn advance_to(&self, _to: Timestamp) -> bool {
        false
    }
}

/// The operator. Gives the number of writes that it took, or the exit code of the process.
fn operate(folder: &Path, when: When, settle: Option<&str>) -> Result<u64, i32> {
    let store = Arc::new(KillStore::new(SqliteStore::open(&folder.join("db")).unwrap(), when));
    let perform = Arc::new(RealPerform::new(Keys::default()));
    let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let mut host = Host::new(shared, perform, Arc::new(OneSession), holder::this_process());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let session = SessionId(SESSION.to_owned());
    if store.row(&session).unwrap().is_none() {
        let definition = frozen(W04);
        let root = Path::new(W04).parent().unwrap().canonicalize().unwrap().display().to_string();
        let inputs = indexmap::IndexMap::new();
        host.start_workflow(NewWorkflow { definition, root, source: None, inputs, owner: "ada".to_owned() })
            .unwrap();
    }
    if let Some(settle) = settle {
        resolve(&mut host, &session, settle);
    }
    for _ in 0..20 {
        runtime.block_on(host.drive(&session, Until::Rest)).unwrap();
        let state = workflow(&mut host, &session);
        if state.ended.is_some() {
            return Ok(store.writes());
        }
        if unknown_call(&mut host, &session).is_some() {
            return Err(ATTENTION);
        }
        assert_eq!(state.hold, Hold::None, "{state:?}");
        let by = person("ada");
        let news = match &state.work {
            Work::Question(_) => Notification::Answer {
                occurrence: None,
                choice: "build".to_owned(),
                feedback: "a dark mode".to_owned(),
                by,
            },
            Work::Stage(Stage { phase: StagePhase::HumanGate { .. }, candidates, .. }) => {
                let revision = u32::try_from(candidates.len()).unwrap();
                let feedback = "Stored preferences must be migrated.".to_owned();
                let decision = if revision == 1 { Decision::Reject { feedback } } else { Decision::Accept };
                Notification::Decide {
                    revision: Some(revision),
                    digest: None,
                    gate: None,
                    invocation: None,
                    decision,
                    by,
                }
            }
            other => panic!("the session waits for nothing that we know: {other:?}"),
        };
        match host.tell_workflow(&session, news) {
            Ok(_) => {}
            Err(HostError::Refused(rejection)) if rejection.code == RejectionCode::Conflict => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the session does not come to its end");
}

fn workflow(host: &mut Host, session: &SessionId) -> State {
    match &host.live(session).unwrap().subject {
        Subject::Workflow { state, .. } => state.clone(),
        Subject::Agent { .. } => panic!("an agent session"),
    }
}

fn agent(host: &mut Host, session: &SessionId) -> AgentState {
    match &host.live(session).unwrap().subject {
        Subject::Agent { state, .. } => state.clone(),
        Subject::Workflow { .. } => panic!("a workflow session"),
    }
}

fn unknown_call(host: &mut Host, session: &SessionId) -> Option<(SessionId, String)> {
    let children = host.store().children(session).unwrap();
    children.into_iter().find_map(|row| {
        let state = agent(host, &row.session);
        state.turns.iter().find_map(|turn| match turn {
            Turn::Reply { calls, .. } => calls
                .iter()
                .find(|call| matches!(call.state, CallState::Unknown))
                .map(|call| (row.session.clone(), call.made.id.clone())),
            Turn::Said { .. } => None,
        })
    })
}

/// A person looks whether the change is there and records what they found.
fn resolve(host: &mut Host, session: &SessionId, how: &str) {
    let Some((child, call)) = unknown_call(host, session) else { return };
    let resolution = match how {
        "retry" => Resolution::Retry,
        _ => Resolution::Completed(ToolResult::Text("r-4711\n".to_owned())),
    };
    host.tell_agent(&child, AgentNews::Resolve { call, resolution, by: person("ada") }).unwrap();
}

/// Without the variables of a parent test this is the undisturbed story itself.
#[test]
fn the_operator_of_one_session() {
    let Ok(folder) = std::env::var("CRASH_FOLDER") else {
        let folder = tempfile::tempdir().unwrap();
        let writes = operate(folder.path(), When::Never, None).unwrap();
        assert!(writes > 20, "{writes}");
        return;
    };
    let when = match std::env::var("CRASH_WHEN").unwrap().split_once(' ').unwrap() {
        ("before", number) => When::Before(number.parse().unwrap()),
        ("after", number) => When::After(number.parse().unwrap()),
        _ => When::Never,
    };
    let settle = std::env::var("CRASH_SETTLE").ok();
    let code = match operate(Path::new(&folder), when, settle.as_deref()) {
        Ok(writes) => {
            std::fs::write(PathBuf::from(folder).join("writes"), writes.to_string()).unwrap();
            0
        }
        Err(code) => code,
    };
    std::process::exit(code);
}

fn process(folder: &Path, when: &str, settle: Option<&str>) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::the_operator_of_one_session", "--nocapture", "--test-threads", "1"])
        .env("CRASH_FOLDER", folder)
        .env("CRASH_WHEN", when)
        .env("FLOWRIGHT_TOOL_ENV", "CHANGES_FILE")
        .env("CHANGES_FILE", folder.join("changes"))
        .stdout(std::process::Stdio::null());
    if let Some(settle) = settle {
        command.env("CRASH_SETTLE", settle);
    }
    command.status().unwrap()
}

fn effects(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("changes")).map_or(0, |text| text.lines().count())
}

/// The events of the workflow session, instants masked: what happened, apart from when.
fn story(folder: &Path) -> Vec<Value> {
    fn mask(value: &mut Value) {
        match value {
            Value::String(text) if Timestamp::parse(text).is_ok() => *text = "T".to_owned(),
            Value::Array(items) => items.iter_mut().for_each(mask),
            Value::Object(map) => map.values_mut().for_each(mask),
            _ => {}
        }
    }
    let store = SqliteStore::open(&folder.join("db")).unwrap();
    let kept = store.events_after(&SessionId(SESSION.to_owned()), 0, 10_000).unwrap();
    kept.iter()
        .map(|event| {
            let mut value: Value = serde_json::from_str(&event.body).unwrap();
            mask(&mut value);
            value
        })
        .collect()
}

/// B39, B55, B60: killed before or after any write, the story ends as the undisturbed one, and no effect is repeated.
#[test]
fn b60_killed_between_any_two_writes_of_w04() {
    let calm = tempfile::tempdir().unwrap();
    assert_eq!(process(calm.path(), "never 0", None).code(), Some(0));
    let expected = story(calm.path());
    assert_eq!(effects(calm.path()), 1);
    let writes: u64 = std::fs::read_to_string(calm.path().join("writes")).unwrap().parse().unwrap();
    let mut held = Vec::new();
    for number in 1..=writes {
        for when in [format!("before {number}"), format!("after {number}")] {
            let folder = tempfile::tempdir().unwrap();
            let killed = process(folder.path(), &when, None);
            assert_eq!(killed.code(), None, "{when}: the process must die by the signal, not by {killed}");
            let mut next = process(folder.path(), "never 0", None);
            if next.code() == Some(ATTENTION) {
                let before = effects(folder.path());
                assert!(before <= 1, "{when}: {before} effects");
                held.push((when.clone(), before));
                let settle = if before == 0 { "retry" } else { "completed" };
                next = process(folder.path(), "never 0", Some(settle));
            }
            assert_eq!(next.code(), Some(0), "{when}");
            assert_eq!(effects(folder.path()), 1, "{when}");
            assert_eq!(story(folder.path()), expected, "{when}");
            let database = rusqlite::Connection::open(folder.path().join("db")).unwrap();
            let judged: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(judged, "ok", "{when}");
        }
    }
    // Right behind the admission nothing was done yet; right before the report everything was.
    let found: Vec<_> = held.iter().map(|(_, effects)| *effects).collect();
    assert_eq!(found, [0, 1], "{held:?}");
}
