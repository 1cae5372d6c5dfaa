//! The workflow engine alone: notifications in, events out, no host, no store. Every state is also folded again from its
//! events as they are written.

mod decisions;
mod marks;
mod pauses;
mod random;
mod repeats;

use crate::support::AS_OF;
use crate::support::world::person;
use flowright::compile::{self, MainDocument, Memory};
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome};
use flowright::engine::workflow::command::{Command, Decision, Notification};
use flowright::engine::workflow::decide::decide;
use flowright::engine::workflow::event::{Event, Spec};
use flowright::engine::workflow::evolve::evolve;
use flowright::engine::workflow::pending::{index, pending, wake_at};
use flowright::engine::workflow::state::{Hold, StagePhase, State, Work};
use flowright::engine::{Principal, RejectionCode, SessionId};
use flowright::ir::{self, StopStatus};
use flowright::time::{Millis, Timestamp};
use serde_json::{Value, json};

const START: i64 = 1_770_000_000_000;
const HOUR: i64 = 3_600_000;

/// The definition of one file with two agents, `maker` and `critic`.
pub(crate) fn compiled(yaml: &str) -> ir::Workflow {
    let agent = |slug: &str| {
        format!(
            r#"{{"slug":"{slug}","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}}"#
        )
    };
    let files =
        Memory::new().with("agents/maker.json", agent("maker")).with("agents/critic.json", agent("critic"));
    let bytes = format!("kind: workflow\nversion: 1\nname: desk\n{yaml}").into_bytes();
    let main = MainDocument { name: "desk.yaml".to_owned(), package_path: "desk.yaml".to_owned(), bytes };
    let compiled = compile::compile(main, &files, AS_OF);
    let errors: Vec<_> = compiled.diagnostics.iter().map(|found| found.message.clone()).collect();
    compiled.workflow.unwrap_or_else(|| panic!("{errors:?}"))
}

/// One session under test.
struct Desk {
    ir: ir::Workflow,
    state: State,
    now: Timestamp,
    log: Vec<(Timestamp, String)>,
    submissions: u32,
}

impl Desk {
    fn new(yaml: &str) -> Self {
        Self::with(yaml, &[])
    }

    fn with(yaml: &str, inputs: &[(&str, Value)]) -> Self {
        let ir = compiled(yaml);
        let mut desk =
            Self { ir, state: State::default(), now: Timestamp(START), log: Vec::new(), submissions: 0 };
        let spec = Spec {
            session: SessionId("s".to_owned()),
            workflow: "desk".to_owned(),
            definition: desk.ir.digest().clone(),
            root: "/".to_owned(),
            source: None,
            inputs: inputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            owner: "ada".to_owned(),
        };
        desk.say(Notification::Start(spec)).unwrap();
        desk
    }

    fn say(&mut self, notification: Notification) -> Result<Vec<Event>, RejectionCode> {
        let events =
            decide(&self.ir, &self.state, self.now, notification).map_err(|rejection| rejection.code)?;
        for event in &events {
            evolve(&mut self.state, self.now, event);
            self.log.push((self.now, serde_json::to_string(event).unwrap()));
        }
        let mut folded = State::default();
        for (at, body) in &self.log {
            evolve(&mut folded, *at, &serde_json::from_str::<Event>(body).unwrap());
        }
        assert_eq!(folded, self.state, "the state is the fold of its events");
        Ok(events)
    }

    /// Does all that is owed, as a host would.
    fn settle(&mut self) {
        for _ in 0..20 {
            let owed = pending(&self.ir, &self.state);
            if owed.is_empty() {
                return;
            }
            for command in owed {
                let news = match command {
                    Command::StartChild { spec } => Notification::ChildStarted { child: spec.session },
                    Command::Tell { message, .. } => {
                        Notification::MessageAcknowledged { message: message.id }
                    }
                    Command::StopWork { child } => Notification::WorkSettled { child },
                };
                self.say(news).unwrap();
            }
        }
        panic!("something is owed for ever: {:?}", pending(&self.ir, &self.state));
    }

