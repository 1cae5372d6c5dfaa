//! Findings that show a way through the definition: each leg in order, at its line.

use super::{compiled, told};

/// The labels of the only finding of a rule, as `line: text`.
fn legs(text: &str, rule: &str) -> (String, Vec<String>) {
    let compiled = compiled(text);
    let found: Vec<_> = compiled.diagnostics.iter().filter(|found| found.rule.name == rule).collect();
    assert_eq!(found.len(), 1, "{:#?}", told(&compiled));
    let tell = |label: &flowright::diagnostic::Label| {
        let source = compiled.sources.get(label.span.file).unwrap();
        format!("{}: {}", source.position(label.span.start as usize).line, label.text)
    };
    (found[0].note.clone(), found[0].labels.iter().map(tell).collect())
}

const HEAD: &str = "kind: workflow\nversion: 1\nname: example\n";

#[test]
fn too_many_agent_runs_are_shown_from_wait_to_wait() {
    let text = format!(
        "{HEAD}guarantees: [{{ agent_runs_between_waits: 5 }}]
steps:
  - id: ask
    question: Go on?
    choices: {{ go: Go on, stop: {{ label: Stop, then: {{ stop: cancelled }} }} }}
  - loop:
      repeat: 3
      steps:
        - id: draft
          agent: worker
          task: Draft it.
        - id: check
          agent: critic
          task: Check it.
  - id: last
    agent: writer
    task: Write it.
"
    );
    let (note, legs) = legs(&text, "broken-guarantee");
    assert_eq!(note, "exceeded on ask → loop-1 → last");
    assert_eq!(
        legs,
        [
            "6: 1. `ask` is answered `go`",
            "9: 2. `loop-1` has no iteration left: up to 6 agent runs, in all 6",
            "18: 3. `last` begins: 1 agent run, in all 7",
        ]
    );
}

#[test]
fn what_an_iteration_leaves_behind_its_wait_counts_to_the_next() {
    let text = format!(
        "{HEAD}guarantees: [{{ agent_runs_between_waits: 1 }}]
steps:
  - loop:
      repeat: until_stopped
      steps:
        - id: before
          agent: worker
          task: Draft it.
        - id: ask
          question: Go on?
          choices: {{ go: Go on, stop: {{ label: Stop, then: break }} }}
        - id: behind
          agent: critic
          task: Check it.
"
    );
    let (note, legs) = legs(&text, "broken-guarantee");
    assert_eq!(note, "exceeded on ask → behind → loop-1 → before");
    assert_eq!(
        legs,
        [
            "12: 1. `ask` is answered `go`",
            "15: 2. `behind` goes on: 1 agent run, in all 1",
            "6: 3. `loop-1` begins an iteration",
            "9: 4. `before` begins: 1 agent run, in all 2",
        ]
    );
}

#[test]
fn agent_runs_without_bound_are_shown_as_the_cycle() {
    let text = format!(
        "{HEAD}deadline: 1d
guarantees: [{{ agent_runs_between_waits: 9 }}]
steps:
  - id: ask
    question: Go on?
    choices: {{ go: Go on, stop: {{ label: Stop, then: {{ stop: cancelled }} }} }}
  - loop:
      repeat: until_stopped
      steps:
        - id: draft
          agent: worker
          task: Draft it.
"
    );
    let (note, legs) = legs(&text, "broken-guarantee");
    assert_eq!(note, "without bound on loop-1 → draft → loop-1");
    assert_eq!(
        legs,
        ["10: 1. `loop-1` begins an iteration", "13: 2. `draft` goes on: 1 agent run, in all 1"]
    );
}

#[test]
fn the_cycle_of_an_inner_loop_is_shown_and_the_outer_one_is_not_blamed_for_it() {
    let text = format!(
        "{HEAD}steps:
  - loop:
      repeat: until_stopped
      steps:
        - cron: \"0 * * * *\"
          timezone: UTC
        - loop:
            repeat: until_stopped
            steps:
              - id: draft
                agent: worker
                task: Draft it.
                result: {{ type: object, required: [good], properties: {{ good: {{ type: boolean }} }} }}
                on_failed: next
              - switch: ${{{{ steps.draft.result.good }}}}
                cases: {{ \"true\": break, \"false\": continue }}
              - id: rest
                agent: worker
                task: Wait a little.
"
    );
    let (note, legs) = legs(&text, "unbounded-loop");
    assert_eq!(note, "loop-2 → draft → loop-2 waits for nobody");
    assert_eq!(legs, ["10: 1. `loop-2` begins an iteration", "17: 2. `draft` ends failed"]);
}

#[test]
fn a_cycle_of_the_outer_loop_through_a_counted_one_is_shown() {
    let text = format!(
        "{HEAD}steps:
  - loop:
      repeat: until_stopped
      steps:
        - loop:
            repeat: 2
            steps:
              - id: draft
                agent: worker
                task: Draft it.
"
    );
    let (note, legs) = legs(&text, "unbounded-loop");
    assert_eq!(note, "loop-1 → loop-2 → draft → loop-2 → loop-1 waits for nobody");
    assert_eq!(
        legs,
        [
            "5: 1. `loop-1` begins an iteration",
            "8: 2. `loop-2` begins an iteration",
            "11: 3. `draft` goes on",
            "8: 4. `loop-2` has no iteration left",
        ]
    );
}

#[test]
fn a_missing_value_names_the_branch_on_which_it_is_missing() {
    let text = format!(
        "{HEAD}inputs:
  risk: {{ type: string, enum: [low, high] }}
steps:
  - switch: ${{{{ inputs.risk }}}}
    cases:
      low: continue
      high: {{ steps: [{{ id: plan, agent: planner, task: Plan. }}] }}
  - agent: worker
    task: Do ${{{{ steps.plan.summary }}}}
"
    );
    let (note, legs) = legs(&text, "unassigned-binding");
    assert_eq!(note, "missing where `switch-1` finds `low`: switch-1 → agent-2");
    assert_eq!(legs, ["10: the step that gives it", "9: 1. `switch-1` finds `low`"]);
}

#[test]
fn what_an_agent_asks_for_is_shown_in_its_file() {
    let typed = r#"{ "slug": "typed", "base": "workflow-agent@1", "flavor": "OpenAIv1", "modelName": "m",
  "modelUrl": "http://localhost:11434/v1", "systemPrompt": ["You work."],
  "inputs": { "type": "object", "additionalProperties": false,
    "required": ["plan"],
    "properties": { "plan": { "type": "string" }, "size": { "type": "integer" } } } }
"#;
    let text =
        format!("{HEAD}steps:\n  - agent: typed\n    task: Go.\n    with: {{ size: large, plam: x }}\n");
    let files = crate::pages::package().with("agents/typed.json", typed);
    let compiled = super::compiled_in(&text, &files);
    let labels: Vec<_> = compiled
        .diagnostics
        .iter()
        .flat_map(|found| found.labels.iter().map(move |label| (found, label)))
        .map(|(found, label)| {
            let source = compiled.sources.get(label.span.file).unwrap();
            let line = source.position(label.span.start as usize).line;
            format!(
                "{} | {}:{line} [{}] {}",
                found.message,
                source.name(),
                source.slice(label.span),
                label.text
            )
        })
        .collect();
    assert_eq!(
        labels,
        [
            "the input `size` of the agent `typed` does not fit: a whole number is expected, this is \"large\" | \
             agents/typed.json:5 [\"size\"] declared here, in the agent's file",
            "the agent `typed` takes no input `plam` | agents/typed.json:5 [\"plan\"] the inputs that it takes",
        ]
    );
}
