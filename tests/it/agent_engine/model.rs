//! Asking the model: admission, answers, failures, messages that come meanwhile, what is sent.

use super::{Session, agent, answers, contents, contract, person, spec, text, user};
use flowright::engine::agent::command::{Answer, Command, Notification, Report, Said};
use flowright::engine::agent::event::Event;
use flowright::engine::agent::pending;
use flowright::engine::agent::state::CallState;
use flowright::engine::{RejectionCode, SessionId};
use flowright::time::{Millis, Timestamp};
use serde_json::json;

fn replied(reply: u32, admission: u32, said: &str) -> Notification {
    let answer = Answer { text: said.to_owned(), ..Answer::default() };
    Notification::ModelReplied { reply, admission, answer }
}

fn admit(reply: u32, admission: u32) -> Notification {
    Notification::AdmitModelCall { reply, admission, holder: "one".to_owned() }
}

fn failed(reply: u32, admission: u32, retryable: bool, retry_after_ms: Option<Millis>) -> Notification {
    Notification::ModelFailed { reply, admission, error: "503".to_owned(), retryable, retry_after_ms }
}

#[test]
fn a_start_asks_the_model_and_prose_ends_the_turn() {
    let mut session = Session::started(agent(), None);
    assert_eq!(session.status(), "ready");
    assert_eq!(session.pending(), [Command::CallModel { reply: 1, admission: 1 }]);
    session.admit_model();
    assert_eq!((session.status().as_str(), session.pending().len()), ("running", 0));
    session.ok(replied(1, 1, "done"));
    assert_eq!((session.status().as_str(), session.pending().len()), ("idle", 0));
    assert!(!pending::index(&session.ir, &session.state).ended);
}

#[test]
fn only_the_same_start_again_succeeds() {
    let mut session = Session::new(agent());
    assert_eq!(session.rejected(Notification::Tick), RejectionCode::NotWaiting);
    session.ok(Notification::Start(spec(None)));
    session.no_effect(Notification::Start(spec(None)));
    assert_eq!(session.rejected(Notification::Start(spec(Some(contract())))), RejectionCode::Conflict);
}

#[test]
fn only_the_model_call_that_is_owed_is_admitted() {
    let mut session = Session::started(agent(), None);
    assert_eq!(session.rejected(admit(2, 1)), RejectionCode::Stale);
    assert_eq!(session.rejected(admit(1, 2)), RejectionCode::Stale);
    assert_eq!(session.rejected(replied(1, 0, "early")), RejectionCode::Stale);
    session.ok(admit(1, 1));
    for again in [1, 2] {
        assert_eq!(
            session.rejected(admit(1, again)),
            RejectionCode::Stale,
            "a second host may not ask as well"
        );
    }
    assert_eq!(session.rejected(replied(1, 2, "other")), RejectionCode::Stale);
    session.ok(replied(1, 1, "hello"));
    session.no_effect(replied(1, 1, "hello"));
    assert_eq!(session.rejected(replied(1, 1, "different")), RejectionCode::Stale);
    assert_eq!(session.rejected(admit(2, 1)), RejectionCode::Stale, "an idle session asks nothing");
}

