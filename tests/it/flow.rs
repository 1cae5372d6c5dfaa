//! What the flow of a definition proves and refutes, case by case.

use crate::pages::package;
use crate::support::AS_OF;
use flowright::compile::{Compiled, MainDocument, compile};
use flowright::diagnostic::Severity;
use flowright::ir::EdgeKind;

fn compiled(body: &str) -> Compiled {
    let name = "example.yaml".to_owned();
    let text = format!("kind: workflow\nversion: 1\nname: example\n{body}");
    compile(
        MainDocument { name: name.clone(), package_path: name, bytes: text.into_bytes() },
        &package(),
        AS_OF,
    )
}

/// Names of the rules that were found broken, in order of place; hints are left out.
fn rules(body: &str) -> Vec<&'static str> {
    let compiled = compiled(body);
    let found = compiled.diagnostics.iter().filter(|found| found.severity > Severity::Hint);
    found.map(|found| found.rule.name).collect()
}

fn runs(body: &str) -> Option<u64> {
    let compiled = compiled(body);
    let found: Vec<_> = compiled.diagnostics.iter().map(|found| found.message.clone()).collect();
    compiled.workflow.unwrap_or_else(|| panic!("{found:#?}")).agent_runs_between_waits()
}

const NONE: [&str; 0] = [];

/// A loop whose only step is a question with a deadline that goes on.
fn asking(repeat: &str, loop_deadline: &str, on_deadline: &str) -> String {
    format!(
        "steps:\n  - loop:\n      repeat: {repeat}\n{loop_deadline}      steps:\n        - question: Again?\n          \
         choices: {{ again: Again }}\n          deadline: 1h\n          on_deadline: {on_deadline}\n        - agent: worker\n          \
         task: Work.\n"
    )
}

#[test]
fn a_deadline_edge_awaits_nobody() {
    assert_eq!(rules(&asking("until_stopped", "", "continue")), ["unbounded-loop"]);
    assert_eq!(rules(&asking("until_stopped", "", "{ choose: again }")), ["unbounded-loop"]);
    assert_eq!(rules(&asking("until_stopped", "", "next")), ["unbounded-loop"]);
    assert_eq!(rules(&asking("until_stopped", "", "hold")), NONE);
}

#[test]
fn a_count_or_a_deadline_bounds_a_loop() {
    assert_eq!(rules(&asking("5", "", "continue")), NONE);
    assert_eq!(rules(&asking("until_stopped", "      deadline: 2d\n", "continue")), NONE);
    assert_eq!(rules(&format!("deadline: 3d\n{}", asking("until_stopped", "", "continue"))), NONE);
}

#[test]
fn one_path_without_a_wait_is_enough_to_be_unbounded() {
    let body = "inputs:
  fast: { type: boolean }
steps:
  - loop:
      repeat: until_stopped
      steps:
        - switch: ${{ inputs.fast }}
          cases:
            \"true\": { steps: [{ agent: worker, task: Work. }], then: next }
            \"false\": continue
        - cron: \"0 * * * *\"
          timezone: UTC
";
    let compiled = compiled(body);
    assert_eq!(compiled.diagnostics.len(), 1, "{:#?}", compiled.diagnostics);
    assert_eq!(compiled.diagnostics[0].rule.name, "unbounded-loop");
    assert!(compiled.diagnostics[0].note.contains("loop-1 → switch-1 → agent-1 → loop-1"));
}

#[test]
fn a_counted_loop_inside_does_not_bound_the_one_around_it() {
    let body = "steps:
  - loop:
      repeat: until_stopped
      steps:
        - loop:
            repeat: 3
            steps:
              - agent: worker
                task: Work.
";
    assert_eq!(rules(body), ["unbounded-loop"]);
}

#[test]
fn the_last_visit_is_definite_behind_a_counted_loop() {
    let body = "steps:
  - loop:
      repeat: 3
      steps:
        - id: try
          agent: worker
          task: Try.
  - agent: worker
    task: Tell ${{ steps.try.summary }}
";
    assert_eq!(rules(body), NONE);
    let leaving = body.replace("task: Try.", "task: Try.\n          on_failed: next");
    assert_eq!(rules(&leaving.replace("try.summary", "try.result")), ["unassigned-binding"]);
    assert_eq!(rules(&leaving), NONE, "the summary is definite on every way out");
}

#[test]
fn the_first_iteration_has_not_seen_later_steps() {
    let body = "steps:
  - loop:
      repeat: 3
      steps:
        - agent: worker
          task: Mind ${{ steps.check.summary }}
        - id: check
          agent: critic
          task: Check.
";
    assert_eq!(rules(body), ["unassigned-binding"]);
}

