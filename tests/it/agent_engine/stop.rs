//! Stopping: nothing new starts, what runs is killed, and the parent hears once that it has settled.

use super::{Session, agent, contract, person, text};
use flowright::engine::RejectionCode;
use flowright::engine::agent::command::{Command, Notification, Report, Resolution};
use flowright::engine::agent::event::Event;
use flowright::engine::agent::pending;
use flowright::engine::agent::state::CallState;

fn child(calls: &[(&str, &str)]) -> Session {
    let mut session = Session::started(agent(), Some(contract()));
    session.model_calls(calls);
    session
}

#[test]
fn an_idle_session_stops_at_once_and_says_so_until_it_is_heard() {
    let mut session = Session::started(agent(), Some(contract()));
    assert_eq!(session.ok(Notification::Stop), [Event::StopRequested, Event::Stopped]);
    assert_eq!(session.status(), "cancelled");
    session.no_effect(Notification::Stop);
    let [Command::Report { id, report: Report::Settled, .. }] = &session.pending()[..] else { panic!() };
    session.ok(Notification::ReportAcknowledged { report: id.clone() });
    session.no_effect(Notification::Stop);
    assert_eq!(session.pending(), []);
    assert!(pending::index(&session.ir, &session.state).ended);
    assert_eq!(session.rejected(person("m", "hello")), RejectionCode::Ended);
    assert!(Session::started(agent(), None).ok(Notification::Stop).len() == 2);
}

#[test]
fn what_runs_is_killed_and_awaited_and_the_rest_is_refused() {
    let mut session = child(&[("free", "{}"), ("free", "{}"), ("asks", "{}")]);
    session.admit(0);
    let token = session.token(2);
    session.ok(Notification::Stop);
    assert_eq!(session.status(), "cancelling");
    assert_eq!(session.pending(), [Command::KillCall { call: session.id(0) }]);
    assert_eq!((session.failure(1).as_str(), session.failure(2).as_str()), ("cancelled", "cancelled"));
    let call = session.id(1);
    let admit = Notification::AdmitCall {
        call,
        admission: 1,
        holder: "one".to_owned(),
        repeatable: true,
        definition: None,
    };
    assert_eq!(session.rejected(admit), RejectionCode::Ended);
    assert!(session.complete(&token, text("late")).is_err());
    session.no_effect(Notification::Stop);
    assert_eq!(session.reports(), []);
    session.report(0, 1, text("it got through")).unwrap();
    assert_eq!(session.status(), "cancelled");
    assert_eq!(session.reports(), [Report::Settled]);
    assert_eq!(session.calls()[0].state, CallState::Completed(text("it got through")));
}

#[test]
fn a_model_call_under_way_counts_as_stopped() {
    let mut session = Session::started(agent(), Some(contract()));
    let (reply, admission) = session.admit_model();
    session.ok(Notification::Stop);
    assert_eq!(session.status(), "cancelled");
    let late = Notification::ModelReplied { reply, admission, answer: Default::default() };
    assert_eq!(session.rejected(late), RejectionCode::Stale);
    assert_eq!(session.state.replies, 0);
}

#[test]
fn holders_lost_while_cancelling_let_it_come_to_rest() {
    for (tool, state) in [("free", CallState::Unknown), ("twice", CallState::Failed("cancelled".to_owned()))]
    {
        let mut session = child(&[(tool, "{}")]);
        session.admit(0);
        session.ok(Notification::Stop);
        session.ok(Notification::HoldersLost { living: vec!["two".to_owned()] });
        assert_eq!((session.status().as_str(), session.reports()), ("cancelled", vec![Report::Settled]));
        assert_eq!(session.calls()[0].state, state);
    }
}

#[test]
fn a_stopped_session_never_runs_an_unknown_call_again_but_learns_its_outcome() {
    let mut session = child(&[("free", "{}")]);
    session.admit(0);
    session.ok(Notification::HoldersLost { living: vec!["two".to_owned()] });
    session.ok(Notification::Stop);
    let resolve = |call: String, resolution| Notification::Resolve { call, resolution, by: super::ada() };
    let call = session.id(0);
    assert_eq!(session.rejected(resolve(call.clone(), Resolution::Retry)), RejectionCode::Ended);
    session.ok(resolve(call, Resolution::Completed(text("seen"))));
    assert_eq!(session.calls()[0].state, CallState::Completed(text("seen")));
    assert!(session.state.asking.is_none());
}

#[test]
fn a_failed_session_can_be_stopped_so_that_its_parent_settles() {
    let mut session = Session::started(agent(), Some(contract()));
    let (reply, admission) = session.admit_model();
    let error = "401".to_owned();
    session.ok(Notification::ModelFailed { reply, admission, error, retryable: false, retry_after_ms: None });
    session.ok(Notification::Stop);
    assert!(matches!(session.reports()[..], [Report::Failed { .. }, Report::Settled]));
    assert_eq!(session.status(), "failed");
}

#[test]
fn a_submission_is_not_judged_while_cancelling() {
    let valid = r#"{"outcome":"blocked","summary":"s"}"#;
    let mut session = child(&[("free", "{}"), ("submit_workflow_result", valid)]);
    session.admit(0);
    session.ok(Notification::Stop);
    session.report(0, 1, text("r")).unwrap();
    assert_eq!(session.reports(), [Report::Settled]);
    assert_eq!(session.state.submissions, []);
}
