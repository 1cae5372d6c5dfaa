//! Iterations that went on after a failure stay marked until somebody dismisses the mark.

use super::{Desk, HOUR};
use crate::support::world::person;
use flowright::engine::RejectionCode;
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome};
use flowright::engine::workflow::command::Notification;
use flowright::engine::workflow::event::Event;
use flowright::engine::workflow::evolve::evolve;
use flowright::engine::workflow::pending::index;
use flowright::engine::workflow::state::State;
use serde_json::{Value, json};

fn looped(edges: &str) -> Desk {
    Desk::new(&format!(
        "
steps:
  - id: rounds
    loop:
      repeat: 3
      on_exhausted: continue
      steps:
        - id: make
          agent: maker
          task: Make it.
          deadline: 2h
          {edges}
        - {{ id: more, question: More?, choices: {{ yes: Yes, no: {{ label: No, then: break }} }} }}
  - {{ id: done, question: Done?, choices: {{ yes: Yes }} }}
"
    ))
}

fn end(desk: &mut Desk, how: &str) {
    desk.settle();
    let child = desk.producer();
    let said = |outcome| Envelope { outcome, summary: "no access".to_owned(), result: Value::Null };
    let news = match how {
        "blocked" => {
            Notification::Submitted { child, submission: 1, envelope: said(EnvelopeOutcome::Blocked) }
        }
        "failed" => Notification::Submitted { child, submission: 1, envelope: said(EnvelopeOutcome::Failed) },
        "child failed" => Notification::ChildFailed { child, reason: "no access".to_owned() },
        _ => {
            desk.wait(2 * HOUR);
            Notification::Tick
        }
    };
    desk.say(news).unwrap();
}

fn marks(desk: &Desk) -> Vec<(u32, String, u32)> {
    desk.state.marks.iter().map(|mark| (mark.number, mark.node.clone(), mark.iteration)).collect()
}

/// What was left by `next` or `continue` from a failure is marked; by `break`, by success, by `hold` nothing is.
#[test]
fn what_is_marked() {
    let cases = [
        ("on_blocked: next", "blocked", true),
        ("on_failed: next", "failed", true),
        ("on_failed: continue", "failed", true),
        ("on_failed: continue", "child failed", true),
        ("on_deadline: next", "deadline", true),
        ("on_deadline: continue", "deadline", true),
        ("on_failed: break", "failed", false),
        ("on_failed: hold", "failed", false),
        ("on_failed: next", "blocked", false),
    ];
    for (edges, how, marked) in cases {
        let mut desk = looped(edges);
        end(&mut desk, how);
        let expected = if marked { vec![(1, "make".to_owned(), 1)] } else { Vec::new() };
        assert_eq!(marks(&desk), expected, "{edges} after {how}");
        if marked {
            assert!(desk.state.hold == flowright::engine::workflow::state::Hold::None, "it goes on");
            let reason = &desk.state.marks[0].reason;
            assert!(reason.contains(if how == "deadline" { "deadline" } else { "no access" }), "{reason}");
        }
    }
    let mut desk = looped("on_failed: next");
    desk.submit(json!({}));
    assert_eq!(marks(&desk), []);
}

/// People who do not answer, and loops that take too long, mark the iteration around them.
#[test]
fn other_deadlines_mark_too() {
    let bodies = [
        ("{ id: ask, question: Go on?, choices: { yes: Yes }, deadline: 2h, on_deadline: next }", "ask"),
        (
            "{ id: inner, loop: { repeat: 9, deadline: 2h, on_deadline: next, \
             steps: [{ id: ask, question: Go on?, choices: { yes: Yes } }] } }",
            "inner",
        ),
    ];
    for (body, node) in bodies {
        let yaml = format!(
            "
steps:
  - id: rounds
    loop: {{ repeat: 3, steps: [{{ id: first, question: Now?, choices: {{ yes: Yes }} }}, {body}] }}
"
        );
        let mut desk = Desk::new(&yaml);
        for _ in 0..2 {
            desk.answer("yes", "ada").unwrap();
            desk.wait(2 * HOUR);
            assert_eq!(desk.at(), "first");
        }
        assert_eq!(marks(&desk), [(1, node.to_owned(), 1), (2, node.to_owned(), 2)]);
        assert!(desk.state.marks.iter().all(|mark| mark.repeat == "rounds"), "{:?}", desk.state.marks);
    }
}

