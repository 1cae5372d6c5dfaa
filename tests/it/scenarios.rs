//! What people do with it, whole: the packages of `corpus/real` on the virtual clock with the scripted model.

use crate::support::world::{World, person};
use flowright::engine::workflow::command::Decision;
use flowright::engine::workflow::state::Hold;
use flowright::engine::{RejectionCode, SessionId};
use flowright::host::run::HostError;
use flowright::ir::StopStatus;
use flowright::store::memory::MemoryStore;
use serde_json::{Value, json};
use std::sync::Arc;

const W04: &str = "corpus/real/w04-plan-review-build-test/plan-review-build-test.yaml";
const REPORT: &str = "corpus/real/scheduled-report/scheduled-report.yaml";

fn world() -> World {
    World::new(Arc::new(MemoryStore::new()))
}

fn refused(outcome: Result<bool, HostError>) -> RejectionCode {
    match outcome {
        Err(HostError::Refused(rejection)) => rejection.code,
        other => panic!("{other:?}"),
    }
}

fn reject(feedback: &str) -> Decision {
    Decision::Reject { feedback: feedback.to_owned() }
}

fn children(world: &World, session: &SessionId) -> Vec<(String, String)> {
    let rows = world.store.children(session).unwrap();
    rows.into_iter().map(|row| (row.index.title, row.index.status)).collect()
}

/// W04 whole, its failure included: an acceptance of revision 1 arrives after revision 2 was submitted (R112).
#[test]
fn w04_plan_review_build_test() {
    let mut world = world();
    let session = world.start(W04, &[]);
    assert_eq!(world.drive(&session).row.status, "awaiting_answer");
    assert_eq!(refused(world.answer(&session, "build", "")), RejectionCode::Invalid);
    world.answer(&session, "build", "a dark mode").unwrap();

    // The planner's first submission does not fit its schema and is corrected by the same child.
    assert_eq!(world.drive(&session).row.status, "awaiting_review");
    assert_eq!(children(&world, &session), [("planner".to_owned(), "idle".to_owned())]);
    let planner = world.store.children(&session).unwrap()[0].session.clone();
    let said = world.events(&planner);
    assert_eq!(said.iter().filter(|name| *name == "submission_refused").count(), 1, "{said:?}");

    // Asking for changes resumes the same child; the first candidate is kept.
    world.decide(&session, 1, reject("Stored preferences must be migrated.")).unwrap();
    assert_eq!(world.drive(&session).row.status, "awaiting_review");
    assert_eq!(children(&world, &session).len(), 1);

    // Too late: revision 1 is no longer what is under review; nobody else may decide; digests name candidates too.
    assert_eq!(refused(world.decide(&session, 1, Decision::Accept)), RejectionCode::Stale);
    assert_eq!(
        refused(world.decide_as(&session, 2, Decision::Accept, person("eve"))),
        RejectionCode::NotAllowed
    );
    assert_eq!(world.status(&session), "awaiting_review");

    world.decide(&session, 2, Decision::Accept).unwrap();
    assert_eq!(world.drive(&session).row.status, "completed");
    assert!(!world.decide(&session, 2, Decision::Accept).unwrap(), "the identical repeat has no effect");
    assert_eq!(refused(world.decide(&session, 2, reject("no"))), RejectionCode::Conflict);

    let ending = world.workflow_state(&session).ended.unwrap();
    assert_eq!(ending.status, StopStatus::Succeeded);
    assert_eq!(ending.outputs["revision"], "r-4711");
    assert_eq!(ending.outputs["verdict"], "passed");
    let names: Vec<_> = children(&world, &session).into_iter().map(|(title, _)| title).collect();
    assert_eq!(names, ["planner", "implementer", "tester"]);
}

/// The plan that was accepted is what the implementer is given, and nothing else.
#[test]
fn the_accepted_revision_is_what_is_built() {
    let mut world = world();
    let session = world.start(W04, &[]);
    world.drive(&session);
    world.answer(&session, "build", "a dark mode").unwrap();
    world.drive(&session);
    world.decide(&session, 1, reject("migrate")).unwrap();
    world.drive(&session);
    world.decide(&session, 2, Decision::Accept).unwrap();
    world.drive(&session);
    let implementer = world.store.children(&session).unwrap()[1].session.clone();
    let first = world.store.events_after(&implementer, 0, 1).unwrap();
    let started: Value = serde_json::from_str(&first[0].body).unwrap();
    let with = &started["started"]["with"];
    assert_eq!(with["plan"], "Add a dark mode switch to the settings page and migrate stored preferences.");
    assert_eq!(with["areas"], json!(["settings", "storage"]));
}

#[test]
fn giving_up_is_abort_and_dropping_is_a_choice() {
    let mut world = world();
    let session = world.start(W04, &[]);
    world.drive(&session);
    world.answer(&session, "nothing", "").unwrap();
    assert_eq!(world.drive(&session).row.status, "cancelled");

    let session = world.start(W04, &[]);
    world.drive(&session);
    world.answer(&session, "build", "x").unwrap();
    world.drive(&session);
    world.decide(&session, 1, Decision::Abort { reason: "changed my mind".to_owned() }).unwrap();
    assert_eq!(world.drive(&session).row.status, "cancelled");
    assert_eq!(children(&world, &session).len(), 1);
}

/// R111: each occurrence gets a fresh child; missed ones are skipped, and no model is asked while it waits (R66).
#[test]
fn the_scheduled_report() {
    let mut world = world();
    let session = world.start(REPORT, &[]);
    assert_eq!(world.drive(&session).row.status, "waiting_for_schedule");
    assert_eq!(children(&world, &session), []);

    world.advance("2026-03-02T09:00:00Z");
    assert_eq!(world.drive(&session).row.status, "waiting_for_schedule");
    assert_eq!(children(&world, &session).len(), 1);

    // Down for three hours: what passed meanwhile is never made up.
    world.advance("2026-03-02T12:30:00Z");
    world.drive(&session);
    assert_eq!(children(&world, &session).len(), 1);
    let events = world.events(&session);
    assert_eq!(events.iter().filter(|name| *name == "occurrence_skipped").count(), 1);

    world.advance("2026-03-02T13:00:30Z");
    world.drive(&session);
    let reports = world.store.children(&session).unwrap();
    assert_eq!(reports.len(), 2);
    assert_ne!(reports[0].session, reports[1].session);
    let state = world.workflow_state(&session);
    assert_eq!(state.hold, Hold::None);
    assert_eq!(state.position.unwrap().frames[0].iteration, 3);
}

/// A definition that changes on the disk changes nothing for a session that runs (B64): the frozen one is folded.
#[test]
fn a_session_is_loaded_from_its_frozen_definition() {
    let mut world = world();
    let session = world.start(W04, &[]);
    world.drive(&session);
    let before = world.workflow_state(&session);
    world.host.forget(&session);
    assert_eq!(world.workflow_state(&session), before);
}
