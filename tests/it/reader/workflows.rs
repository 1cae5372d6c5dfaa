//! Workflow documents.

use super::{mended, said, workflow};
use flowright::ast::{Repeat, Step, StepKind, Transition};

pub(super) const PLAN: &str = r#"kind: workflow
version: 1
name: plan-and-implement
description: Plan a feature with a human in charge, then build and test it.
inputs:
  repository: { type: string, description: Path or URL of the repository }
  risk: { type: string, enum: [low, high], default: low }
agents:                                # optional local names
  planner: ./agents/planner.json
  critic: ./agents/critic.json
outputs:
  change: ${{ steps.implement.result.revision }}
steps:
  - id: request
    question: What should be built?
    choices:
      plan: { label: Plan it, feedback: required }
      drop: { label: Not now, then: { stop: cancelled } }
    respondents: [owner]

  - id: plan
    agent: planner
    task: Plan the requested feature for ${{ inputs.repository }}.
    with:
      feature: ${{ steps.request.feedback }}
    result:
      type: object
      required: [plan, areas]
      additionalProperties: false
      properties:
        plan: { type: string, format: artifact }
        areas: { type: array, items: { type: string } }
    completion: reviewed
    review:
      - agent: critic                  # machine gate first ...
        task: Find what is missing in this plan.
      - human: Is this the plan to build?   # ... then a person; neither replaces the other
        respondents: [owner, "role:lead"]
        on_abort: { stop: cancelled }
    max_revisions: 5
    deadline: 4h

  - id: implement
    agent: ./agents/builder.json
    task: Implement the approved plan.
    with:
      plan: ${{ steps.plan.result.plan }}
      risk: ${{ inputs.risk }}
    result:
      type: object
      required: [revision, tests]
      properties:
        revision: { type: string }
        tests: { type: string, enum: [passed, failed, skipped] }
    completion: one_shot

  - id: verdict
    switch: ${{ steps.implement.result.tests }}
    cases:
      passed: continue
      failed: { stop: failed }
      skipped: hold
"#;

pub(super) const REPORT: &str = r#"kind: workflow
version: 1
name: scheduled-report
steps:
  - loop:
      repeat: until_stopped
      steps:
        - id: tick
          cron: "0 * * * *"
          timezone: UTC
        - id: report
          agent: health-reporter
          task: Produce one assessment and return its report reference.
          completion: one_shot
"#;

fn head(steps: &str) -> String {
    format!("kind: workflow\nversion: 1\nname: a\nsteps:\n{steps}")
}

fn faults(steps: &str) -> Vec<String> {
    let text = head(steps);
    said(&text, &workflow(&text).1)
}

#[test]
fn the_whole_example() {
    let (workflow, found) = workflow(PLAN);
    assert_eq!(found, []);
    assert_eq!(workflow.name.unwrap().value, "plan-and-implement");
    assert_eq!(workflow.inputs.len(), 2);
    assert_eq!(workflow.agents[1].reference.value, "./agents/critic.json");
    let names: Vec<&str> = workflow.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["request", "plan", "implement", "verdict"]);
    let StepKind::Agent(plan) = &workflow.steps[1].kind else { panic!("an agent step") };
    assert!(plan.reviewed && plan.review.len() == 2);
    let StepKind::Switch(verdict) = &workflow.steps[3].kind else { panic!("a switch") };
    assert_eq!(verdict.on.sole_binding().unwrap().path.len(), 4 - 1);
    assert_eq!(verdict.cases[2].then.value, Transition::Hold);
}

#[test]
fn the_scheduled_example() {
    let (workflow, found) = workflow(REPORT);
    assert_eq!(found, []);
    assert_eq!(workflow.steps[0].name, "loop-1");
    let StepKind::Loop(body) = &workflow.steps[0].kind else { panic!("a loop") };
    assert_eq!(body.repeat.as_ref().unwrap().value, Repeat::UntilStopped);
    assert_eq!(body.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["tick", "report"]);
}

#[test]
fn a_json_document_gives_the_same() {
    let source = super::source("w.yaml", REPORT);
    let json = flowright::parse::read(&source, &mut Vec::new()).to_json().to_string();
    let source = super::source("w.json", &json);
    let mut found = Vec::new();
    let tree = flowright::parse::read(&source, &mut found);
    let workflow = flowright::parse::workflow::workflow(&source, &tree, &mut found);
    assert_eq!(found, []);
    assert_eq!(workflow.steps[0].name, "loop-1");
}

