//! What an SVG looks like, measured: nothing covers a label or a card, texts stand out in both schemes, the markup is
//! well formed, and the picture in the documents is the one that the program draws.

use super::complete::{attributes, compiled};
use super::{HOSTILE, by_hand, drives, hostile};
use flowright::ir::{EdgeKind, Graph, NodeKind, Turn, Workflow};
use flowright::preview::{self, Format};
use std::collections::BTreeMap;
use std::path::Path;

const W04: &str = "corpus/real/w04-plan-review-build-test/plan-review-build-test.yaml";
const PICTURE: &str = "docs/pictures/plan-review-build-test.svg";

#[derive(Clone, Debug)]
struct Rect {
    what: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    /// Whether both share more than a line.
    fn covers(&self, other: &Self) -> bool {
        let apart = 0.2;
        self.left + apart < other.right
            && other.left + apart < self.right
            && self.top + apart < other.bottom
            && other.top + apart < self.bottom
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.right >= other.right
            && self.top <= other.top
            && self.bottom >= other.bottom
    }
}

fn number(element: &str, name: &str) -> f64 {
    attributes(element, name).first().map_or(0.0, |value| value.parse().unwrap())
}

fn rect(element: &str, what: &str, (x, y): (f64, f64)) -> Rect {
    let (left, top) = (x + number(element, "x"), y + number(element, "y"));
    Rect {
        what: what.to_owned(),
        left,
        top,
        right: left + number(element, "width"),
        bottom: top + number(element, "height"),
    }
}

/// Cards and labels with their places, and the frames by the name of their loop.
fn places(svg: &str) -> (Vec<Rect>, Vec<Rect>, Vec<Rect>) {
    let (mut cards, mut labels, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = (String::new(), (0.0, 0.0));
    let mut edge = String::new();
    for line in svg.lines() {
        if line.contains("<g class=\"fw-node") {
            let place = attributes(line, "transform").remove(0);
            let place = place.strip_prefix("translate(").unwrap().strip_suffix(')').unwrap().to_owned();
            let (x, y) = place.split_once(' ').unwrap();
            let held = attributes(line, "data-held").join("");
            at = (
                format!("{}{held}", attributes(line, "data-node").remove(0)),
                (x.parse().unwrap(), y.parse().unwrap()),
            );
        } else if line.starts_with("<g class=\"fw-edge") {
            edge = attributes(line, "data-edge").join("");
        } else if line.starts_with("<rect class=\"fw-card\"") {
            cards.push(rect(line, &at.0, at.1));
        } else if line.starts_with("<path class=\"fw-card\"") {
            // The corners of a hexagon; its points stand out a little.
            let path = attributes(line, "d").remove(0);
            let (width, rest) = path.strip_prefix("M0 0H").unwrap().split_once('L').unwrap();
            let height = rest.split(['L', ' ', 'H']).nth(3).unwrap();
            let (x, y) = at.1;
            let (right, bottom) = (x + width.parse::<f64>().unwrap(), y + height.parse::<f64>().unwrap());
            cards.push(Rect { what: at.0.clone(), left: x, top: y, right, bottom });
        } else if line.starts_with("<rect class=\"fw-plate\"") {
            labels.push(rect(line, &edge, (0.0, 0.0)));
        } else if line.starts_with("<rect class=\"fw-frame\"") {
            frames.push(rect(line, &attributes(line, "data-loop").remove(0), (0.0, 0.0)));
        }
    }
    (cards, labels, frames)
}

/// No card on a card, no label on a card or a label; every card of a body within the frame of its loop, no other.
pub(super) fn assert_legible(name: &str, workflow: &Workflow) {
    let svg = preview::print(Format::Svg, workflow);
    let (cards, labels, frames) = places(&svg);
    for (i, card) in cards.iter().enumerate() {
        for other in cards.iter().skip(i + 1).chain(&labels) {
            assert!(!card.covers(other), "{name}: {card:?} and {other:?}\n{svg}");
        }
    }
    for (i, label) in labels.iter().enumerate() {
        for other in labels.iter().skip(i + 1) {
            assert!(!label.covers(other), "{name}: {label:?} and {other:?}\n{svg}");
        }
    }
    for (_, node) in workflow.graph().nodes() {
        let Some(card) = cards.iter().find(|card| card.what == node.name) else { continue };
        for frame in &frames {
            // The head of a loop sits on its frame.
            if frame.what != node.name {
                assert_eq!(
                    frame.holds(card),
                    node.scope.contains(&frame.what),
                    "{name}: {frame:?} and {card:?}\n{svg}"
                );
            }
        }
    }
    let size = rect(svg.lines().next().unwrap(), "all", (0.0, 0.0));
    assert!(size.right > 0.0 && size.bottom > 0.0, "{name}");
}

/// Reads tags: each is closed, attributes are quoted and none repeats, references are known ones.
fn assert_well_formed(markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert_references(text);
        let end = tag.find('>').unwrap();
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = inside.split([' ', '/', '\n']).next().unwrap();
        let mut seen = Vec::new();
        for (i, piece) in inside[name.len()..].trim_end_matches('/').split('"').enumerate() {
            if i % 2 == 0 {
                let piece = piece.trim();
                assert!(piece.is_empty() || piece.ends_with('='), "{inside}");
                assert!(piece.is_empty() || !seen.contains(&piece), "{inside}");
                seen.push(piece);
            } else {
                assert_references(piece);
            }
        }
        if !inside.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

fn assert_references(text: &str) {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|known| text[at..].starts_with(known)), "{text}");
    }
}

