//! The table of a tool call: policy, admission, report, lost holder, outside results, people.

use super::{Session, ada, agent, contents, contract, text};
use flowright::engine::agent::command::{Command, Notification, Resolution};
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::state::CallState;
use flowright::engine::{RejectionCode, policy};
use flowright::ir::{Decorator, Digest, Disposition};
use serde_json::json;

fn lost(session: &mut Session) {
    session.ok(Notification::HoldersLost { living: vec!["two".to_owned()] });
}

fn resolve(session: &Session, resolution: Resolution) -> Notification {
    Notification::Resolve { call: session.id(0), resolution, by: ada() }
}

/// A session whose one call nobody knows about.
fn unknown() -> Session {
    let mut session = Session::calling(&[("free", "{}")]);
    session.admit(0);
    lost(&mut session);
    assert_eq!(session.calls()[0].state, CallState::Unknown);
    session
}

#[test]
fn the_first_exact_rule_wins_and_decorators_come_outermost_first() {
    let ir = agent();
    assert!(matches!(policy::judge(&ir.policy, "asks").0, Disposition::Defer { .. }));
    assert_eq!(policy::judge(&ir.policy, "ask"), (Disposition::RunSync, vec![]));
    assert_eq!(policy::judge(&ir.policy, "Asks"), (Disposition::RunSync, vec![]));
    let around = vec![Decorator::Timeout { seconds: 5 }, Decorator::Retries { count: 2 }];
    assert_eq!(policy::judge(&ir.policy, "wrapped"), (Disposition::RunAsync, around));
}

#[test]
fn policy_judges_each_call_before_anything_runs() {
    let calls = [("never", "{}"), ("far", "{}"), ("asks", "{}"), ("wrapped", "{}"), ("free", "{}")];
    let session = Session::calling(&calls);
    assert!(session.failure(0).contains("too dangerous"));
    session.token(2);
    let owed = session.pending();
    let [
        Command::RunTool { call, isolation: Some(_), background: false, .. },
        Command::RunTool { call: free, .. },
    ] = &owed[..]
    else {
        panic!("{owed:?}")
    };
    assert_eq!((call.name.as_str(), free.name.as_str()), ("far", "free"), "what is awaited comes first");
    let mut session = session;
    session.run(1, text("r"));
    session.run(4, text("r"));
    let owed = session.pending();
    let [Command::RunTool { decorators, call, admission: 1, isolation: None, background: true }] = &owed[..]
    else {
        panic!("{owed:?}")
    };
    assert_eq!((decorators.len(), call.name.as_str()), (2, "wrapped"));
}

#[test]
fn a_turn_whose_calls_were_all_refused_asks_again() {
    let session = Session::calling(&[("never", "{}"), ("free", "{\"a")]);
    assert_eq!(session.ids(), ["model/2/1"]);
    assert_eq!(contents(&session.messages()).len(), 2);
}

#[test]
fn no_more_calls_run_side_by_side_than_allowed() {
    let mut session = Session::calling(&[("free", "{}"), ("free", "{}"), ("free", "{}")]);
    assert_eq!(session.pending().len(), 2);
    session.admit(0);
    assert_eq!(session.pending().len(), 1);
    session.admit(1);
    assert_eq!(session.pending(), []);
    let third = Notification::AdmitCall {
        call: session.id(2),
        admission: 1,
        holder: "one".into(),
        repeatable: true,
        definition: None,
    };
    assert_eq!(session.rejected(third), RejectionCode::NotWaiting);
    session.report(1, 1, text("b")).unwrap();
    assert_eq!(session.ids(), [format!("call/{}/1", session.id(2))]);
}

#[test]
fn calls_past_the_bound_are_refused_and_a_model_that_never_stops_is_stopped() {
    let mut ir = agent();
    ir.max_tool_calls = Some(2);
    let mut session = Session::started(ir, None);
    session.model_calls(&[("free", "{}"), ("asks", "{}"), ("free", "{}"), ("asks", "{}")]);
    assert!(session.failure(2).contains('2') && session.failure(3).contains('2'));
    session.run(0, text("a"));
    let token = session.token(1);
    session.complete(&token, text("b")).unwrap();
    let mut rounds = 0;
    while session.state.failed.is_none() {
        session.model_calls(&[("free", "{}"); 8]);
        rounds += 1;
        assert!(rounds < 10, "it must end");
    }
    assert!(rounds > 2, "it was told several times before");
    assert_eq!(session.status(), "failed");
}

