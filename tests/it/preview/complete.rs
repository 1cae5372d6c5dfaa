//! Nothing is left out: every node and every edge of the graph, in every form, for every definition that we have and
//! for grown ones.

use super::{by_hand, grow};
use flowright::compile::{Folder, MainDocument, compile, package_root};
use flowright::ir::{Graph, NodeKind, Workflow};
use flowright::preview::{self, Format};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn pairs(workflow: &Workflow) -> BTreeSet<(String, String)> {
    workflow.graph().edges().map(|(from, to, _)| (from.name.clone(), to.name.clone())).collect()
}

pub(super) fn names(workflow: &Workflow) -> Vec<String> {
    workflow.graph().nodes().map(|(_, node)| node.name.clone()).collect()
}

/// Reads `n3 … n7` style lines back: node numbers are positions in the graph.
pub(super) fn numbered_pairs(text: &str, arrows: &[&str], names: &[String]) -> BTreeSet<(String, String)> {
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

pub(super) fn assert_complete(workflow: &Workflow) {
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
    let svg = preview::print(Format::Svg, workflow);
    assert_svg_complete(&svg, workflow);
    let html = preview::print(Format::Html, workflow);
    assert_svg_complete(&html[html.find("<svg").unwrap()..html.find("</svg>").unwrap() + 6], workflow);
    let about = attributes(&html, "data-about").into_iter().collect::<Vec<_>>();
    assert_eq!(about, names, "the details of each node, once");
}

/// Values of an attribute in the order of the text, decoded.
pub(super) fn attributes(markup: &str, name: &str) -> Vec<String> {
    let open = format!(" {name}=\"");
    markup
        .match_indices(&open)
        .map(|(at, _)| {
            let rest = &markup[at + open.len()..];
            decoded(&rest[..rest.find('"').unwrap()])
        })
        .collect()
}

pub(super) fn decoded(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Every node is an element; every edge is an element that names both ends, once, and tells all its ways.
fn assert_svg_complete(svg: &str, workflow: &Workflow) {
    let drawn: BTreeSet<String> = attributes(svg, "data-node").into_iter().collect();
    assert_eq!(drawn, names(workflow).into_iter().collect());
    let twice: Vec<_> = attributes(svg, "id");
    assert_eq!(twice.iter().collect::<BTreeSet<_>>().len(), twice.len(), "every id is its own");
    let (from, to) = (attributes(svg, "data-from"), attributes(svg, "data-to"));
    let edges: Vec<(String, String)> = from.into_iter().zip(to).collect();
    assert_eq!(edges.iter().cloned().collect::<BTreeSet<_>>(), pairs(workflow));
    assert_eq!(edges.len(), pairs(workflow).len(), "each pair of nodes once");
    let sketch = preview::Sketch::of(workflow, None);
    let titles: Vec<String> =
        svg.lines().filter(|line| line.starts_with("<title>") && line.contains('→')).map(decoded).collect();
    for edge in &sketch.edges {
        let title = format!("<title>{} → {}", edge.from, edge.to);
        let ends = |rest: &str| rest.starts_with(':') || rest.starts_with('<');
        let told = titles.iter().find(|line| line.strip_prefix(&title).is_some_and(ends));
        let told = told.unwrap_or_else(|| panic!("{title}\n{svg}"));
        for way in &edge.ways {
            assert!(
                told.contains(&*flowright::escape::visible(&way.label())),
                "{told} lacks {}",
                way.label()
            );
        }
    }
    for group in &sketch.groups {
        assert!(attributes(svg, "data-loop").contains(&group.name), "the loop {} has a frame", group.name);
    }
}

fn real_workflows() -> Vec<(String, Workflow)> {
    let mut found = Vec::new();
    for package in std::fs::read_dir("corpus/real").unwrap().map(|entry| entry.unwrap().path()) {
        let files =
            if package.is_dir() { std::fs::read_dir(&package).unwrap().collect() } else { Vec::new() };
        for file in files {
            let path = file.unwrap().path();
            let is_flow = path.extension().is_some_and(|ending| ending == "yaml");
            if let Some(workflow) = is_flow.then(|| compiled(&path)).flatten() {
                found.push((path.display().to_string(), workflow));
            }
        }
    }
    found
}

pub(super) fn compiled(path: &Path) -> Option<Workflow> {
    let main = MainDocument {
        name: path.display().to_string(),
        package_path: path.file_name().unwrap().to_string_lossy().into_owned(),
        bytes: std::fs::read(path).unwrap(),
    };
    compile(main, &Folder::new(package_root(path)), crate::support::AS_OF).workflow
}

#[test]
fn every_node_and_edge_is_in_every_form() {
    assert_complete(&by_hand::plan_and_implement());
    assert_complete(&by_hand::every_kind());
}

#[test]
fn every_definition_of_the_corpus_is_drawn_whole() {
    let all = crate::corpus::ok_workflows();
    assert!(all.len() > 40, "{}", all.len());
    let real = real_workflows();
    assert!(real.len() >= 2, "{}", real.len());
    for (name, workflow) in all.iter().chain(&real) {
        let outcome = std::panic::catch_unwind(|| assert_complete(workflow));
        assert!(outcome.is_ok(), "{name}");
        super::look::assert_legible(name, workflow);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_grown_workflow_is_drawn_whole(steps in grow::steps()) {
        let workflow = grow::workflow(&steps);
        assert_complete(&workflow);
        super::look::assert_legible("grown", &workflow);
    }

    /// What no compiler would write: any edge between any nodes, scopes that name anything.
    #[test]
    fn every_forged_graph_is_drawn_whole(
        nodes in prop::collection::vec((0_u8..9, prop::option::of(0_usize..9)), 1..9),
        edges in prop::collection::vec((0_usize..9, 0_usize..9), 0..20),
    ) {
        let workflow = grow::forged(&nodes, &edges);
        assert_complete(&workflow);
    }
}

#[test]
fn a_lone_node_of_each_kind_is_drawn() {
    for kind in [NodeKind::End, NodeKind::Hold, NodeKind::Loop { times: None, deadline_ms: None }] {
        let mut graph = Graph::new();
        graph.add(by_hand::node("alone", kind));
        assert_complete(&by_hand::workflow("lone", graph));
    }
}
