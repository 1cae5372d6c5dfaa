//! Declarations and uses, across the workflow and its agent files.

use super::{HEAD, analysed, marked, place};
use flowright::ide::At;
use flowright::ide::define::symbol;

/// What is said at the mark: the declarations, then the uses, each as `line:text`.
fn told(text: &str) -> (Vec<String>, Vec<String>) {
    let (analysis, at, _) = marked(&format!("{HEAD}{text}"));
    let symbol = symbol(&analysis, at).expect("something is named here");
    let places =
        |spans: &[flowright::source::Span]| spans.iter().map(|span| place(&analysis, *span)).collect();
    (places(&symbol.declared), places(&symbol.used))
}

const FLOW: &str = "guarantees:
  - { before: make, accepted: plan }
  - { before: make, answered: go, choice: yes }
inputs:
  topic: { type: object, required: [name], properties: { name: { type: string } } }
agents:
  mine: ./agents/planner.json
steps:
  - id: go
    question: About ${{ inputs.topic.name }}?
    choices: { yes: Yes, no: No }
  - id: plan
    agent: mine
    with: { feature: \"${{ steps.go.choice }}\" }
    result:
      $defs: { part: { type: object, properties: { size: { type: integer } } } }
      type: object
      properties: { parts: { type: array, items: { $ref: \"#/$defs/part\" } } }
    review:
      - human: Is ${{ candidate.result.parts[0].size }} right?
  - id: all
    pick: [\"${{ steps.plan.result }}\"]
  - id: make
    agent: planner
    task: ${{ steps.all.value.parts[0].size }} of ${{ steps.plan.result.parts }}
  - loop:
      repeat: 3
      steps:
        - stop: failed
          reason: \"${{ loop.iteration }}\"
";

/// The flow with a mark before the n-th occurrence of a text.
fn at(what: &str, n: usize) -> String {
    let (at, _) = FLOW.match_indices(what).nth(n).unwrap_or_else(|| panic!("no {what} {n}"));
    format!("{}$0{}", &FLOW[..at], &FLOW[at..])
}

#[test]
fn steps_in_bindings_and_guarantees() {
    let wanted =
        (vec!["15:plan".to_owned()], vec!["5:plan".to_owned(), "25:plan".to_owned(), "28:plan".to_owned()]);
    assert_eq!(told(&at("plan", 0)), wanted, "from the guarantee");
    assert_eq!(told(&at("plan.result }}", 0)), wanted, "from a binding");
    assert_eq!(told(&at("make", 1)).0, ["26:make"]);
}

#[test]
fn inputs_and_their_properties() {
    assert_eq!(told(&at("topic", 0)), (vec!["8:topic".to_owned()], vec!["13:topic".to_owned()]));
    let (declared, used) = told(&at("name }}?", 0));
    assert_eq!(
        (declared, used),
        (vec!["8:name".to_owned()], vec!["8:name".to_owned(), "13:name".to_owned()])
    );
}

#[test]
fn local_agents_lead_to_their_entry_and_it_to_the_file() {
    assert_eq!(told(&at("mine", 1)), (vec!["10:mine".to_owned()], vec!["16:mine".to_owned()]));
    let (declared, used) = told(&at("./agents", 0));
    assert_eq!(declared, ["agents/planner.json:2:planner"]);
    assert_eq!(used, ["10:./agents/planner.json", "27:planner"]);
    assert_eq!(told(&at("planner\n", 0)).0, ["agents/planner.json:2:planner"]);
}

#[test]
fn arguments_lead_to_the_inputs_of_the_agent() {
    let (declared, used) = told(&at("feature", 0));
    assert_eq!(declared, ["agents/planner.json:15:feature"]);
    assert_eq!(used, ["17:feature", "agents/planner.json:12:feature"]);
}

#[test]
fn fields_lead_into_schemas_through_references_and_picks() {
    let size = (vec!["19:size".to_owned()], vec!["23:size".to_owned(), "28:size".to_owned()]);
    assert_eq!(told(&at("size", 0)), size, "from the declaration");
    assert_eq!(told(&at("size }} right", 0)), size, "from the gate");
    assert_eq!(told(&at("size }} of", 0)), size, "through the pick");
    assert_eq!(told(&at("parts", 0)).1.len(), 3);
}

#[test]
fn outputs_choices_and_what_is_around() {
    assert_eq!(told(&at("result }}\"]", 0)).0, ["18:result"]);
    let (declared, used) = told(&at("choice }}", 0));
    assert_eq!((declared, used), (vec!["14:choices".to_owned()], vec!["17:choice".to_owned()]));
    assert_eq!(told(&at("yes }", 0)), (vec!["14:yes".to_owned()], vec!["6:yes".to_owned()]));
    assert_eq!(told(&at("loop.iteration", 0)).0, ["29:loop"]);
    assert_eq!(told(&at("candidate", 0)).0, ["15:plan"]);
}

#[test]
fn from_an_agent_file_to_its_uses() {
    let analysis = analysed("workflow.yaml", &format!("{HEAD}{FLOW}"));
    let file = analysis.sources().iter().find(|source| source.name().ends_with("planner.json")).unwrap();
    let offset = file.text().find("planner\"").unwrap();
    let symbol = symbol(&analysis, At { file: file.id(), offset }).unwrap();
    let used: Vec<_> = symbol.used.iter().map(|span| place(&analysis, *span)).collect();
    assert_eq!(used, ["10:./agents/planner.json", "27:planner"]);
}

#[test]
fn nothing_is_named_by_a_keyword() {
    let (analysis, at, _) = marked(&format!("{HEAD}{}", at("agents:", 0)));
    assert_eq!(symbol(&analysis, at), None);
}
