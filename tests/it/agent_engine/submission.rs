//! Submitting to a workflow: what is valid, what is refused and why, what happens afterwards.

use super::{Session, agent, contract, person, text};
use flowright::engine::RejectionCode;
use flowright::engine::agent::command::{Command, Notification, Report};
use flowright::engine::agent::event::{
    Contract, EnvelopeOutcome, Event, Message, MessageKind, SUBMIT_TOOL, ToolResult,
};
use flowright::engine::agent::state::CallState;
use serde_json::json;

const VALID: &str =
    r#"{"outcome":"succeeded","summary":"s","result":{"title":"t","points":2512292042121000001}}"#;
const BAD: &str = r#"{"outcome":"succeeded","summary":"s"}"#;

fn child() -> Session {
    Session::started(agent(), Some(contract()))
}

#[test]
fn a_valid_submission_is_reported_and_ends_the_turn_without_another_model_call() {
    let mut session = child();
    session.submit(VALID);
    assert_eq!(session.status(), "idle");
    let owed = session.pending();
    let [Command::Report { parent, id, report: Report::Submitted { submission: 1, envelope } }] = &owed[..]
    else {
        panic!("{owed:?}")
    };
    assert_eq!(parent.0, "parent");
    assert_eq!(envelope.outcome, EnvelopeOutcome::Succeeded);
    assert_eq!(
        envelope.result.to_string(),
        r#"{"title":"t","points":2512292042121000001}"#,
        "digits kept (B46)"
    );
    assert_eq!(session.calls()[0].state, CallState::Completed(text("submitted")));
    session.ok(Notification::ReportAcknowledged { report: id.clone() });
    assert_eq!(session.pending(), [], "no model call follows (invariant 17)");
    session.no_effect(Notification::ReportAcknowledged { report: id.clone() });
}

