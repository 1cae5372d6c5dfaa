//! Pictures of frozen workflows: nothing is left out, and no word of the author leaves its label.

use crate::support::ir as by_hand;
use flowright::ir::{EdgeKind, Graph, NodeKind, Turn, Workflow};
use flowright::preview::{self, Format, Sketch};
use std::collections::BTreeSet;

const FORMATS: [Format; 4] = [Format::Text, Format::Mermaid, Format::Dot, Format::Json];

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

fn pairs(workflow: &Workflow) -> BTreeSet<(String, String)> {
    workflow.graph().edges().map(|(from, to, _)| (from.name.clone(), to.name.clone())).collect()
}

fn names(workflow: &Workflow) -> Vec<String> {
    workflow.graph().nodes().map(|(_, node)| node.name.clone()).collect()
}

/// Reads `n3 … n7` style lines back: node numbers are positions in the graph.
fn numbered_pairs(text: &str, arrows: &[&str], names: &[String]) -> BTreeSet<(String, String)> {
    let number = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap();
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with('n') && !line.starts_with("node"))
    {
        let Some(arrow) = arrows.iter().find(|arrow| line.contains(&format!(" {arrow}"))) else { continue };
        let (from, rest) = line.split_once(&format!(" {arrow}")).unwrap();
        if !from.chars().skip(1).all(|c| c.is_ascii_digit()) {
            continue;
        }
        // The label stands in quotes and may hold anything.
        let to = if *arrow == "->" {
            rest.split(" [").next().unwrap()
        } else {
            rest.rsplit_once('|').map_or(rest, |(_, to)| to)
        };
        found.insert((names[number(from)].clone(), names[number(to)].clone()));
    }
    found
}

/// Reads the listing back: heads name steps, arrows name targets.
fn listed_pairs(text: &str) -> (Vec<String>, BTreeSet<(String, String)>) {
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut heads = Vec::new();
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let depth = line.chars().take_while(|c| "│ ".contains(*c)).count();
        let rest: String = line.chars().skip(depth).collect();
        let rest = rest.strip_prefix("╭─ ").map_or(rest.as_str(), |inner| inner);
        if let Some((mark, rest)) = rest.split_once(' ')
            && "◆●◷↻◇▽‖■".contains(mark)
            && depth % 2 == 0
        {
            let name = rest.split("  ").next().unwrap().to_owned();
            open.retain(|(at, _)| *at < depth);
            open.push((depth, name.clone()));
            heads.push(name);
        } else if rest.starts_with("├─ ") || rest.starts_with("└─ ") || rest.starts_with("╰─ ") {
            let from = &open.iter().rev().find(|(at, _)| *at <= depth).unwrap().1;
            let target = rest.rsplit_once("→ ").unwrap().1;
            let target = target.split(" (").next().unwrap();
            found.insert((from.clone(), target.to_owned()));
            if rest.starts_with("╰─ ") {
                open.retain(|(at, _)| *at < depth);
            }
            open.retain(|(at, _)| *at <= depth);
        }
    }
    (heads, found)
}

fn assert_complete(workflow: &Workflow) {
    let (names, pairs) = (names(workflow), pairs(workflow));
    let (heads, listed) = listed_pairs(&preview::print(Format::Text, workflow));
    assert_eq!(heads.iter().collect::<BTreeSet<_>>(), names.iter().collect());
    assert_eq!(heads.len(), names.len(), "each step once");
    assert_eq!(listed, pairs);
    let mermaid = preview::print(Format::Mermaid, workflow);
    assert_eq!(numbered_pairs(&mermaid, &["-.->", "-->"], &names), pairs);
    let dot = preview::print(Format::Dot, workflow);
    assert_eq!(numbered_pairs(&dot, &["->"], &names), pairs);
    for (number, name) in names.iter().enumerate() {
        let defined = |line: &&str| {
            let rest = line.trim().strip_prefix(&format!("n{number}"));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        assert_eq!(
            mermaid.lines().filter(defined).filter(|line| line.contains("<b>")).count(),
            1,
            "{mermaid}"
        );
        let labeled = format!("n{number} [label=\"{name}");
        assert_eq!(dot.lines().filter(|line| line.trim().starts_with(&labeled)).count(), 1, "{dot}");
    }
    let json: serde_json::Value = serde_json::from_str(&preview::print(Format::Json, workflow)).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let nodes: Vec<String> =
        json["nodes"].as_array().unwrap().iter().map(|node| text(&node["name"])).collect();
    assert_eq!(nodes, names);
    let edges = json["edges"].as_array().unwrap();
    assert_eq!(
        edges.iter().map(|edge| (text(&edge["from"]), text(&edge["to"]))).collect::<BTreeSet<_>>(),
        pairs
    );
    let labels: usize = edges.iter().map(|edge| edge["labels"].as_array().unwrap().len()).sum();
    assert_eq!(labels, workflow.graph().edges().count(), "one label for each edge of the graph");
}

#[test]
fn every_node_and_edge_is_in_every_form() {
    assert_complete(&by_hand::plan_and_implement());
    assert_complete(&by_hand::every_kind());
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
    let mut plain = preview::print_text(&workflow, true);
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
    for format in FORMATS {
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
    let sketch = Sketch::of(&by_hand::plan_and_implement());
    let resume = sketch.edges.iter().find(|edge| edge.from == "implement" && edge.to == "end").unwrap();
    assert_eq!(resume.labels, ["", "resume"]);
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
    for format in FORMATS {
        assert_eq!(preview::print(format, &workflow), preview::print(format, &thawed));
    }
}