fn names(steps: &[Step], out: &mut Vec<String>) {
    for step in steps {
        out.push(step.name.clone());
        match &step.kind {
            StepKind::Loop(body) => names(&body.steps, out),
            StepKind::Agent(agent) => {
                for path in [&agent.on_blocked, &agent.on_failed] {
                    if let Some(Transition::Steps { steps, .. }) = path.as_ref().map(|path| &path.value) {
                        names(steps, out);
                    }
                }
            }
            _ => {}
        }
    }
}

#[test]
fn steps_without_an_id_are_counted_in_document_order() {
    let text = head(
        "  - agent: x\n    task: t\n    on_failed: { steps: [ { agent: y, task: t } ] }\n\
         \x20   on_blocked: { steps: [ { agent: y, task: t }, { stop: failed } ] }\n\
         \x20 - { id: agent-4, agent: z, task: t }\n  - { agent: z, task: t }\n  - { stop: failed }\n",
    );
    let (workflow, found) = workflow(&text);
    assert_eq!(found, []);
    let mut all = Vec::new();
    names(&workflow.steps, &mut all);
    // `on_blocked` is written after `on_failed`; `agent-4` is taken by an id.
    assert_eq!(all, ["agent-1", "agent-3", "stop-1", "agent-2", "agent-4", "agent-5", "stop-2"]);
}

/// B15: the key itself is named.
#[test]
fn kind_keys() {
    assert_eq!(faults("  - { agent: x, task: t, complation: reviewed }\n"), ["unknown-key @ complation"]);
    assert_eq!(faults("  - { agent: x, task: t, cron: '* * * * *' }\n"), ["several-step-kinds @ cron"]);
    assert_eq!(faults("  - { agnet: x, task: t }\n"), ["no-step-kind @ agnet"]);
    assert_eq!(faults("  - { task: t }\n"), ["no-step-kind @ task"]);
    assert_eq!(faults("  - { id: a }\n"), ["no-step-kind @ id"]);
    assert_eq!(faults("  - { agent: x, tsk: t }\n"), ["unknown-key @ tsk"]);
    assert_eq!(faults("  - { agent: x, task: t, choices: { a: b } }\n"), ["unknown-key @ choices"]);
    assert_eq!(faults("  - agent x\n"), ["wrong-shape @ agent x"]);
    assert_eq!(faults("  - { stop: faild }\n"), ["bad-value @ faild"]);
}

/// R77: what is left out on purpose says so.
#[test]
fn excluded_constructs() {
    for word in ["script", "parallel", "on", "if", "compensate", "vars", "foreach"] {
        assert_eq!(faults(&format!("  - {{ {word}: x }}\n")), [format!("unsupported-construct @ {word}")]);
        let text = format!("{word}: x\n{}", head("  - { stop: failed }\n"));
        assert_eq!(said(&text, &workflow(&text).1), [format!("unsupported-construct @ {word}")]);
    }
}

#[test]
fn transitions() {
    let switch = |case: &str| faults(&format!("  - switch: ${{{{ a }}}}\n    cases:\n      x: {case}\n"));
    for right in [
        "continue",
        "break",
        "next",
        "hold",
        "{ stop: failed, reason: no }",
        "{ steps: [{ stop: failed }], then: next }",
    ] {
        assert_eq!(switch(right), [""; 0], "{right}");
    }
    assert_eq!(switch("contine"), ["bad-transition @ contine"]);
    assert_eq!(switch("[a]"), ["bad-transition @ [a]"]);
    assert_eq!(switch("{ stop: failed, steps: [] }"), ["bad-transition @ stop"]);
    assert_eq!(switch("{ agent: x, task: y }"), ["bad-transition @ agent"]);
    assert_eq!(switch("{}"), ["bad-transition @ {}"]);
    assert_eq!(switch("1"), ["bad-transition @ 1"]);
    assert_eq!(switch(""), ["bad-transition @ "]);
    let text = head("  - switch: ${{ a }}\n    cases: { x: failed }\n");
    let (_, found) = workflow(&text);
    assert!(mended(&text, &found[0]).ends_with("cases: { x: { stop: failed } }\n"));
}

