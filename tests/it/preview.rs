//! Pictures of frozen workflows: nothing is left out, and no word of the author leaves its label.

mod cli;
mod complete;
mod diff;
mod grow;
mod look;
mod page;

use crate::support::ir as by_hand;
use complete::{assert_complete, names, numbered_pairs, pairs};
use flowright::ir::{EdgeKind, Graph, NodeKind, Turn, Workflow};
use flowright::preview::{self, Format, Sketch};

/// Drives a terminal, ends a label, opens a comment or an edge: whatever a title may hold.
const HOSTILE: &str = "a \"quoted\" --> b\n\nn0 --> n1\r\n]}|\\ %%{init: {}}%% <script>&lt; `x` ; end \u{1b}]0;owned\u{7} \u{202e}txt \u{e0041}\t#quot; lone \" and \\";

/// What a terminal would obey or hide.
fn drives(c: char) -> bool {
    let range = |first: u32, last: u32| (first..=last).contains(&u32::from(c));
    (c != '\n' && (range(0, 0x1f) || range(0x7f, 0x9f)))
        || range(0x202a, 0x202e)
        || range(0x2066, 0x2069)
        || range(0xe0000, 0xe007f)
}

#[test]
fn plan_and_implement_for_a_terminal() {
    insta::assert_snapshot!(preview::print(Format::Text, &by_hand::plan_and_implement()));
}

#[test]
fn loops_for_a_terminal() {
    insta::assert_snapshot!(preview::print(Format::Text, &by_hand::every_kind()));
}

#[test]
fn plan_and_implement_as_mermaid() {
    insta::assert_snapshot!(preview::print(Format::Mermaid, &by_hand::plan_and_implement()));
}

#[test]
fn loops_as_mermaid() {
    insta::assert_snapshot!(preview::print(Format::Mermaid, &by_hand::every_kind()));
}

#[test]
fn plan_and_implement_as_dot() {
    insta::assert_snapshot!(preview::print(Format::Dot, &by_hand::plan_and_implement()));
}

#[test]
fn plan_and_implement_as_json() {
    insta::assert_snapshot!(preview::print(Format::Json, &by_hand::plan_and_implement()));
}

