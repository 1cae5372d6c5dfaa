//! Calls of one session: side by side, tried again, shared, approved, isolated, cut, uncertain, stopped.

use super::{Desk, agent, around, everywhere, replies, script};
use crate::support::world::person;
use flowright::engine::RejectionCode;
use flowright::engine::agent::command::{Notification, Resolution};
use flowright::engine::agent::event::{Event, ToolResult};
use flowright::engine::agent::state::CallState;
use flowright::host::run::{HostError, Isolated, Until};
use flowright::ir::{Decorator, Disposition, Isolation};

fn refused<T: std::fmt::Debug>(outcome: Result<T, HostError>) -> RejectionCode {
    match outcome {
        Err(HostError::Refused(rejection)) => rejection.code,
        other => panic!("{other:?}"),
    }
}

/// R36: all calls of a turn that are awaited run in one step, as many at once as the agent allows.
#[test]
fn calls_of_a_turn_run_side_by_side_up_to_the_bound() {
    for (bound, most) in [(1, 1), (2, 2), (4, 4), (9, 6)] {
        let mut frozen = agent("one", &[]);
        frozen.max_concurrency = bound;
        let said = || script(&[replies("one", &[&[("t", "{}"); 6]])]);
        everywhere(&frozen, said, |desk| {
            desk.drive(Until::Step);
            assert_eq!((desk.asked(), desk.ran().len()), (1, 0), "a step that asks the model asks it once");
            let stopped = desk.drive(Until::Step);
            assert_eq!((stopped.effects, desk.asked(), desk.ran().len()), (6, 1, 6), "one batch");
            assert_eq!(desk.script.seen.lock().unwrap().most, most, "bound {bound}");
            assert_eq!(stopped.row.status, "ready");
            desk.drive(Until::Step);
            assert_eq!(desk.asked(), 2);
            assert_eq!(desk.told("one").len(), 6);
        });
    }
}

#[test]
fn a_known_failure_is_tried_again_in_the_same_drive_and_each_attempt_is_recorded() {
    let frozen = agent("one", &[("flaky", around(Decorator::Retries { count: 2 }, Disposition::RunSync))]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("flaky", "{}")]])]),
        |desk| {
            desk.drive(Until::Rest);
            assert_eq!(desk.told("one"), ["flaky {}"]);
            let events = desk.events(&desk.session);
            let failed: Vec<_> = events
                .iter()
                .filter_map(|event| match event {
                    Event::CallFailed { admission, error, .. } => Some((*admission, error.clone())),
                    _ => None,
                })
                .collect();
            assert_eq!(failed, [(1, "attempt 1".to_owned()), (2, "attempt 2".to_owned())]);
        },
    );
}

#[test]
fn equal_calls_that_share_results_run_once() {
    let frozen = agent("one", &[("look", around(Decorator::Cache { key: None }, Disposition::RunSync))]);
    let said = || {
        script(&[replies(
            "one",
            &[&[("look", "{\"a\":1}"), ("look", "{\"a\":1}"), ("other", "{}")], &[("look", "{ \"a\": 1 }")]],
        )])
    };
    everywhere(&frozen, said, |desk| {
        desk.drive(Until::Rest);
        assert_eq!(desk.ran(), ["look", "other"]);
        let look = "look {\"a\":1}";
        assert_eq!(desk.told("one"), [look, look, "other {}", look]);
    });
}

#[test]
fn a_call_that_cannot_be_isolated_here_is_run_by_a_host_that_can() {
    let spec = Isolation::Docker { image: "box".to_owned() };
    let frozen = agent("one", &[("far", Disposition::RunIsolated { spec })]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("far", "{\"n\":1}"), ("t", "{}")]])]),
        |desk| {
            *desk.script.missing.lock().unwrap() = Some("there is no docker here".to_owned());
            let stopped = desk.drive(Until::Rest);
            assert_eq!((stopped.row.status.as_str(), desk.ran()), ("waiting_external", vec!["t".to_owned()]));
            assert!(stopped.row.detail.contains("there is no docker here"), "{}", stopped.row.detail);
            let token = desk.token(0);

            let session = desk.session.clone();
            let mut other = desk.another();
            let outcome = desk.runtime.block_on(other.run_isolated(&session)).unwrap();
            let [Isolated { tool, missing: Some(missing), .. }] = &outcome[..] else { panic!("{outcome:?}") };
            assert_eq!((tool.as_str(), missing.as_str()), ("far", "there is no docker here"));
            assert_eq!(desk.token(0), token, "nothing has changed");

            *desk.script.missing.lock().unwrap() = None;
            let outcome = desk.runtime.block_on(other.run_isolated(&session)).unwrap();
            assert!(matches!(&outcome[..], [Isolated { missing: None, .. }]), "{outcome:?}");
            assert_eq!(desk.runtime.block_on(other.run_isolated(&session)).unwrap(), []);
            assert_eq!(refused(desk.complete(&token, "late")), RejectionCode::Conflict);
            desk.drive(Until::Rest);
            assert_eq!(desk.told("one"), ["far {\"n\":1}", "t {}"]);
        },
    );
}

