//! What a policy says truly happens: retries, shared results, the background, isolation, approval, unknown outcomes.

use super::{Session, ada, agent, contents, text};
use flowright::engine::agent::command::{Command, Notification};
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::state::CallState;
use flowright::engine::{RejectionCode, agent as sessions, policy};
use flowright::ir::{Agent, Decorator, Digest, Disposition, Isolation, PolicyRule};

fn error(text: &str) -> ToolResult {
    ToolResult::Error(text.to_owned())
}

/// The agent of this room with one rule more, before all others.
fn with_rule(tool: &str, decorators: Vec<Decorator>, inner: Disposition) -> Agent {
    let mut ir = agent();
    let disposition = Disposition::Decorate { decorators, inner: Box::new(inner) };
    ir.policy.rules.insert(0, PolicyRule { tool: tool.to_owned(), disposition });
    ir
}

fn calling(ir: Agent, calls: &[(&str, &str)]) -> Session {
    let mut session = Session::started(ir, None);
    session.model_calls(calls);
    session
}

fn fail(session: &mut Session, index: usize) -> Vec<Event> {
    let admission = session.admit(index);
    session.report(index, admission, error("no route")).unwrap()
}

#[test]
fn a_known_failure_is_tried_again_as_often_as_the_policy_says_and_each_attempt_is_recorded() {
    let ir = with_rule("free", vec![Decorator::Retries { count: 2 }], Disposition::RunSync);
    let mut session = calling(ir, &[("free", "{}")]);
    for number in 1..=2 {
        let events = fail(&mut session, 0);
        let [Event::CallFailed { admission, error, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!((*admission, error.as_str()), (number, "no route"));
        assert_eq!(session.ids(), [format!("call/{}/{}", session.id(0), number + 1)], "a new admission");
    }
    fail(&mut session, 0);
    assert_eq!(session.failure(0), "no route");
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn nothing_is_tried_again_by_default_nor_after_an_unknown_outcome_nor_while_stopping() {
    let mut session = Session::calling(&[("free", "{}")]);
    fail(&mut session, 0);
    assert_eq!(session.failure(0), "no route");

    let ir = with_rule("free", vec![Decorator::Retries { count: 9 }], Disposition::RunSync);
    let mut session = calling(ir.clone(), &[("free", "{}")]);
    session.admit(0);
    session.ok(Notification::HoldersLost { living: Vec::new() });
    assert_eq!(session.calls()[0].state, CallState::Unknown);
    session.report(0, 1, error("late")).unwrap();
    assert_eq!(session.failure(0), "late", "once unknown, what failed stays failed");

    let mut session = calling(ir, &[("free", "{}")]);
    session.admit(0);
    session.ok(Notification::Stop);
    session.report(0, 1, error("killed")).unwrap();
    assert_eq!((session.failure(0).as_str(), session.status().as_str()), ("killed", "cancelled"));
}

#[test]
fn retries_around_retries_multiply_in_their_order() {
    let retries = |count| Decorator::Retries { count };
    assert_eq!(policy::retries(&[]), 0);
    assert_eq!(policy::retries(&[retries(2)]), 2);
    assert_eq!(policy::retries(&[retries(2), Decorator::Timeout { seconds: 1 }, retries(1)]), 5);
    assert_eq!(policy::retries(&[retries(u32::MAX), retries(u32::MAX)]), u32::MAX - 1);
}

#[test]
fn equal_calls_share_a_result_only_where_the_policy_says_so() {
    let ir = with_rule("look", vec![Decorator::Cache { key: None }], Disposition::RunSync);
    let mut session = calling(ir, &[("look", "{\"a\":1,\"b\":2}")]);
    session.run(0, text("seen"));
    let events = session.model_calls(&[("look", "{ \"b\": 2, \"a\": 1 }"), ("look", "{\"a\":1.0,\"b\":2}")]);
    let Some(Event::CallCached { call, result, .. }) =
        events.iter().find(|event| matches!(event, Event::CallCached { .. }))
    else {
        panic!("{events:?}")
    };
    assert_eq!((call, result), (&session.id(0), &text("seen")), "neither order of keys nor spaces count");
    assert_eq!(session.ids(), [format!("call/{}/1", session.id(1))], "the digits of numbers do (B46)");

    let mut session = Session::calling(&[("free", "{}")]);
    session.run(0, text("one"));
    session.model_calls(&[("free", "{}")]);
    assert_eq!(session.pending().len(), 1, "nothing is shared by default");
}

#[test]
fn a_failure_is_not_shared_and_equal_calls_of_one_reply_run_one_after_the_other() {
    let ir = with_rule("look", vec![Decorator::Cache { key: None }], Disposition::RunSync);
    let mut session = calling(ir, &[("look", "{}"), ("look", "{}"), ("look", "{\"other\":1}")]);
    let first = |session: &Session| format!("call/{}/1", session.id(0));
    assert_eq!(session.ids(), [first(&session), format!("call/{}/1", session.id(2))]);
    fail(&mut session, 0);
    assert!(session.ids().contains(&format!("call/{}/1", session.id(1))), "what failed is not shared");
    session.run(1, text("seen"));
    session.run(2, text("other"));
    assert_eq!(contents(&session.messages()), ["Error: no route", "seen", "other"]);

    let ir = with_rule("look", vec![Decorator::Cache { key: None }], Disposition::RunSync);
    let mut session = calling(ir, &[("look", "{}"), ("look", "{}")]);
    session.run(0, text("seen"));
    assert_eq!(contents(&session.messages()), ["seen", "seen"], "the second never ran");
    assert_eq!(session.calls()[1].admissions, 0);
}

#[test]
fn a_key_stands_for_all_arguments_of_its_tool() {
    let key = Some("weather".to_owned());
    let ir = with_rule("look", vec![Decorator::Cache { key }], Disposition::RunSync);
    let mut session = calling(ir, &[("look", "{\"at\":1}")]);
    session.run(0, text("rain"));
    session.model_calls(&[("look", "{\"at\":2}"), ("free", "{\"at\":2}")]);
    assert_eq!(session.calls()[0].state, CallState::Completed(text("rain")));
    assert_eq!(session.calls()[1].state, CallState::Ready);
}

#[test]
fn a_turn_whose_calls_run_in_the_background_waits_for_something_outside() {
    let mut session = Session::calling(&[("wrapped", "{}"), ("free", "{}")]);
    session.admit(0);
    assert_eq!(session.status(), "ready");
    session.admit(1);
    assert_eq!(session.status(), "running");
    session.report(1, 1, text("r")).unwrap();
    let row = sessions::pending::index(&session.ir, &session.state);
    assert_eq!((row.status.as_str(), row.owes_work), ("waiting_external", false));
    assert!(row.detail.contains("wrapped runs in the background"), "{}", row.detail);
    assert!(session.state.asking.is_none(), "the model is not asked before every call has ended");
    session.report(0, 1, text("late")).unwrap();
    assert_eq!(session.report(0, 1, text("late")), Ok(vec![]), "delivered once");
    assert_eq!(contents(&session.messages()), ["late", "r"], "in the order of the calls");
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn a_call_that_cannot_be_isolated_here_waits_for_a_host_that_can() {
    let mut session = Session::calling(&[("far", "{\"n\":1}")]);
    let place = Isolation::Docker { image: "box".to_owned() };
    let owed = session.pending();
    assert!(matches!(&owed[..], [Command::RunTool { isolation: Some(owed), .. }] if *owed == place));
    let cannot = |session: &Session| Notification::CannotIsolate {
        call: session.id(0),
        reason: "there is no docker here".to_owned(),
    };
    let told = cannot(&session);
    session.ok(told);
    let CallState::Deferred { token, isolation, reason, .. } = session.calls()[0].state.clone() else {
        panic!()
    };
    assert_eq!((isolation, reason.as_str()), (Some(place), "there is no docker here"));
    assert_eq!(session.status(), "waiting_external");
    let again = cannot(&session);
    assert_eq!(session.rejected(again), RejectionCode::Stale);
    let approve = Notification::Approve { token: token.clone(), by: ada() };
    assert_eq!(session.rejected(approve), RejectionCode::NotWaiting, "nobody's word isolates it");

    let admit =
        |token: &str| Notification::AdmitIsolated { token: token.to_owned(), holder: "two".to_owned() };
    session.ok(admit(&token));
    assert!(matches!(&session.calls()[0].state, CallState::Running { holder, .. } if holder == "two"));
    assert_eq!(session.rejected(admit(&token)), RejectionCode::Conflict);
    assert_eq!(session.complete(&token, text("x")).unwrap_err().code, RejectionCode::Conflict);
    session.report(0, 1, text("done far away")).unwrap();
    assert_eq!(contents(&session.messages()), ["done far away"]);
}

#[test]
fn a_person_may_complete_a_call_that_waits_to_be_isolated_and_a_lost_one_waits_under_a_new_token() {
    let cannot =
        |session: &Session| Notification::CannotIsolate { call: session.id(0), reason: "no".to_owned() };
    let mut session = Session::calling(&[("far", "{}")]);
    let told = cannot(&session);
    session.ok(told);
    let token = session.token(0);
    session.complete(&token, text("by hand")).unwrap();
    assert_eq!(contents(&session.messages()), ["by hand"]);

    let mut ir = agent();
    ir.repeatable_tools.push("far".to_owned());
    let mut session = calling(ir, &[("far", "{}")]);
    let told = cannot(&session);
    session.ok(told.clone());
    let first = session.token(0);
    session.ok(Notification::AdmitIsolated { token: first.clone(), holder: "two".to_owned() });
    session.ok(Notification::HoldersLost { living: vec!["one".to_owned()] });
    session.ok(told);
    assert_ne!(session.token(0), first);
    assert_eq!(session.complete(&first, text("old")).unwrap_err().code, RejectionCode::Conflict);
}

#[test]
fn only_what_waits_to_be_isolated_is_taken_for_it() {
    let mut session = Session::calling(&[("asks", "{}"), ("free", "{}")]);
    let token = session.token(0);
    let admit = Notification::AdmitIsolated { token, holder: "two".to_owned() };
    assert_eq!(session.rejected(admit), RejectionCode::NotWaiting);
    let nobodys = Notification::AdmitIsolated { token: "x".to_owned(), holder: "two".to_owned() };
    assert_eq!(session.rejected(nobodys), RejectionCode::Stale);
    let cannot = Notification::CannotIsolate { call: session.id(1), reason: "no".to_owned() };
    assert_eq!(session.rejected(cannot), RejectionCode::Stale);
}

#[test]
fn an_approved_call_runs_once_and_its_token_is_spent() {
    let mut session = Session::calling(&[("asks", "{\"amount\":10}")]);
    let token = session.token(0);
    let approve = || Notification::Approve { token: token.clone(), by: ada() };
    let events = session.ok(approve());
    assert!(matches!(&events[..], [Event::CallApproved { by, .. }] if *by == ada()));
    session.no_effect(approve());
    assert_eq!(session.complete(&token, text("x")).unwrap_err().code, RejectionCode::Conflict);
    assert_eq!(session.ids(), [format!("call/{}/1", session.id(0))]);
    session.run(0, text("paid"));
    assert_eq!(contents(&session.messages()), ["paid"]);
    session.no_effect(approve());
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn b30_what_was_approved_is_what_runs() {
    let altered = |session: &mut Session| {
        // Somebody writes to the database: the recorded arguments are others now.
        for (_, written) in &mut session.log {
            *written = written.replace(r#"{\"amount\":10}"#, r#"{\"amount\":1000}"#);
        }
        session.fold_anew();
        assert_eq!(session.calls()[0].made.arguments, "{\"amount\":1000}");
    };
    let mut session = Session::calling(&[("asks", "{\"amount\":10}")]);
    let token = session.token(0);
    altered(&mut session);
    let approve = |token: &str| Notification::Approve { token: token.to_owned(), by: ada() };
    assert_eq!(session.rejected(approve(&token)), RejectionCode::Conflict);

    let mut session = Session::calling(&[("asks", "{\"amount\":10}")]);
    let token = session.token(0);
    session.ok(approve(&token));
    altered(&mut session);
    let admit = Notification::AdmitCall {
        call: session.id(0),
        admission: 1,
        holder: "one".to_owned(),
        repeatable: false,
        definition: None,
    };
    let events = session.ok(admit);
    assert!(matches!(&events[..], [Event::CallDeferred { .. }]), "deferred again, not run: {events:?}");
    let CallState::Deferred { reason, token: fresh, .. } = session.calls()[0].state.clone() else { panic!() };
    assert!(reason.contains("no longer the call that was approved"), "{reason}");
    assert_ne!(fresh, token);
    session.no_effect(approve(&token));
    assert_eq!(session.token(0), fresh, "the old word lets nothing run");
    session.ok(approve(&fresh));
    session.run(0, text("as approved"));
}

#[test]
fn b36_a_tool_that_changed_is_asked_about_again() {
    let define = |token: &str, words: &str| Notification::Define {
        token: token.to_owned(),
        definition: Digest::of(words.as_bytes()),
    };
    let approve = |token: &str| Notification::Approve { token: token.to_owned(), by: ada() };
    // Between deferral and approval.
    let mut session = Session::calling(&[("asks", "{}")]);
    let token = session.token(0);
    session.ok(define(&token, "deletes one file"));
    session.no_effect(define(&token, "deletes one file"));
    session.ok(define(&token, "deletes all files"));
    let fresh = session.token(0);
    assert_ne!(fresh, token);
    assert!(session.status() == "waiting_external");
    assert_eq!(session.rejected(approve(&token)), RejectionCode::Stale, "the old token lets nothing run");
    session.no_effect(define(&fresh, "deletes all files"));
    session.ok(approve(&fresh));
    // Between approval and admission.
    let admit = |session: &Session, words: &str| Notification::AdmitCall {
        call: session.id(0),
        admission: 1,
        holder: "one".to_owned(),
        repeatable: false,
        definition: Some(Digest::of(words.as_bytes())),
    };
    let changed = admit(&session, "deletes the disk");
    session.ok(changed);
    let CallState::Deferred { reason, token, .. } = session.calls()[0].state.clone() else { panic!() };
    assert!(reason.contains("changed since it was approved"), "{reason}");
    session.ok(approve(&token));
    let same = admit(&session, "deletes the disk");
    session.ok(same);
    assert!(matches!(session.calls()[0].state, CallState::Running { .. }));
}

#[test]
fn a_refused_call_is_answered_with_the_persons_words() {
    let mut session = Session::calling(&[("asks", "{}")]);
    let token = session.token(0);
    let refuse =
        |reason: &str| Notification::Refuse { token: token.clone(), reason: reason.to_owned(), by: ada() };
    let events = session.ok(refuse("too expensive"));
    assert!(matches!(&events[..], [Event::CallRefused { by: Some(by), .. }] if *by == ada()));
    assert!(contents(&session.messages())[0].contains("too expensive"));
    session.no_effect(refuse("too expensive"));
    assert_eq!(session.rejected(refuse("other words")), RejectionCode::Conflict);
    let approve = Notification::Approve { token: token.clone(), by: ada() };
    assert_eq!(session.rejected(approve), RejectionCode::Conflict);
    assert_eq!(session.complete(&token, text("x")).unwrap_err().code, RejectionCode::Conflict);
}

#[test]
fn a_call_of_unknown_outcome_says_what_is_known_and_is_never_tried_again() {
    let ir = with_rule("free", vec![Decorator::Retries { count: 3 }], Disposition::RunSync);
    let mut session = calling(ir, &[("free", "{}")]);
    session.admit(0);
    let uncertain = |session: &Session, admission| Notification::CallUncertain {
        call: session.id(0),
        admission,
        reason: "the server went away".to_owned(),
    };
    let told = uncertain(&session, 2);
    assert_eq!(session.rejected(told), RejectionCode::Stale);
    let told = uncertain(&session, 1);
    let events = session.ok(told.clone());
    assert!(
        matches!(&events[..], [Event::CallUnknown { reason: Some(reason), .. }] if reason.contains("went away"))
    );
    session.no_effect(told.clone());
    let row = sessions::pending::index(&session.ir, &session.state);
    assert_eq!((row.status.as_str(), session.pending().len()), ("needs_attention", 0));
    assert!(row.detail.contains("the server went away"), "{}", row.detail);
    session.report(0, 1, text("it had worked")).unwrap();
    assert_eq!(session.rejected(told), RejectionCode::Stale);
}

#[test]
fn b31_old_tokens_are_consumed_and_one_of_two_results_is_not_enough() {
    let mut session = Session::calling(&[("asks", "{}"), ("asks", "{}")]);
    let old = [session.token(0), session.token(1)];
    for (token, said) in old.iter().zip(["a", "b"]) {
        session.complete(token, text(said)).unwrap();
    }
    session.model_calls(&[("asks", "{}"), ("asks", "{}")]);
    let new = [session.token(0), session.token(1)];
    for (token, said) in old.iter().zip(["a", "b"]) {
        assert_eq!(
            session.complete(token, text(said)),
            Ok(vec![]),
            "the identical repeat changes nothing (R56)"
        );
        assert_eq!(session.complete(token, text("z")).unwrap_err().code, RejectionCode::Conflict);
        let approve = Notification::Approve { token: token.clone(), by: ada() };
        assert_eq!(session.rejected(approve), RejectionCode::Stale);
    }
    session.complete(&new[0], text("c")).unwrap();
    assert_eq!((session.pending(), session.status().as_str()), (vec![], "waiting_external"));
    session.complete(&new[1], text("d")).unwrap();
    assert_eq!(contents(&session.messages()), ["a", "b", "c", "d"]);
    assert_eq!(session.ids(), ["model/3/1"]);
}

#[test]
fn what_a_label_says_is_shown_with_the_call() {
    let label = vec![Decorator::Label { label: "Pays the bill".to_owned() }];
    let ir = with_rule("pay", label, Disposition::Defer { reason: Some("a person looks".to_owned()) });
    let session = calling(ir, &[("pay", "{}")]);
    let row = sessions::pending::index(&session.ir, &session.state);
    assert_eq!(row.detail, "Pays the bill (pay): a person looks");
}

#[test]
fn a_deferred_call_that_shares_results_is_answered_by_an_equal_one() {
    let ir = with_rule("ask", vec![Decorator::Cache { key: None }], Disposition::Defer { reason: None });
    let mut session = calling(ir, &[("ask", "{\"q\":1}")]);
    let token = session.token(0);
    session.complete(&token, text("yes")).unwrap();
    session.model_calls(&[("ask", "{\"q\":1}"), ("ask", "{\"q\":2}")]);
    assert_eq!(session.calls()[0].state, CallState::Completed(text("yes")));
    session.token(1);
}
