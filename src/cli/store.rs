//! Where sessions are kept, as the command line says it; and how documents of a store of files look to other tools.

use super::{Database, Exit, Failure, operator};
use crate::engine::agent::command::Notification;
use crate::engine::agent::event::{Event, Message, MessageKind, Spec};
use crate::engine::agent::state::State;
use crate::engine::agent::{decide, evolve, pending};
use crate::engine::{Principal, SessionId, derived_id};
use crate::exchange;
use crate::ir;
use crate::store::composite::CompositeStore;
use crate::store::file::{Adopted, FileStore, Forms};
use crate::store::sqlite::SqliteStore;
use crate::store::{KeptEvent, NewEvent, Store, StoreError};
use crate::time::Timestamp;
use etcetera::BaseStrategy;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// A database file.
    Sqlite(PathBuf),
    /// A folder of session files.
    Files(PathBuf),
}

impl std::str::FromStr for Kept {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::Files(path.into())),
            Some(_) | None => Err("a store is written sqlite:FILE or file:FOLDER".to_owned()),
        }
    }
}

impl Kept {
    fn path(&self) -> &Path {
        match self {
            Self::Sqlite(path) | Self::Files(path) => path,
        }
    }

    /// As the command line writes it.
    fn written(&self) -> std::ffi::OsString {
        let mut written = std::ffi::OsString::from(match self {
            Self::Sqlite(_) => "sqlite:",
            Self::Files(_) => "file:",
        });
        written.push(self.path());
        written
    }

    fn open(&self) -> Result<Arc<dyn Store>, Failure> {
        let opened: Result<Arc<dyn Store>, StoreError> = match self {
            Self::Sqlite(path) => SqliteStore::open(path).map(|store| Arc::new(store) as Arc<dyn Store>),
            Self::Files(folder) => {
                FileStore::open(folder, Box::new(SessionFiles)).map(|store| Arc::new(store) as Arc<dyn Store>)
            }
        };
        opened.map_err(|error| Failure::new(Exit::Fault, format!("{}: {error}", self.path().display())))
    }
}

/// The stores that were named, or the database that is there without a word.
pub(super) fn named(database: &Database) -> Result<Vec<Kept>, Failure> {
    if database.store.is_empty() {
        Ok(vec![Kept::Sqlite(locate(database)?)])
    } else {
        Ok(database.store.clone())
    }
}

/// Opens them as one: the first is written, the others are read behind it.
pub(super) fn open(stores: &[Kept]) -> Result<Arc<dyn Store>, Failure> {
    let mut opened = stores.iter().map(Kept::open).collect::<Result<Vec<_>, _>>()?.into_iter();
    let Some(first) = opened.next() else { return Err(Failure::usage("no store is named")) };
    let rest: Vec<_> = opened.collect();
    Ok(if rest.is_empty() { first } else { Arc::new(CompositeStore::new(first, rest)) })
}

/// The words that name the same stores to another process.
pub(super) fn words(stores: &[Kept]) -> Vec<std::ffi::OsString> {
    stores.iter().flat_map(|kept| ["--store".into(), kept.written()]).collect()
}

fn locate(database: &Database) -> Result<PathBuf, Failure> {
    if let Some(path) = &database.db {
        return Ok(path.clone());
    }
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(Exit::Fault, format!("the current folder cannot be told: {error}")))?;
    for folder in here.ancestors() {
        let own = folder.join(".flowright");
        if own.is_dir() {
            return Ok(own.join("flowright.db"));
        }
    }
    let strategy = etcetera::choose_base_strategy()
        .map_err(|_| Failure::usage("there is no home folder to keep sessions in; name a file with --db"))?;
    Ok(strategy.data_dir().join("flowright").join("flowright.db"))
}

/// Documents as session files of other tools.
struct SessionFiles;