    fn producer(&self) -> SessionId {
        match &self.state.work {
            Work::Stage(stage) => stage.child.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn evaluator(&self) -> SessionId {
        match &self.state.work {
            Work::Stage(stage) => match &stage.phase {
                StagePhase::MachineGate { child, .. } => child.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn submit(&mut self, result: Value) -> Vec<Event> {
        self.settle();
        self.submissions += 1;
        let envelope = Envelope { outcome: EnvelopeOutcome::Succeeded, summary: "done".to_owned(), result };
        let (child, submission) = (self.producer(), self.submissions);
        let events = self.say(Notification::Submitted { child, submission, envelope }).unwrap();
        self.settle();
        events
    }

    fn evaluate(&mut self, decision: &str) {
        let result = json!({ "decision": decision, "feedback": "because" });
        let envelope = Envelope { outcome: EnvelopeOutcome::Succeeded, summary: "judged".to_owned(), result };
        let child = self.evaluator();
        self.say(Notification::Submitted { child, submission: 1, envelope }).unwrap();
        self.settle();
    }

    fn decide(&mut self, revision: u32, decision: Decision) -> Result<Vec<Event>, RejectionCode> {
        self.decide_as(revision, decision, person("ada"))
    }

    fn decide_as(
        &mut self,
        revision: u32,
        decision: Decision,
        by: Principal,
    ) -> Result<Vec<Event>, RejectionCode> {
        self.say(Notification::Decide {
            revision: Some(revision),
            digest: None,
            gate: None,
            invocation: None,
            decision,
            by,
        })
    }

    fn answer(&mut self, choice: &str, by: &str) -> Result<Vec<Event>, RejectionCode> {
        let (choice, feedback) = (choice.to_owned(), String::new());
        self.say(Notification::Answer { occurrence: None, choice, feedback, by: person(by) })
    }

    fn wait(&mut self, ms: i64) {
        self.now = self.now.plus(Millis(ms));
        self.say(Notification::Tick).unwrap();
        self.settle();
    }

    fn status(&self) -> String {
        index(&self.ir, &self.state).status
    }

    fn at(&self) -> String {
        self.state.position.as_ref().map(|position| position.node.clone()).unwrap_or_default()
    }

    fn ending(&self) -> StopStatus {
        self.state.ended.as_ref().unwrap().status
    }
}

fn reject(feedback: &str) -> Decision {
    Decision::Reject { feedback: feedback.to_owned() }
}

const REVIEWED: &str = "
steps:
  - id: make
    agent: maker
    task: Make it.
    result: { type: object, required: [n], properties: { n: { type: integer } } }
    completion: reviewed
    review:
      - agent: critic
        task: Judge ${{ candidate.result.n }}.
        max_rounds: 3
      - human: Good?
        respondents: [\"role:lead\"]
        deadline: 2h
        on_abort: { stop: cancelled }
    max_revisions: 3
    deadline: 4h
    on_exhausted: { stop: failed, reason: No candidate was good enough. }
";

fn lead() -> Principal {
    Principal { user: "lea".to_owned(), roles: vec!["lead".to_owned()], via: "test".to_owned() }
}

/// R96: the machine's acceptance opens the human gate and passes nothing else; order and roles are judged.
#[test]
fn a_machine_gate_and_then_a_person() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    assert_eq!(desk.status(), "agent_running");
    assert_eq!(desk.decide_as(1, Decision::Accept, lead()), Err(RejectionCode::Stale));
    desk.evaluate("accept");
    assert_eq!(desk.status(), "awaiting_review");
    assert_eq!(
        desk.decide(1, Decision::Accept),
        Err(RejectionCode::NotAllowed),
        "the owner is not asked here"
    );
    desk.decide_as(1, Decision::Accept, lead()).unwrap();
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// A rejection at any gate starts at the first one again, with the same child; the bound of rounds is held (B66).
#[test]
fn b66_rejections_are_bounded() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    let producer = desk.producer();
    desk.evaluate("accept");
    desk.decide_as(1, reject("more"), lead()).unwrap();
    desk.settle();
    assert_eq!(desk.producer(), producer);
    desk.submit(json!({ "n": 2 }));
    desk.evaluate("reject");
    desk.submit(json!({ "n": 3 }));
    desk.evaluate("reject");
    assert_eq!(desk.ending(), StopStatus::Failed);
    assert_eq!(desk.state.ended.as_ref().unwrap().reason, "No candidate was good enough.");
}

/// R97: an evaluator that fails, stops silently or is late has not accepted.
#[test]
fn r97_a_missing_evaluation_is_no_acceptance() {
    for news in ["failed", "silent"] {
        let mut desk = Desk::new(REVIEWED);
        desk.submit(json!({ "n": 1 }));
        let child = desk.evaluator();
        let notification = match news {
            "failed" => Notification::ChildFailed { child, reason: "no model".to_owned() },
            _ => Notification::Yielded { child, turn: 1 },
        };
        desk.say(notification).unwrap();
        desk.settle();
        assert_eq!(desk.status(), "needs_attention", "{news}");
        assert!(!desk.log.iter().any(|(_, body)| body.contains("\"accepted\"")), "{news}");
    }
}

/// B28: a gate that nobody answers is not approved, and no person stands in its record.
#[test]
fn b28_a_gate_that_times_out() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    desk.wait(2 * HOUR);
    assert_eq!(desk.status(), "needs_attention");
    assert_eq!(desk.decide_as(1, Decision::Accept, lead()), Err(RejectionCode::Conflict));
    assert!(!desk.log.iter().any(|(_, body)| body.contains("\"person\"")));
}

/// B33: only a decision on the current revision counts; an earlier one never comes back.
#[test]
fn b33_an_earlier_acceptance_does_not_revive() {
    let mut desk = Desk::new(REVIEWED);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    // The producer submits anew while the gate is open: revision 1 is superseded.
    desk.submit(json!({ "n": 2 }));
    assert_eq!(desk.decide_as(1, Decision::Accept, lead()), Err(RejectionCode::Stale));
    desk.evaluate("accept");
    desk.decide_as(2, Decision::Accept, lead()).unwrap();
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// Repeats succeed without effect, contradictions are told, strangers are refused (R128).
#[test]
fn r128_stale_duplicate_conflicting_and_late() {
    let yaml = "
steps:
  - id: ask
    question: Go on?
    choices: { yes: Yes, no: { label: No, then: { stop: cancelled } } }
  - id: again
    question: Really?
    choices: { yes: Yes, no: { label: No, then: { stop: cancelled } } }
    deadline: 1h
    on_deadline: { stop: failed }
";
    let mut desk = Desk::new(yaml);
    let say = |desk: &mut Desk, occurrence, choice: &str, user: &str| {
        let (choice, feedback) = (choice.to_owned(), String::new());
        desk.say(Notification::Answer { occurrence: Some(occurrence), choice, feedback, by: person(user) })
    };
    assert_eq!(say(&mut desk, 1, "yes", "eve"), Err(RejectionCode::NotAllowed));
    assert_eq!(say(&mut desk, 1, "maybe", "ada"), Err(RejectionCode::Invalid));
    assert_eq!(say(&mut desk, 2, "yes", "ada"), Err(RejectionCode::NotWaiting));
    say(&mut desk, 1, "yes", "ada").unwrap();
    assert_eq!(desk.at(), "again");
    assert_eq!(say(&mut desk, 1, "yes", "ada"), Ok(vec![]), "the identical repeat");
    assert_eq!(desk.at(), "again");
    assert_eq!(say(&mut desk, 1, "no", "ada"), Err(RejectionCode::Conflict));
    desk.now = desk.now.plus(Millis(HOUR));
    assert_eq!(
        say(&mut desk, 2, "yes", "ada"),
        Err(RejectionCode::Stale),
        "too late, though no tick came before"
    );
}

/// R88: prose completes nothing; one reminder, then a person is asked; a late submission still counts.
#[test]
fn r88_one_reminder_and_then_attention() {
    let mut desk = Desk::new("steps: [{ id: make, agent: maker, task: Make it. }]");
    desk.settle();
    let child = desk.producer();
    let events = desk.say(Notification::Yielded { child: child.clone(), turn: 1 }).unwrap();
    assert!(matches!(events.as_slice(), [Event::ReminderOwed { .. }]));
    assert_eq!(desk.say(Notification::Yielded { child: child.clone(), turn: 1 }), Ok(vec![]), "told twice");
    desk.settle();
    desk.say(Notification::Yielded { child, turn: 2 }).unwrap();
    assert_eq!(desk.status(), "needs_attention");
    desk.submit(json!({}));
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// R90, R131: blocked pauses for a person; a retry is a new attempt with a fresh child, once the old one has settled.
#[test]
fn r90_blocked_and_a_deliberate_retry() {
    let mut desk = Desk::new("steps: [{ id: make, agent: maker, task: Make it. }]");
    desk.settle();
    let first = desk.producer();
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Blocked, summary: "no access".to_owned(), result: Value::Null };
    desk.say(Notification::Submitted { child: first.clone(), submission: 1, envelope }).unwrap();
    assert_eq!(desk.status(), "needs_attention");
    assert_eq!(desk.say(Notification::Resume { by: person("ada") }), Err(RejectionCode::Invalid));
    assert_eq!(desk.say(Notification::Retry { by: person("eve") }), Err(RejectionCode::NotAllowed));
    desk.say(Notification::Retry { by: person("ada") }).unwrap();
    assert!(
        matches!(pending(&desk.ir, &desk.state).as_slice(), [Command::StopWork { child }] if *child == first)
    );
    desk.settle();
    assert_ne!(desk.producer(), first);
    desk.submit(json!({}));
    assert_eq!(desk.ending(), StopStatus::Succeeded);
}

/// The clock of a stage stands still while a person is waited for, and while the session is paused.
#[test]
fn people_cost_a_stage_no_time() {
    let mut desk = Desk::new(REVIEWED);
    desk.wait(HOUR);
    desk.submit(json!({ "n": 1 }));
    desk.evaluate("accept");
    desk.wait(HOUR);
    desk.decide_as(1, reject("more"), lead()).unwrap();
    desk.settle();
    desk.say(Notification::Pause { by: person("ada") }).unwrap();
    assert_eq!(desk.status(), "paused");
    desk.wait(100 * HOUR);
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
    assert_eq!(wake_at(&desk.ir, &desk.state), Some(desk.now.plus(Millis(3 * HOUR))));
    desk.wait(3 * HOUR);
    assert_eq!(desk.status(), "needs_attention");
}

/// R134: what was recorded while paused takes its course on resume, and nothing new is admitted before.
#[test]
fn r134_a_pause_admits_nothing() {
    let yaml = "
steps:
  - id: ask
    question: Go on?
    choices: { yes: Yes, no: No }
  - { id: make, agent: maker, task: Make it. }
";
    let mut desk = Desk::new(yaml);
    desk.say(Notification::Pause { by: person("ada") }).unwrap();
    desk.answer("yes", "ada").unwrap();
    assert_eq!(desk.at(), "ask");
    assert_eq!(pending(&desk.ir, &desk.state), []);
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
    assert_eq!(desk.at(), "make");
    assert_eq!(pending(&desk.ir, &desk.state).len(), 1);
}

/// B67, R135: a cancellation fences everything and is honest until the last child has settled.
#[test]
fn b67_cancel_reaches_the_child() {
    let mut desk = Desk::new(REVIEWED);
    desk.settle();
    let child = desk.producer();
    desk.say(Notification::Cancel { by: person("ada"), reason: "enough".to_owned() }).unwrap();
    assert_eq!(desk.status(), "cancelling");
    let envelope =
        Envelope { outcome: EnvelopeOutcome::Succeeded, summary: String::new(), result: json!({ "n": 1 }) };
    assert_eq!(
        desk.say(Notification::Submitted { child: child.clone(), submission: 1, envelope }),
        Ok(vec![])
    );
    assert_eq!(desk.decide_as(1, Decision::Accept, lead()), Err(RejectionCode::Ended));
    assert_eq!(pending(&desk.ir, &desk.state), [Command::StopWork { child: child.clone() }]);
    desk.say(Notification::WorkSettled { child }).unwrap();
    assert_eq!(desk.ending(), StopStatus::Cancelled);
}

#[test]
fn loops_count_break_and_start_again() {
    let yaml = "
outputs: { last: \"${{ steps.pick.value }}\" }
steps:
  - id: rounds
    loop:
      repeat: 3
      on_exhausted: { stop: failed, reason: Three rounds were not enough. }
      steps:
        - id: make
          agent: maker
          task: Round ${{ loop.iteration }}.
          result: { type: object, required: [done], properties: { done: { type: boolean } } }
        - id: enough
          switch: ${{ steps.make.result.done }}
          cases: { true: break, false: next }
  - id: pick
    pick: [\"${{ steps.make.result.done }}\"]
";
    let mut desk = Desk::new(yaml);
    let first = desk.producer();
    desk.submit(json!({ "done": false }));
    assert_ne!(desk.producer(), first, "a new iteration gets a fresh child");
    desk.submissions = 0;
    desk.submit(json!({ "done": true }));
    assert_eq!(desk.ending(), StopStatus::Succeeded);
    assert_eq!(desk.state.ended.as_ref().unwrap().outputs["last"], true);

    let mut desk = Desk::new(yaml);
    for _ in 0..3 {
        desk.submissions = 0;
        desk.submit(json!({ "done": false }));
    }
    assert_eq!(desk.ending(), StopStatus::Failed);
    assert_eq!(desk.state.ended.as_ref().unwrap().reason, "Three rounds were not enough.");
}

/// Invariant 11: within a minute it fires, later it is skipped and the next is computed (B25, B27).
#[test]
fn b27_late_occurrences_are_recorded_and_skipped() {
    let yaml = "
steps:
  - loop:
      repeat: until_stopped
      steps:
        - { id: tick, cron: \"0 * * * *\", timezone: UTC }
        - { id: make, agent: maker, task: \"From ${{ steps.tick.previous_at }} to ${{ steps.tick.scheduled_at }}.\" }
";
    let mut desk = Desk::new(yaml);
    let due = wake_at(&desk.ir, &desk.state).unwrap();
    desk.now = due.plus(Millis(60_001));
    let events = desk.say(Notification::Tick).unwrap();
    assert!(matches!(events.as_slice(), [Event::OccurrenceSkipped { .. }, Event::OccurrenceAwaited { .. }]));
    let next = wake_at(&desk.ir, &desk.state).unwrap();
    assert_eq!(next, due.plus(Millis(HOUR)));
    desk.now = next.plus(Millis(60_000));
    desk.say(Notification::Tick).unwrap();
    assert_eq!(desk.at(), "make");
    // The stage runs past the next occurrence: no overlap, no backlog.
    desk.wait(3 * HOUR);
    desk.submit(json!({}));
    assert_eq!(desk.status(), "waiting_for_schedule");
    assert!(wake_at(&desk.ir, &desk.state).unwrap() > desk.now);
}

#[test]
fn inputs_are_judged_before_anything_runs() {
    let yaml = "
inputs: { n: { type: integer, default: 9007199254740993 }, who: { type: string } }
steps: [{ id: ask, question: \"Is ${{ inputs.n }} right, ${{ inputs.who }}?\", choices: { yes: Yes } }]
";
    let desk = Desk::with(yaml, &[("who", json!("Ada ${{ inputs.n }}"))]);
    let Work::Question(asking) = &desk.state.work else { panic!("{:?}", desk.state.work) };
    // Inserted text is data: it is not read again, and digits are kept (B46).
    assert_eq!(asking.text, "Is 9007199254740993 right, Ada ${{ inputs.n }}?");
    let spec = desk.state.spec.clone().unwrap();
    for (name, value) in [("who", json!(3)), ("whom", json!("x"))] {
        let inputs = [(name.to_owned(), value)].into_iter().collect();
        let start = Notification::Start(Spec { inputs, ..spec.clone() });
        let refused = decide(&desk.ir, &State::default(), desk.now, start).unwrap_err();
        assert_eq!(refused.code, RejectionCode::Invalid);
    }
}

/// A held step goes on only where its outputs are definite.
#[test]
fn a_hold_is_retried_or_resumed() {
    let yaml = "
steps:
  - id: ask
    question: Go on?
    choices: { yes: Yes, wait: { label: Wait, then: hold } }
    deadline: 1h
  - { id: read, question: \"You said ${{ steps.ask.choice }}?\", choices: { yes: Yes } }
";
    let mut desk = Desk::new(yaml);
    desk.answer("wait", "ada").unwrap();
    assert_eq!(desk.status(), "needs_attention");
    desk.say(Notification::Resume { by: person("ada") }).unwrap();
    assert_eq!(desk.at(), "read");

    let mut desk = Desk::new(yaml);
    desk.wait(HOUR);
    assert!(matches!(desk.state.hold, Hold::NeedsAttention { .. }));
    assert_eq!(desk.say(Notification::Resume { by: person("ada") }), Err(RejectionCode::Invalid));
    desk.say(Notification::Retry { by: person("ada") }).unwrap();
    assert_eq!((desk.at(), desk.status()), ("ask".to_owned(), "awaiting_answer".to_owned()));
}
