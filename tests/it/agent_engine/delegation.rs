//! Calls that other agents answer: recorded before they start, answered once, bounded in number and in depth.

use super::{Session, agent, contents, person, spec, text};
use flowright::engine::agent::command::{Command, Notification, Report};
use flowright::engine::agent::event::{Caller, Event, ToolResult};
use flowright::engine::agent::pending;
use flowright::engine::agent::state::CallState;
use flowright::engine::{RejectionCode, SessionId, derived_id};
use flowright::ir::{Agent, Decorator, Disposition, PolicyRule};

const ASK: (&str, &str) = ("prompt_agent_scout", "{\"prompt\":\"Look.\"}");

fn child_of(session: &Session, index: usize) -> SessionId {
    SessionId(derived_id(&["child", &session.id(index)]))
}

/// A session that answers a call of `caller`.
fn answering(ir: Agent, depth: u32) -> Session {
    let mut session = Session::new(ir);
    let mut spec = spec(None);
    spec.caller = Some(Caller { session: SessionId("caller".to_owned()), call: "c1".to_owned(), depth });
    session.ok(Notification::Start(spec));
    session
}

fn started(session: &Session, index: usize) -> Notification {
    Notification::AgentStarted { call: session.id(index) }
}

#[test]
fn a_call_of_another_agent_is_recorded_started_once_and_answered_once() {
    let mut session = Session::calling(&[ASK, ("free", "{}")]);
    let child = child_of(&session, 0);
    let Command::StartAgent { slug, child: started_child, depth: 1, .. } = &session.pending()[0] else {
        panic!("{:?}", session.pending())
    };
    assert_eq!((slug.as_str(), started_child), ("scout", &child));
    let news = started(&session, 0);
    session.ok(news.clone());
    session.no_effect(news);
    session.run(1, text("r"));
    let row = pending::index(&session.ir, &session.state);
    assert_eq!((row.status.as_str(), row.owes_work), ("waiting_external", false));
    assert!(row.detail.contains(&child.0), "{}", row.detail);
    assert_eq!(session.report(0, 1, text("x")).unwrap_err().code, RejectionCode::Stale);
    session.report(0, 0, text("seen")).unwrap();
    assert_eq!(session.report(0, 0, text("seen")), Ok(vec![]));
    assert_eq!(session.report(0, 0, text("other")).unwrap_err().code, RejectionCode::Stale);
    assert_eq!(contents(&session.messages()), ["seen", "r"]);
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn a_host_cannot_admit_a_call_of_another_agent() {
    let mut session = Session::calling(&[ASK, ASK, ASK]);
    assert_eq!(session.calls()[2].state, CallState::Ready, "two are under way, which is the bound");
    for index in 0..3 {
        let admit = Notification::AdmitCall {
            call: session.id(index),
            admission: 1,
            holder: "one".to_owned(),
            repeatable: true,
            definition: None,
        };
        assert_eq!(session.rejected(admit), RejectionCode::Stale);
    }
    session.report(0, 0, text("r")).unwrap();
    assert!(matches!(session.calls()[2].state, CallState::Delegated { .. }));
}

#[test]
fn what_an_agent_is_asked_must_be_one_text() {
    let calls = [
        ("prompt_agent_scout", "{}"),
        ("prompt_agent_scout", "{\"prompt\":3}"),
        ("prompt_agent_scout", "{\"prompt\":\" \"}"),
        ("prompt_agent_scout", "{\"prompt\":\"x\",\"model\":\"y\"}"),
    ];
    let session = Session::calling(&calls);
    for (index, word) in ["missing", "text", "text", "`model`"].iter().enumerate() {
        assert!(session.failure(index).contains(word), "{}", session.failure(index));
    }
    assert_eq!(session.ids(), ["model/2/1"]);
}

#[test]
fn the_policy_holds_for_agents_too() {
    let with = |disposition| {
        let mut ir = agent();
        ir.policy.rules.insert(0, PolicyRule { tool: ASK.0.to_owned(), disposition });
        let mut session = Session::started(ir, None);
        session.model_calls(&[ASK]);
        session
    };
    let denied = with(Disposition::Deny { reason: None });
    assert!(denied.failure(0).contains("denied"));
    let far = flowright::ir::Isolation::Docker { image: "box".to_owned() };
    assert!(with(Disposition::RunIsolated { spec: far }).failure(0).contains("isolation"));
    let mut deferred = with(Disposition::Defer { reason: None });
    let token = deferred.token(0);
    deferred.ok(Notification::Approve { token, by: super::ada() });
    assert!(matches!(&deferred.pending()[..], [Command::StartAgent { .. }]));
    let inner = Box::new(Disposition::RunSync);
    let retries = vec![Decorator::Retries { count: 1 }];
    let mut again = with(Disposition::Decorate { decorators: retries, inner });
    let first = child_of(&again, 0);
    again.report(0, 0, ToolResult::Error("lost its way".to_owned())).unwrap();
    let [Command::StartAgent { child, .. }] = &again.pending()[..] else { panic!() };
    assert_ne!(*child, first, "a new attempt gets a fresh session");
}

/// Invariant 18.
#[test]
fn agents_are_called_four_deep_at_most() {
    for depth in 1..=3 {
        let mut session = answering(agent(), depth);
        session.model_calls(&[ASK]);
        let [Command::StartAgent { depth: next, .. }] = &session.pending()[..] else { panic!() };
        assert_eq!(*next, depth + 1);
    }
    let mut session = answering(agent(), 4);
    session.model_calls(&[ASK]);
    assert!(session.failure(0).contains("4 deep at most"));
}

fn answers(session: &Session) -> Vec<ToolResult> {
    session
        .reports()
        .into_iter()
        .map(|report| match report {
            Report::Answered { call, result } => {
                assert_eq!(call, "c1");
                result
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn the_last_words_are_the_answer_and_the_first_answer_stands() {
    let mut session = answering(agent(), 1);
    session.model_calls(&[("free", "{}")]);
    session.run(0, text("r"));
    session.model_says("It is blue.");
    assert_eq!(answers(&session), [text("It is blue.")]);
    let [Command::Report { parent, id, .. }] = &session.pending()[..] else { panic!() };
    assert_eq!(parent.0, "caller");
    session.ok(Notification::ReportAcknowledged { report: id.clone() });
    session.ok(person("m", "really?"));
    session.model_says("No, red.");
    assert_eq!(session.pending(), []);
}

#[test]
fn failure_and_stop_are_answers_too() {
    let mut session = answering(agent(), 1);
    let (reply, admission) = session.admit_model();
    let error = "401".to_owned();
    session.ok(Notification::ModelFailed { reply, admission, error, retryable: false, retry_after_ms: None });
    assert!(matches!(&answers(&session)[..], [ToolResult::Error(why)] if why.contains("401")));

    let mut session = answering(agent(), 1);
    session.ok(Notification::Stop);
    assert!(matches!(&answers(&session)[..], [ToolResult::Error(why)] if why.contains("stopped")));
}

#[test]
fn a_stop_waits_for_the_agents_below() {
    let mut session = Session::calling(&[ASK]);
    let child = child_of(&session, 0);
    let news = started(&session, 0);
    session.ok(news);
    session.ok(Notification::Stop);
    assert_eq!(
        (session.status().as_str(), session.pending()),
        ("cancelling", vec![Command::StopAgent { child }])
    );
    let events = session.report(0, 0, ToolResult::Error("stopped".to_owned())).unwrap();
    assert!(matches!(&events[..], [Event::CallReported { .. }, Event::Stopped]));
    assert_eq!(session.status(), "cancelled");
}

#[test]
fn a_lost_holder_means_nothing_to_a_call_of_another_agent() {
    let mut session = Session::calling(&[ASK]);
    session.no_effect(Notification::HoldersLost { living: Vec::new() });
    assert!(matches!(session.calls()[0].state, CallState::Delegated { .. }));
}