impl Forms for SessionFiles {
    fn outer(
        &self,
        session: &SessionId,
        events: &[KeptEvent],
        blobs: &dyn Fn(&ir::Digest) -> Option<Vec<u8>>,
    ) -> Map<String, Value> {
        let document = match folded(events, blobs) {
            Some((agent, state)) => exchange::write(&state, &agent, blobs),
            // A workflow has no turns of its own; those of its children are in their files.
            None => json!({ "sessionId": session.0, "sessionKind": "workflow", "turns": [] }),
        };
        match document {
            Value::Object(map) => map,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        }
    }

    fn adopt(&self, session: &SessionId, document: &Value, at: Timestamp) -> Result<Adopted, String> {
        let conversation = exchange::read(document, at)?;
        let agent = nobody(&conversation.system);
        let value = serde_json::to_value(&agent).map_err(|error| error.to_string())?;
        let kept_agent = ir::canonical_json(&value).into_bytes();
        let spec = Spec {
            session: session.clone(),
            slug: agent.slug.clone(),
            agent: ir::Digest::of(&kept_agent),
            root: String::new(),
            owner: operator::user(),
            prompt: String::new(),
            with: IndexMap::new(),
            contract: None,
            media: Vec::new(),
            caller: None,
            forked_from: conversation.forked_from.map(SessionId),
        };
        let by = Principal { user: operator::user(), roles: Vec::new(), via: "file".to_owned() };
        let from = format!("conv.{session}.json");
        let mut said =
            vec![Notification::Start(spec), Notification::Import { turns: conversation.turns, from, by }];
        for (number, (text, media)) in conversation.waiting.into_iter().enumerate() {
            let id = derived_id(&[&session.0, "waiting", &number.to_string()]);
            said.push(Notification::Take(Message { id, kind: MessageKind::Person, text, media }));
        }
        let mut state = State::default();
        let mut events = Vec::new();
        for notification in said {
            let decided = decide::decide(&agent, &state, at, notification);
            for event in decided.map_err(|rejection| rejection.message)? {
                evolve::evolve(&mut state, at, &event);
                let body = serde_json::to_string(&event).map_err(|error| error.to_string())?;
                events.push(NewEvent { at, body });
            }
        }
        let mut blobs: Vec<Vec<u8>> = conversation.blobs.into_iter().map(|(_, bytes)| bytes).collect();
        blobs.push(kept_agent);
        Ok(Adopted { events, index: pending::index(&agent, &state), blobs })
    }
}

/// Agent and state of an agent session; none for another kind, or where its agent is not kept any more.
fn folded(
    events: &[KeptEvent],
    blobs: &dyn Fn(&ir::Digest) -> Option<Vec<u8>>,
) -> Option<(ir::Agent, State)> {
    let mut state = State::default();
    for kept in events {
        let event: Event = serde_json::from_str(&kept.body).ok()?;
        evolve::evolve(&mut state, kept.at, &event);
    }
    let digest = state.agent.as_ref().or(state.spec.as_ref().map(|spec| &spec.agent))?;
    let agent = serde_json::from_slice(&blobs(digest)?).ok()?;
    Some((agent, state))
}

/// The agent of a session that another tool wrote: nobody knows which it was. It asks no model; the session goes on
/// once `--agent-file` with `--accept-agent-change` says who it is now.
fn nobody(system: &str) -> ir::Agent {
    ir::Agent {
        slug: "unknown".to_owned(),
        base: None,
        announce: None,
        file: String::new(),
        flavor: None,
        model_url: None,
        model_name: None,
        api_key_id: None,
        system_prompt: if system.is_empty() { Vec::new() } else { vec![system.to_owned()] },
        asynchronous: false,
        policy: ir::Policy { default: ir::Disposition::RunSync, rules: Vec::new() },
        bash_toolboxes: Vec::new(),
        toolboxes: ir::toolbox::Toolboxes::default(),
        repeatable_tools: Vec::new(),
        max_concurrency: 1,
        max_tool_calls: None,
        call_timeout_seconds: 60,
        inputs: None,
        tool_choice: None,
        temperature: None,
        max_tokens: None,
        later: json!({}),
    }
}
