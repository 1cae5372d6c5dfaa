//! What a second audit asked of the engine: repeats, late words and pauses that cross each other, each as a table.

use super::{Desk, HOUR, lead, reject};
use crate::support::world::person;
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome};
use flowright::engine::workflow::command::{Decision, Notification};
use flowright::engine::workflow::event::Event;
use flowright::engine::workflow::pending::pending;
use flowright::engine::workflow::state::{Hold, Work};
use flowright::engine::{Principal, RejectionCode};
use flowright::ir::StopStatus;
use serde_json::{Value, json};

fn pause(desk: &mut Desk) {
    desk.say(Notification::Pause { by: person("ada") }).unwrap();
}

fn resume(desk: &mut Desk) -> Vec<Event> {
    desk.say(Notification::Resume { by: person("ada") }).unwrap()
}

fn hand_in(desk: &mut Desk, submission: u32, outcome: EnvelopeOutcome, result: Value) -> Vec<Event> {
    let envelope = Envelope { outcome, summary: "said".to_owned(), result };
    let child = desk.producer();
    desk.say(Notification::Submitted { child, submission, envelope }).unwrap()
}

/// Two persons, two gates.
const SPLIT: &str = "
steps:
  - id: plan
    agent: maker
    task: Plan.
    completion: reviewed
    review:
      - { human: Good?, respondents: [\"user:ada\"] }
      - { human: Cheap enough?, respondents: [\"role:lead\"] }
  - { id: build, agent: maker, task: Build. }
";

/// Invariant 6: whoever may not decide at the gate that is open now may still repeat what they said at the one before.
#[test]
fn a_repeat_by_whom_the_next_gate_does_not_ask() {
    let mut desk = Desk::new(SPLIT);
    desk.submit(json!({}));
    desk.decide(1, Decision::Accept).unwrap();
    assert_eq!(desk.status(), "awaiting_review");
    assert_eq!(desk.decide(1, Decision::Accept), Ok(vec![]), "the identical repeat");
    assert_eq!(desk.decide(1, reject("no")), Err(RejectionCode::NotAllowed), "no repeat");
    assert_eq!(desk.decide_as(1, Decision::Accept, person("eve")), Err(RejectionCode::NotAllowed));
    desk.decide_as(1, Decision::Accept, lead()).unwrap();
    assert_eq!(desk.at(), "build");
}

/// Revision 2 stands; whatever was said of revision 1, a word on it comes too late, and the repeat is none.
#[test]
fn a_superseded_revision_is_stale_also_where_it_was_decided() {
    for (first, again) in [(Decision::Accept, reject("no")), (reject("more"), Decision::Accept)] {
        let mut desk = Desk::new(SPLIT);
        desk.submit(json!({}));
        desk.decide(1, first.clone()).unwrap();
        desk.submit(json!({ "n": 2 }));
        assert_eq!(desk.decide(1, first.clone()), Ok(vec![]), "{first:?} repeated");
        assert_eq!(desk.decide(1, again.clone()), Err(RejectionCode::Stale), "{first:?} and then {again:?}");
        assert_eq!(desk.decide_as(1, again, lead()), Err(RejectionCode::Stale));
        assert_eq!(desk.status(), "awaiting_review");
    }
}

/// Invariant 8: what passed every gate in a pause is not replaced, nor taken back, by what its child still says.
#[test]
fn a_result_that_was_accepted_in_a_pause_stands() {
    let one_gate = "
steps:
  - { id: plan, agent: maker, task: Plan., completion: reviewed, review: [{ human: Good? }] }
";
    let cases = [
        (EnvelopeOutcome::Succeeded, json!({ "n": 2 })),
        (EnvelopeOutcome::Blocked, Value::Null),
        (EnvelopeOutcome::Failed, Value::Null),
    ];
    for (outcome, result) in cases {
        for reviewed in [true, false] {
            let yaml = if reviewed { one_gate } else { "steps: [{ id: plan, agent: maker, task: Plan. }]" };
            let mut desk = Desk::new(yaml);
            if reviewed {
                desk.submit(json!({}));
                pause(&mut desk);
                desk.decide(1, Decision::Accept).unwrap();
            } else {
                desk.settle();
                pause(&mut desk);
                hand_in(&mut desk, 1, EnvelopeOutcome::Succeeded, json!({}));
            }
            let events = hand_in(&mut desk, 2, outcome, result.clone());
            assert_eq!(events, vec![], "{outcome:?}, reviewed: {reviewed}");
            resume(&mut desk);
            assert_eq!(desk.ending(), StopStatus::Succeeded);
        }
    }
}

/// Invariant 10: the deadlines of people run in a pause; what comes after them is late, though they apply on resume.
#[test]
fn a_word_after_its_deadline_is_late_in_a_pause_too() {
    let gate = "
steps:
  - { id: plan, agent: maker, task: Plan., completion: reviewed, review: [{ human: Good?, deadline: 1h }] }
";
    for decision in [Decision::Accept, reject("no"), Decision::Abort { reason: String::new() }] {
        let mut desk = Desk::new(gate);
        desk.submit(json!({}));
        pause(&mut desk);
        desk.wait(HOUR);
        assert_eq!(desk.decide(1, decision), Err(RejectionCode::Stale));
        resume(&mut desk);
        assert_eq!(desk.status(), "needs_attention");
    }
    let question = "steps: [{ id: ask, question: Go on?, choices: { yes: Yes }, deadline: 1h }]";
    let mut desk = Desk::new(question);
    pause(&mut desk);
    desk.wait(HOUR);
    assert_eq!(desk.answer("yes", "ada"), Err(RejectionCode::Stale));
    resume(&mut desk);
    assert_eq!(desk.status(), "needs_attention");
}

/// A session that passed its deadline in a pause is given up on resume, whatever else came due.
#[test]
fn a_session_past_its_deadline_does_not_ask_for_attention() {
    let mut desk = Desk::new("deadline: 2h\nsteps: [{ id: make, agent: maker, task: Make it. }]");
    desk.settle();
    let child = desk.producer();
    desk.say(Notification::Yielded { child: child.clone(), turn: 1 }).unwrap();
    desk.settle();
    pause(&mut desk);
    desk.say(Notification::Yielded { child, turn: 2 }).unwrap();
    desk.wait(2 * HOUR);
    resume(&mut desk);
    assert!(matches!(desk.state.hold, Hold::Cancelling { .. }), "{:?}", desk.state.hold);
    desk.settle();
    assert_eq!(desk.ending(), StopStatus::Failed);
}

/// Submissions that come in another order, or again, make no revision of their own.
#[test]
fn a_submission_is_one_candidate() {
    let cases: [(&[u32], &[u64]); 4] =
        [(&[1, 1, 2], &[1, 2]), (&[2, 1, 2], &[2]), (&[2, 2, 3, 2, 3], &[2, 3]), (&[1, 3, 2, 3], &[1, 3])];
    for (order, kept) in cases {
        let mut desk = Desk::new(SPLIT);
        desk.settle();
        for submission in order {
            hand_in(&mut desk, *submission, EnvelopeOutcome::Succeeded, json!({ "n": submission }));
        }
        let Work::Stage(stage) = &desk.state.work else { panic!("{:?}", desk.state.work) };
        let found: Vec<_> = stage.candidates.iter().map(|candidate| candidate.result["n"].as_u64()).collect();
        assert_eq!(found, kept.iter().map(|n| Some(*n)).collect::<Vec<_>>(), "{order:?}");
    }
}

const SAME: &str = "
steps:
  - { id: plan, agent: maker, task: Plan., completion: reviewed, review: [{ human: Good? }] }
  - { id: build, agent: maker, task: Build., completion: reviewed, review: [{ human: Good? }] }
";

fn named(
    desk: &mut Desk,
    invocation: &str,
    decision: Decision,
    by: Principal,
) -> Result<usize, RejectionCode> {
    let invocation = Some(invocation.to_owned());
    let news =
        Notification::Decide { revision: Some(1), digest: None, gate: Some(0), invocation, decision, by };
    desk.say(news).map(|events| events.len())
}

/// A decision that names its invocation passes no gate of another stage, however late it comes twice.
#[test]
fn a_decision_names_its_invocation() {
    let mut desk = Desk::new(SAME);
    desk.submit(json!({}));
    assert_eq!(named(&mut desk, "build/1/1", Decision::Accept, person("ada")), Err(RejectionCode::Stale));
    assert!(named(&mut desk, "plan/1/1", Decision::Accept, person("ada")).unwrap() > 0);
    desk.submissions = 0;
    desk.submit(json!({}));
    assert_eq!((desk.at(), desk.status()), ("build".to_owned(), "awaiting_review".to_owned()));
    assert_eq!(named(&mut desk, "plan/1/1", Decision::Accept, person("ada")), Ok(0), "the same again");
    assert_eq!(named(&mut desk, "plan/1/1", reject("no"), person("ada")), Err(RejectionCode::Conflict));
    assert_eq!(named(&mut desk, "plan/1/1", Decision::Accept, person("eve")), Err(RejectionCode::Conflict));
    assert_eq!(desk.status(), "awaiting_review");
    assert!(named(&mut desk, "build/1/1", Decision::Accept, person("ada")).unwrap() > 0);
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// Each of the ways out of a silence is open: a result, an end without one, the deadline of the stage.
#[test]
fn every_way_out_of_a_silence() {
    let yaml = "
steps:
  - id: make
    agent: maker
    task: Make it.
    deadline: 4h
    on_deadline: { stop: failed, reason: deadline }
    on_blocked: { stop: failed, reason: blocked }
    on_failed: { stop: failed, reason: failed }
";
    for way in ["", "blocked", "failed", "child failed", "deadline", "cancelled"] {
        let mut desk = Desk::new(yaml);
        desk.settle();
        let child = desk.producer();
        desk.say(Notification::Yielded { child: child.clone(), turn: 1 }).unwrap();
        desk.settle();
        desk.say(Notification::Yielded { child: child.clone(), turn: 2 }).unwrap();
        assert_eq!(desk.status(), "needs_attention");
        match way {
            "" => drop(hand_in(&mut desk, 1, EnvelopeOutcome::Succeeded, json!({}))),
            "blocked" => drop(hand_in(&mut desk, 1, EnvelopeOutcome::Blocked, Value::Null)),
            "failed" => drop(hand_in(&mut desk, 1, EnvelopeOutcome::Failed, Value::Null)),
            "child failed" => {
                desk.say(Notification::ChildFailed { child, reason: "no model".to_owned() }).unwrap();
            }
            "deadline" => desk.wait(4 * HOUR),
            _ => {
                let reason = "cancelled".to_owned();
                desk.say(Notification::Cancel { by: person("ada"), reason }).unwrap();
            }
        }
        desk.settle();
        let reason = &desk.state.ended.as_ref().unwrap().reason;
        assert_eq!(reason, way.strip_prefix("child ").unwrap_or(way));
        assert!(pending(&desk.ir, &desk.state).is_empty());
    }
}
