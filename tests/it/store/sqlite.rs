//! What only a database can promise: it outlives processes, refuses what it does not know, and shares commits.

use super::{append, event, id, lease, start};
use flowright::ir::Digest;
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Append, Created, Store, StoreError};
use flowright::time::Timestamp;
use rusqlite::Connection;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};

/// Names the database to the child process of the kill test.
const CHILD: &str = "FLOWRIGHT_TEST_STORE_CHILD";

fn refused_untouched(path: &Path) -> String {
    let before = std::fs::read(path).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert_eq!(std::fs::read(path).unwrap(), before);
    match error {
        StoreError::Shape { message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn reopened_it_has_kept_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let (loaded, row, digest) = {
        let store = SqliteStore::open(&path).unwrap();
        start(&store, "a", 1, |row| row.tokens = vec!["t1".to_owned()]);
        let digest = store.put_blob(b"bytes").unwrap();
        let mut next = append("a", 1, 2);
        next.blobs = vec![digest.clone()];
        next.index.wake_at = Some(Timestamp(77));
        next.index.tokens = vec!["t2".to_owned()];
        store.append(&next).unwrap();
        store.lease(&lease("h1", 100), Timestamp(1), &|_| false).unwrap();
        (store.load(&id("a")), store.row(&id("a")), digest)
    };
    // The last connection folded the log into the database.
    assert!(!folder.path().join("s.db-wal").exists());
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(loaded.as_ref().unwrap().as_ref().unwrap().version, 2);
    assert_eq!(store.load(&id("a")), loaded);
    assert_eq!(store.row(&id("a")), row);
    assert_eq!(store.by_token("t2"), Ok(Some(id("a"))));
    assert_eq!(store.blob(&digest), Ok(Some(b"bytes".to_vec())));
    assert_eq!(store.next_due(), Ok(Some(Timestamp(77))));
    assert_eq!(store.lease(&lease("h2", 200), Timestamp(1), &|_| false), Ok(Some(lease("h1", 100))));
    assert_eq!(store.append(&append("a", 1, 2)), Ok(2), "the last append is still known");
}

#[test]
#[cfg(unix)]
fn folders_and_file_are_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x/y/s.db");
    let store = SqliteStore::open(&path).unwrap();
    start(&store, "a", 1, |_| {});
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("x"), mode("x/y")), (0o700, 0o700));
    assert_eq!((mode("x/y/s.db"), mode("x/y/s.db-wal"), mode("x/y/s.db-shm")), (0o600, 0o600, 0o600));
}

#[test]
fn a_newer_shape_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    drop(SqliteStore::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(refused_untouched(&path).contains("newer"));
}

#[test]
fn what_is_not_ours_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    assert!(refused_untouched(&path).contains("another program"));
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "no database at all, but long enough to be read as one. ".repeat(40)).unwrap();
    assert!(refused_untouched(&path).contains("no database"));
    assert!(matches!(SqliteStore::open(folder.path()), Err(StoreError::Io { .. })));
    assert!(matches!(SqliteStore::with_synchronous(&path, "sometimes"), Err(StoreError::Io { .. })));
}

#[test]
fn tampered_bytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = SqliteStore::open(&path).unwrap();
    let digest = store.put_blob(b"evidence").unwrap();
    let other = store.put_blob(b"other").unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute("UPDATE blobs SET bytes = x'00' WHERE digest = ?1", [digest.as_str()]).unwrap();
    assert!(matches!(store.blob(&digest), Err(StoreError::Blob { .. })));
    assert_eq!(store.blob(&other), Ok(Some(b"other".to_vec())));
    assert_eq!(store.put_blob(b"evidence"), Ok(digest.clone()));
    assert_eq!(store.blob(&digest), Ok(Some(b"evidence".to_vec())));
}

#[test]
fn missing_events_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = SqliteStore::open(&path).unwrap();
    start(&store, "a", 1, |_| {});
    store.append(&append("a", 1, 2)).unwrap();
    Connection::open(&path).unwrap().execute("DELETE FROM events WHERE sequence = 1", []).unwrap();
    assert!(matches!(store.load(&id("a")), Err(StoreError::Io { .. })));
}

