//! Pauses, silence and deadlines: what time may and may not take away.

use super::{Desk, HOUR, REVIEWED, lead, reject};
use crate::support::world::person;
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome};
use flowright::engine::workflow::command::{Decision, Notification};
use flowright::engine::workflow::pending::{pending, wake_at};
use flowright::engine::workflow::state::{StagePhase, Work};
use flowright::ir::StopStatus;
use flowright::time::Millis;
use serde_json::{Value, json};

fn pause(desk: &mut Desk) {
    desk.say(Notification::Pause { by: person("ada") }).unwrap();
}

fn resume(desk: &mut Desk) {
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
}

fn at_the_human_gate() -> Desk {
    let mut desk = Desk::new(&REVIEWED.replace("        deadline: 2h\n", ""));
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    desk
}

/// Invariant 10: an acceptance that was recorded while paused is not lost to a deadline that stands still meanwhile.
#[test]
fn an_acceptance_in_a_pause_outlives_the_stage_deadline() {
    let mut desk = at_the_human_gate();
    pause(&mut desk);
    desk.decide_as(1, Decision::Accept, lead()).unwrap();
    desk.wait(100 * HOUR);
    resume(&mut desk);
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// What was accepted in a pause stays so, whatever becomes of the child before the session goes on.
#[test]
fn an_acceptance_in_a_pause_outlives_its_child() {
    let mut desk = at_the_human_gate();
    pause(&mut desk);
    desk.decide_as(1, Decision::Accept, lead()).unwrap();
    let child = desk.producer();
    assert_eq!(desk.say(Notification::ChildFailed { child, reason: "no model".to_owned() }), Ok(vec![]));
    resume(&mut desk);
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// A reminder that is overtaken by the submission is not given.
#[test]
fn a_reminder_that_comes_too_late() {
    let mut desk = Desk::new(REVIEWED);
    desk.settle();
    silent(&mut desk, 1);
    let child = desk.producer();
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Succeeded, summary: String::new(), result: json!({ "n": 1 }) };
    desk.say(Notification::Submitted { child, submission: 1, envelope }).unwrap();
    assert!(!pending(&desk.ir, &desk.state).iter().any(|owed| owed.id().starts_with("tell/")));
}

#[test]
fn a_rejection_in_a_pause_costs_the_stage_no_time() {
    let mut desk = at_the_human_gate();
    pause(&mut desk);
    desk.decide_as(1, reject("more"), lead()).unwrap();
    desk.wait(100 * HOUR);
    assert_eq!(pending(&desk.ir, &desk.state), [], "feedback is not given in a pause");
    resume(&mut desk);
    assert_eq!(wake_at(&desk.ir, &desk.state), Some(desk.now.plus(Millis(4 * HOUR))));
    desk.submit(json!({ "n": 2 }));
    assert_eq!(desk.status(), "agent_running");
}

/// Giving up in a pause is recorded; where it leads to is entered on resume and not before.
#[test]
fn an_abort_in_a_pause_admits_no_child() {
    let yaml = "
steps:
  - id: make
    agent: maker
    task: Make it.
    completion: reviewed
    review:
      - human: Good?
        on_abort: { steps: [{ id: tidy, agent: maker, task: Tidy up. }], then: { stop: cancelled } }
";
    let mut desk = Desk::new(yaml);
    desk.submit(json!({}));
    pause(&mut desk);
    desk.decide(1, Decision::Abort { reason: "no".to_owned() }).unwrap();
    assert_eq!((desk.at(), desk.status()), ("make".to_owned(), "paused".to_owned()));
    assert_eq!(desk.decide(1, Decision::Abort { reason: "no".to_owned() }), Ok(vec![]));
    // What the producer still says does not revive the stage.
    let child = desk.producer();
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Succeeded, summary: String::new(), result: json!({}) };
    for news in [
        Notification::Submitted { child: child.clone(), submission: 2, envelope },
        Notification::Yielded { child: child.clone(), turn: 2 },
        Notification::ChildFailed { child, reason: "no model".to_owned() },
    ] {
        assert_eq!(desk.say(news), Ok(vec![]));
    }
    resume(&mut desk);
    assert_eq!(desk.at(), "tidy");
    desk.submissions = 0;
    desk.submit(json!({}));
    assert_eq!(desk.ending(), StopStatus::Cancelled);
}