#[test]
fn every_fault_is_named_at_once_and_the_model_may_correct_it() {
    let table: &[(&str, &[&str])] = &[
        ("{}", &["/outcome", "/summary"]),
        ("[]", &["JSON object"]),
        ("{\"outcome\"", &["not valid JSON"]),
        ("", &["/outcome", "/summary"]),
        (r#"{"outcome":"done","summary":3}"#, &["/outcome", "\"done\"", "/summary", "3"]),
        (BAD, &["/result"]),
        (r#"{"outcome":"succeeded","summary":"s","result":[]}"#, &["/result", "object"]),
        (
            r#"{"outcome":"succeeded","summary":"s","result":{"title":5,"points":"x"}}"#,
            &["/result/title", "string", "5", "/result/points", "whole number"],
        ),
        (r#"{"outcome":"succeeded","summary":"s","result":{"title":"t"}}"#, &["points"]),
        (
            r#"{"outcome":"failed","summary":"s","invocation":"other/1","workflow":"w"}"#,
            &["/invocation", "/workflow"],
        ),
    ];
    for (arguments, named) in table {
        let mut session = child();
        let events = session.submit(arguments);
        assert!(matches!(events.last(), Some(Event::SubmissionRefused { .. })), "{arguments}: {events:?}");
        let reason = session.failure(0);
        for part in *named {
            assert!(reason.contains(part), "{arguments}: `{part}` is not in: {reason}");
        }
        assert_eq!(session.ids(), ["model/2/1"], "the model is asked again");
        assert_eq!(session.reports(), []);
        session.submit(VALID);
        assert!(matches!(session.reports()[..], [Report::Submitted { submission: 1, .. }]));
    }
}

#[test]
fn a_long_summary_is_refused() {
    let long = "ü".repeat(4001);
    let mut session = child();
    session.submit(&json!({ "outcome": "blocked", "summary": long }).to_string());
    assert!(session.failure(0).contains("4001"));
    session.submit(&json!({ "outcome": "blocked", "summary": "ü".repeat(4000) }).to_string());
    assert!(session.state.submitted);
}

#[test]
fn without_a_schema_any_object_is_a_result() {
    let free = Contract { schema: None, ..contract() };
    for (result, valid) in [("{}", true), ("{\"a\":1}", true), ("3", false), ("null", false), ("[]", false)] {
        let mut session = Session::started(agent(), Some(free.clone()));
        session.submit(&format!("{{\"outcome\":\"succeeded\",\"summary\":\"s\",\"result\":{result}}}"));
        assert_eq!(session.state.submitted, valid, "{result}");
    }
}

#[test]
fn blocked_and_failed_need_no_result_and_keep_none() {
    for outcome in ["blocked", "failed"] {
        for result in ["", ",\"result\":{\"half\":1}"] {
            let mut session = child();
            session.submit(&format!("{{\"outcome\":\"{outcome}\",\"summary\":\"why\"{result}}}"));
            let [Report::Submitted { envelope, .. }] = &session.reports()[..] else { panic!() };
            assert!(envelope.result.is_null() && envelope.summary == "why");
        }
    }
}

#[test]
fn five_invalid_submissions_in_a_row_end_the_session() {
    let mut session = child();
    for _ in 0..4 {
        session.submit(BAD);
    }
    session.submit(VALID);
    assert!(session.state.failed.is_none(), "a valid one starts the count anew");
    session.ok(person("m", "once more"));
    for _ in 0..5 {
        session.submit(BAD);
    }
    assert!(
        session
            .state
            .failed
            .as_ref()
            .is_some_and(|reason| reason.contains("five invalid submissions in a row"))
    );
    assert!(matches!(session.reports()[..], [Report::Submitted { .. }, Report::Failed { .. }]));
    assert!(session.pending().iter().all(|command| matches!(command, Command::Report { .. })));

    let mut session = child();
    session.model_calls(&[(SUBMIT_TOOL, BAD); 7]);
    assert!(session.state.failed.is_some());
    assert!(session.calls().iter().all(|call| call.state.is_terminal()));
}

#[test]
fn the_first_valid_one_of_several_wins() {
    let mut session = child();
    let second = VALID.replace("\"s\"", "\"second\"");
    session.model_calls(&[(SUBMIT_TOOL, BAD), (SUBMIT_TOOL, VALID), (SUBMIT_TOOL, &second)]);
    assert!(session.failure(0).contains("/result"));
    assert_eq!(session.calls()[1].state, CallState::Completed(text("submitted")));
    assert!(session.failure(2).contains("first valid one"));
    assert_eq!(session.state.submissions.len(), 1);
    assert_eq!(session.status(), "idle");
}

#[test]
fn a_submission_waits_for_what_runs_beside_it_and_is_refused_beside_what_waits_outside() {
    let mut session = child();
    session.model_calls(&[(SUBMIT_TOOL, VALID), ("free", "{}")]);
    assert_eq!(session.reports(), [], "a call is open (invariant 17)");
    assert_eq!(
        session.ids(),
        [format!("call/{}/1", session.id(1))],
        "the submit call itself never goes to a host"
    );
    session.run(1, text("r"));
    assert!(matches!(session.reports()[..], [Report::Submitted { .. }]));

    let mut session = child();
    session.model_calls(&[("asks", "{}"), (SUBMIT_TOOL, VALID)]);
    assert!(session.failure(1).contains("finish") && session.failure(1).contains("asks"));
    let token = session.token(0);
    session.complete(&token, text("ok")).unwrap();
    assert_eq!((session.reports().len(), session.ids()), (0, vec!["model/2/1".to_owned()]));

    let mut session = child();
    session.model_calls(&[("free", "{}"), (SUBMIT_TOOL, VALID)]);
    session.admit(0);
    session.ok(Notification::HoldersLost { living: vec!["two".to_owned()] });
    assert!(session.failure(1).contains("finish"));
}

#[test]
fn a_host_cannot_run_or_report_a_submission() {
    let mut session = child();
    session.model_calls(&[(SUBMIT_TOOL, VALID), ("free", "{}")]);
    let call = session.id(0);
    let admit = Notification::AdmitCall {
        call,
        admission: 1,
        holder: "one".to_owned(),
        repeatable: true,
        definition: None,
    };
    assert_eq!(session.rejected(admit), RejectionCode::Stale);
    assert!(session.report(0, 1, ToolResult::Text("submitted".to_owned())).is_err());
}

#[test]
fn a_session_without_contract_has_nothing_to_submit_to() {
    let mut session = Session::started(agent(), None);
    session.submit(VALID);
    assert!(session.failure(0).contains("nothing to submit to"));
    assert_eq!((session.reports().len(), session.ids()), (0, vec!["model/2/1".to_owned()]));
}

#[test]
fn prose_is_no_submission() {
    let mut session = child();
    session.model_says("I am done, consider it submitted.");
    assert_eq!(session.reports(), [Report::Yielded { reply: 1 }]);
    let reminder = Message {
        id: "r".to_owned(),
        kind: MessageKind::Reminder,
        text: "submit".to_owned(),
        media: Vec::new(),
    };
    session.ok(Notification::Take(reminder));
    session.submit(VALID);
    assert!(matches!(
        session.reports()[..],
        [Report::Yielded { .. }, Report::Submitted { submission: 1, .. }]
    ));
}

#[test]
fn feedback_and_people_reopen_an_idle_child_for_a_new_submission() {
    let mut session = child();
    session.submit(VALID);
    let kept = session.state.submissions.clone();
    let feedback = Message {
        id: "f".to_owned(),
        kind: MessageKind::Feedback,
        text: "shorter".to_owned(),
        media: Vec::new(),
    };
    session.ok(Notification::Take(feedback.clone()));
    assert!(!session.state.submitted);
    assert!(session.ids().contains(&"model/2/1".to_owned()));
    session.no_effect(Notification::Take(feedback));
    session.submit(&VALID.replace("\"t\"", "\"u\""));
    assert_eq!(session.state.submissions.len(), 2);
    assert_eq!(session.state.submissions[..1], kept[..], "earlier results stay as they were (invariant 8)");
    let numbers = session.reports().into_iter().map(|report| match report {
        Report::Submitted { submission, .. } => submission,
        other => panic!("{other:?}"),
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2]);
    session.ok(person("p", "thanks, why so?"));
    session.model_says("because");
    assert_eq!(session.status(), "idle");
}

#[test]
fn a_message_that_came_before_the_submission_is_still_answered() {
    let mut session = child();
    let (reply, admission) = session.admit_model();
    session.ok(person("p", "also mind the budget"));
    let calls = vec![(String::new(), SUBMIT_TOOL.to_owned(), VALID.to_owned())];
    let answer = flowright::engine::agent::command::Answer { calls, ..Default::default() };
    session.ok(Notification::ModelReplied { reply, admission, answer });
    assert!(matches!(session.reports()[..], [Report::Submitted { .. }]));
    assert!(session.ids().contains(&"model/2/1".to_owned()));
}

#[test]
fn extreme_values_are_judged_like_any_other() {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer", "minimum": -5, "maximum": 5, "multipleOf": 2 },
            "d": { "type": "number", "exclusiveMaximum": 0.3, "multipleOf": 0.1 },
            "s": { "type": "string", "pattern": "^(a+)+$", "maxLength": 3 },
            "l": { "type": "array", "uniqueItems": true, "maxItems": 2 },
            "e": { "enum": [1, "x"] }
        }
    });
    let judged = |result: &str| {
        let mut session =
            Session::started(agent(), Some(Contract { schema: Some(schema.clone()), ..contract() }));
        session.submit(&format!("{{\"outcome\":\"succeeded\",\"summary\":\"s\",\"result\":{result}}}"));
        session.state.submitted
    };
    for valid in ["{}", r#"{"n":4,"d":0.2,"s":"aaa","l":[1,2],"e":1}"#, r#"{"n":-4}"#, r#"{"d":-0.1}"#] {
        assert!(judged(valid), "{valid}");
    }
    let deep = format!("{{\"l\":{}1,2,3{}}}", "[".repeat(100), "]".repeat(100));
    let slow = format!("{{\"s\":\"{}!\"}}", "a".repeat(64));
    for bad in [
        "{\"n\":1e400}",
        "{\"n\":-1e400}",
        "{\"n\":18446744073709551617}",
        "{\"n\":1e99999999999999999999}",
        "{\"d\":1e-99999999999999999999,\"n\":3}",
        "{\"n\":1e-400}",
        "{\"n\":0.5}",
        "{\"d\":1e400}",
        "{\"e\":1e400}",
        "{\"l\":[1,1]}",
        &slow,
    ] {
        assert!(!judged(bad), "{bad}");
    }
    assert!(judged(&deep), "one item, a hundred levels deep");
}