/// Requests pile up behind a lock that another connection holds, then go together; one that conflicts among them
/// takes back only its own.
#[test]
fn waiting_appends_share_commits() {
    const THREADS: usize = 24;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..THREADS {
        start(&store, &format!("s{n}"), 1, |_| {});
    }
    start(&store, "holder", 1, |row| row.tokens = vec!["t1".to_owned()]);
    start(&store, "thief", 1, |_| {});
    let before = store.commits();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let barrier = Barrier::new(THREADS + 2);
    std::thread::scope(|scope| {
        let (store, barrier) = (&store, &barrier);
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                scope.spawn(move || {
                    barrier.wait();
                    store.append(&append(&format!("s{n}"), 1, 2))
                })
            })
            .collect();
        let stale = scope.spawn(move || {
            barrier.wait();
            store.append(&append("s0", 7, 2))
        });
        // Refused only after its events were written: they must not go along with the commit of the others.
        let thief = scope.spawn(move || {
            let mut next = append("thief", 1, 2);
            next.index.tokens = vec!["t1".to_owned()];
            barrier.wait();
            store.append(&next)
        });
        while store.waiting() < THREADS as u64 + 2 {
            // Nobody can be answered while the lock is held.
            assert!(!threads.iter().any(std::thread::ScopedJoinHandle::is_finished));
            std::thread::yield_now();
        }
        assert_eq!(store.commits(), before);
        other.execute_batch("COMMIT").unwrap();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(2));
        }
        assert!(matches!(thief.join().unwrap(), Err(StoreError::Io { .. })));
        assert!(matches!(stale.join().unwrap(), Err(StoreError::Conflict { actual: 1 | 2 })));
    });
    let thief = store.events_after(&id("thief"), 0, 10).unwrap();
    assert_eq!((thief.len(), store.load(&id("thief")).unwrap().unwrap().version), (1, 1));
    assert_eq!(store.by_token("t1"), Ok(Some(id("holder"))));
    assert_eq!(store.commits() - before, 1, "all that waited when the lock was had");
    for n in 0..THREADS {
        assert_eq!(store.load(&id(&format!("s{n}"))).unwrap().unwrap().version, 2);
    }
}

/// A COMMIT that fails acknowledges nobody, and the store goes on afterwards.
#[test]
fn a_failed_commit_acknowledges_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let store = SqliteStore::open(&path).unwrap();
    start(&store, "a", 1, |_| {});
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "CREATE TABLE bomb (x TEXT REFERENCES sessions DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER fuse AFTER INSERT ON events BEGIN INSERT INTO bomb VALUES ('nobody'); END;",
    )
    .unwrap();
    assert!(matches!(store.append(&append("a", 1, 2)), Err(StoreError::Io { .. })));
    assert!(matches!(store.create(&append("b", 0, 2)), Err(StoreError::Io { .. })));
    assert_eq!(store.load(&id("a")).unwrap().unwrap().version, 1);
    assert_eq!(store.load(&id("b")), Ok(None));
    conn.execute_batch("DROP TRIGGER fuse").unwrap();
    assert_eq!(store.append(&append("a", 1, 2)), Ok(2));
    assert_eq!(store.create(&append("b", 0, 2)), Ok(Created::Fresh));
}

#[test]
fn two_stores_on_one_database_fence_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = Arc::new(folder.path().join("s.db"));
    // Opened at once, on a file that is not there yet: one of them makes the shape.
    let barrier = Arc::new(Barrier::new(4));
    let open = || {
        let (path, barrier) = (Arc::clone(&path), Arc::clone(&barrier));
        std::thread::spawn(move || {
            barrier.wait();
            SqliteStore::open(&path).unwrap()
        })
    };
    let threads: Vec<_> = (0..4).map(|_| open()).collect();
    let stores: Vec<SqliteStore> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let first = append("a", 0, 1);
    assert_eq!(stores[0].create(&first), Ok(Created::Fresh));
    assert_eq!(stores[1].create(&first), Ok(Created::Same));
    assert_eq!(stores[2].append(&append("a", 1, 2)), Ok(2));
    let late = Append { append_id: "late".to_owned(), ..append("a", 1, 2) };
    assert_eq!(stores[3].append(&late), Err(StoreError::Conflict { actual: 2 }));
    assert_eq!(stores[3].load(&id("a")).unwrap().unwrap().version, 2);
}

/// The child of the next test: appends without end and says after each that it was acknowledged.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = SqliteStore::open(Path::new(&path)).unwrap();
    start(&store, "a", 1, |_| {});
    for version in 1.. {
        let mut next = append("a", version, 1);
        next.events.push(event(1, &format!("\"{}\"", "x".repeat(2000))));
        next.expected = store.load(&id("a")).unwrap().unwrap().version;
        let reached = store.append(&next).unwrap();
        // Straight to the descriptor: the harness captures only what is printed by macros.
        writeln!(std::io::stdout(), "acknowledged {reached}").unwrap();
    }
}

#[test]
fn killed_in_mid_writing_it_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::sqlite::child_that_writes_until_it_is_killed", "--nocapture"])
        .env(CHILD, &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let number =
        |line: &str| line.split_once("acknowledged ").map(|(_, number)| number.parse::<u64>().unwrap());
    let mut acknowledged = 0;
    while acknowledged < 41 {
        let line = lines.next().expect("the child ended by itself").unwrap();
        acknowledged = number(&line).unwrap_or(acknowledged);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What it still said before the signal counts too; the last line may be torn.
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    for line in &rest[..rest.len().saturating_sub(1)] {
        acknowledged = number(line).unwrap_or(acknowledged);
    }
    let store = SqliteStore::open(&path).unwrap();
    let loaded = store.load(&id("a")).unwrap().unwrap();
    assert!(loaded.version >= acknowledged, "{} < {acknowledged}", loaded.version);
    assert_eq!(loaded.version % 2, 1, "an append of two events is kept whole or not at all");
    let check: String =
        Connection::open(&path).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    assert_eq!(store.append(&append("a", loaded.version, 9)), Ok(loaded.version + 1));
    assert_eq!(store.blob(&Digest::of(b"none")), Ok(None));
}