#[test]
fn a_host_that_can_isolate_does_it_at_once() {
    let spec = Isolation::LocalProcess { path: "box.sh".to_owned() };
    let frozen = agent("one", &[("far", Disposition::RunIsolated { spec })]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("far", "{}")]])]),
        |desk| {
            assert_eq!(desk.drive(Until::Rest).row.status, "idle");
            assert_eq!(desk.told("one"), ["far {}"]);
        },
    );
}

fn asking() -> flowright::ir::Agent {
    agent("one", &[("asks", Disposition::Defer { reason: None })])
}

#[test]
fn an_approved_call_runs_when_the_session_is_driven_on() {
    everywhere(
        &asking(),
        || script(&[replies("one", &[&[("asks", "{\"amount\":10}")]])]),
        |desk| {
            assert_eq!(desk.drive(Until::Rest).row.status, "waiting_external");
            let token = desk.token(0);
            let (session, by) = (desk.session.clone(), person("ada"));
            assert!(desk.runtime.block_on(desk.host.approve(&session, &token, by)).unwrap());
            assert_eq!(desk.ran(), [""; 0], "a word runs nothing by itself");
            desk.drive(Until::Rest);
            assert_eq!(desk.told("one"), ["asks {\"amount\":10}"]);
            assert_eq!(refused(desk.complete(&token, "x")), RejectionCode::Conflict);
        },
    );
}

#[test]
fn b36_a_tool_that_changed_since_it_was_called_or_approved_asks_again() {
    everywhere(
        &asking(),
        || script(&[replies("one", &[&[("asks", "{}")]])]),
        |desk| {
            let describe = |desk: &Desk, words: &str| {
                desk.script.described.lock().unwrap().insert("asks".to_owned(), words.to_owned());
            };
            describe(desk, "deletes one file");
            desk.drive(Until::Rest);
            let (session, first) = (desk.session.clone(), desk.token(0));
            describe(desk, "deletes all files");
            let outcome = desk.runtime.block_on(desk.host.approve(&session, &first, person("ada")));
            assert_eq!(refused(outcome), RejectionCode::Stale);
            let second = desk.token(0);
            assert_ne!(first, second);
            desk.runtime.block_on(desk.host.approve(&session, &second, person("ada"))).unwrap();
            describe(desk, "deletes the disk");
            assert_eq!(desk.drive(Until::Rest).row.status, "waiting_external");
            assert_eq!(desk.ran(), [""; 0]);
            let third = desk.token(0);
            desk.runtime.block_on(desk.host.approve(&session, &third, person("ada"))).unwrap();
            desk.drive(Until::Rest);
            assert_eq!(desk.ran(), ["asks"]);
        },
    );
}

#[test]
fn b58_b31_two_equal_deferred_calls_in_the_reverse_order_and_again() {
    let two: &[(&str, &str)] = &[("asks", "{}"), ("asks", "{}")];
    everywhere(
        &asking(),
        || script(&[replies("one", &[two, two])]),
        |desk| {
            desk.drive(Until::Rest);
            let old = [desk.token(0), desk.token(1)];
            desk.complete(&old[1], "second").unwrap();
            assert_eq!((desk.drive(Until::Rest).row.status.as_str(), desk.asked()), ("waiting_external", 1));
            desk.complete(&old[0], "first").unwrap();
            desk.drive(Until::Rest);
            assert_eq!(desk.told("one"), ["first", "second"]);
            assert_eq!(desk.complete(&old[0], "first"), Ok(false), "the identical repeat");
            assert_eq!(refused(desk.complete(&old[0], "other")), RejectionCode::Conflict);
            let new = desk.token(1);
            desk.complete(&new, "fourth").unwrap();
            assert_eq!((desk.drive(Until::Rest).row.status.as_str(), desk.asked()), ("waiting_external", 2));
        },
    );
}

#[test]
fn b43_two_calls_of_one_id_and_calls_without_any_each_run() {
    let calls: &[(&str, &str)] = &[("a", "{\"n\":1}"), ("b", "{\"n\":2}"), ("a", "{\"n\":3}")];
    everywhere(
        &agent("one", &[]),
        || script(&[replies("one", &[calls, calls])]),
        |desk| {
            desk.drive(Until::Rest);
            let once = ["a {\"n\":1}", "b {\"n\":2}", "a {\"n\":3}"];
            assert_eq!(desk.told("one"), [once, once].concat(), "also one id on every turn (B42)");
        },
    );
}