#[test]
fn branches_are_joined_by_a_pick() {
    let body = "inputs:
  risk: { type: string, enum: [low, high] }
steps:
  - switch: ${{ inputs.risk }}
    cases:
      low: continue
      high: { steps: [{ id: plan, agent: planner, task: Plan. }] }
  - id: text
    pick: [\"${{ steps.plan.summary }}\", \"${{ inputs.risk }}\"]
  - agent: worker
    task: Do ${{ steps.text.value }}
";
    assert_eq!(rules(body), NONE);
    assert_eq!(rules(&body.replace("steps.text.value", "steps.plan.summary")), ["unassigned-binding"]);
    let last = "[\"${{ inputs.risk }}\", \"${{ steps.plan.summary }}\"]";
    let swapped = body.replace("[\"${{ steps.plan.summary }}\", \"${{ inputs.risk }}\"]", last);
    assert_eq!(rules(&swapped), ["unassigned-binding"]);
}

#[test]
fn outputs_are_needed_only_where_a_session_ends_well() {
    let body = "outputs:
  done: ${{ steps.work.summary }}
steps:
  - question: Go?
    choices:
      go: Go
      leave: { label: Leave, then: { stop: cancelled } }
  - id: work
    agent: worker
    task: Work.
";
    assert_eq!(rules(body), NONE);
    assert_eq!(rules(&body.replace("cancelled", "succeeded")), ["unassigned-binding"]);
}

#[test]
fn agent_runs_are_counted_between_waits() {
    assert_eq!(runs("steps:\n  - { agent: worker, task: A. }\n  - { agent: worker, task: B. }\n"), Some(2));
    let counted = "steps:
  - { agent: worker, task: A. }
  - loop:
      repeat: 4
      steps:
        - { agent: worker, task: B. }
        - loop: { repeat: 3, steps: [{ agent: worker, task: C. }] }
  - { agent: worker, task: D. }
";
    assert_eq!(runs(counted), Some(1 + 4 * (1 + 3) + 1));
    let over_the_edge = "steps:
  - loop:
      repeat: until_stopped
      steps:
        - { agent: worker, task: A. }
        - { cron: \"@hourly\", timezone: UTC }
        - { agent: worker, task: B. }
        - { agent: worker, task: C. }
";
    assert_eq!(runs(over_the_edge), Some(3), "B, C and then A of the next iteration");
    let under_a_deadline =
        "steps:\n  - loop: { repeat: until_stopped, deadline: 1h, steps: [{ agent: worker, task: A. }] }\n";
    assert_eq!(runs(under_a_deadline), None);
    let gates = "steps:
  - agent: worker
    task: A.
    completion: reviewed
    max_revisions: 3
    review:
      - { agent: critic, task: Look. }
      - { human: Good? }
  - { agent: worker, task: B. }
";
    assert_eq!(runs(gates), Some(1 + 3));
}

#[test]
fn a_guarantee_is_broken_by_a_deadline_that_chooses() {
    let body = "guarantees:
  - { before: publish, answered: go, choice: go }
steps:
  - id: go
    question: Publish?
    choices:
      go: Go
      leave: { label: Leave, then: { stop: cancelled } }
    deadline: 1h
    on_deadline: { stop: cancelled }
  - id: publish
    agent: worker
    task: Publish.
";
    assert_eq!(rules(body), NONE);
    let chosen = body.replace("on_deadline: { stop: cancelled }", "on_deadline: { choose: go }");
    assert_eq!(rules(&chosen), ["broken-guarantee"]);
}

#[test]
fn held_questions_resume_at_the_next_step_and_stops_have_names() {
    let compiled = compiled(
        "steps:
  - id: go
    question: Go?
    choices:
      go: Go
      later: { label: Later, then: hold }
      leave: { label: Leave, then: { stop: cancelled } }
  - id: work
    agent: worker
    task: Work.
    on_failed: { stop: failed }
",
    );
    let workflow = compiled.workflow.unwrap();
    let graph = workflow.graph();
    let to = |from: &str, kind: EdgeKind| graph.follow(from, &kind).map(|node| node.name.clone());
    assert_eq!(to("go", EdgeKind::Resume).as_deref(), Some("work"));
    assert_eq!(to("go", EdgeKind::Choice("later".into())).as_deref(), Some("hold"));
    assert_eq!(to("go", EdgeKind::Choice("leave".into())).as_deref(), Some("stop-1"));
    assert_eq!(to("work", EdgeKind::On(flowright::ir::Outcome::Failed)).as_deref(), Some("stop-2"));
    assert_eq!(to("work", EdgeKind::Next).as_deref(), Some("end"));
    assert_eq!(to("work", EdgeKind::Resume), None);
    let names: Vec<_> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
    assert_eq!(names, ["go", "work", "end", "hold", "stop-1", "stop-2"]);
}
