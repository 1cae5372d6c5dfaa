//! What a store of files promises beyond the contract, and several stores as one.

use super::{Append, append, id, start, with};
use flowright::engine::{IndexRow, SessionId, SessionKind};
use flowright::ir::Digest;
use flowright::store::composite::CompositeStore;
use flowright::store::file::{Adopted, FileStore, Forms};
use flowright::store::memory::MemoryStore;
use flowright::store::{Filter, KeptEvent, NewEvent, Store, StoreError};
use flowright::time::Timestamp;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// Documents as this test has them: how many events there are, and old ones that say `old`.
struct Plain;

impl Forms for Plain {
    fn outer(
        &self,
        session: &SessionId,
        events: &[KeptEvent],
        _: &dyn Fn(&Digest) -> Option<Vec<u8>>,
    ) -> Map<String, Value> {
        let Value::Object(map) = json!({ "sessionId": session.0, "turns": events.len() }) else { panic!() };
        map
    }

    fn adopt(&self, _: &SessionId, document: &Value, at: Timestamp) -> Result<Adopted, String> {
        let old = document.get("old").and_then(Value::as_str).ok_or("is no session file")?;
        let event = |body: &str| NewEvent { at, body: body.to_owned() };
        Ok(Adopted {
            events: vec![event("\"started\""), event(&json!(old).to_string())],
            index: row(),
            blobs: vec![old.as_bytes().to_vec()],
        })
    }
}

fn row() -> IndexRow {
    super::append("x", 0, 1).index
}

pub(super) fn store(folder: &Path) -> FileStore {
    FileStore::open(&folder.join("sessions"), Box::new(Plain)).unwrap()
}

pub(super) fn composite(folder: &Path) -> CompositeStore {
    let (second, third) = (MemoryStore::new(), MemoryStore::new());
    CompositeStore::new(Arc::new(store(folder)), vec![Arc::new(second), Arc::new(third)])
}

fn document(folder: &Path, name: &str) -> Value {
    let bytes = std::fs::read(folder.join(format!("sessions/conv.{name}.json"))).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Everything comes back in another process: events byte for byte, settled tokens, leases, blobs.
#[test]
fn what_is_written_is_read_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let first = store(folder.path());
    start(&first, "a", 1, |row| row.tokens = vec!["t1".to_owned(), "t2".to_owned()]);
    let digest = first.put_blob(b"kept").unwrap();
    let mut next = with(append("a", 1, 2), |row| row.tokens = vec!["t2".to_owned()]);
    next.events[0].body = "{ \"n\" :  1.50e3, \"s\": \"\\u00e9\" }".to_owned();
    next.blobs = vec![digest.clone()];
    first.append(&next).unwrap();
    let second = store(folder.path());
    assert_eq!(second.load(&id("a")), first.load(&id("a")));
    assert_eq!(second.row(&id("a")), first.row(&id("a")));
    assert_eq!(second.by_token("t1"), Ok(Some(id("a"))));
    assert_eq!(second.awaiting(None, 9), Ok(vec![id("a")]));
    assert_eq!(second.blob(&digest), Ok(Some(b"kept".to_vec())));
    assert_eq!(second.append(&next), Ok(2), "the same append again");
    assert_eq!(document(folder.path(), "a")["turns"], 2);
    // What one writes the other sees, and only one of two appends at a version is taken.
    assert_eq!(second.append(&append("a", 2, 3)), Ok(3));
    let late = Append { append_id: "late".to_owned(), ..append("a", 2, 4) };
    assert_eq!(first.append(&late), Err(StoreError::Conflict { actual: 3 }));
    second.delete(&id("a")).unwrap();
    assert_eq!(first.row(&id("a")), Ok(None));
    assert_eq!(first.by_token("t1"), Ok(None));
}

/// R31, R44: a file of another tool is a session, stays as it is while it is read, and is whole once it is written.
#[test]
fn files_of_other_tools_are_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let files = store(folder.path());
    let path = folder.path().join("sessions/conv.old-1.json");
    std::fs::write(&path, r#"{ "old": "hello", "more": 1 }"#).unwrap();
    let loaded = files.load(&id("old-1")).unwrap().unwrap();
    assert_eq!(loaded.events[1].body, "\"hello\"");
    assert_eq!(files.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(files.blob(&Digest::of(b"hello")), Ok(Some(b"hello".to_vec())));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), r#"{ "old": "hello", "more": 1 }"#);
    assert_eq!(files.append(&append("old-1", 2, 3)), Ok(3));
    let other = store(folder.path());
    assert_eq!(other.load(&id("old-1")).unwrap().unwrap().events[..2], loaded.events[..]);
    assert_eq!(other.blob(&Digest::of(b"hello")), Ok(Some(b"hello".to_vec())));
}