#[test]
fn a_failed_model_call_is_tried_again_after_a_growing_wait_and_then_not() {
    let mut session = Session::started(agent(), Some(contract()));
    for (number, wait) in [(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (5, 16_000)] {
        session.ok(admit(1, number));
        let before = session.at;
        session.ok(failed(1, number, true, None));
        let due = Timestamp(before.0 + wait);
        assert_eq!(pending::wake_at(&session.state), Some(due));
        assert_eq!(session.pending(), [], "nothing is owed before its time");
        session.at = Timestamp(due.0 - 1);
        assert_eq!(session.rejected(admit(1, number + 1)), RejectionCode::Stale);
        session.no_effect(Notification::Tick);
        session.at = due;
        session.ok(Notification::Tick);
        assert_eq!(session.pending(), [Command::CallModel { reply: 1, admission: number + 1 }]);
        assert_eq!(pending::wake_at(&session.state), None);
    }
    session.ok(admit(1, 6));
    session.ok(failed(1, 6, true, None));
    assert_eq!(session.status(), "failed");
    assert!(matches!(session.reports().as_slice(), [Report::Failed { reason }] if reason.contains("503")));
    assert_eq!(session.rejected(person("m", "hello?")), RejectionCode::Ended);
}

#[test]
fn the_servers_own_wait_counts_up_to_a_minute_and_a_final_failure_ends() {
    for (asked, waited) in [(7_000, 7_000), (3_600_000, 60_000), (-5, 0)] {
        let mut session = Session::started(agent(), None);
        session.ok(admit(1, 1));
        session.ok(failed(1, 1, true, Some(Millis(asked))));
        assert_eq!(pending::wake_at(&session.state), Some(Timestamp(1_000 + waited)));
    }
    let mut session = Session::started(agent(), None);
    session.ok(admit(1, 1));
    session.ok(failed(1, 1, false, Some(Millis(1))));
    assert_eq!(session.status(), "failed");
    assert_eq!(session.reports(), [], "nobody waits for it");
}

#[test]
fn a_lost_model_call_is_owed_again_and_its_late_answer_is_not_taken() {
    let mut session = Session::started(agent(), None);
    session.ok(admit(1, 1));
    session.no_effect(Notification::HoldersLost { living: vec!["one".to_owned()] });
    session.ok(Notification::HoldersLost { living: vec!["two".to_owned()] });
    assert_eq!(session.rejected(replied(1, 1, "late")), RejectionCode::Stale);
    assert_eq!(session.pending(), [Command::CallModel { reply: 1, admission: 2 }]);
    session.ok(admit(1, 2));
    assert_eq!(session.rejected(replied(1, 1, "late")), RejectionCode::Stale);
    session.ok(replied(1, 2, "hello"));
    assert_eq!(session.status(), "idle");
}

#[test]
fn time_never_runs_back() {
    let mut session = Session::started(agent(), None);
    session.at = Timestamp(-50);
    session.ok(person("m", "earlier?"));
    assert_eq!(session.state.now, Timestamp(1_000));
    assert_eq!(session.log.last().unwrap().0, Timestamp(1_000));
    session.admit_model();
    session.ok(failed(1, 1, true, None));
    assert_eq!(
        pending::wake_at(&session.state),
        Some(Timestamp(2_000)),
        "the wait counts from the last stamp"
    );
}

#[test]
fn a_message_waits_for_the_turn_and_joins_after_its_results() {
    let mut session = Session::calling(&[("free", "{}")]);
    session.ok(person("m1", "and hurry"));
    assert_eq!(session.pending().len(), 1, "only the call is owed");
    session.no_effect(person("m1", "and hurry"));
    session.run(0, text("r"));
    let said: Vec<Said> = session.messages().into_iter().skip(3).collect();
    assert!(
        matches!(said.as_slice(), [Said::Tool { .. }, Said::User { text, .. }] if text == "and hurry"),
        "{said:?}"
    );
    session.admit_model();
    session.ok(person("m2", "one more"));
    session.ok(replied(2, 1, "fine"));
    assert_eq!(session.ids(), ["model/3/1"], "the message that came while it was asked is answered");
    assert!(matches!(session.messages().last(), Some(Said::User { text, .. }) if text == "one more"));
    session.model_says("bye");
    session.ok(person("m3", "again"));
    assert_eq!(session.ids(), ["model/4/1"]);
    session.no_effect(person("m1", "and hurry"));
}

#[test]
fn a_child_that_has_a_message_to_answer_has_not_yielded() {
    let mut session = Session::started(agent(), Some(contract()));
    session.admit_model();
    session.ok(person("m", "mind the budget"));
    session.ok(replied(1, 1, "I wonder"));
    assert_eq!(session.reports(), []);
    session.model_says("I still wonder");
    assert_eq!(session.reports(), [Report::Yielded { reply: 2 }]);
}

#[test]
fn the_finite_task_contract_is_told_to_workflow_children_only() {
    let mut child = Session::new(agent());
    let mut with_inputs = spec(Some(contract()));
    with_inputs.with.insert("ticket".to_owned(), serde_json::from_str("2512292042121000001").unwrap());
    with_inputs.with.insert("tags".to_owned(), json!(["a"]));
    child.ok(Notification::Start(with_inputs));
    let [Said::System(system), Said::User { text: first, .. }] = &child.messages()[..] else { panic!() };
    assert!(system.starts_with("You plan.\n\nYou never write code.\n\n"));
    assert!(system.contains("submit_workflow_result"));
    assert!(first.starts_with("Plan it.\n\n") && first.contains("2512292042121000001"));

    let alone = Session::started(agent(), None);
    assert_eq!(
        alone.messages(),
        [Said::System("You plan.\n\nYou never write code.".to_owned()), user("Plan it.")]
    );
    let mut other = agent();
    other.base = None;
    other.system_prompt.clear();
    assert_eq!(Session::started(other, Some(contract())).messages(), [user("Plan it.")]);
}

#[test]
fn thinking_is_no_part_of_a_text_and_an_empty_reply_is_left_out() {
    let mut session = Session::started(agent(), None);
    let thinking = "secret thought".to_owned();
    session.answer(Answer { text: "hi".to_owned(), thinking, ..Answer::default() });
    session.ok(person("m", "go on"));
    session.model_says("");
    session.ok(person("n", "well?"));
    let messages = session.messages();
    let said: Vec<_> = messages
        .iter()
        .filter_map(|said| match said {
            Said::Assistant { text, thinking, .. } => Some((text.as_str(), thinking.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(said, [("hi", "secret thought")], "beside the text, for servers that want it back");
}

#[test]
fn b42_one_provider_id_on_every_turn_is_no_confusion() {
    let mut session = Session::started(agent(), None);
    let call = |name: &str| ("call_0".to_owned(), name.to_owned(), "{}".to_owned());
    session.answer(Answer { calls: vec![call("first")], ..Answer::default() });
    session.run(0, text("one"));
    session.answer(Answer { calls: vec![call("second")], ..Answer::default() });
    session.run(0, text("two"));
    let told = answers(&session.messages());
    assert_eq!(contents(&session.messages()), ["one", "two"]);
    assert_ne!(told[0].0, told[1].0);
    let bound = session.messages().into_iter().filter_map(|said| match said {
        Said::Assistant { calls, .. } => Some((calls[0].id.clone(), calls[0].name.clone())),
        _ => None,
    });
    let expected = [(told[0].0.clone(), "first".to_owned()), (told[1].0.clone(), "second".to_owned())];
    assert_eq!(bound.collect::<Vec<_>>(), expected);
}

#[test]
fn b43_equal_and_empty_ids_in_one_turn_all_run() {
    let mut session = Session::started(agent(), None);
    let call = |id: &str, args: &str| (id.to_owned(), "free".to_owned(), args.to_owned());
    let calls = vec![call("x", "{\"a\":1}"), call("x", "{\"a\":2}"), call("", "{}"), call("", "{}")];
    session.answer(Answer { calls, ..Answer::default() });
    for index in [2, 0, 3, 1] {
        session.run(index, text(&index.to_string()));
    }
    assert_eq!(contents(&session.messages()), ["0", "1", "2", "3"], "in the order of the calls");
}

#[test]
fn b45_calls_of_a_cut_off_reply_never_run() {
    let mut session = Session::started(agent(), Some(contract()));
    let whole = "{\"outcome\":\"blocked\",\"summary\":\"s\"}";
    let calls =
        [("free", "{\"path\":\"/\"}"), ("free", "{\"pa"), ("asks", "{}"), ("submit_workflow_result", whole)];
    let calls = calls.map(|(name, args)| (String::new(), name.to_owned(), args.to_owned())).to_vec();
    session.answer(Answer { calls, cut_off: true, ..Answer::default() });
    assert!((0..4).all(|index| session.failure(index).contains("cut off")));
    assert_eq!(session.ids(), ["model/2/1"]);
    assert_eq!(session.state.submissions, []);
}

#[test]
fn unreadable_arguments_are_refused_and_do_not_spoil_the_conversation() {
    let bad = ["{\"a\":", "[1]", "3", "null", "\"x\"", "{\"a\":\"\\ud800\"}", "true"];
    let mut session = Session::calling(&bad.map(|args| ("free", args)));
    for (index, args) in bad.iter().enumerate() {
        assert!(session.failure(index).contains("JSON"), "{args}: {}", session.failure(index));
    }
    let Some(Said::Assistant { calls, .. }) = session.messages().into_iter().nth(2) else { panic!() };
    assert!(calls.iter().all(|call| call.arguments == "{}"));
    session.model_calls(&[("free", ""), ("free", " \n")]);
    assert!(session.calls().iter().all(|call| call.state == CallState::Ready), "no arguments are none");
}

#[test]
fn the_index_names_parent_tokens_and_owner() {
    let mut session = Session::started(agent(), Some(contract()));
    session.model_calls(&[("asks", "{}"), ("asks", "{}")]);
    let row = pending::index(&session.ir, &session.state);
    assert_eq!((row.status.as_str(), row.owes_work), ("waiting_external", false));
    assert_eq!(row.tokens, [session.token(0), session.token(1)]);
    assert_eq!(row.parent, Some(SessionId("parent".to_owned())));
    assert_eq!((row.owner.as_str(), row.title.as_str()), ("ada", "planner"));
    assert!(row.detail.contains("approval required"));
    assert_eq!(session.pending(), [], "waiting costs nothing (invariant 12)");
}

#[test]
fn an_event_that_fits_nowhere_changes_no_call() {
    let mut session = Session::started(agent(), None);
    let before = session.state.clone();
    let event = Event::CallRefused { call: "none".to_owned(), reason: String::new(), by: None };
    flowright::engine::agent::evolve::evolve(&mut session.state, Timestamp(1_000), &event);
    assert_eq!(session.state.turns, before.turns);
}
