//! Many processes and long readers on one database.

use super::Desk;
use flowright::engine::{IndexRow, SessionId, SessionKind};
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Append, NewEvent, Store};
use flowright::time::Timestamp;
use std::path::Path;

const PROCESSES: usize = 8;

/// Rounds of each process; `.ci/deep` makes it many.
fn rounds() -> usize {
    std::env::var("FLOWRIGHT_DEEP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

/// Eight processes start, step and complete their own sessions while a reader holds a transaction open: nobody sees an
/// error of the database, and nothing is lost (B69).
#[test]
fn b69_eight_processes_and_a_reader_share_a_database() {
    let desk = Desk::new();
    desk.tool("far", "echo never");
    desk.write(
        "agent.json",
        r#"{"slug":"a","modelUrl":"script:./replies.yaml","modelName":"x","systemPrompt":["You work."],
        "bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"./tools"}}],
        "toolCallPolicy":{"rules":[{"tool":"bash_far","disposition":{"tag":"defer","reason":"far away"}}]}}"#,
    );
    desk.write(
        "replies.yaml",
        "kind: script\nversion: 1\nreplies:\n  - contains: Go\n    call:\n      - bash_far: {}\n  - say: Done.\n",
    );
    desk.write("result", "seven");
    desk.json(0, &["session", "list"]);
    let reader = rusqlite::Connection::open(desk.path(".flowright/flowright.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let seen: i64 = reader.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 0);
    let rounds = rounds();
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let started =
                        desk.json(0, &["session", "start", "--agent-file", "agent.json", "-p", "Go."]);
                    let id = started["session"]["id"].as_str().unwrap().to_owned();
                    desk.json(3, &["session", "resume", &id]);
                    let pending = desk.json(0, &["session", "pending", &id]);
                    let token = pending["pending"][0]["token"].as_str().unwrap().to_owned();
                    desk.json(0, &["session", "complete", &token, "result"]);
                    desk.json(0, &["session", "resume", &id]);
                }
            });
        }
    });
    drop(reader);
    let list = desk.json(0, &["session", "list", "--limit", "1000"]);
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), PROCESSES * rounds);
    assert!(sessions.iter().all(|session| session["status"] == "idle"), "{list}");
}

fn append(session: &str, expected: u64) -> Append {
    Append {
        session: SessionId(session.to_owned()),
        expected,
        append_id: format!("{session}/{expected}"),
        events: vec![NewEvent { at: Timestamp(1), body: format!("{{\"n\":\"{:0>200}\"}}", expected) }],
        index: IndexRow {
            kind: SessionKind::Agent,
            title: "a".to_owned(),
            status: "ready".to_owned(),
            detail: String::new(),
            wake_at: None,
            tokens: Vec::new(),
            parent: None,
            owner: "ada".to_owned(),
            owes_work: false,
            ended: false,
        },
        blobs: Vec::new(),
    }
}

fn write(store: &SqliteStore, session: &str, count: u64) {
    store.create(&append(session, 0)).unwrap();
    for version in 1..count {
        store.append(&append(session, version)).unwrap();
    }
}

/// The log ahead of the database is bounded once a long reader has ended, whatever was written meanwhile (B72).
#[test]
fn b72_the_log_ahead_is_bounded_after_a_long_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = SqliteStore::open(&path).unwrap();
    write(&store, "before", 2);
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || write(store, &format!("s{number}"), 400));
        }
    });
    let ahead = || std::fs::metadata(folder.path().join("db-wal")).unwrap().len();
    let grown = ahead();
    assert!(grown > BOUND, "the reader was to hold the log: {grown}");
    drop(reader);
    write(&store, "after", 300);
    assert!(ahead() <= BOUND, "{} bytes after the reader has ended, {grown} before", ahead());
}

/// Twice a thousand pages of checkpoint, and what one commit may add.
const BOUND: u64 = 9 * 1024 * 1024;

/// A commit that finds the database locked waits and is one commit: each change stands once in the log (B73).
#[test]
fn b73_a_locked_database_delays_a_change_and_doubles_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = SqliteStore::open(&path).unwrap();
    write(&store, "s", 1);
    let (locked, released) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            locked.wait();
            released.wait();
            // The writer has begun and finds the lock; it is let go some busy retries later.
            std::thread::sleep(std::time::Duration::from_millis(300));
            other.execute_batch("ROLLBACK").unwrap();
        });
        locked.wait();
        scope.spawn(|| released.wait());
        for version in 1..4 {
            assert_eq!(store.append(&append("s", version)).unwrap(), version + 1);
        }
    });
    assert_eq!(bodies(&path), (1..=4).map(|n| format!("{{\"n\":\"{:0>200}\"}}", n - 1)).collect::<Vec<_>>());
}

fn bodies(path: &Path) -> Vec<String> {
    let store = SqliteStore::open(path).unwrap();
    let loaded = store.load(&SessionId("s".to_owned())).unwrap().unwrap();
    loaded.events.into_iter().map(|event| event.body).collect()
}

/// A database of the first shape is led to the newest one as it is opened, with everything that was in it.
#[test]
fn a_database_of_the_first_shape_goes_on() {
    let desk = Desk::new();
    let path = desk.path(".flowright/flowright.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(include_str!("../store/first-shape.sql"))
        .unwrap();
    let list = desk.json(0, &["session", "list"]);
    let statuses: Vec<&str> =
        list["sessions"].as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["awaiting_answer", "waiting_external"]);
    let pending = desk.json(0, &["session", "pending"]);
    let waiting = pending["pending"].as_array().unwrap();
    assert_eq!(waiting.len(), 2, "{pending}");
    desk.write("result", "a is 5");
    for call in waiting {
        desk.json(0, &["session", "complete", call["token"].as_str().unwrap(), "result"]);
    }
    let flow = list["sessions"][0]["id"].as_str().unwrap();
    let done = desk.json(0, &["session", "answer", flow, "yes", "--resume"]);
    assert_eq!(done["session"]["status"], "completed", "{done}");
    let version: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert!(version >= 2, "{version}");
}
