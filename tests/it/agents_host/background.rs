//! Calls in the background: awaited in a drive to rest, handed to a process of their own in a single step.

use super::{Desk, agent, around, everywhere, replies, script};
use crate::support::world::person;
use flowright::engine::SessionId;
use flowright::engine::agent::command::Notification;
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::state::CallState;
use flowright::host::run::{Until, Worked};
use flowright::ir::{Agent, Decorator, Disposition};
use std::sync::{Arc, Mutex};

fn mixed() -> Agent {
    agent(
        "one",
        &[
            ("slow", Disposition::RunAsync),
            ("hold", Disposition::RunAsync),
            ("asks", Disposition::Defer { reason: None }),
        ],
    )
}

type Handed = Arc<Mutex<Vec<(SessionId, String)>>>;

/// Lets the host hand calls over; nobody runs them before the test says so.
fn hand_over(desk: &mut Desk) -> Handed {
    let handed = Handed::default();
    let list = Arc::clone(&handed);
    desk.host.run_in_background(Box::new(move |session, call| {
        list.lock().unwrap().push((session.clone(), call.to_owned()));
        Ok(())
    }));
    handed
}

fn work(desk: &mut Desk, call: &str) -> Worked {
    let session = desk.session.clone();
    let mut worker = desk.another();
    desk.runtime.block_on(worker.work_call(&session, call)).unwrap()
}

#[test]
fn a_drive_to_rest_awaits_what_runs_in_the_background() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("slow", "{}"), ("t", "{}")]])]),
        |desk| {
            let handed = hand_over(desk);
            assert_eq!(desk.drive(Until::Rest).row.status, "idle");
            assert_eq!(desk.told("one"), ["slow {}", "t {}"]);
            assert_eq!(handed.lock().unwrap().len(), 0);
        },
    );
}

#[test]
fn a_step_hands_the_background_over_and_its_late_result_is_delivered_once() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("slow", "{}"), ("t", "{}")]])]),
        |desk| {
            let handed = hand_over(desk);
            desk.drive(Until::Step);
            let stopped = desk.drive(Until::Step);
            let call = desk.call(0).made.id;
            assert_eq!(
                (stopped.effects, stopped.handed),
                (1, vec![call.clone()]),
                "the other one was awaited"
            );
            assert_eq!(*handed.lock().unwrap(), [(desk.session.clone(), call.clone())]);
            assert_eq!(work(desk, &call), Worked::Ran);
            assert_eq!(work(desk, &call), Worked::NotOwed, "a second worker finds nothing to do");
            let stopped = desk.drive(Until::Step);
            assert_eq!((stopped.row.status.as_str(), desk.asked()), ("idle", 2));
            assert_eq!(desk.told("one"), ["slow {}", "t {}"]);
            assert_eq!(desk.ran().len(), 2);
        },
    );
}

#[test]
fn a_step_without_a_way_to_hand_over_awaits_the_background() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("slow", "{}")]])]),
        |desk| {
            desk.drive(Until::Step);
            let stopped = desk.drive(Until::Step);
            assert_eq!((stopped.effects, stopped.handed.len(), desk.ran().len()), (1, 0, 1));
            desk.host.run_in_background(Box::new(|_, _| Err("no more processes".to_owned())));
            assert_eq!(stopped.row.status, "ready");
        },
    );
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("slow", "{}")]])]),
        |desk| {
            desk.host.run_in_background(Box::new(|_, _| Err("no more processes".to_owned())));
            desk.drive(Until::Step);
            let stopped = desk.drive(Until::Step);
            assert_eq!(
                (stopped.handed.len(), desk.ran().len()),
                (0, 1),
                "what cannot be handed over runs here"
            );
        },
    );
}

/// While a worker runs a call, the turn reads as waiting; another drive takes it neither for lost nor runs it again.
#[test]
fn a_living_worker_is_not_taken_for_lost() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("hold", "{}"), ("t", "{}")]])]),
        |desk| {
            let _handed = hand_over(desk);
            desk.drive(Until::Step);
            desk.drive(Until::Step);
            let (session, call) = (desk.session.clone(), desk.call(0).made.id);
            let mut worker = desk.another();
            let script = Arc::clone(&desk.script);
            let host = &mut desk.host;
            desk.runtime.block_on(async {
                let working = worker.work_call(&session, &call);
                let driving = async {
                    while script.seen.lock().unwrap().ran.len() < 2 {
                        tokio::task::yield_now().await;
                    }
                    let stopped = host.drive(&session, Until::Step).await.unwrap();
                    assert_eq!(stopped.row.status, "waiting_external");
                    assert!(
                        stopped.row.detail.contains("hold runs in the background"),
                        "{}",
                        stopped.row.detail
                    );
                    assert_eq!((stopped.effects, stopped.row.owes_work), (0, false));
                    // A drive to rest waits for the other process.
                    let (stopped, ()) = tokio::join!(host.drive(&session, Until::Rest), async {
                        tokio::task::yield_now().await;
                        script.permits.add_permits(1);
                    });
                    assert_eq!(stopped.unwrap().row.status, "idle");
                };
                let (worked, ()) = tokio::join!(working, driving);
                assert_eq!(worked.unwrap(), Worked::Ran);
            });
            assert_eq!(desk.told("one"), ["held", "t {}"]);
            let lost = desk
                .events(&session)
                .iter()
                .filter(|event| matches!(event, Event::CallUnknown { .. }))
                .count();
            assert_eq!((lost, desk.ran().len()), (0, 2));
        },
    );
}

