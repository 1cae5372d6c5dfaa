//! What waiting costs: a store full of sessions that wait for their schedule, for a worker to stand beside.
//!
//! `cargo bench --bench waiting -- FILE [COUNT]` fills FILE with COUNT sessions (100,000) whose next occurrence is half
//! a year away. Then `flowright work --db FILE` is looked at from outside: `VmHWM` and the CPU time of its `/proc` entry.

#![allow(missing_docs, clippy::unwrap_used)]

use flowright::compile::{self, MainDocument, Memory};
use flowright::engine::workflow::command::Notification;
use flowright::engine::workflow::event::Spec;
use flowright::engine::workflow::state::State;
use flowright::engine::workflow::{decide, evolve, pending};
use flowright::engine::{SessionId, derived_id};
use flowright::store::sqlite::SqliteStore;
use flowright::store::{Append, NewEvent, Store};
use flowright::time::Timestamp;
use std::path::Path;

/// When everything compiles: 2025-12-01, midnight UTC.
const AS_OF: Timestamp = Timestamp(1_764_547_200_000);
const THREADS: usize = 64;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let Some(file) = words.first() else { return };
    let count: usize = words.get(1).map_or(100_000, |word| word.parse().unwrap());
    fill(Path::new(file), count);
}

fn fill(file: &Path, count: usize) {
    let now = Timestamp(chrono::Utc::now().timestamp_millis());
    let far = now.plus(flowright::time::Millis(180 * 24 * 3_600_000)).to_utc();
    let flow = format!(
        "kind: workflow\nversion: 1\nname: waiting\nsteps:\n  - id: tick\n    cron: \"{}\"\n    timezone: UTC\n  - stop: succeeded\n",
        far.format("0 0 %-d %-m *")
    );
    let main = MainDocument {
        name: "waiting.yaml".to_owned(),
        package_path: "waiting.yaml".to_owned(),
        bytes: flow.into_bytes(),
    };
    let definition = compile::compile(main, &Memory::new(), AS_OF).workflow.unwrap();
    let store = SqliteStore::with_synchronous(file, "off").unwrap();
    let frozen = store.put_blob(&definition.to_bytes()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, definition, frozen) = (&store, &definition, &frozen);
            scope.spawn(move || {
                for number in (thread..count).step_by(THREADS) {
                    let session = SessionId(derived_id(&["waiting", &number.to_string()]));
                    let spec = Spec {
                        session: session.clone(),
                        workflow: definition.name().to_owned(),
                        definition: frozen.clone(),
                        root: ".".to_owned(),
                        source: None,
                        inputs: indexmap::IndexMap::new(),
                        owner: "bench".to_owned(),
                    };
                    let mut state = State::default();
                    let decided = decide::decide(definition, &state, now, Notification::Start(spec)).unwrap();
                    let mut events = Vec::new();
                    for event in decided {
                        evolve::evolve(&mut state, now, &event);
                        events.push(NewEvent { at: now, body: serde_json::to_string(&event).unwrap() });
                    }
                    let append = Append {
                        append_id: session.0.clone(),
                        session,
                        expected: 0,
                        events,
                        index: pending::index(definition, &state),
                        blobs: vec![frozen.clone()],
                    };
                    store.create(&append).unwrap();
                }
            });
        }
    });
    let next = store.next_due().unwrap();
    println!("{count} sessions, the next due at {}", next.map(|at| at.to_string()).unwrap_or_default());
}
