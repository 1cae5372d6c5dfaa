//! Another history, another agent: only at rest, only where nobody else relies on what is there.

use super::{Session, ada, agent, contents, contract, person, spec, text, user};
use flowright::engine::agent::command::{Command, Notification, Said};
use flowright::engine::agent::event::{CallMade, Caller, Event, Media, Message, MessageKind, ToolResult};
use flowright::engine::agent::state::{Call, CallState, Turn};
use flowright::engine::{RejectionCode, SessionId};
use flowright::ir::Digest;
use flowright::time::Timestamp;

fn said(text: &str) -> Turn {
    Turn::Said { text: text.to_owned(), media: Vec::new(), at: Timestamp(1) }
}

fn reply(number: u32, calls: &[(&str, &str, CallState)]) -> Turn {
    let call = |(id, name, state): &(&str, &str, CallState)| Call {
        made: CallMade {
            id: (*id).to_owned(),
            provider_id: "call_0".to_owned(),
            name: (*name).to_owned(),
            arguments: "{}".to_owned(),
        },
        state: state.clone(),
        admissions: 0,
        losses: 0,
        failures: 0,
        approved: None,
    };
    Turn::Reply {
        reply: number,
        text: "well".to_owned(),
        thinking: String::new(),
        calls: calls.iter().map(call).collect(),
        usage: None,
        carry: None,
        at: Timestamp(2),
    }
}

fn import(turns: Vec<Turn>) -> Notification {
    Notification::Import { turns, from: "conv.json".to_owned(), by: ada() }
}

fn change(agent: &str) -> Notification {
    Notification::ChangeAgent { agent: Digest::of(agent.as_bytes()), by: ada() }
}

#[test]
fn imported_turns_stand_in_the_place_of_what_was_there() {
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    session.ok(import(vec![said("Other words."), reply(7, &[])]));
    assert_eq!(session.status(), "idle");
    assert_eq!(session.messages()[1], user("Other words."), "not the prompt that it began with");
    session.ok(person("m", "go on"));
    assert_eq!(session.ids(), ["model/8/1"], "numbers of replies are never used twice");
    session.model_calls(&[("free", "{}")]);
    assert_eq!(session.messages().len(), 4);
}

#[test]
fn behind_words_of_a_person_the_model_is_owed() {
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    session.ok(import(vec![said("Anew.")]));
    assert_eq!(session.ids(), ["model/2/1"]);
}

/// B40: an orphan in the middle is answered as interrupted wherever it stands; B39: one at the end is ready, deferred
/// or unknown by the same rules as a call of our own.
#[test]
fn b40_calls_without_a_result_are_answered_wherever_they_stand() {
    let ready = CallState::Ready;
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    session.ok(import(vec![
        said("Go."),
        reply(1, &[("x", "free", ready.clone()), ("y", "free", CallState::Completed(text("r")))]),
        said("And now?"),
        reply(2, &[("a", "free", ready.clone()), ("b", "asks", ready.clone()), ("c", "never", ready)]),
    ]));
    let token = session.token(1);
    assert!(session.failure(2).contains("too dangerous"), "the policy holds for what comes from elsewhere");
    assert_eq!(session.ids(), ["call/a/1"]);
    session.run(0, text("ran"));
    session.complete(&token, text("done")).unwrap();
    let told = contents(&session.messages());
    assert!(told[0].contains("interrupted"), "{told:?}");
    assert_eq!(told[1..4], ["r", "ran", "done"]);
}

#[test]
fn a_call_that_ran_elsewhere_has_an_unknown_outcome() {
    let running = CallState::Running {
        holder: "elsewhere".to_owned(),
        repeatable: false,
        digest: Digest::of(b"x"),
        since: Timestamp(1),
    };
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    session.ok(import(vec![said("Go."), reply(1, &[("a", "free", running)])]));
    assert_eq!(session.pending(), []);
    session.ok(Notification::HoldersLost { living: vec!["one".to_owned()] });
    assert_eq!(session.status(), "needs_attention");
}

#[test]
fn a_history_must_be_one() {
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    let done = || CallState::Completed(text("r"));
    for turns in [
        vec![],
        vec![said("Go."), reply(1, &[("", "free", done())])],
        vec![said("Go."), reply(1, &[("a", "free", done())]), reply(2, &[("a", "free", done())])],
    ] {
        assert_eq!(session.rejected(import(turns)), RejectionCode::Invalid);
    }
}

#[test]
fn nothing_is_changed_while_anything_is_open() {
    let turns = || vec![said("Other.")];
    let mut session = Session::started(agent(), None);
    session.admit_model();
    assert_eq!(session.rejected(import(turns())), RejectionCode::Conflict);
    assert_eq!(session.rejected(change("b")), RejectionCode::Conflict);
    let mut session = Session::calling(&[("asks", "{}")]);
    assert_eq!(session.rejected(import(turns())), RejectionCode::Conflict);
    assert_eq!(session.rejected(change("b")), RejectionCode::Conflict);
    session.ok(Notification::Stop);
    assert_eq!(session.rejected(import(turns())), RejectionCode::Ended);
}

/// Invariants 8 and 15.
#[test]
fn a_session_that_works_for_another_keeps_its_history_and_its_agent() {
    let mut session = Session::started(agent(), Some(contract()));
    session.model_says("hello");
    assert_eq!(session.rejected(import(vec![said("x")])), RejectionCode::NotAllowed);
    assert_eq!(session.rejected(change("b")), RejectionCode::NotAllowed);

    let mut session = Session::new(agent());
    let mut spec = spec(None);
    spec.caller = Some(Caller { session: SessionId("p".to_owned()), call: "c".to_owned(), depth: 1 });
    session.ok(Notification::Start(spec));
    assert_eq!(session.rejected(import(vec![said("x")])), RejectionCode::NotAllowed);
    session.model_says("the answer");
    session.ok(import(vec![said("x")]));
    assert!(session.state.answered);
}

#[test]
fn another_agent_is_recorded_once() {
    let mut session = Session::started(agent(), None);
    session.no_effect(change("agent"));
    session.ok(change("b"));
    assert_eq!(session.state.agent, Some(Digest::of(b"b")));
    session.no_effect(change("b"));
    assert_eq!(session.ids(), ["model/1/1"], "a question that was owed is owed still");
}

#[test]
fn pictures_go_with_their_words() {
    let picture = Media {
        mime: "image/png".to_owned(),
        digest: Digest::of(b"png"),
        length: 3,
        name: Some("a.png".to_owned()),
    };
    let mut session = Session::new(agent());
    let mut spec = spec(None);
    spec.media = vec![picture.clone()];
    session.ok(Notification::Start(spec));
    session.model_says("a cat");
    session.ok(Notification::Take(Message {
        id: "m".to_owned(),
        kind: MessageKind::Person,
        text: "and this?".to_owned(),
        media: vec![picture.clone()],
    }));
    let with: Vec<_> = session
        .messages()
        .into_iter()
        .filter_map(|said| match said {
            Said::User { media, .. } => Some(media),
            _ => None,
        })
        .collect();
    assert_eq!(with, [vec![picture.clone()], vec![picture]]);
}

#[test]
fn an_import_says_where_it_came_from() {
    let mut session = Session::started(agent(), None);
    session.model_says("hello");
    let events = session.ok(import(vec![said("x")]));
    let [Event::Imported { from, by, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((from.as_str(), by), ("conv.json", &ada()));
    assert!(matches!(&session.pending()[..], [Command::CallModel { .. }]));
    let error = ToolResult::Error("late".to_owned());
    assert_eq!(session.complete("old", error).unwrap_err().code, RejectionCode::Stale);
}