#[test]
fn a_worker_that_is_gone_leaves_a_call_of_unknown_outcome() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("hold", "{}")]])]),
        |desk| {
            let _handed = hand_over(desk);
            desk.drive(Until::Step);
            let (session, call) = (desk.session.clone(), desk.call(0).made.id);
            desk.drive(Until::Step);
            let mut worker = desk.another();
            let script = Arc::clone(&desk.script);
            desk.runtime.block_on(async {
                let working = worker.work_call(&session, &call);
                tokio::select! {
                    worked = working => panic!("{worked:?}"),
                    () = async {
                        while script.seen.lock().unwrap().ran.is_empty() {
                            tokio::task::yield_now().await;
                        }
                    } => {}
                }
            });
            // Its lease has lapsed.
            let lease = SessionId(format!("call {call}"));
            desk.store.release(&lease, "test/-/1").unwrap();
            assert_eq!(desk.drive(Until::Rest).row.status, "needs_attention");
            assert_eq!(desk.ran().len(), 1);
        },
    );
}

#[test]
fn a_worker_tries_again_what_its_policy_says() {
    let frozen = agent("one", &[("flaky", around(Decorator::Retries { count: 2 }, Disposition::RunAsync))]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("flaky", "{}")]])]),
        |desk| {
            let _handed = hand_over(desk);
            desk.drive(Until::Step);
            let call = desk.call(0).made.id;
            assert_eq!(work(desk, &call), Worked::Ran);
            assert_eq!(desk.ran().len(), 3);
            assert_eq!(desk.call(0).state, CallState::Completed(ToolResult::Text("flaky {}".to_owned())));
        },
    );
}

/// The worker ends what it runs when its session is cancelled; until then the session reads `cancelling`.
#[test]
fn a_cancel_reaches_the_worker() {
    everywhere(
        &mixed(),
        || script(&[replies("one", &[&[("hold", "{}")]])]),
        |desk| {
            let _handed = hand_over(desk);
            desk.drive(Until::Step);
            desk.drive(Until::Step);
            let (session, call) = (desk.session.clone(), desk.call(0).made.id);
            let mut worker = desk.another();
            let script = Arc::clone(&desk.script);
            let host = &mut desk.host;
            desk.runtime.block_on(async {
                let cancelling = async {
                    while script.seen.lock().unwrap().ran.is_empty() {
                        tokio::task::yield_now().await;
                    }
                    host.tell_agent(&session, Notification::Stop).unwrap();
                    assert_eq!(host.live(&session).unwrap().subject.index().status, "cancelling");
                    host.drive(&session, Until::Rest).await.unwrap().row.status
                };
                let (worked, status) = tokio::join!(worker.work_call(&session, &call), cancelling);
                assert_eq!((worked.unwrap(), status.as_str()), (Worked::Ran, "cancelled"));
            });
            assert_eq!(desk.script.seen.lock().unwrap().dropped, ["hold"]);
        },
    );
}

/// One sync, one deferred, one in the background: nothing is dropped or made up, and the model is asked once.
#[test]
fn b37_three_kinds_of_calls_in_one_turn() {
    let calls: &[(&str, &str)] = &[("t", "{}"), ("asks", "{}"), ("slow", "{}")];
    everywhere(
        &mixed(),
        || script(&[replies("one", &[calls])]),
        |desk| {
            let _handed = hand_over(desk);
            desk.drive(Until::Step);
            desk.drive(Until::Step);
            let (token, slow) = (desk.token(1), desk.call(2).made.id);
            desk.complete(&token, "approved by hand").unwrap();
            // Restarted: only the store knows.
            desk.host = desk.another();
            let _handed = hand_over(desk);
            let stopped = desk.drive(Until::Step);
            assert_eq!(
                (stopped.handed.len(), desk.asked()),
                (1, 1),
                "nothing is sent to the model in between"
            );
            assert_eq!(work(desk, &slow), Worked::Ran);
            desk.drive(Until::Rest);
            assert_eq!(desk.asked(), 2);
            assert_eq!(desk.told("one"), ["t {}", "approved by hand", "slow {}"]);
            assert_eq!(desk.ran().iter().filter(|tool| *tool == "t").count(), 1);
            let by = person("ada");
            let late =
                Notification::Complete { token, result: ToolResult::Text("approved by hand".to_owned()), by };
            assert_eq!(desk.tell(late), Ok(false));
        },
    );
}