/// Outside of loops there is no iteration to mark.
#[test]
fn nothing_is_marked_outside_of_loops() {
    let yaml = "
steps:
  - { id: make, agent: maker, task: Make it., on_failed: continue }
  - { id: done, question: Done?, choices: { yes: Yes } }
";
    let mut desk = Desk::new(yaml);
    end(&mut desk, "failed");
    assert_eq!((desk.at(), marks(&desk)), ("done".to_owned(), Vec::new()));
}

/// A mark stays through later iterations, shows in the list, and goes when it is dismissed: once, by whom it concerns.
#[test]
fn a_mark_stays_until_it_is_dismissed() {
    let mut desk = looped("on_failed: next");
    let dismiss = |desk: &mut Desk, mark, user: &str| {
        desk.say(Notification::Dismiss { mark, by: person(user) }).map(|events| events.len())
    };
    end(&mut desk, "failed");
    desk.submissions = 0;
    end(&mut desk, "failed");
    desk.submit(json!({}));
    assert_eq!(marks(&desk), [(1, "make".to_owned(), 1), (2, "make".to_owned(), 2)]);
    let row = index(&desk.ir, &desk.state);
    assert_eq!(row.status, "awaiting_answer");
    assert!(row.detail.ends_with("2 iterations need attention"), "{}", row.detail);
    assert_eq!(dismiss(&mut desk, Some(1), "eve"), Err(RejectionCode::NotAllowed));
    assert_eq!(dismiss(&mut desk, Some(3), "ada"), Err(RejectionCode::NotWaiting));
    assert_eq!(dismiss(&mut desk, Some(1), "ada"), Ok(1));
    assert_eq!(dismiss(&mut desk, Some(1), "ada"), Ok(0), "the same again");
    assert_eq!(marks(&desk), [(2, "make".to_owned(), 2)]);
    assert_eq!(dismiss(&mut desk, None, "ada"), Ok(1));
    assert_eq!(dismiss(&mut desk, None, "ada"), Ok(0));
    assert_eq!(marks(&desk), []);
    assert!(!index(&desk.ir, &desk.state).detail.contains("attention"));
}

/// A session that nobody is asked in any more keeps its marks and takes no dismissal.
#[test]
fn an_ended_session_takes_no_dismissal() {
    let mut desk = looped("on_failed: next");
    end(&mut desk, "failed");
    desk.say(Notification::Cancel { by: person("ada"), reason: String::new() }).unwrap();
    desk.settle();
    let news = Notification::Dismiss { mark: None, by: person("ada") };
    assert_eq!(desk.say(news), Err(RejectionCode::Ended));
}

/// Events from before there were marks are read as they were meant: nothing is marked.
#[test]
fn an_older_event_marks_nothing() {
    let old = json!({ "step_left":
        { "node": "make", "visit": 1, "exit": { "on": "failed" }, "outputs": { "outcome": "failed" } } });
    let event: Event = serde_json::from_value(old.clone()).unwrap();
    let mut state = State::default();
    evolve(&mut state, Desk::new("steps: [{ id: make, agent: maker, task: Make it. }]").now, &event);
    assert!(state.marks.is_empty() && state.records.contains_key("make"));
    assert_eq!(serde_json::to_value(&event).unwrap(), old, "and written as before");
    let old = json!({ "candidate_sealed": { "invocation": "make/1/1", "revision": 2, "digest": "sha256:00",
        "summary": "", "result": { "n": 1 } } });
    let event: Event = serde_json::from_value(old.clone()).unwrap();
    assert_eq!(serde_json::to_value(&event).unwrap(), old);
}