#[test]
fn what_was_admitted_is_what_runs_b46() {
    let first = "{\"id\": 2512292042121000001, \"x\": 1.0}";
    let mut session =
        Session::calling(&[("free", first), ("free", "{\"x\":1.0,\"id\":2512292042121000001}")]);
    let events = session.ok(Notification::AdmitCall {
        call: session.id(0),
        admission: 1,
        holder: "one".to_owned(),
        repeatable: false,
        definition: None,
    });
    let arguments: serde_json::Value = serde_json::from_str(first).unwrap();
    let expected = Digest::of_json(&json!({ "tool": "free", "arguments": arguments }));
    assert!(matches!(&events[..], [Event::CallAdmitted { digest, .. }] if *digest == expected));
    session.admit(1);
    let digests = session.calls().into_iter().map(|call| match call.state {
        CallState::Running { digest, .. } => digest,
        other => panic!("{other:?}"),
    });
    assert!(digests.into_iter().all(|digest| digest == expected), "neither order of keys nor spaces count");
    let rounded =
        Digest::of_json(&json!({ "tool": "free", "arguments": { "id": 2512292042121000000_u64, "x": 1.0 } }));
    assert_ne!(rounded, expected);
}

#[test]
fn b46_digits_go_unchanged_to_the_tool_and_back() {
    let args = "{\"id\":2512292042121000001,\"a\":18446744073709551616,\"b\":1.0,\"c\":1e2,\"d\":-0}";
    let mut session = Session::calling(&[("free", args), ("free", "{}")]);
    let Some(Command::RunTool { call, .. }) = session.pending().into_iter().next() else { panic!() };
    assert_eq!(call.arguments, args);
    let given = "{\"id\":9007199254740993,\"b\":1.0,\"c\":1e+2,\"d\":-0,\"e\":0.10}";
    session.run(0, ToolResult::Json(serde_json::from_str(given).unwrap()));
    session.run(1, text("1e2"));
    assert_eq!(contents(&session.messages()), [given, "1e2"]);
    assert!(format!("{:?}", session.messages()).contains("18446744073709551616"));
}

#[test]
fn a_report_of_another_admission_changes_nothing() {
    let mut session = Session::calling(&[("twice", "{}")]);
    assert_eq!(session.report(0, 1, text("early")).unwrap_err().code, RejectionCode::Stale);
    session.admit(0);
    lost(&mut session);
    assert_eq!(session.report(0, 1, text("late")).unwrap_err().code, RejectionCode::Stale);
    session.admit(0);
    assert_eq!(session.report(0, 1, text("late")).unwrap_err().code, RejectionCode::Stale);
    session.report(0, 2, text("r")).unwrap();
    assert_eq!(session.report(0, 2, text("r")), Ok(vec![]), "the identical repeat");
    assert_eq!(session.report(0, 2, text("s")).unwrap_err().code, RejectionCode::Stale);
    assert_eq!(contents(&session.messages()), ["r"]);
    let nobodys = Notification::CallReported { call: "x".to_owned(), admission: 1, result: text("r") };
    assert_eq!(session.rejected(nobodys), RejectionCode::Stale);
}

#[test]
fn a_tool_that_failed_is_a_failed_call_and_the_model_hears_why() {
    let mut session = Session::calling(&[("free", "{}")]);
    session.run(0, ToolResult::Error("exit code 2".to_owned()));
    assert_eq!(session.failure(0), "exit code 2");
    assert_eq!(contents(&session.messages()), ["Error: exit code 2"]);
}

#[test]
fn only_what_is_owed_is_admitted() {
    let mut session = Session::calling(&[("free", "{}"), ("asks", "{}"), ("never", "{}")]);
    let admit = |call: String, admission| Notification::AdmitCall {
        call,
        admission,
        holder: "one".to_owned(),
        repeatable: true,
        definition: None,
    };
    for (index, admission) in [(0, 0), (0, 2), (1, 1), (2, 1)] {
        let call = session.id(index);
        assert_eq!(session.rejected(admit(call, admission)), RejectionCode::Stale, "{index} {admission}");
    }
    session.ok(admit(session.id(0), 1));
    let again = admit(session.id(0), 1);
    assert_eq!(session.rejected(again), RejectionCode::Stale, "one effect for one admission");
}