#[test]
fn the_pictures_are_legible_and_well_formed() {
    for workflow in [by_hand::plan_and_implement(), by_hand::every_kind(), hostile()] {
        assert_well_formed(&preview::print(Format::Svg, &workflow));
        assert_legible(workflow.name(), &workflow);
    }
}

#[test]
fn hostile_words_stay_words_in_the_picture() {
    let svg = preview::print(Format::Svg, &hostile());
    assert_eq!(svg.chars().find(|c| drives(*c)), None, "{svg}");
    assert!(!svg.contains("<script") && !svg.contains("<!--") && !svg.contains("]]>"), "{svg}");
    let titles = svg.matches("a &quot;quoted&quot; --&gt; b").count();
    assert!(titles >= 3, "{titles}: the words themselves are there");
    assert!(HOSTILE.contains('\u{202e}') && svg.contains("\\u{202e}"));
}

#[test]
fn a_long_text_is_cut_and_whole_in_its_title() {
    let mut graph = Graph::new();
    let long = "every word of a very long label ".repeat(20);
    graph.add(by_hand::titled(
        &long,
        by_hand::node("first", NodeKind::Switch { on: by_hand::step("a", "b", &[]) }),
    ));
    graph.add(by_hand::node("end", NodeKind::End));
    by_hand::edge(&mut graph, "first", "end", EdgeKind::Case(long.clone()), Turn::Forward);
    let workflow = by_hand::workflow("long", graph);
    assert_legible("long", &workflow);
    let svg = preview::print(Format::Svg, &workflow);
    let texts: Vec<&str> = svg.lines().filter(|line| line.contains("<text")).collect();
    assert!(texts.iter().all(|line| !line.contains(long.trim())), "{texts:#?}");
    assert!(texts.iter().filter(|line| line.contains('…')).count() >= 2, "{texts:#?}");
    let whole = svg.lines().filter(|line| line.contains(long.trim())).count();
    assert!(whole >= 2, "the whole text of the node and of the edge: {svg}");
}