/// A document that cannot be read is told of by name, hides no other, and is never written over.
#[test]
fn broken_documents_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files = store(folder.path());
    start(&files, "good", 1, |_| {});
    for (name, text, says) in [
        ("empty", "", "is no JSON"),
        ("half", "{\"flowright\": {", "is no JSON"),
        ("other", "{}", "is no session file"),
        ("newer", r#"{"flowright": {"format": 99}}"#, "was written by a newer flowright"),
        ("wrong", r#"{"flowright": {"format": 1, "events": 3}}"#, "cannot be read"),
    ] {
        let path = folder.path().join(format!("sessions/conv.{name}.json"));
        std::fs::write(&path, text).unwrap();
        let Err(StoreError::Shape { message }) = files.load(&id(name)) else { panic!("{name}") };
        assert!(message.contains(says) && message.contains(name), "{name}: {message}");
        assert!(matches!(files.append(&append(name, 1, 2)), Err(StoreError::Shape { .. })), "{name}");
        assert!(matches!(files.create(&append(name, 0, 1)), Err(StoreError::Shape { .. })), "{name}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    let listed = files.list(&Filter::default()).unwrap();
    assert_eq!(listed.iter().map(|row| row.session.0.as_str()).collect::<Vec<_>>(), ["good"]);
}

/// An id becomes a file name, and a digest a path; neither leads out of the folder.
#[test]
fn names_lead_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let files = store(folder.path());
    for name in ["../out", "a/b", ".", "", "a b", "nul\0"] {
        assert!(matches!(files.create(&append(name, 0, 1)), Err(StoreError::Io { .. })), "{name:?}");
        assert_eq!(files.row(&id(name)), Ok(None), "{name:?}");
    }
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    let digest: Digest = serde_json::from_value(json!("../../secret")).unwrap();
    assert_eq!(files.blob(&digest), Ok(None));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// What a killed process leaves beside the documents is no session; the document is the old one or the new one.
#[test]
fn what_a_killed_process_leaves_is_no_document() {
    let folder = tempfile::tempdir().unwrap();
    start(&store(folder.path()), "a", 1, |_| {});
    std::fs::write(folder.path().join("sessions/.4711.0.tmp"), "{").unwrap();
    let files = store(folder.path());
    assert_eq!(files.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(files.append(&append("a", 1, 2)), Ok(2));
}

/// What the disk refuses was not kept, and what was there stays.
#[test]
fn what_cannot_be_written_was_not_appended() {
    let folder = tempfile::tempdir().unwrap();
    let files = store(folder.path());
    start(&files, "a", 1, |_| {});
    let path = folder.path().join("sessions/conv.a.json");
    let before = std::fs::read(&path).unwrap();
    std::fs::rename(folder.path().join("sessions/blobs"), folder.path().join("blobs")).unwrap();
    std::fs::write(folder.path().join("sessions/blobs"), "a file").unwrap();
    assert!(matches!(files.put_blob(b"new"), Err(StoreError::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(files.load(&id("a")).unwrap().unwrap().version, 1);
}

/// R45: reads fall back, writes and deletes go to the first, a session is listed once and the first one wins.
#[test]
fn several_stores_as_one() {
    let (first, second) = (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let digest = second.put_blob(b"far away").unwrap();
    let named = |row: &mut IndexRow| row.tokens = vec!["t1".to_owned()];
    let mut old = with(append("old", 0, 1), named);
    old.events[0].body = format!("{{\"blob\":\"{digest}\"}}");
    old.blobs = vec![digest.clone()];
    second.create(&old).unwrap();
    start(second.as_ref(), "both", 1, |row| row.title = "second".to_owned());
    start(first.as_ref(), "both", 1, |row| row.title = "first".to_owned());
    let all = CompositeStore::new(first.clone(), vec![second.clone()]);
    let titles = |all: &CompositeStore| -> Vec<(String, u64)> {
        all.list(&Filter::default()).unwrap().into_iter().map(|row| (row.session.0, row.version)).collect()
    };
    assert_eq!(titles(&all), [("old".to_owned(), 1), ("both".to_owned(), 1)]);
    assert_eq!(all.row(&id("both")).unwrap().unwrap().index.title, "first");
    assert_eq!(all.load(&id("old")).unwrap().unwrap().events[0].body, old.events[0].body);
    assert_eq!(first.row(&id("old")), Ok(None), "reading copies nothing");
    assert_eq!(all.append(&with(append("old", 1, 2), named)), Ok(2));
    assert_eq!(first.load(&id("old")).unwrap().unwrap().version, 2);
    assert_eq!(first.blob(&digest), Ok(Some(b"far away".to_vec())));
    assert_eq!(second.load(&id("old")).unwrap().unwrap().version, 1, "the second one is never written");
    assert_eq!(titles(&all), [("old".to_owned(), 2), ("both".to_owned(), 1)]);
    assert_eq!(all.by_token("t1"), Ok(Some(id("old"))));
    assert_eq!(all.awaiting(None, 9), Ok(vec![id("old")]));
    assert_eq!(
        all.create(&append("both", 0, 1)).map(|_| ()),
        first.create(&append("both", 0, 1)).map(|_| ())
    );
    all.delete(&id("both")).unwrap();
    assert_eq!(all.row(&id("both")).unwrap().unwrap().index.title, "second", "what lies behind shows again");
    assert_eq!(all.delete(&id("both")), Err(StoreError::Unknown));
}

/// Pages over several stores show each session once and none is left out.
#[test]
fn pages_over_several_stores() {
    let (first, second) = (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    for number in 0..12 {
        let store = if number % 3 == 0 { first.as_ref() } else { second.as_ref() };
        start(store, &format!("s{number:02}"), number, |row| row.kind = SessionKind::Agent);
    }
    start(first.as_ref(), "s04", 4, |_| {});
    let all = CompositeStore::new(first, vec![second]);
    let mut shown = Vec::new();
    let mut after = None;
    loop {
        let page = all.list(&Filter { limit: 5, after, ..Filter::default() }).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.session.clone());
        shown.extend(page.into_iter().map(|row| row.session.0));
    }
    let wanted: Vec<String> = (0..12).rev().map(|number| format!("s{number:02}")).collect();
    assert_eq!(shown, wanted);
}