#[test]
fn reviews() {
    assert_eq!(faults("  - { agent: x, task: t, completion: reviewed }\n"), ["review-mismatch @ reviewed"]);
    assert_eq!(faults("  - { agent: x, task: t, review: [{ human: ok }] }\n"), ["review-mismatch @ review"]);
    assert_eq!(
        faults("  - { agent: x, task: t, completion: revewed, review: [{ human: ok }] }\n"),
        ["bad-value @ revewed"]
    );
    let gate = |gate: &str| {
        faults(&format!("  - {{ agent: x, task: t, completion: reviewed, review: [{gate}] }}\n"))
    };
    assert_eq!(gate("{ human: ok, max_rounds: 3 }"), ["unknown-key @ max_rounds"]);
    assert_eq!(gate("{ agent: y, task: t, on_abort: hold }"), ["unknown-key @ on_abort"]);
    assert_eq!(gate("{ agent: y, human: t }"), ["several-step-kinds @ agent"]);
    assert_eq!(gate("{ humn: t }"), ["unknown-key @ humn"]);
    assert_eq!(gate("{ deadline: 1h }"), ["missing-key @ deadline"]);
}

#[test]
fn values() {
    let agent = |key: &str| faults(&format!("  - {{ agent: x, task: t, {key} }}\n"));
    assert_eq!(agent("deadline: 4"), ["bad-duration @ 4"]);
    assert_eq!(agent("deadline: soon"), ["bad-duration @ soon"]);
    assert_eq!(agent("max_revisions: 0"), ["number-out-of-range @ 0"]);
    assert_eq!(agent("max_revisions: many"), ["wrong-shape @ many"]);
    assert_eq!(agent("id: A b"), ["bad-name @ A b"]);
    assert_eq!(agent("title: '${{ a }}'"), ["binding-not-allowed @ ${{ a }}"]);
    assert_eq!(agent("result: { type: [string, null] }"), ["null-in-type @ null"]);
    assert_eq!(
        agent("result: { properties: { a: { default: '${{ x }}' } } }"),
        ["binding-not-allowed @ ${{ x }}"]
    );
    let question = |key: &str| faults(&format!("  - {{ question: q, choices: {{ a: A }}, {key} }}\n"));
    assert_eq!(question("respondents: owner"), ["wrong-shape @ owner"]);
    assert_eq!(question("respondents: []"), ["bad-value @ []"]);
    assert_eq!(question("on_deadline: { choose: a }"), [""; 0]);
    assert_eq!(
        faults("  - loop: { repeat: 10001, steps: [{ stop: failed }] }\n"),
        ["number-out-of-range @ 10001"]
    );
    assert_eq!(
        faults("  - loop: { repeat: until_stoped, steps: [{ stop: failed }] }\n"),
        ["bad-value @ until_stoped"]
    );
    assert_eq!(faults("  - pick: ['${{ a }}', 'x ${{ a }}']\n"), ["binding-expected @ 'x ${{ a }}'"]);
}

#[test]
fn guarantees() {
    let text = format!(
        "{}guarantees:\n  - {{ before: a, accepted: b, by: human }}\n  - {{ before: a, answered: b, choice: yes }}\n  \
         - {{ agent_runs_between_waits: 12 }}\n  - {{ before: a, accepted: b, choice: c }}\n  - {{ before: a }}\n",
        head("  - { stop: failed }\n")
    );
    let (workflow, found) = workflow(&text);
    assert_eq!(workflow.guarantees.len(), 4);
    assert_eq!(said(&text, &found), ["unknown-key @ choice", "missing-key @ before"]);
}

#[test]
fn limits() {
    let steps = "  - { stop: failed }\n".repeat(501);
    assert_eq!(faults(&steps), ["too-many-steps @ stop"]);
    let choices: String = (0..65).map(|i| format!("      c{i}: x\n")).collect();
    assert_eq!(faults(&format!("  - question: q\n    choices:\n{choices}")), ["too-many-choices @ c64"]);
}

/// What was lost in reading is not reported as missing as well.
#[test]
fn a_hole_has_no_consequences() {
    assert_eq!(faults("  - agent: x\n    task: \"open\n  - stop: failed\n"), ["syntax-error @ \""]);
    assert_eq!(faults("  - agent: x\n    task foo\n  - stop: failed\n"), ["syntax-error @ task foo"]);
    assert_eq!(faults("  - task foo\n    agent: x\n"), ["syntax-error @ task foo"]);
    assert_eq!(faults("  - pick: [${{ a }}]\n"), ["unquoted-binding @ ${{ a }}"]);
    assert_eq!(faults("  - cron: * * * * *\n"), ["unquoted-cron @ * * * * *"]);
    assert_eq!(faults("  - question: q\n    choices: { a: A, b: [B }\n"), ["syntax-error @ {"]);
    assert_eq!(
        faults("  - question: q\n    choices: { a: A b: [B }\n  - stop: failed\n"),
        ["syntax-error @ {"]
    );
    assert_eq!(faults("  - <<: *x\n"), ["merge-key @ <<", "anchor-or-alias @ *x"]);
}
