//! What changed between two workflows, found and shown in every form.

use super::complete::assert_complete;
use crate::pages::package;
use crate::support::AS_OF;
use flowright::compile::{MainDocument, compile};
use flowright::ir::Workflow;
use flowright::preview::diff::{diff, differs};
use flowright::preview::{Format, Mark, Sketch};

const BASE: &str = "kind: workflow
version: 1
name: change
inputs:
  topic: { type: string }
outputs:
  text: ${{ steps.write.result.text }}
steps:
  - id: ask
    question: Go?
    choices:
      go: Go
      drop: { label: Drop, then: { stop: cancelled } }
  - id: write
    agent: writer
    task: Write about ${{ inputs.topic }}.
    result: { type: object, required: [text], properties: { text: { type: string } } }
  - cron: \"0 9 * * *\"
    timezone: UTC
  - agent: worker
    task: Send it.
";

fn workflow(text: &str) -> Workflow {
    let main = MainDocument {
        name: "change.yaml".into(),
        package_path: "change.yaml".into(),
        bytes: text.to_owned().into_bytes(),
    };
    let compiled = compile(main, &package(), AS_OF);
    compiled.workflow.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

/// The comparison of the base with the text in which `from` is `to`.
fn changed(from: &str, to: &str) -> Sketch {
    assert_eq!(BASE.matches(from).count(), 1, "{from}");
    diff(&workflow(BASE), &workflow(&BASE.replace(from, to)), None)
}

/// Marked nodes and edges: `+name`, `-from→to`, `~name: keys`.
fn marks(sketch: &Sketch) -> Vec<String> {
    let shown = |mark: &Mark, what: String| match mark {
        Mark::Same => None,
        Mark::Added | Mark::Removed => Some(format!("{}{what}", mark.sign())),
        Mark::Changed(keys) => Some(format!("~{what}: {}", keys.join(", "))),
    };
    let nodes = sketch.nodes.iter().filter_map(|node| shown(&node.mark, node.name.clone()));
    let edges =
        sketch.edges.iter().filter_map(|edge| shown(&edge.mark, format!("{}→{}", edge.from, edge.to)));
    nodes.chain(edges).collect()
}

fn whole(sketch: &Sketch) -> &[String] {
    &sketch.compared.as_ref().unwrap().changes
}

const NONE: [&str; 0] = [];

#[test]
fn the_same_workflow_does_not_differ() {
    let sketch = diff(&workflow(BASE), &workflow(&format!("# a comment\n{BASE}")), None);
    assert!(!differs(&sketch));
    assert_eq!(marks(&sketch), NONE);
    assert_eq!(whole(&sketch), NONE);
}

#[test]
fn a_change_is_named_by_the_keys_of_the_step() {
    assert_eq!(marks(&changed("Send it.", "Send it now.")), ["~agent-2: task"]);
    assert_eq!(
        marks(&changed(
            "question: Go?",
            "question: Go on?\n    deadline: 3d\n    on_deadline: { choose: go }"
        )),
        ["~ask: question, deadline, on_deadline"]
    );
    assert_eq!(marks(&changed("timezone: UTC", "timezone: Europe/Berlin")), ["~cron-1: timezone"]);
    let reviewed =
        "task: Send it.\n    completion: reviewed\n    review: [{ human: Sent? }]\n    deadline: 3h";
    assert_eq!(
        marks(&changed("task: Send it.", reviewed)),
        ["~agent-2: completion, review, deadline", "~agent-2→hold: +abort"]
    );
}

#[test]
fn a_step_with_an_id_keeps_its_identity_where_it_moves_or_turns() {
    let text = BASE.replace("  - id: ask\n", "  - id: later\n");
    let sketch = diff(&workflow(BASE), &workflow(&text), None);
    let marks = marks(&sketch);
    assert!(marks.contains(&"+later".to_owned()) && marks.contains(&"-ask".to_owned()), "{marks:?}");
    assert!(
        marks.contains(&"-ask→write".to_owned()) && marks.contains(&"+later→write".to_owned()),
        "{marks:?}"
    );
    assert!(!marks.iter().any(|mark| mark.contains("~write")), "{marks:?}");
}

/// The numbers of steps without ids shift when one comes in before them; that is no change.
#[test]
fn a_number_that_shifts_is_no_change() {
    let sketch = changed("  - cron:", "  - agent: worker\n    task: Check it.\n  - cron:");
    assert_eq!(
        marks(&sketch),
        ["+agent-2", "+write→agent-2", "+agent-2→cron-1", "+agent-2→hold", "-write→cron-1"]
    );
    let names: Vec<_> =
        sketch.nodes.iter().filter(|node| node.mark == Mark::Same).map(|node| node.name.as_str()).collect();
    assert!(names.contains(&"agent-3"), "what was agent-2 is agent-3 and the same: {names:?}");
}

#[test]
fn changes_of_the_whole_workflow_are_told() {
    let sketch = changed(
        "  topic: { type: string }",
        "  topic: { type: string, default: spring }\n  length: { type: integer, default: 3 }",
    );
    let told = whole(&sketch);
    assert!(told.contains(&"input `topic` changed".to_owned()), "{told:?}");
    assert!(told.contains(&"input `length` added".to_owned()), "{told:?}");
    assert_eq!(whole(&changed("name: change", "name: change\ndeadline: 30d")), ["deadline: none → 30d"]);
    assert_eq!(whole(&changed("name: change", "name: changed")), ["name: change → changed"]);
}

#[test]
fn an_agent_file_that_changed_marks_the_steps_that_use_it() {
    let other = package().with("agents/writer.json", r#"{ "slug": "writer", "base": "workflow-agent@1",
        "flavor": "OpenAIv1", "modelName": "other", "modelUrl": "http://localhost:1/v1", "systemPrompt": ["You write."] }"#);
    let main = MainDocument { name: "c.yaml".into(), package_path: "c.yaml".into(), bytes: BASE.into() };
    let sketch = diff(&workflow(BASE), &compile(main, &other, AS_OF).workflow.unwrap(), None);
    assert_eq!(marks(&sketch), ["~write: agent file"]);
    assert_eq!(whole(&sketch), ["agent `agents/writer.json` changed"]);
}

#[test]
fn every_form_shows_what_changed() {
    let text = BASE.replace("Send it.", "Send it now.").replace("  - id: ask\n", "  - id: later\n");
    let sketch = diff(&workflow(BASE), &workflow(&text), None);
    let forms = [
        (Format::Text, ["[+ added]", "[- removed]", "[~ changed: task]"]),
        (Format::Mermaid, ["class n1 added", "stroke:#cf222e", "#126; changed#58; task"]),
        (Format::Dot, ["color=\"#1a7f37\", penwidth=3", "- removed", "~ changed: task"]),
        (Format::Svg, ["fw-node fw-question fw-added", "fw-node fw-question fw-removed", "~ changed: task"]),
        (Format::Html, ["+ added", "- removed", "~ changed: task"]),
        (Format::Json, ["\"is\": \"added\"", "\"is\": \"removed\"", "\"task\""]),
    ];
    for (format, words) in forms {
        let printed = sketch.print(format);
        for word in words {
            assert!(printed.contains(word), "{format:?} lacks {word}:\n{printed}");
        }
    }
    insta::assert_snapshot!(sketch.print(Format::Text));
}

/// A pair of unlike workflows is drawn whole as well: what is gone stands beside what has come.
#[test]
fn any_two_workflows_can_be_compared() {
    use crate::support::ir as by_hand;
    let all = [by_hand::plan_and_implement(), by_hand::every_kind(), workflow(BASE)];
    for (old, new) in all.iter().flat_map(|old| all.iter().map(move |new| (old, new))) {
        let sketch = diff(old, new, None);
        assert_eq!(differs(&sketch), old.digest() != new.digest());
        let names: std::collections::BTreeSet<_> = sketch.nodes.iter().map(|node| &node.name).collect();
        assert_eq!(names.len(), sketch.nodes.len(), "no name twice");
        let svg = sketch.print(Format::Svg);
        for node in &sketch.nodes {
            assert!(svg.contains(&format!("data-node=\"{}\"", node.name)), "{}", node.name);
        }
    }
    assert_complete(&all[2]);
}
