//! Decisions and answers that cross each other, come twice or come late; and what a rejection counts.

use super::{Desk, REVIEWED, lead, reject};
use crate::support::world::person;
use flowright::engine::RejectionCode;
use flowright::engine::workflow::command::{Command, Decision, Notification};
use flowright::engine::workflow::decide::decide;
use flowright::engine::workflow::event::Event;
use flowright::engine::workflow::pending::pending;
use flowright::engine::workflow::state::State;
use flowright::ir::StopStatus;
use serde_json::json;

/// Invariant 6: the repeat of an acceptance has no effect also where the next agent works already.
#[test]
fn a_repeat_after_the_next_stage_began() {
    let yaml = "
steps:
  - { id: plan, agent: maker, task: Plan., completion: reviewed, review: [{ human: Good? }] }
  - { id: build, agent: maker, task: Build. }
";
    let mut desk = Desk::new(yaml);
    desk.submit(json!({}));
    desk.decide(1, Decision::Accept).unwrap();
    assert_eq!(desk.at(), "build");
    assert_eq!(desk.decide(1, Decision::Accept), Ok(vec![]));
    assert_eq!(desk.decide(1, reject("no")), Err(RejectionCode::Conflict));
    assert_eq!(desk.decide_as(1, Decision::Accept, person("bob")), Err(RejectionCode::Conflict));
}

/// Revision 1 of this stage is not revision 1 of the one before: what was said there is no repeat here.
#[test]
fn an_early_acceptance_of_the_next_stage_is_stale() {
    let yaml = "
steps:
  - { id: plan, agent: maker, task: Plan., completion: reviewed, review: [{ human: Good? }] }
  - id: build
    agent: maker
    task: Build.
    completion: reviewed
    review: [{ agent: critic, task: Judge. }, { human: Good? }]
";
    let mut desk = Desk::new(yaml);
    desk.submit(json!({}));
    desk.decide(1, Decision::Accept).unwrap();
    desk.submissions = 0;
    desk.submit(json!({}));
    assert_eq!(desk.decide(1, Decision::Accept), Err(RejectionCode::Stale));
    desk.evaluate("accept");
    desk.decide(1, Decision::Accept).unwrap();
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// B33: a superseded revision is told to be so, with the one that counts; what the machine said of it is no decision.
#[test]
fn b33_a_superseded_revision_is_stale() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    desk.submit(json!({ "n": 2 }));
    desk.evaluate("accept");
    let news = Notification::Decide {
        revision: Some(1),
        digest: None,
        gate: None,
        invocation: None,
        decision: Decision::Accept,
        by: lead(),
    };
    let refused = decide(&desk.ir, &desk.state, desk.now, news).unwrap_err();
    assert_eq!(refused.code, RejectionCode::Stale);
    assert!(refused.message.contains("revision 2"), "{}", refused.message);
}