#[test]
fn what_is_cut_off_says_so_and_what_is_long_is_kept_aside() {
    let frozen =
        agent("one", &[("long", around(Decorator::Truncate { max_bytes: 101 }, Disposition::RunSync))]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("long", "{}")]])]),
        |desk| {
            desk.drive(Until::Rest);
            let told = desk.told("one").remove(0);
            assert_eq!(told, format!("{}\n[flowright: 99900 more bytes were cut off]", "ü".repeat(50)));
        },
    );
    everywhere(
        &agent("one", &[]),
        || script(&[replies("one", &[&[("long", "{}")]])]),
        |desk| {
            desk.drive(Until::Step);
            desk.drive(Until::Step);
            let CallState::Completed(ToolResult::Kept(kept)) = desk.call(0).state else { panic!() };
            assert_eq!(desk.store.blob(&kept.digest).unwrap().unwrap().len(), 100_000);
        },
    );
}

#[test]
fn a_call_of_unknown_outcome_waits_for_a_person_with_what_is_known() {
    let frozen = agent("one", &[("lost", around(Decorator::Retries { count: 5 }, Disposition::RunSync))]);
    everywhere(
        &frozen,
        || script(&[replies("one", &[&[("lost", "{}")]])]),
        |desk| {
            let stopped = desk.drive(Until::Rest);
            assert_eq!((stopped.row.status.as_str(), desk.ran().len()), ("needs_attention", 1));
            assert!(stopped.row.detail.contains("the server went away"), "{}", stopped.row.detail);
            assert_eq!(desk.drive(Until::Rest).effects, 0);
            let resolution = Resolution::Completed(ToolResult::Text("it had worked".to_owned()));
            let call = desk.call(0).made.id;
            desk.tell(Notification::Resolve { call, resolution, by: person("ada") }).unwrap();
            desk.drive(Until::Rest);
            assert_eq!(desk.told("one"), ["it had worked"]);
        },
    );
}

/// Another process cancels while this one drives: what runs is dropped (its process group killed), and nothing follows.
#[test]
fn a_cancel_from_another_process_ends_what_runs_here() {
    everywhere(
        &agent("one", &[]),
        || script(&[replies("one", &[&[("hold", "{}"), ("t", "{}")]])]),
        |desk| {
            let session = desk.session.clone();
            let mut other = desk.another();
            let script = std::sync::Arc::clone(&desk.script);
            let (driven, told) = desk.runtime.block_on(async {
                let cancel = async {
                    while script.seen.lock().unwrap().ran.len() < 2 {
                        tokio::task::yield_now().await;
                    }
                    let told = other.tell_agent(&session, Notification::Stop);
                    other.forget(&session);
                    let status = other.live(&session).unwrap().subject.index().status;
                    (told, status)
                };
                tokio::join!(desk.host.drive(&session, Until::Rest), cancel)
            });
            assert_eq!(told, (Ok(true), "cancelling".to_owned()));
            assert_eq!(driven.unwrap().row.status, "cancelled");
            assert_eq!(desk.script.seen.lock().unwrap().dropped, ["hold"]);
            assert_eq!(desk.asked(), 1);
            let state = desk.state();
            let CallState::Failed(reason) = &state.last_calls()[0].state else { panic!("{state:?}") };
            assert!(reason.contains("may have had effects"), "{reason}");
        },
    );
}

#[test]
fn a_message_from_another_process_joins_while_this_one_drives() {
    everywhere(
        &agent("one", &[]),
        || script(&[replies("one", &[&[("hold", "{}")]])]),
        |desk| {
            let session = desk.session.clone();
            let mut other = desk.another();
            let script = std::sync::Arc::clone(&desk.script);
            let (driven, ()) = desk.runtime.block_on(async {
                let speak = async {
                    while script.seen.lock().unwrap().ran.is_empty() {
                        tokio::task::yield_now().await;
                    }
                    let message = flowright::engine::agent::event::Message {
                        id: "m".to_owned(),
                        kind: flowright::engine::agent::event::MessageKind::Person,
                        text: "mind the budget".to_owned(),
                        media: Vec::new(),
                    };
                    other.tell_agent(&session, Notification::Take(message)).unwrap();
                    script.permits.add_permits(1);
                };
                tokio::join!(desk.host.drive(&session, Until::Rest), speak)
            });
            assert_eq!(driven.unwrap().row.status, "idle");
            let sent = format!("{:?}", desk.script.seen.lock().unwrap().sent["one"]);
            assert!(sent.contains("mind the budget") && sent.contains("held"), "{sent}");
        },
    );
}
