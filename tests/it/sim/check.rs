//! What must hold whatever happened: read from the events that are durable and from what the world outside saw.

use super::outside::{self, Effect, Ledger};
use flowright::engine::SessionId;
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::evolve;
use flowright::engine::agent::state::State;
use flowright::store::Store;
use flowright::store::memory::MemoryStore;
use std::collections::{HashMap, HashSet};

/// The state that the durable events fold to; their numbers have no gaps (invariant 1).
pub(crate) fn folded(disk: &MemoryStore, session: &SessionId) -> State {
    let kept = disk.events_after(session, 0, 1_000_000).unwrap();
    let mut state = State::default();
    for (index, kept) in kept.iter().enumerate() {
        assert_eq!(kept.sequence, index as u64 + 1);
        evolve::evolve(&mut state, kept.at, &serde_json::from_str(&kept.body).unwrap());
    }
    state
}

pub(crate) fn everything(disk: &MemoryStore, session: &SessionId, ledger: &Ledger) {
    let events = outside::events(disk, session);
    each_effect_once(&ledger.effects);
    admissions(&events);
    endings(&events);
    replies(&events);
    nothing_made_up(&events, session, ledger);
}

/// An admission runs once.
fn each_effect_once(effects: &[Effect]) {
    let mut seen = HashSet::new();
    for effect in effects {
        assert!(
            seen.insert((effect.session.clone(), effect.call.clone(), effect.admission)),
            "{effect:?} ran twice"
        );
    }
}

/// Admissions of a call are numbered, and another one follows only from what allows it (invariant 13).
fn admissions(events: &[Event]) {
    let mut last: HashMap<&str, u32> = HashMap::new();
    let mut may_again: HashSet<&str> = HashSet::new();
    let mut repeatable: HashMap<&str, bool> = HashMap::new();
    for event in events {
        match event {
            Event::CallAdmitted { call, admission, repeatable: again, .. } => {
                let before = last.insert(call, *admission).unwrap_or_default();
                assert_eq!(*admission, before + 1, "admissions of {call} have gaps");
                assert!(
                    before == 0 || may_again.remove(call.as_str()),
                    "{call} was admitted again for no reason"
                );
                repeatable.insert(call, *again);
            }
            Event::CallLost { call, .. } => {
                assert_eq!(repeatable.get(call.as_str()), Some(&true), "{call} is not repeatable");
                may_again.insert(call);
            }
            Event::CallFailed { call, .. }
            | Event::CallRetried { call, .. }
            | Event::CallDeferred { call, .. } => {
                may_again.insert(call);
            }
            _ => {}
        }
    }
}

/// A call ends once, however it ends.
fn endings(events: &[Event]) {
    let mut ended = HashSet::new();
    for event in events {
        let call = match event {
            Event::CallReported { call, .. }
            | Event::CallRefused { call, .. }
            | Event::CallCached { call, .. }
            | Event::SubmissionRefused { call, .. } => call,
            Event::CallAdmitted { call, .. } | Event::CallDeferred { call, .. } => {
                assert!(!ended.contains(call), "{call} goes on after its end");
                continue;
            }
            _ => continue,
        };
        assert!(ended.insert(call.clone()), "{call} ended twice");
    }
}

/// Replies are numbered, and each is taken once.
fn replies(events: &[Event]) {
    let taken: Vec<u32> = events
        .iter()
        .filter_map(|event| match event {
            Event::ModelReplied { reply, .. } => Some(*reply),
            _ => None,
        })
        .collect();
    let wanted: Vec<u32> = (1..=u32::try_from(taken.len()).unwrap()).collect();
    assert_eq!(taken, wanted);
}

/// What a model is told of a call was given by its tool, by a person, or is an error in our words (B37).
fn nothing_made_up(events: &[Event], session: &SessionId, ledger: &Ledger) {
    let shared: HashMap<&str, &str> = events
        .iter()
        .filter_map(|event| match event {
            Event::CallCached { call, from, .. } => Some((call.as_str(), from.as_str())),
            _ => None,
        })
        .collect();
    let by_people: HashMap<&str, String> = events
        .iter()
        .filter_map(|event| match event {
            Event::CallReported { call, result: ToolResult::Text(text), by: Some(_), .. } => {
                Some((call.as_str(), text.clone()))
            }
            _ => None,
        })
        .collect();
    for ((whose, call), text) in &ledger.told {
        if whose != session || text.starts_with("Error: ") {
            continue;
        }
        let giver = shared.get(call.as_str()).copied().unwrap_or(call);
        let given = ledger.known.get(giver).is_some_and(|known| known.contains(text))
            || by_people.get(giver).is_some_and(|known| known == text);
        assert!(given, "nobody gave the answer {text:.80} to {call}");
    }
}