/// B34: of two decisions at the same moment one counts, whoever comes second is told, and one child follows.
#[test]
fn b34_two_decisions_at_once() {
    let yaml = "
steps:
  - id: plan
    agent: maker
    task: Plan.
    completion: reviewed
    review: [{ human: Good?, respondents: [\"user:ada\", \"user:bob\"] }]
  - { id: build, agent: maker, task: Build. }
";
    for second in [Decision::Accept, reject("no"), Decision::Abort { reason: String::new() }] {
        let mut desk = Desk::new(yaml);
        desk.submit(json!({}));
        desk.decide_as(1, Decision::Accept, person("ada")).unwrap();
        assert_eq!(desk.decide_as(1, second, person("bob")), Err(RejectionCode::Conflict));
        assert!(matches!(pending(&desk.ir, &desk.state).as_slice(), [Command::StartChild { .. }]));
    }
}

const TWO: &str = "
steps:
  - id: plan
    agent: maker
    task: Plan.
    completion: reviewed
    review: [{ human: Good? }, { human: Cheap enough? }]
";

/// An acceptance that comes twice does not pass two gates.
#[test]
fn a_doubled_acceptance_passes_one_gate() {
    let mut desk = Desk::new(TWO);
    desk.submit(json!({}));
    desk.decide(1, Decision::Accept).unwrap();
    assert_eq!(desk.decide(1, Decision::Accept), Err(RejectionCode::Invalid));
    let at = |desk: &mut Desk, gate, user: &str| {
        let (decision, by) = (Decision::Accept, person(user));
        desk.say(Notification::Decide {
            revision: Some(1),
            digest: None,
            gate: Some(gate),
            invocation: None,
            decision,
            by,
        })
    };
    assert_eq!(at(&mut desk, 0, "ada"), Ok(vec![]), "the repeat that says so");
    assert_eq!(at(&mut desk, 0, "bob"), Err(RejectionCode::Conflict));
    at(&mut desk, 1, "ada").unwrap();
    assert_eq!(desk.ending(), StopStatus::Succeeded);
    assert_eq!(desk.decide(1, Decision::Accept), Ok(vec![]));
}

/// `max_rounds` bounds the rejections of the machine, not the times that it was asked.
#[test]
fn rounds_count_rejections() {
    let yaml =
        REVIEWED.replace("max_rounds: 3", "max_rounds: 2").replace("max_revisions: 3", "max_revisions: 5");
    let mut desk = Desk::new(&yaml);
    for n in 1..=2 {
        desk.submit(json!({ "n": n }));
        desk.evaluate("accept");
        desk.decide_as(n, reject("more"), lead()).unwrap();
        desk.settle();
    }
    desk.submit(json!({ "n": 3 }));
    desk.evaluate("reject");
    assert_eq!(desk.state.ended, None, "rejected once");
    desk.submit(json!({ "n": 4 }));
    desk.evaluate("reject");
    assert_eq!(desk.ending(), StopStatus::Failed);
}

/// The child is told who wants what.
#[test]
fn feedback_says_who() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    desk.decide_as(1, reject("More areas."), lead()).unwrap();
    let [Command::Tell { message, .. }] = &pending(&desk.ir, &desk.state)[..] else { panic!() };
    assert!(message.text.contains("More areas.") && message.text.contains("lea"), "{}", message.text);
}

/// Giving up ends the stage at once; its child is stopped.
#[test]
fn an_abort_leaves_the_stage() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    let child = desk.producer();
    desk.decide_as(1, Decision::Abort { reason: "no".to_owned() }, lead()).unwrap();
    assert_eq!(desk.ending(), StopStatus::Cancelled);
    assert_eq!(pending(&desk.ir, &desk.state), [Command::StopWork { child }]);
}

/// A reject of the last revision is no correction.
#[test]
fn a_rejection_of_the_last_revision_exhausts() {
    let yaml = "
steps:
  - id: plan
    agent: maker
    task: Plan.
    completion: reviewed
    review: [{ human: Good? }]
    max_revisions: 1
    on_exhausted: { stop: failed, reason: Enough. }
";
    let mut desk = Desk::new(yaml);
    desk.submit(json!({}));
    assert_eq!(desk.decide(1, reject("  ")), Err(RejectionCode::Invalid));
    desk.decide(1, reject("more")).unwrap();
    assert_eq!(desk.state.ended.as_ref().unwrap().reason, "Enough.");
}

/// `create` of an existing session with the same words succeeds, also where defaults were filled in.
#[test]
fn the_same_start_twice() {
    let yaml = "
inputs: { n: { type: integer, default: 3 } }
steps: [{ id: ask, question: \"${{ inputs.n }}?\", choices: { yes: Yes } }]
";
    let mut desk = Desk::new(yaml);
    let mut spec = desk.state.spec.clone().unwrap();
    spec.inputs.clear();
    assert_eq!(desk.say(Notification::Start(spec.clone())), Ok(vec![]));
    spec.inputs.insert("n".to_owned(), json!(4));
    assert_eq!(desk.say(Notification::Start(spec)), Err(RejectionCode::Conflict));
}

/// A resumed step whose successor is `hold` is held again and does not stand still unseen.
#[test]
fn a_resume_that_leads_to_hold() {
    let yaml = "
steps:
  - id: first
    question: Go on?
    choices:
      yes: Yes
      no: { label: No, then: { steps: [{ id: sure, question: Sure?, choices: { yes: Yes, wait: { label: Wait, then: hold } } }], then: hold } }
";
    let mut desk = Desk::new(yaml);
    desk.answer("no", "ada").unwrap();
    desk.answer("wait", "ada").unwrap();
    assert_eq!(desk.status(), "needs_attention");
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
    assert_eq!(desk.status(), "needs_attention");
}

/// A repeated question takes the place of its earlier visit of the same iteration; the iteration before is kept.
#[test]
fn previous_survives_a_retry() {
    let yaml = "
steps:
  - loop:
      repeat: 3
      steps:
        - id: last
          pick: [\"${{ previous.ask.choice }}\", \"${{ session.owner }}\"]
        - id: ask
          question: Was ${{ steps.last.value }}. And now?
          choices: { a: A, b: B, wait: { label: Wait, then: hold } }
        - id: then
          pick: [\"${{ previous.ask.choice }}\", \"${{ session.owner }}\"]
        - id: show
          question: Before ${{ steps.then.value }}.
          choices: { ok: Ok }
";
    let mut desk = Desk::new(yaml);
    desk.answer("a", "ada").unwrap();
    desk.answer("ok", "ada").unwrap();
    desk.answer("wait", "ada").unwrap();
    desk.say(Notification::Retry { by: person("ada") }).unwrap();
    desk.answer("b", "ada").unwrap();
    let events: Vec<_> = desk.log.iter().map(|(_, body)| body.clone()).collect();
    assert!(events.last().unwrap().contains("Before a."), "{}", events.last().unwrap());
}

/// The iteration before is remembered of every loop around a step, however often the inner one turned since.
#[test]
fn previous_of_an_outer_loop() {
    let yaml = "
steps:
  - loop:
      repeat: 2
      steps:
        - id: before
          pick: [\"${{ previous.ask.choice }}\", \"${{ session.owner }}\"]
        - id: show
          question: Before ${{ steps.before.value }}.
          choices: { ok: Ok }
        - loop:
            repeat: 2
            steps:
              - { id: ask, question: What?, choices: { a: A, b: B } }
        - id: again
          pick: [\"${{ previous.ask.choice }}\", \"${{ session.owner }}\"]
        - id: after
          question: After ${{ steps.again.value }}.
          choices: { ok: Ok }
";
    let mut desk = Desk::new(yaml);
    let asked = |desk: &Desk| match &desk.state.work {
        flowright::engine::workflow::state::Work::Question(asking) => asking.text.clone(),
        other => panic!("{other:?}"),
    };
    for choice in ["ok", "b", "a", "ok"] {
        desk.answer(choice, "ada").unwrap();
    }
    assert_eq!(asked(&desk), "Before a.");
    for choice in ["ok", "b", "b"] {
        desk.answer(choice, "ada").unwrap();
    }
    assert_eq!(asked(&desk), "After a.");
}

/// A decision that was recorded while paused does not wake a session whose deadline passed meanwhile.
#[test]
fn an_answer_does_not_outlive_its_session() {
    let yaml = "
deadline: 1h
steps:
  - { id: ask, question: Go on?, choices: { yes: Yes } }
  - { id: make, agent: maker, task: Make it. }
";
    let mut desk = Desk::new(yaml);
    desk.say(Notification::Pause { by: person("ada") }).unwrap();
    desk.answer("yes", "ada").unwrap();
    desk.wait(2 * super::HOUR);
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
    assert_eq!((desk.ending(), desk.at()), (StopStatus::Failed, "ask".to_owned()));
}

/// A definition that turns on the spot is held and says so.
#[test]
fn ten_thousand_steps_without_a_wait() {
    let yaml = "
inputs: { go: { type: boolean } }
steps:
  - loop:
      repeat: 10000
      on_exhausted: continue
      steps:
        - { id: turn, switch: \"${{ inputs.go }}\", cases: { true: next, false: break } }
  - { id: make, agent: maker, task: Make it. }
";
    let desk = Desk::with(yaml, &[("go", json!(true))]);
    assert_eq!(desk.status(), "needs_attention");
}

/// Nothing is decided before the session began, and nothing of it is said twice.
#[test]
fn nothing_before_the_start() {
    let desk = Desk::new(TWO);
    let news = Notification::Tick;
    let refused = decide(&desk.ir, &State::default(), desk.now, news).unwrap_err();
    assert_eq!(refused.code, RejectionCode::NotWaiting);
    assert!(!desk.log.iter().any(|(_, body)| matches!(serde_json::from_str(body), Ok(Event::Ended { .. }))));
}
