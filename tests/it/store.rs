//! The contract of every store: each property is a function over `&dyn Store`, run on all of them. What only a
//! database can promise stands in `sqlite`.

mod file;
mod sqlite;

use flowright::engine::{IndexRow, SessionId, SessionKind};
use flowright::ir::Digest;
use flowright::store::memory::MemoryStore;
use flowright::store::sqlite::SqliteStore;
use flowright::store::{
    Append, Created, Filter, KeptEvent, Lease, MAX_BLOB_BYTES, NewEvent, Store, StoreError,
};
use flowright::time::Timestamp;
use std::cell::RefCell;
use std::sync::Barrier;

macro_rules! contract {
    ($($name:ident)*) => {
        mod memory_keeps {
            $(#[test] fn $name() { super::$name(&super::MemoryStore::new()); })*
        }
        mod file_keeps {
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().unwrap();
                super::$name(&super::file::store(folder.path()));
            })*
        }
        mod composite_keeps {
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().unwrap();
                super::$name(&super::file::composite(folder.path()));
            })*
        }
        mod sqlite_keeps {
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().unwrap();
                super::$name(&super::SqliteStore::open(&folder.path().join("s.db")).unwrap());
            })*
        }
    };
}

contract! {
    create_is_fresh_then_same_then_exists
    append_moves_the_version_or_conflicts
    the_same_append_again_succeeds
    an_append_needs_events
    index_rows_and_tokens_are_replaced
    those_that_wait_are_listed_by_id
    tokens_of_another_session_are_not_taken
    due_is_ordered_and_limited
    next_due_is_the_earliest
    owing_lists_who_owes
    children_come_in_the_order_of_creation
    list_filters
    list_pages_meet_every_row_once
    leases_stand_lapse_and_renew
    a_dead_holder_is_asked_about_and_replaced
    only_the_holder_releases
    blobs_are_kept_and_required
    too_large_a_blob_is_refused
    events_after_follow
    delete_removes_everything
    one_winner_a_version
    numbers_at_the_edge_survive
}