const SILENT: &str = "
steps:
  - id: make
    agent: maker
    task: Make it.
    deadline: 4h
    on_deadline: { stop: failed, reason: It took too long. }
    on_blocked: { stop: failed, reason: It was blocked. }
";

fn silent(desk: &mut Desk, turn: u32) {
    let child = desk.producer();
    desk.say(Notification::Yielded { child, turn }).unwrap();
}

/// A silent agent holds the session up no longer than its stage may take.
#[test]
fn the_deadline_of_a_silent_stage_still_passes() {
    let mut desk = Desk::new(SILENT);
    desk.settle();
    silent(&mut desk, 1);
    desk.settle();
    desk.wait(HOUR);
    silent(&mut desk, 2);
    assert_eq!(desk.status(), "needs_attention");
    assert_eq!(wake_at(&desk.ir, &desk.state), Some(desk.now.plus(Millis(3 * HOUR))));
    desk.wait(3 * HOUR);
    assert_eq!(desk.state.ended.as_ref().unwrap().reason, "It took too long.");
}

/// What a silent agent says late still counts, also where it is no result.
#[test]
fn a_silent_agent_may_still_say_that_it_is_blocked() {
    let mut desk = Desk::new(SILENT);
    desk.settle();
    silent(&mut desk, 1);
    desk.settle();
    silent(&mut desk, 2);
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Blocked, summary: "no key".to_owned(), result: Value::Null };
    let child = desk.producer();
    desk.say(Notification::Submitted { child, submission: 1, envelope }).unwrap();
    assert_eq!(desk.state.ended.as_ref().unwrap().reason, "It was blocked.");
}

/// A second silence that falls into a pause is not forgotten.
#[test]
fn silence_in_a_pause_needs_attention_on_resume() {
    let mut desk = Desk::new(SILENT);
    desk.settle();
    silent(&mut desk, 1);
    desk.settle();
    pause(&mut desk);
    silent(&mut desk, 2);
    assert_eq!(desk.status(), "paused");
    resume(&mut desk);
    assert_eq!(desk.status(), "needs_attention");

    // A submission after it makes the silence void.
    let mut desk = Desk::new(SILENT);
    desk.settle();
    silent(&mut desk, 1);
    desk.settle();
    pause(&mut desk);
    silent(&mut desk, 2);
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Succeeded, summary: String::new(), result: json!({}) };
    let child = desk.producer();
    desk.say(Notification::Submitted { child, submission: 1, envelope }).unwrap();
    resume(&mut desk);
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// The deadline of a session fences everything, waits for what runs, and is a failure.
#[test]
fn the_deadline_of_a_session() {
    let mut desk = Desk::new("deadline: 2h\nsteps: [{ id: make, agent: maker, task: Make it. }]");
    desk.settle();
    desk.now = desk.now.plus(Millis(2 * HOUR));
    desk.say(Notification::Tick).unwrap();
    assert_eq!(desk.status(), "cancelling");
    desk.settle();
    assert_eq!(desk.ending(), StopStatus::Failed);
}

/// While held by a failed stage no deadline of that stage runs, and nothing is owed.
#[test]
fn a_held_stage_waits_for_a_person_alone() {
    let mut desk = Desk::new("steps: [{ id: make, agent: maker, task: Make it., deadline: 1h }]");
    desk.settle();
    desk.wait(HOUR);
    assert!(
        matches!(&desk.state.work, Work::Stage(stage) if matches!(stage.phase, StagePhase::Unsuccessful { .. }))
    );
    assert_eq!(wake_at(&desk.ir, &desk.state), None);
}
