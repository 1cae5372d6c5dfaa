//! Hover: what is told of keys, bindings, schedules, steps, agents, words.

use super::{HEAD, marked_as};
use flowright::ide::hover::hover;

fn told_in(name: &str, text: &str) -> Option<(String, String)> {
    let (analysis, at, text) = marked_as(name, text);
    hover(&analysis, at).map(|hover| (text[hover.span.range()].to_owned(), hover.markdown))
}

/// What is told at the mark, and of which text.
fn told(text: &str) -> (String, String) {
    told_in("workflow.yaml", &format!("{HEAD}{text}")).expect("something is told")
}

const FLOW: &str = "guarantees:
  - { before: make, answered: go, choice: later }
  - { before: make, answered: go, choice: yes }
inputs:
  topic: { type: string, description: What about., default: trees }
  size: { type: integer }
agents: { mine: ./agents/planner.json }
steps:
  - id: go
    question: About ${{ inputs.topic }}?
    choices: { yes: Yes, no: { label: No, then: { stop: cancelled } } }
  - id: plan
    title: The plan
    agent: mine
    task: Plan.
    with: { feature: \"${{ steps.go.choice }}\", depth: 3 }
    result:
      type: object
      required: [parts]
      properties: { parts: { type: array, items: { type: string } }, note: { type: string } }
    on_failed: hold
    deadline: 2h30m
  - id: make
    agent: ./agents/planner.json
    task: ${{ steps.plan.result.parts[0] }} ${{ steps.plan.result.note }}
  - loop:
      repeat: 3
      steps:
        - cron: \"30 2 * * *\"
          timezone: Europe/Berlin
        - agent: nobody
          task: \"${{ loop.iteration }}\"
          on_failed: break
";

fn at(what: &str, n: usize) -> (String, String) {
    let (at, _) = FLOW.match_indices(what).nth(n).unwrap_or_else(|| panic!("no {what} {n}"));
    told(&format!("{}$0{}", &FLOW[..at], &FLOW[at..]))
}

fn contains((span, markdown): &(String, String), what: &str, parts: &[&str]) {
    assert_eq!(span, what, "{markdown}");
    for part in parts {
        assert!(markdown.contains(part), "{part} in\n{markdown}");
    }
}

#[test]
fn keys_with_shape_and_need() {
    contains(
        &at("question", 0),
        "question",
        &["makes a question step", "The text that is asked", "may hold `${{ … }}`"],
    );
    contains(
        &at("deadline: 2h", 0),
        "deadline",
        &["optional in an agent step", "24 hours by default", "`90s`"],
    );
    contains(&at("loop:", 0), "loop", &["makes a loop step"]);
    contains(&at("type", 0), "type", &["JSON Schema"]);
}

#[test]
fn steps_tell_where_they_go_and_what_they_reach() {
    let wanted = [
        "**plan** · an agent step",
        "The plan",
        "Runs `mine`",
        "goes on → `make`",
        "ends failed → hold",
        "`loop-1`",
    ];
    contains(&at("plan\n", 0), "plan", &wanted);
    contains(&at("plan.result.parts", 0), "plan", &wanted);
    contains(
        &at("make", 0),
        "make",
        &["**make** · an agent step", "Can reach 3 steps further: `loop-1`, `cron-1`, `agent-3`."],
    );
    contains(&at("go,", 0), "go", &["is answered `no` → the end, cancelled", "Outputs: `choice`"]);
}

#[test]
fn bindings_tell_their_type_and_where_it_is_declared() {
    contains(
        &at("topic }}", 0),
        "topic",
        &["`inputs.topic`", "`string`", "What about.", "Default: `\"trees\"`", "`workflow.yaml:8`"],
    );
    contains(&at("parts[0]", 0), "parts", &["`steps.plan.result.parts`", "`string[]`", "`workflow.yaml:21`"]);
    contains(&at("[0]", 0), "[0]", &["`steps.plan.result.parts[0]`**: `string`"]);
    contains(
        &at("result.parts", 0),
        "result",
        &["`{ parts: string[], note?: string }`", "Surely has a value here."],
    );
    contains(&at("choice }}", 0), "choice", &["`\"yes\" | \"no\"`"]);
    contains(&at("iteration", 0), "iteration", &["`integer`"]);
    contains(&at("loop.iteration", 0), "loop", &["The innermost loop"]);
}

#[test]
fn schedules_tell_their_next_occurrences_and_clock_changes() {
    let parts = [
        "in Europe/Berlin",
        "- Mon 2025-12-01 02:30 +01:00",
        "- Fri 2025-12-05 02:30 +01:00",
        "02:30 does not exist on 2026-03-29; instead it fires once at 03:00 (the clock goes from 02:00 to 03:00)",
        "02:30 happens twice on 2026-10-25",
    ];
    let found = at("30 2", 0);
    contains(&found, "30 2 * * *", &parts);
    assert_eq!(found.1.matches("02:30 +0").count(), 5, "{}", found.1);
    contains(&at("Europe", 0), "Europe/Berlin", &["+01:00 (CET)"]);
    contains(&told("steps:\n  - cron: \"@$0daily\"\n"), "@daily", &["No time zone is known"]);
    contains(
        &told("steps:\n  - cron: \"61 $0* * * *\"\n    timezone: UTC\n"),
        "61 * * * *",
        &["cannot be read"],
    );
}

#[test]
fn agents_tell_who_they_are() {
    let parts = [
        "**planner**",
        "`agents/planner.json`",
        "Writes plans.",
        "workflow-agent@1",
        "qwen3:4b",
        "./tools",
        "deny by default; `bash_build`: runSync",
        "`{ depth?: integer, feature: string }`",
    ];
    contains(&at("mine", 0), "mine", &parts);
    contains(&at("mine", 1), "mine", &parts);
    contains(&at("./agents", 1), "./agents/planner.json", &parts);
    contains(&at("nobody", 0), "nobody", &["no such agent; looked for `agents/nobody.json`"]);
    contains(&at("feature", 0), "feature", &["`string`", "What to plan.", "`agents/planner.json`"]);
}

#[test]
fn words_durations_inputs_choices_and_guarantees() {
    contains(&at("hold", 0), "hold", &["needs attention", "Here: hold."]);
    contains(&at("break", 0), "break", &["Leaves the innermost loop", "Here: the end of the list"]);
    contains(&at("2h30m", 0), "2h30m", &["2 hours 30 minutes (9000 seconds)"]);
    contains(&at("topic: {", 0), "topic", &["**input `topic`**: `string`", "Default"]);
    contains(&at("size: {", 0), "size", &["Required: a session cannot start without it."]);
    contains(&at("no: {", 0), "no", &["**choice `no`** · No"]);
    contains(&at("choice: later", 0), "choice", &["does not hold"]);
    contains(&at("choice: yes", 0), "choice", &["Nothing against this one is known"]);
    contains(&at("3\n", 0), "3", &["At most 3 iterations."]);
}

#[test]
fn a_sound_document_says_that_its_guarantees_are_proved() {
    let text = "guarantees: [{ be$0fore: b, answered: a, choice: y }]\nsteps:\n  - { id: a, question: Q?, choices: { y: Y } }\n  - { id: b, stop: failed }\n";
    contains(&told(text), "before", &["This one is proved."]);
}

#[test]
fn agent_files() {
    let json = "{ \"slug\": \"a\", \"mod$0elName\": \"x\" }";
    contains(&told_in("agents/a.json", json).unwrap(), "modelName", &["required in an agent file"]);
    let json = "{ \"toolCallPolicy\": { \"default\": \"de$0ny\" } }";
    contains(&told_in("agents/a.json", json).unwrap(), "deny", &["The call is refused"]);
    let text = "---\nsl$0ug: a\n---\nPrompt\n";
    contains(&told_in("agents/a.agent.md", text).unwrap(), "slug", &["Short name"]);
    assert_eq!(told_in("agents/a.agent.md", "---\nslug: a\n---\nPro$0mpt\n"), None);
}

#[test]
fn nothing_is_told_of_prose() {
    assert_eq!(told_in("workflow.yaml", &format!("{HEAD}title: So$0me\n")), None);
    assert_eq!(told_in("workflow.yaml", "\n$0\n"), None);
}