fn id(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

fn index() -> IndexRow {
    IndexRow {
        kind: SessionKind::Workflow,
        title: "release".to_owned(),
        status: "active".to_owned(),
        detail: String::new(),
        wake_at: None,
        tokens: Vec::new(),
        parent: None,
        owner: "ada".to_owned(),
        owes_work: false,
        ended: false,
    }
}

fn event(at: i64, body: &str) -> NewEvent {
    NewEvent { at: Timestamp(at), body: body.to_owned() }
}

/// An append of one event, whose id and body follow from the session and the version.
fn append(session: &str, expected: u64, at: i64) -> Append {
    let name = format!("{session}-{expected}");
    Append {
        session: id(session),
        expected,
        append_id: name.clone(),
        events: vec![event(at, &format!("{{\"event\":\"{name}\"}}"))],
        index: index(),
        blobs: Vec::new(),
    }
}

fn with(mut append: Append, change: impl FnOnce(&mut IndexRow)) -> Append {
    change(&mut append.index);
    append
}

/// A new session whose index row is the usual one but for the change.
fn start(store: &dyn Store, session: &str, at: i64, change: impl FnOnce(&mut IndexRow)) {
    assert_eq!(store.create(&with(append(session, 0, at), change)), Ok(Created::Fresh));
}

fn names(ids: &[SessionId]) -> Vec<&str> {
    ids.iter().map(|id| id.0.as_str()).collect()
}

fn listed(store: &dyn Store, filter: &Filter) -> Vec<String> {
    store.list(filter).unwrap().into_iter().map(|row| row.session.0).collect()
}

fn create_is_fresh_then_same_then_exists(store: &dyn Store) {
    let mut first = append("a", 0, 1000);
    first.events.push(event(1001, "{}"));
    assert_eq!(store.load(&id("a")), Ok(None));
    assert_eq!(store.row(&id("a")), Ok(None));
    assert_eq!(
        store.create(&Append { expected: 1, ..first.clone() }),
        Err(StoreError::Conflict { actual: 0 })
    );
    assert_eq!(store.create(&first), Ok(Created::Fresh));
    assert_eq!(store.create(&first), Ok(Created::Same));
    store.append(&append("a", 2, 2000)).unwrap();
    // Later stamps, ids and index rows make no other session of it; another first event does.
    let mut later = with(append("a", 0, 9000), |row| row.title = "changed".to_owned());
    later.append_id = "again".to_owned();
    assert_eq!(store.create(&later), Ok(Created::Same));
    later.events[0].body = "{\"other\":1}".to_owned();
    assert_eq!(store.create(&later), Err(StoreError::Exists));
    let loaded = store.load(&id("a")).unwrap().unwrap();
    assert_eq!((loaded.kind, loaded.version), (SessionKind::Workflow, 3));
    let kept: Vec<_> =
        loaded.events.iter().map(|event| (event.sequence, event.at.0, event.body.as_str())).collect();
    assert_eq!(kept, [(1, 1000, "{\"event\":\"a-0\"}"), (2, 1001, "{}"), (3, 2000, "{\"event\":\"a-2\"}")]);
    let row = store.row(&id("a")).unwrap().unwrap();
    assert_eq!((row.created_at.0, row.updated_at.0, row.index.title.as_str()), (1000, 2000, "release"));
}

fn append_moves_the_version_or_conflicts(store: &dyn Store) {
    assert_eq!(store.append(&append("a", 0, 1)), Err(StoreError::Unknown));
    start(store, "a", 1, |_| {});
    assert_eq!(store.append(&append("a", 1, 2)), Ok(2));
    let mut stale = with(append("a", 1, 3), |row| row.status = "stale".to_owned());
    stale.append_id = "stale".to_owned();
    assert_eq!(store.append(&stale), Err(StoreError::Conflict { actual: 2 }));
    stale.expected = 7;
    assert_eq!(store.append(&stale), Err(StoreError::Conflict { actual: 2 }));
    assert_eq!(store.load(&id("a")).unwrap().unwrap().events.len(), 2);
    assert_eq!(store.row(&id("a")).unwrap().unwrap().index.status, "active");
}

fn the_same_append_again_succeeds(store: &dyn Store) {
    start(store, "a", 1, |_| {});
    let mut next = append("a", 1, 2);
    next.events.push(event(3, "{}"));
    assert_eq!(store.append(&next), Ok(3));
    assert_eq!(store.append(&next), Ok(3));
    assert_eq!(store.load(&id("a")).unwrap().unwrap().version, 3);
    assert_eq!(store.append(&append("a", 3, 4)), Ok(4));
    assert_eq!(store.append(&next), Err(StoreError::Conflict { actual: 4 }));
}

fn an_append_needs_events(store: &dyn Store) {
    start(store, "a", 1, |_| {});
    let empty = |session: &str, expected| Append { events: Vec::new(), ..append(session, expected, 1) };
    assert!(matches!(store.append(&empty("a", 1)), Err(StoreError::Io { .. })));
    assert!(matches!(store.create(&empty("b", 0)), Err(StoreError::Io { .. })));
    assert_eq!(store.row(&id("b")), Ok(None));
}

fn index_rows_and_tokens_are_replaced(store: &dyn Store) {
    start(store, "a", 1, |row| {
        row.tokens = vec!["t2".to_owned(), "t1".to_owned(), "t1".to_owned()];
        row.wake_at = Some(Timestamp(5));
        row.owes_work = true;
    });
    assert_eq!(store.by_token("t1"), Ok(Some(id("a"))));
    assert_eq!(store.by_token("t2"), Ok(Some(id("a"))));
    assert_eq!(store.row(&id("a")).unwrap().unwrap().index.tokens, ["t1", "t2"]);
    let wanted = IndexRow {
        kind: SessionKind::Agent,
        title: "reviewer".to_owned(),
        status: "awaiting_review".to_owned(),
        detail: "zeile ✓".to_owned(),
        wake_at: None,
        tokens: vec!["t2".to_owned(), "t3".to_owned()],
        parent: Some(id("p")),
        owner: "bo".to_owned(),
        owes_work: false,
        ended: true,
    };
    store.append(&with(append("a", 1, 2), |row| *row = wanted.clone())).unwrap();
    let row = store.row(&id("a")).unwrap().unwrap();
    assert_eq!((row.index, row.version, row.session), (wanted, 2, id("a")));
    // It waits under it no more, and is still found by it.
    assert_eq!(store.by_token("t1"), Ok(Some(id("a"))));
    assert_eq!(store.by_token("t2"), Ok(Some(id("a"))));
    assert_eq!(store.by_token("t3"), Ok(Some(id("a"))));
    assert_eq!(store.due(Timestamp(100), 10), Ok(vec![]));
    assert_eq!(store.owing(10), Ok(vec![]));
    // A refused append replaces nothing.
    let mut stale = with(append("a", 1, 3), |row| row.tokens = vec!["t9".to_owned()]);
    stale.append_id = "stale".to_owned();
    assert_eq!(store.append(&stale), Err(StoreError::Conflict { actual: 2 }));
    assert_eq!(store.by_token("t3"), Ok(Some(id("a"))));
    assert_eq!(store.by_token("t9"), Ok(None));
}

fn tokens_of_another_session_are_not_taken(store: &dyn Store) {
    start(store, "a", 1, |row| row.tokens = vec!["t1".to_owned()]);
    start(store, "b", 1, |_| {});
    let thief = with(append("b", 1, 2), |row| row.tokens = vec!["t0".to_owned(), "t1".to_owned()]);
    assert!(matches!(store.append(&thief), Err(StoreError::Io { .. })));
    assert_eq!(store.by_token("t1"), Ok(Some(id("a"))));
    assert_eq!(store.by_token("t0"), Ok(None));
    assert_eq!(store.load(&id("b")).unwrap().unwrap().version, 1);
}

fn those_that_wait_are_listed_by_id(store: &dyn Store) {
    for name in ["c", "a", "d", "b"] {
        start(store, name, 1, |row| row.tokens = vec![format!("{name}1"), format!("{name}2")]);
    }
    start(store, "e", 1, |_| {});
    store.append(&with(append("b", 1, 2), |row| row.tokens = Vec::new())).unwrap();
    store.append(&with(append("c", 1, 2), |row| row.tokens = vec!["c2".to_owned()])).unwrap();
    assert_eq!(store.awaiting(None, 10), Ok(vec![id("a"), id("c"), id("d")]));
    assert_eq!(store.awaiting(None, 2), Ok(vec![id("a"), id("c")]));
    assert_eq!(store.awaiting(Some(&id("a")), 2), Ok(vec![id("c"), id("d")]));
    assert_eq!(store.by_token("b1"), Ok(Some(id("b"))));
    // One that waits again under a token of its own may.
    store.append(&with(append("b", 2, 3), |row| row.tokens = vec!["b1".to_owned()])).unwrap();
    assert_eq!(store.awaiting(None, 2), Ok(vec![id("a"), id("b")]));
}

fn due_is_ordered_and_limited(store: &dyn Store) {
    for (name, wake_at) in [("a", Some(30)), ("b", Some(10)), ("c", None), ("d", Some(20)), ("e", Some(10))] {
        start(store, name, 1, |row| row.wake_at = wake_at.map(Timestamp));
    }
    assert_eq!(names(&store.due(Timestamp(9), 10).unwrap()), [""; 0]);
    assert_eq!(names(&store.due(Timestamp(10), 10).unwrap()), ["b", "e"]);
    assert_eq!(names(&store.due(Timestamp(29), 10).unwrap()), ["b", "e", "d"]);
    assert_eq!(names(&store.due(Timestamp(30), 3).unwrap()), ["b", "e", "d"]);
    assert_eq!(names(&store.due(Timestamp(30), 9).unwrap()), ["b", "e", "d", "a"]);
}

fn next_due_is_the_earliest(store: &dyn Store) {
    assert_eq!(store.next_due(), Ok(None));
    start(store, "a", 1, |row| row.wake_at = Some(Timestamp(30)));
    start(store, "b", 1, |row| row.wake_at = Some(Timestamp(20)));
    start(store, "c", 1, |_| {});
    assert_eq!(store.next_due(), Ok(Some(Timestamp(20))));
    store.append(&append("b", 1, 2)).unwrap();
    assert_eq!(store.next_due(), Ok(Some(Timestamp(30))));
}

fn owing_lists_who_owes(store: &dyn Store) {
    for (name, at, owes) in [("a", 3, true), ("b", 2, false), ("c", 1, true), ("d", 2, true)] {
        start(store, name, at, |row| row.owes_work = owes);
    }
    assert_eq!(names(&store.owing(10).unwrap()), ["c", "d", "a"]);
    assert_eq!(names(&store.owing(2).unwrap()), ["c", "d"]);
    // Who was served goes behind the others; who owes no more is gone.
    store.append(&with(append("c", 1, 9), |row| row.owes_work = true)).unwrap();
    store.append(&append("d", 1, 9)).unwrap();
    assert_eq!(names(&store.owing(10).unwrap()), ["a", "c"]);
}

fn children_come_in_the_order_of_creation(store: &dyn Store) {
    start(store, "p", 1, |_| {});
    for (name, at, parent) in [("z", 2, "p"), ("y", 3, "p"), ("x", 4, "q"), ("w", 5, "p"), ("v", 5, "p")] {
        start(store, name, at, |row| {
            row.parent = Some(id(parent));
            row.tokens = vec![format!("token of {name}")];
        });
    }
    let rows = store.children(&id("p")).unwrap();
    let found: Vec<_> =
        rows.iter().map(|row| (row.session.0.as_str(), row.index.tokens[0].as_str())).collect();
    assert_eq!(found, [("z", "token of z"), ("y", "token of y"), ("w", "token of w"), ("v", "token of v")]);
    assert_eq!(store.children(&id("z")), Ok(vec![]));
}

fn list_filters(store: &dyn Store) {
    start(store, "a", 1, |_| {});
    start(store, "b", 2, |row| row.kind = SessionKind::Agent);
    start(store, "c", 3, |row| row.ended = true);
    start(store, "d", 4, |row| {
        row.kind = SessionKind::Agent;
        row.parent = Some(id("a"));
    });
    let all = Filter::default();
    assert_eq!(listed(store, &all), ["d", "c", "b", "a"]);
    assert_eq!(listed(store, &Filter { kind: Some(SessionKind::Agent), ..all.clone() }), ["d", "b"]);
    assert_eq!(listed(store, &Filter { kind: Some(SessionKind::Workflow), ..all.clone() }), ["c", "a"]);
    assert_eq!(listed(store, &Filter { ended: Some(true), ..all.clone() }), ["c"]);
    assert_eq!(listed(store, &Filter { ended: Some(false), ..all.clone() }), ["d", "b", "a"]);
    assert_eq!(listed(store, &Filter { roots_only: true, ..all.clone() }), ["c", "b", "a"]);
    let narrow =
        Filter { kind: Some(SessionKind::Agent), ended: Some(false), roots_only: true, ..Filter::default() };
    assert_eq!(listed(store, &narrow), ["b"]);
    assert_eq!(store.list(&Filter { after: Some(id("none")), ..all }), Err(StoreError::Unknown));
}

fn list_pages_meet_every_row_once(store: &dyn Store) {
    for n in 0..103 {
        // Several sessions share a stamp: the id decides among them.
        start(store, &format!("s{n:03}"), n / 4, |_| {});
    }
    let expected: Vec<String> = (0..103).rev().map(|n| format!("s{n:03}")).collect();
    assert_eq!(listed(store, &Filter::default()), expected[..100]);
    let mut met = Vec::new();
    let mut after = None;
    loop {
        let page = listed(store, &Filter { limit: 7, after: after.clone(), ..Filter::default() });
        let Some(last) = page.last() else { break };
        after = Some(id(last));
        met.extend(page);
    }
    assert_eq!(met, expected);
}

fn lease(holder: &str, until: i64) -> Lease {
    Lease { session: id("a"), holder: holder.to_owned(), until: Timestamp(until) }
}

fn alive(_: &str) -> bool {
    false
}

fn leases_stand_lapse_and_renew(store: &dyn Store) {
    assert_eq!(store.lease(&lease("h1", 100), Timestamp(10), &alive), Ok(None));
    assert_eq!(store.lease(&lease("h2", 200), Timestamp(99), &alive), Ok(Some(lease("h1", 100))));
    assert_eq!(store.lease(&lease("h1", 150), Timestamp(99), &alive), Ok(None));
    assert_eq!(store.lease(&lease("h2", 200), Timestamp(149), &alive), Ok(Some(lease("h1", 150))));
    assert_eq!(store.lease(&lease("h2", 200), Timestamp(150), &alive), Ok(None));
    assert_eq!(store.lease(&lease("h1", 300), Timestamp(151), &alive), Ok(Some(lease("h2", 200))));
    let other = Lease { session: id("b"), ..lease("h1", 300) };
    assert_eq!(store.lease(&other, Timestamp(151), &alive), Ok(None));
}

fn a_dead_holder_is_asked_about_and_replaced(store: &dyn Store) {
    let asked = RefCell::new(Vec::new());
    let dead = |holder: &str| {
        // The callback may ask the store itself.
        assert_eq!(store.row(&id("a")), Ok(None));
        asked.borrow_mut().push(holder.to_owned());
        holder == "h1"
    };
    assert_eq!(store.lease(&lease("h1", 100), Timestamp(10), &dead), Ok(None));
    assert_eq!(store.lease(&lease("h2", 100), Timestamp(20), &dead), Ok(None));
    assert_eq!(store.lease(&lease("h3", 100), Timestamp(20), &dead), Ok(Some(lease("h2", 100))));
    assert_eq!(*asked.borrow(), ["h1", "h2"]);
}

fn only_the_holder_releases(store: &dyn Store) {
    store.release(&id("a"), "h1").unwrap();
    store.lease(&lease("h1", 100), Timestamp(10), &alive).unwrap();
    store.release(&id("a"), "h2").unwrap();
    assert_eq!(store.lease(&lease("h2", 100), Timestamp(20), &alive), Ok(Some(lease("h1", 100))));
    store.release(&id("a"), "h1").unwrap();
    assert_eq!(store.lease(&lease("h2", 100), Timestamp(20), &alive), Ok(None));
}

fn blobs_are_kept_and_required(store: &dyn Store) {
    let bytes = b"\x00\xffreport".as_slice();
    let digest = Digest::of(bytes);
    assert_eq!(store.blob(&digest), Ok(None));
    start(store, "a", 1, |_| {});
    let mut next = with(append("a", 1, 2), |row| row.tokens = vec!["t1".to_owned()]);
    next.blobs = vec![digest.clone(), digest.clone()];
    assert!(matches!(store.append(&next), Err(StoreError::Blob { .. })));
    let new = Append { blobs: vec![digest.clone()], ..append("b", 0, 1) };
    assert!(matches!(store.create(&new), Err(StoreError::Blob { .. })));
    assert_eq!(store.load(&id("a")).unwrap().unwrap().version, 1);
    assert_eq!(store.by_token("t1"), Ok(None));
    assert_eq!(store.load(&id("b")), Ok(None));
    assert_eq!(store.put_blob(bytes), Ok(digest.clone()));
    assert_eq!(store.put_blob(bytes), Ok(digest.clone()));
    assert_eq!(store.put_blob(b""), Ok(Digest::of(b"")));
    assert_eq!(store.append(&next), Ok(2));
    assert_eq!(store.create(&new), Ok(Created::Fresh));
    assert_eq!(store.blob(&digest), Ok(Some(bytes.to_vec())));
    assert_eq!(store.blob(&Digest::of(b"")), Ok(Some(vec![])));
}

fn too_large_a_blob_is_refused(store: &dyn Store) {
    let bytes = vec![0; MAX_BLOB_BYTES + 1];
    assert!(matches!(store.put_blob(&bytes), Err(StoreError::Blob { .. })));
}

fn events_after_follow(store: &dyn Store) {
    assert_eq!(store.events_after(&id("a"), 0, 10), Err(StoreError::Unknown));
    start(store, "a", 1, |_| {});
    for version in 1..5 {
        store.append(&append("a", version, 1)).unwrap();
    }
    let sequences = |version, limit| {
        let events: Vec<KeptEvent> = store.events_after(&id("a"), version, limit).unwrap();
        events.iter().map(|event| event.sequence).collect::<Vec<_>>()
    };
    assert_eq!(sequences(0, 10), [1, 2, 3, 4, 5]);
    assert_eq!(sequences(2, 2), [3, 4]);
    assert_eq!(sequences(5, 10), [0; 0]);
    assert_eq!(sequences(u64::MAX, 10), [0; 0]);
}

fn delete_removes_everything(store: &dyn Store) {
    assert_eq!(store.delete(&id("a")), Err(StoreError::Unknown));
    let digest = store.put_blob(b"x").unwrap();
    let first = with(append("a", 0, 1), |row| {
        row.tokens = vec!["t1".to_owned()];
        row.wake_at = Some(Timestamp(1));
    });
    store.create(&Append { blobs: vec![digest.clone()], ..first }).unwrap();
    start(store, "b", 1, |row| row.parent = Some(id("a")));
    store.lease(&lease("h1", 100), Timestamp(1), &alive).unwrap();
    store.delete(&id("a")).unwrap();
    assert_eq!(store.load(&id("a")), Ok(None));
    assert_eq!(store.by_token("t1"), Ok(None));
    assert_eq!(store.next_due(), Ok(None));
    assert_eq!(store.lease(&lease("h2", 100), Timestamp(2), &alive), Ok(None));
    assert_eq!(store.load(&id("b")).unwrap().unwrap().version, 1);
    assert_eq!(store.delete(&id("a")), Err(StoreError::Unknown));
    assert_eq!(store.create(&append("a", 0, 7)), Ok(Created::Fresh));
}

fn one_winner_a_version(store: &dyn Store) {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 12;
    start(store, "a", 1, |_| {});
    let barrier = Barrier::new(THREADS as usize);
    let contend = |thread: u64| {
        let mut wins = Vec::new();
        for expected in 1..=ROUNDS {
            barrier.wait();
            let name = format!("{thread}-{expected}");
            let body = format!("{{\"by\":\"{name}\"}}");
            let next = Append { append_id: name, events: vec![event(1, &body)], ..append("a", expected, 1) };
            match store.append(&next) {
                Ok(version) => wins.push((version, body)),
                Err(error) => assert_eq!(error, StoreError::Conflict { actual: expected + 1 }),
            }
        }
        wins
    };
    let contend = &contend;
    let mut wins: Vec<(u64, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || contend(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    wins.sort();
    let kept: Vec<_> = store.events_after(&id("a"), 1, 1000).unwrap();
    let kept: Vec<_> = kept.into_iter().map(|event| (event.sequence, event.body)).collect();
    assert_eq!(kept.len() as u64, ROUNDS);
    assert_eq!(wins, kept);
}

fn numbers_at_the_edge_survive(store: &dyn Store) {
    start(store, "a", i64::MIN, |row| row.wake_at = Some(Timestamp(i64::MIN)));
    start(store, "b", i64::MAX, |row| row.wake_at = Some(Timestamp(i64::MAX)));
    assert_eq!(listed(store, &Filter::default()), ["b", "a"]);
    assert_eq!(listed(store, &Filter { after: Some(id("b")), ..Filter::default() }), ["a"]);
    assert_eq!(names(&store.due(Timestamp(i64::MAX), u32::MAX).unwrap()), ["a", "b"]);
    assert_eq!(store.next_due(), Ok(Some(Timestamp(i64::MIN))));
}