/// `--name:#rrggbb` of one block.
fn variables(block: &str) -> BTreeMap<String, [f64; 3]> {
    let block = &block[block.find('{').unwrap() + 1..];
    let block = &block[..block.find('}').unwrap()];
    let entry = |entry: &str| {
        let (name, value) = entry.trim().split_once(':')?;
        let hex = value.trim().strip_prefix('#')?;
        let channel = |i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
        Some((name.trim_start_matches('-').to_owned(), [channel(0), channel(2), channel(4)]))
    };
    block.split(';').filter_map(entry).collect()
}

fn luminance(colour: [f64; 3]) -> f64 {
    let [r, g, b] = colour.map(|c| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG: 4.5 for text, 3 for lines that mean something.
#[test]
fn texts_stand_out_in_light_and_dark() {
    let svg = preview::print(Format::Svg, &by_hand::every_kind());
    let light = variables(&svg[svg.find(".flowright{--").unwrap()..]);
    let dark = &svg[svg.find("prefers-color-scheme:dark").unwrap()..];
    let dark = variables(&dark[dark.find(".flowright{").unwrap()..]);
    assert_eq!(light.keys().collect::<Vec<_>>(), dark.keys().collect::<Vec<_>>());
    assert_ne!(light, dark);
    let mut measured = 0;
    for scheme in [&light, &dark] {
        let fills = scheme.iter().filter_map(|(name, fill)| Some((name.strip_suffix("-fill")?, *fill)));
        for (name, fill) in fills {
            for text in ["ink", "soft"] {
                let ratio = contrast(fill, scheme[&format!("{name}-{text}")]);
                assert!(ratio >= 4.5, "{name}-{text}: {ratio:.2}");
                measured += 1;
            }
            for mark in ["added", "removed", "changed"] {
                let ratio = contrast(fill, scheme[mark]);
                assert!(ratio >= 4.5, "{mark} on {name}: {ratio:.2}");
            }
            if !matches!(name, "frame" | "hold") {
                let ratio = contrast(scheme["page-fill"], scheme[&format!("{name}-line")]);
                assert!(ratio >= 3.0, "the line of {name}: {ratio:.2}");
            }
        }
        // Words on an edge stand on the page's colour, in a frame too.
        assert!(contrast(scheme["page-fill"], scheme["page-soft"]) >= 4.5);
    }
    assert!(measured >= 40, "{measured}");
}

#[test]
fn people_and_machines_at_a_gate_look_different() {
    let svg = preview::print(Format::Svg, &by_hand::plan_and_implement());
    let gates = attributes(&svg, "data-gate");
    assert_eq!(gates, ["agent", "human"]);
    let machine = svg.lines().position(|line| line.contains("fw-gate fw-machine")).unwrap();
    let human = svg.lines().position(|line| line.contains("fw-gate fw-question")).unwrap();
    let icon = |at: usize| svg.lines().nth(at + 2).unwrap().to_owned();
    assert!(
        icon(machine).contains("#fw-i-agent") && icon(human).contains("#fw-i-question"),
        "{}",
        icon(machine)
    );
}

#[test]
fn the_same_workflow_gives_the_same_bytes() {
    for workflow in [by_hand::plan_and_implement(), by_hand::every_kind()] {
        for format in Format::ALL {
            assert_eq!(preview::print(format, &workflow), preview::print(format, &workflow));
        }
    }
}

/// `FLOWRIGHT_BLESS=1` writes it anew; it is to be looked at before it is kept.
#[test]
fn the_picture_in_the_documents_is_the_one_that_is_drawn() {
    let drawn = preview::print(Format::Svg, &compiled(Path::new(W04)).unwrap());
    if std::env::var_os("FLOWRIGHT_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(PICTURE, &drawn).unwrap();
    }
    assert!(
        std::fs::read_to_string(PICTURE).unwrap() == drawn,
        "{PICTURE} is not what `graph --format svg` prints"
    );
    let readme = std::fs::read_to_string("README.md").unwrap();
    assert!(readme.contains(PICTURE), "the README shows it");
}
