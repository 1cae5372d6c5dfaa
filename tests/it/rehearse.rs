//! `flowright test`: every kind of step, every kind of expectation that fails, and the verb itself.

mod page;
mod schema;
mod simulate;
mod steps;
mod verb;

use crate::support::AS_OF;
use flowright::compile::{MainDocument, Memory};
use flowright::rehearse::{Rehearsed, rehearse};

const WORKER: &str = r#""base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "m",
  "modelUrl": "http://localhost:1/v1", "systemPrompt": ["You work."] }"#;

/// A question, a stage with an evaluator and a person, one without, a branch.
const FLOW: &str = r#"kind: workflow
version: 1
name: flow
inputs:
  risk: { type: string, enum: [low, high], default: low }
  repository: { type: string }
outputs:
  change: ${{ steps.build.result.change }}
steps:
  - id: request
    question: What shall we build for ${{ inputs.repository }}?
    choices:
      build: { label: Build it, feedback: required }
      nothing: { label: Nothing, then: { stop: cancelled, reason: There was nothing. } }
    deadline: 1d
    on_deadline: { stop: failed, reason: Nobody answered. }
  - id: plan
    agent: planner
    task: Plan for risk ${{ inputs.risk }}.
    with: { request: "${{ steps.request.feedback }}" }
    result:
      type: object
      required: [plan]
      properties: { plan: { type: string } }
    completion: reviewed
    review:
      - agent: critic
        task: Find what is missing.
        max_rounds: 2
      - human: Is this the plan?
        respondents: [owner, "role:lead"]
        deadline: 2d
        on_deadline: { stop: failed, reason: Nobody decided. }
        on_abort: { stop: cancelled, reason: Given up. }
    deadline: 4h
    on_exhausted: { stop: failed, reason: No plan was good enough. }
  - id: build
    agent: builder
    task: Build it.
    with: { plan: "${{ steps.plan.result.plan }}" }
    result:
      type: object
      required: [change, tests]
      properties: { change: { type: string }, tests: { type: string, enum: [passed, failed] } }
    on_failed: { stop: failed, reason: It cannot be built. }
  - id: verdict
    switch: ${{ steps.build.result.tests }}
    cases:
      passed: continue
      failed: { stop: failed, reason: The tests failed. }
"#;

fn package() -> Memory {
    ["planner", "critic", "builder"].iter().fold(Memory::new().with("flow.yaml", FLOW), |files, name| {
        files.with(&format!("agents/{name}.json"), format!("{{ \"slug\": \"{name}\", {WORKER}"))
    })
}

fn play_in(files: &Memory, path: &str, text: &str) -> Rehearsed {
    let main = MainDocument { name: path.into(), package_path: path.into(), bytes: text.as_bytes().to_vec() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(rehearse(main, files, None, AS_OF))
}

/// A test file with one case of these steps, indented by two, and what follows them.
fn text_of(steps: &str) -> String {
    format!(
        "kind: test\nversion: 1\ninputs: {{ repository: here }}\nowner: ada\npeople: {{ lea: [lead], eve: [] }}\n\
         cases:\n- name: the case\n  steps:\n{steps}"
    )
}

fn play(steps: &str) -> Rehearsed {
    play_in(&package(), "flow.test.yaml", &text_of(steps))
}

/// Rule, text of the place and message of each finding.
fn findings(rehearsed: &Rehearsed) -> Vec<(&'static str, String, String)> {
    let source = rehearsed.sources.iter().next().unwrap();
    let all = rehearsed.diagnostics.iter();
    all.map(|found| (found.rule.name, source.slice(found.span).to_owned(), found.message.clone())).collect()
}

fn passes(steps: &str) {
    let played = play(steps);
    assert_eq!(findings(&played), []);
    assert!(played.cases.len() == 1 && played.cases[0].passed());
}

/// Exactly one finding: its rule, the text that it points at, its message.
fn fails(steps: &str, rule: &str, place: &str, message: &str) {
    let found = findings(&play(steps));
    assert_eq!(found.len(), 1, "{found:?}");
    let (own_rule, own_place, own_message) = &found[0];
    assert_eq!((*own_rule, own_place.as_str(), own_message.as_str()), (rule, place, message));
}

/// Steps that lead to the person's review of revision 1.
const TO_REVIEW: &str = "  - answer: { step: request, choice: build, feedback: a mode }
  - agent: planner
    submit: { summary: One., result: { plan: p1 } }
  - agent: critic
    judge: accept
";