#[test]
fn b39_b55_a_call_whose_holder_is_lost_needs_attention_and_never_runs_again_by_itself() {
    let mut session = unknown();
    assert_eq!((session.status().as_str(), session.pending().len()), ("needs_attention", 0));
    assert_eq!(session.messages().len(), 2, "an open reply is not sent");
    let admit = Notification::AdmitCall {
        call: session.id(0),
        admission: 2,
        holder: "two".to_owned(),
        repeatable: true,
        definition: None,
    };
    assert_eq!(session.rejected(admit), RejectionCode::Stale);
    session.report(0, 1, text("it did work")).unwrap();
    assert_eq!(contents(&session.messages()), ["it did work"], "a late report settles it");
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn a_person_settles_an_unknown_call_in_each_of_three_ways() {
    let mut session = unknown();
    let done = resolve(&session, Resolution::Completed(text("by hand")));
    let events = session.ok(done.clone());
    assert!(matches!(&events[..], [Event::CallReported { admission: 1, by: Some(by), .. }] if *by == ada()));
    session.no_effect(done);
    let other = resolve(&session, Resolution::Failed("no".to_owned()));
    assert_eq!(session.rejected(other), RejectionCode::Stale);

    let mut session = unknown();
    let failed = resolve(&session, Resolution::Failed("it crashed".to_owned()));
    session.ok(failed);
    assert_eq!(contents(&session.messages()), ["Error: it crashed"]);

    let mut session = unknown();
    let retry = resolve(&session, Resolution::Retry);
    session.ok(retry);
    assert_eq!(session.ids(), [format!("call/{}/2", session.id(0))], "a new admission");
    let retry = resolve(&session, Resolution::Retry);
    assert_eq!(session.rejected(retry), RejectionCode::Stale);
    session.run(0, text("second"));
    assert_eq!(contents(&session.messages()), ["second"]);
}

#[test]
fn a_repeatable_call_runs_again_three_times_at_most() {
    let mut session = Session::calling(&[("twice", "{}")]);
    for admission in 1..=3 {
        assert_eq!(session.admit(0), admission);
        session.no_effect(Notification::HoldersLost { living: vec!["one".to_owned()] });
        lost(&mut session);
        assert_eq!(session.calls()[0].state, CallState::Ready);
    }
    session.admit(0);
    lost(&mut session);
    assert_eq!(session.calls()[0].state, CallState::Unknown);
    let retry = resolve(&session, Resolution::Retry);
    session.ok(retry);
    session.admit(0);
    lost(&mut session);
    assert_eq!(session.calls()[0].state, CallState::Ready, "a person's retry counts anew");
    for _ in 0..3 {
        session.admit(0);
        lost(&mut session);
    }
    session.report(0, 2, text("found")).unwrap();
    assert_eq!(contents(&session.messages()), ["found"]);
}

#[test]
fn a_tool_may_declare_itself_repeatable_at_admission() {
    let mut session = Session::calling(&[("free", "{}")]);
    let call = session.id(0);
    session.ok(Notification::AdmitCall {
        call,
        admission: 1,
        holder: "one".to_owned(),
        repeatable: true,
        definition: None,
    });
    lost(&mut session);
    assert_eq!(session.calls()[0].state, CallState::Ready);
}

#[test]
fn b37_a_deferred_call_beside_others_drops_none_of_them() {
    let mut session = Session::calling(&[("free", "{}"), ("asks", "{}"), ("wrapped", "{}")]);
    session.run(0, text("sync"));
    let token = session.token(1);
    session.complete(&token, text("approved")).unwrap();
    assert_eq!(session.messages().len(), 2, "nothing is invented for the open one");
    assert!(session.state.asking.is_none());
    session.run(2, text("async"));
    assert_eq!(contents(&session.messages()), ["sync", "approved", "async"]);
    assert_eq!(session.ids(), ["model/2/1"], "asked once");
}

#[test]
fn b58_two_equal_deferred_calls_get_each_their_own_result() {
    let mut session = Session::calling(&[("asks", "{\"n\":1}"), ("asks", "{\"n\":1}")]);
    let (first, second) = (session.token(0), session.token(1));
    assert_ne!(first, second);
    let events = session.complete(&second, text("for the second")).unwrap();
    assert!(matches!(&events[..], [Event::CallReported { admission: 0, by: Some(by), .. }] if *by == ada()));
    assert_eq!(session.complete(&second, text("for the second")), Ok(vec![]));
    session.complete(&first, text("for the first")).unwrap();
    assert_eq!(contents(&session.messages()), ["for the first", "for the second"]);
    assert_eq!(session.complete(&second, text("for the second")), Ok(vec![]), "also after the turn");
    assert_eq!(session.complete(&second, text("other")).unwrap_err().code, RejectionCode::Conflict);
    assert_eq!(session.complete("nobody's", text("x")).unwrap_err().code, RejectionCode::Stale);
}

#[test]
fn a_deferred_call_may_be_completed_with_a_failure() {
    let mut session = Session::calling(&[("asks", "{}")]);
    let token = session.token(0);
    let denied = ToolResult::Error("denied by ada".to_owned());
    session.complete(&token, denied.clone()).unwrap();
    assert_eq!(session.complete(&token, denied), Ok(vec![]));
    assert_eq!(contents(&session.messages()), ["Error: denied by ada"]);
}

#[test]
fn nothing_that_ran_can_be_completed_by_a_token() {
    let mut session = Session::started(agent(), Some(contract()));
    session.model_calls(&[("free", "{}")]);
    let guessed = flowright::engine::derived_id(&["child", "token", &session.id(0)]);
    assert_eq!(session.complete(&guessed, text("x")).unwrap_err().code, RejectionCode::Stale);
}
