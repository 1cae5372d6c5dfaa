//! Any notification in any state: no panic, state equals fold, and what must never happen does not.

use super::{Desk, HOUR, lead};
use crate::support::world::person;
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome};
use flowright::engine::workflow::command::{Command, Decision, Notification};
use flowright::engine::workflow::event::{Decider, Event};
use flowright::engine::workflow::pending::{index, pending};
use flowright::engine::workflow::state::{Hold, State, Work};
use flowright::engine::{Principal, SessionId};
use flowright::ir::EdgeKind;
use flowright::time::Millis;
use proptest::prelude::{any, prop};
use proptest::proptest;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

const FLOWS: [&str; 3] = [
    "
deadline: 40h
steps:
  - id: ask
    question: Go on?
    choices: { yes: Yes, wait: { label: Wait, then: hold } }
    deadline: 9h
  - id: make
    agent: maker
    task: Make it.
    result: { type: object, required: [n], properties: { n: { type: integer } } }
    completion: reviewed
    review:
      - { agent: critic, task: Judge., max_rounds: 2, deadline: 2h }
      - human: Good?
        respondents: [owner, \"role:lead\"]
        deadline: 3h
        on_abort: { steps: [{ id: tidy, agent: maker, task: Tidy. }], then: { stop: cancelled } }
      - human: Cheap enough?
    max_revisions: 4
    deadline: 6h
    on_exhausted: { stop: failed }
  - { id: last, agent: maker, task: End it. }
",
    "
steps:
  - loop:
      repeat: until_stopped
      steps:
        - { id: tick, cron: \"0 * * * *\", timezone: UTC }
        - id: make
          agent: maker
          task: Make it.
          on_failed: next
          deadline: 2h
          on_deadline: next
",
    "
steps:
  - id: rounds
    loop:
      repeat: 3
      deadline: 12h
      on_exhausted: continue
      steps:
        - id: make
          agent: maker
          task: Make it.
          completion: reviewed
          review: [{ human: Good?, deadline: 3h, on_abort: next }]
        - { id: more, question: More?, choices: { yes: Yes, no: { label: No, then: break } } }
  - { id: done, question: Done?, choices: { yes: Yes } }
",
];

fn someone(n: u8) -> Principal {
    match n % 4 {
        0 | 1 => person("ada"),
        2 => lead(),
        _ => person("eve"),
    }
}

fn envelope(n: u8) -> Envelope {
    let outcome = match n % 8 {
        6 => EnvelopeOutcome::Blocked,
        7 => EnvelopeOutcome::Failed,
        _ => EnvelopeOutcome::Succeeded,
    };
    let result = match n % 5 {
        0 => json!({ "n": "no number" }),
        1 => json!({ "decision": "reject", "feedback": "more" }),
        2 => json!({ "decision": "accept", "feedback": "", "n": 1 }),
        3 => Value::Null,
        _ => json!({ "n": 7, "decision": "accept" }),
    };
    Envelope { outcome, summary: String::new(), result }
}

fn decision(n: u8) -> Decision {
    match n % 6 {
        0..=2 => Decision::Accept,
        3 | 4 => Decision::Reject { feedback: if n > 200 { String::new() } else { "more".to_owned() } },
        _ => Decision::Abort { reason: String::new() },
    }
}

/// Every child that was ever admitted, and one that was not.
fn children(desk: &Desk) -> Vec<SessionId> {
    let mut all = vec![SessionId("nobody".to_owned())];
    for (_, body) in &desk.log {
        match serde_json::from_str(body).unwrap() {
            Event::InvocationAdmitted { child, .. } | Event::RoundAdmitted { child, .. } => {
                all.push(child.session)
            }
            _ => {}
        }
    }
    all
}

fn notification(desk: &Desk, kind: u8, a: u8, b: u8) -> Notification {
    let known = children(desk);
    // The newest children most of the time.
    let child = known
        [known.len() - 1 - usize::from(a) % known.len().min(if b < 200 { 2 } else { usize::MAX })]
    .clone();
    match kind % 20 {
        0..=4 => Notification::Submitted { child, submission: u32::from(b % 6), envelope: envelope(a) },
        5 => Notification::Yielded { child, turn: u32::from(b % 6) },
        6 => Notification::ChildFailed { child, reason: "no model".to_owned() },
        7 => Notification::ChildStarted { child },
        8 => Notification::WorkSettled { child },
        9..=12 => Notification::Decide {
            revision: (b < 230).then_some(u32::from(b % 4)),
            digest: None,
            gate: a.is_multiple_of(3).then_some(u32::from(a % 4)),
            invocation: None,
            decision: decision(a),
            by: someone(b),
        },
        13 | 14 => Notification::Answer {
            occurrence: b.is_multiple_of(3).then_some(u32::from(b % 8)),
            choice: ["yes", "wait", "no", "y"][usize::from(a % 4)].to_owned(),
            feedback: String::new(),
            by: someone(b),
        },
        15 => Notification::Retry { by: someone(b) },
        16 => Notification::Resume { by: someone(b) },
        17 => Notification::Pause { by: someone(b) },
        18 if b > 220 => Notification::Cancel { by: someone(a), reason: String::new() },
        _ => Notification::Tick,
    }
}

/// What of the log must be remembered to judge the next events.
#[derive(Default)]
struct Witness {
    left: HashSet<(String, u32)>,
    invocations: HashSet<SessionId>,
    accepted: HashMap<(String, u32), Vec<u32>>,
}

impl Witness {
    fn see(&mut self, desk: &Desk, before: &State, events: &[Event]) {
        // The notification that ends a pause is the one that admits what was due.
        let paused = before.hold == Hold::Paused
            && !events.iter().any(|event| matches!(event, Event::Unpaused { .. }));
        let over = before.ended.is_some() || matches!(before.hold, Hold::Cancelling { .. });
        let mut open = before.clone();
        for event in events {
            match event {
                Event::StepEntered { .. } => assert!(!paused && !over, "entered in a pause or after the end"),
                Event::InvocationAdmitted { child, .. } | Event::RoundAdmitted { child, .. } => {
                    assert!(!paused && !over, "admitted in a pause or after the end");
                    assert!(self.invocations.insert(child.session.clone()), "a child is admitted once");
                }
                Event::Accepted { invocation, revision, gate, by, .. } => {
                    assert!(!over);
                    let Work::Stage(stage) = &open.work else { panic!("no stage is open") };
                    assert_eq!(stage.invocation, *invocation);
                    assert_eq!(stage.candidate().map(|candidate| candidate.revision), Some(*revision));
                    // Only the stage with three gates has a machine, at its first.
                    let machine = *gate == 0 && stage_gates(desk, invocation) == 3;
                    assert_eq!(machine, matches!(by, Decider::Evaluator { .. }), "who passes which gate");
                    self.accepted.entry((invocation.clone(), *revision)).or_default().push(*gate);
                }
                Event::StepLeft { node, visit, exit, .. } if !is_loop(desk, node) => {
                    // A step that is held is left already; a retry makes a new visit of it.
                    assert!(self.left.insert((node.clone(), *visit)), "{node}/{visit} advances twice");
                    if let (EdgeKind::Next, Work::Stage(stage)) = (exit, &open.work) {
                        let gates = u32::try_from(stage_gates(desk, &stage.invocation)).unwrap();
                        let key = (stage.invocation.clone(), stage.candidate().unwrap().revision);
                        let passed = self.accepted.get(&key).cloned().unwrap_or_default();
                        assert_eq!(passed, (0..gates).collect::<Vec<_>>(), "every gate once and in order");
                    }
                }
                _ => {}
            }
            flowright::engine::workflow::evolve::evolve(&mut open, desk.now, event);
        }
    }
}

fn is_loop(desk: &Desk, node: &str) -> bool {
    desk.ir.graph().by_name(node).is_some_and(|node| node.kind.word() == "loop")
}

fn stage_gates(desk: &Desk, invocation: &str) -> usize {
    let node = invocation.split('/').next().unwrap();
    match &desk.ir.graph().by_name(node).unwrap().kind {
        flowright::ir::NodeKind::Agent(stage) => stage.gates.len(),
        other => panic!("{other:?}"),
    }
}

fn judge(desk: &Desk) {
    let state = &desk.state;
    let owed = pending(&desk.ir, state);
    if state.hold == Hold::Paused || state.ended.is_some() {
        assert!(owed.iter().all(|command| matches!(command, Command::StopWork { .. })), "{owed:?}");
    }
    if state.hold == Hold::None && state.ended.is_none() {
        assert_ne!(state.work, Work::None, "stands still unseen at {}", desk.at());
    }
    let producing = state.children.values().filter(|child| {
        !child.stopping && child.spec.contract.as_ref().is_some_and(|contract| !contract.evaluator)
    });
    assert!(producing.count() <= 1, "one producing child at a time");
    let row = index(&desk.ir, state);
    assert_eq!(row.ended, state.ended.is_some());
}

proptest! {
    #[test]
    fn any_notification_in_any_state(
        flow in 0..FLOWS.len(),
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..70),
    ) {
        let mut desk = Desk::new(FLOWS[flow]);
        let mut witness = Witness::default();
        for (kind, a, b) in steps {
            if kind > 215 {
                desk.now = desk.now.plus(Millis(i64::from(a) * HOUR / 64));
            }
            // Hosts do what is owed, sooner or later.
            let owed = pending(&desk.ir, &desk.state);
            let news = match owed.get(usize::from(a) % owed.len().max(1)) {
                Some(command) if b % 2 == 0 => match command {
                    Command::StartChild { spec } => Notification::ChildStarted { child: spec.session.clone() },
                    Command::Tell { message, .. } => Notification::MessageAcknowledged { message: message.id.clone() },
                    Command::StopWork { child } => Notification::WorkSettled { child: child.clone() },
                },
                _ => notification(&desk, kind, a, b),
            };
            let before = desk.state.clone();
            if let Ok(events) = desk.say(news) {
                witness.see(&desk, &before, &events);
            }
            judge(&desk);
        }
    }
}