#[test]
fn the_listing_keeps_to_its_width() {
    for workflow in [by_hand::plan_and_implement(), by_hand::every_kind()] {
        for line in preview::print(Format::Text, &workflow).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn colours_add_nothing_but_colours() {
    let workflow = by_hand::every_kind();
    let mut plain = Sketch::of(&workflow, None).print_in_colour();
    assert!(plain.contains('\u{1b}'));
    for code in ["0", "1", "2", "31", "32", "33", "34", "35", "36"] {
        plain = plain.replace(&format!("\u{1b}[{code}m"), "");
    }
    let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
    assert_eq!(trimmed, preview::print(Format::Text, &workflow).lines().collect::<Vec<_>>());
}

/// What of a DOT line stands outside its quoted strings; a string that does not end is a fault.
fn outside_quotes(line: &str) -> String {
    let (mut bare, mut inside) = (String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => inside = !inside,
            '\\' if inside => {
                chars.next();
            }
            _ if !inside => bare.push(c),
            _ => {}
        }
    }
    assert!(!inside, "{line}");
    bare
}

fn hostile() -> Workflow {
    let mut graph = Graph::new();
    graph.add(by_hand::titled(HOSTILE, by_hand::node("first", NodeKind::Hold)));
    let repeated = NodeKind::Loop { times: Some(2), deadline_ms: None };
    graph.add(by_hand::titled(HOSTILE, by_hand::node("again", repeated)));
    let asked =
        by_hand::question(HOSTILE, vec![by_hand::choice("x", HOSTILE, flowright::ir::Feedback::None)]);
    graph.add(by_hand::inside(&["again"], by_hand::node("ask", asked)));
    by_hand::edge(&mut graph, "first", "again", EdgeKind::Case(HOSTILE.into()), Turn::Forward);
    by_hand::edge(&mut graph, "again", "ask", EdgeKind::Body, Turn::Forward);
    let mut parts = by_hand::parts(HOSTILE, graph);
    parts.title = Some(HOSTILE.into());
    Workflow::new(parts)
}

#[test]
fn hostile_titles_stay_inside_their_labels() {
    let workflow = hostile();
    for format in Format::ALL {
        let text = preview::print(format, &workflow);
        let driving = text.chars().find(|c| drives(*c));
        assert_eq!(driving, None, "{text}");
    }
    let names = names(&workflow);
    let mermaid = preview::print(Format::Mermaid, &workflow);
    assert_eq!(numbered_pairs(&mermaid, &["-.->", "-->"], &names), pairs(&workflow));
    for line in mermaid.lines() {
        assert!(line.matches('"').count() == 0 || line.matches('"').count() == 2, "{line}");
        assert!(!line.contains("%%{") && !line.contains("<script"), "{line}");
    }
    let dot = preview::print(Format::Dot, &workflow);
    assert_eq!(numbered_pairs(&dot, &["->"], &names), pairs(&workflow));
    for line in dot.lines() {
        let bare = outside_quotes(line);
        assert!(!bare.contains("script") && !bare.contains("owned") && !bare.contains("init"), "{line}");
    }
    let json: serde_json::Value = serde_json::from_str(&preview::print(Format::Json, &workflow)).unwrap();
    assert_eq!(json["edges"][0]["label"], HOSTILE, "data keep their characters");
}

#[test]
fn a_circle_of_loops_from_a_forged_file_is_still_shown() {
    let mut graph = Graph::new();
    let repeated = || NodeKind::Loop { times: None, deadline_ms: None };
    graph.add(by_hand::inside(&["b"], by_hand::node("a", repeated())));
    graph.add(by_hand::inside(&["a"], by_hand::node("b", repeated())));
    graph.add(by_hand::inside(&["gone"], by_hand::node("lost", NodeKind::Hold)));
    by_hand::edge(&mut graph, "a", "b", EdgeKind::Body, Turn::Forward);
    by_hand::edge(&mut graph, "b", "lost", EdgeKind::Exhausted, Turn::Forward);
    assert_complete(&by_hand::workflow("circle", graph));
}

#[test]
fn edges_between_the_same_nodes_share_a_label() {
    let sketch = Sketch::of(&by_hand::plan_and_implement(), None);
    let resume = sketch.edges.iter().find(|edge| edge.from == "implement" && edge.to == "end").unwrap();
    assert_eq!(resume.ways.iter().map(preview::Way::label).collect::<Vec<_>>(), ["", "resume"]);
    let label = |from: &str, to: &str| {
        sketch.edges.iter().find(|edge| edge.from == from && edge.to == to).unwrap().label()
    };
    assert_eq!(label("plan", "hold"), "blocked, failed, deadline, exhausted");
    assert_eq!(label("plan", "implement"), "");
    assert_eq!(label("implement", "end"), "");
    assert_eq!(label("plan", "stop-2"), "abort at gate 2");
}

#[test]
fn words_that_open_a_list_are_no_list_in_mermaid() {
    let mut graph = Graph::new();
    graph.add(by_hand::node("first", NodeKind::Hold));
    graph.add(by_hand::node("second", NodeKind::End));
    by_hand::edge(&mut graph, "first", "second", EdgeKind::Case("1. go".into()), Turn::Forward);
    by_hand::edge(&mut graph, "second", "first", EdgeKind::Case("- stay".into()), Turn::Forward);
    let text = preview::print(Format::Mermaid, &by_hand::workflow("lists", graph));
    assert!(text.contains("|\"1#46; go\"|") && text.contains("|\"#45; stay\"|"), "{text}");
}

#[test]
fn the_same_workflow_is_drawn_the_same_after_it_was_frozen() {
    let workflow = by_hand::every_kind();
    let thawed = Workflow::from_bytes(&workflow.to_bytes()).unwrap();
    for format in Format::ALL {
        assert_eq!(preview::print(format, &workflow), preview::print(format, &thawed));
    }
}
