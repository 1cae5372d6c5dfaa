//! The page about testing: its example plays, and every key of the reader stands in its tables.

use super::{WORKER, findings, play_in};
use flowright::compile::Memory;

const PAGE: &str = include_str!("../../../docs/testing.md");

/// The workflow that the example of the page has in mind.
const PLAN: &str = r#"kind: workflow
version: 1
name: plan
inputs: { repository: { type: string } }
outputs: { revision: "${{ steps.implement.result.revision }}" }
steps:
  - id: request
    question: What shall we build in ${{ inputs.repository }}?
    choices: { build: { label: Build this, feedback: required } }
  - id: plan
    agent: planner
    task: Plan ${{ steps.request.feedback }}.
    result:
      type: object
      required: [plan, areas]
      properties: { plan: { type: string }, areas: { type: array, items: { type: string } } }
    completion: reviewed
    review: [{ human: Is this the plan?, respondents: ["role:lead"] }]
  - id: implement
    agent: implementer
    task: Build ${{ steps.plan.result.plan }}.
    result: { type: object, required: [revision], properties: { revision: { type: string } } }
"#;

#[test]
fn the_example_plays() {
    let (_, rest) = PAGE.split_once("```text\n").unwrap();
    let example = &rest[..rest.find("```").unwrap()];
    let files =
        ["planner", "implementer"].iter().fold(Memory::new().with("plan.yaml", PLAN), |files, name| {
            files.with(&format!("agents/{name}.json"), format!("{{ \"slug\": \"{name}\", {WORKER}"))
        });
    let played = play_in(&files, "plan.test.yaml", example);
    assert_eq!(findings(&played), []);
    assert_eq!(played.cases.len(), 1);
    assert!(played.cases[0].passed());
}

/// The reader lists its keys when it meets one that it does not know, or that is not enough.
#[test]
fn every_key_stands_on_the_page() {
    let keys = "agent answer accept reject abort message advance until down pause resume retry cancel expect refused \
                submit judge feedback block fail say crash summary result step choice as revision gate reason to text \
                status waits_for visits never outputs asks task given wakes_at \
                kind version workflow description owner people inputs start_at cases name steps";
    let missing: Vec<&str> = keys
        .split_whitespace()
        .filter(|key| {
            let stands = |before: char, behind: char| PAGE.contains(&format!("{before}{key}{behind}"));
            !(stands('`', '`') || stands('`', ':') || stands(' ', ',') || stands(' ', ' '))
        })
        .collect();
    assert_eq!(missing, [""; 0]);
}
