//! Renaming: every place changes, the verdict stays, and what may not be is refused in words.

use super::{HEAD, analysed, marked, marked_as};
use flowright::diagnostic::Edit;
use flowright::ide::rename::{rename, target};
use flowright::ide::{Analysis, Document};

fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut out = text.to_owned();
    for edit in edits {
        out.replace_range(edit.span.range(), &edit.text);
    }
    out
}

/// What the compile found, without the names.
fn verdict(analysis: &Analysis) -> Vec<&'static str> {
    match &analysis.document {
        Document::Workflow(compiled) => compiled.diagnostics.iter().map(|found| found.rule.name).collect(),
        Document::Agent(compiled) => compiled.diagnostics.iter().map(|found| found.rule.name).collect(),
    }
}

fn renamed_as(file: &str, text: &str, new: &str) -> String {
    let (analysis, at, text) = marked_as(file, text);
    let edits = rename(&analysis, at, new).expect("it can be renamed");
    let out = applied(&text, edits);
    assert_eq!(verdict(&analysis), verdict(&analysed(file, &out)), "{out}");
    out
}

fn renamed(text: &str, new: &str) -> String {
    renamed_as("workflow.yaml", &format!("{HEAD}{text}"), new)[HEAD.len()..].to_owned()
}

fn refused(text: &str, new: &str) -> String {
    let (analysis, at, _) = marked(&format!("{HEAD}{text}"));
    rename(&analysis, at, new).expect_err("it is refused")
}

const FLOW: &str = "inputs:
  topic: { type: string }
agents: { mine: ./agents/planner.json }
guarantees:
  - { before: make, accepted: plan }
steps:
  - id: \"plan\"
    agent: 'mine'
    task: Größe ${{ inputs.topic }}, ${{ session.id }}
    with: { feature: \"${{ inputs.topic }}\" }
    completion: reviewed
    review: [{ human: Ok? }]
  - id: make
    agent: mine
    task: >-
      Make ${{ steps.plan.result }}
      of ${{ steps.plan.summary }}
";

fn at(what: &str, n: usize) -> String {
    let (at, _) = FLOW.match_indices(what).nth(n).unwrap_or_else(|| panic!("no {what} {n}"));
    format!("{}$0{}", &FLOW[..at], &FLOW[at..])
}

#[test]
fn a_step_with_its_bindings_and_guarantees() {
    let wanted = FLOW
        .replace("accepted: plan", "accepted: draft")
        .replace("id: \"plan\"", "id: \"draft\"")
        .replace("steps.plan", "steps.draft");
    assert_eq!(renamed(&at("plan }", 0), "draft"), wanted, "from the guarantee");
    assert_eq!(renamed(&at("plan.result", 0), "draft"), wanted, "from a binding");
    assert_eq!(renamed(&at("plan\"", 0), "draft"), wanted, "from the id");
}

#[test]
fn an_input_and_a_local_agent() {
    let wanted = FLOW.replace("topic: {", "theme: {").replace("inputs.topic", "inputs.theme");
    assert_eq!(renamed(&at("topic", 1), "theme"), wanted);
    let wanted =
        FLOW.replace("mine:", "ours:").replace("'mine'", "'ours'").replace("agent: mine", "agent: ours");
    assert_eq!(renamed(&at("mine", 0), "ours"), wanted);
}

#[test]
fn documents_in_json_and_line_ends_of_windows() {
    let json = "{\"kind\":\"workflow\",\"version\":1,\"name\":\"x\",\r\n\"steps\":[{\"id\":\"a\",\"question\":\"Ä?\",\
                \"choices\":{\"y\":\"Y\"}},\r\n{\"switch\":\"${{ steps.$0a.choice }}\",\"cases\":{\"y\":\"continue\"}}]}";
    let wanted = json.replace("$0", "").replace("\"a\"", "\"b-2\"").replace("steps.a", "steps.b-2");
    assert_eq!(renamed_as("workflow.json", json, "b-2"), wanted);
    let text = at("plan.result", 0).replace('\n', "\r\n");
    let text = format!("{}{text}", HEAD.replace('\n', "\r\n"));
    assert!(renamed_as("workflow.yaml", &text, "draft").contains("id: \"draft\"\r\n"));
}

#[test]
fn a_name_that_yaml_would_read_as_no_text_is_quoted() {
    let text = at("make", 0);
    let out = renamed(&text, "true");
    assert!(out.contains("before: \"true\"") && out.contains("id: \"true\"\n"), "{out}");
    assert!(renamed(&at("plan }", 0), "null").contains("${{ steps.null.result }}"));
}

#[test]
fn the_place_is_the_name_without_its_quotes() {
    let (analysis, place, text) = marked(&format!("{HEAD}{}", at("plan\"", 0)));
    assert_eq!(&text[target(&analysis, place).unwrap().range()], "plan");
    let (analysis, place, _) = marked(&format!("{HEAD}{}", at("guarantees", 0)));
    assert!(target(&analysis, place).unwrap_err().contains("only steps, inputs and local agent names"));
}

#[test]
fn names_that_are_none_or_taken_are_refused() {
    let plan = at("plan }", 0);
    for (new, why) in [
        ("Plan B", "no id"),
        ("", "no id"),
        ("a--b", "no id"),
        ("make", "already the name of a step"),
        ("end", "already the name of a step or a place of the flow"),
        ("hold", "already the name of a step or a place of the flow"),
    ] {
        assert!(refused(&plan, new).contains(why), "{new}: {}", refused(&plan, new));
    }
    assert!(refused(&at("topic", 0), "1st").contains("no name"));
    assert!(refused(&at("mine", 0), "x y").contains("no name"));
    let text = "agents: { mi$0ne: ./agents/planner.json }\nsteps:\n  - agent: mine\n    task: x\n  - agent: critic\n    task: y\n";
    assert!(refused(text, "critic").contains("named without `agents`"), "it would catch a bare name");
}

#[test]
fn an_id_that_two_steps_have_is_refused() {
    let text = "steps:\n  - id: a$0\n    stop: failed\n  - id: a\n    stop: failed\n";
    assert!(refused(text, "b").contains("two steps have this id"));
}

#[test]
fn a_name_in_a_block_is_refused() {
    let text = "steps:\n  - id: |-\n      a$0\n    stop: failed\n";
    assert!(refused(text, "b").contains("written as a block"));
}
