//! Where everything stands: cards, small cards for `hold`, edges and loop frames are laid out in layers by dagre.
//! The same sketch always gives the same places. Nothing here writes SVG.

use super::card::{self, Card};
use super::measure::Font;
use super::route;
use super::clean;
use crate::preview::{Edge, Sketch};
use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};
use std::collections::{HashMap, HashSet};

/// Font of the words on an edge.
pub(super) const LABEL: Font = Font::plain(11.0);
const LABEL_ROOM: f64 = 150.0;
const LABEL_HEIGHT: f64 = 18.0;
const START: f64 = 14.0;

type Layout = Graph<NodeLabel, EdgeLabel>;

/// Everything with its place; the upper left corner of the drawing is 0, 0.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    /// One for each node of the sketch, in its order; none for a `hold` that small cards stand for.
    pub cards: Vec<Option<Placed>>,
    /// The small cards: the edge that each stands for.
    pub holds: Vec<(usize, Placed)>,
    pub wires: Vec<Wire>,
    pub frames: Vec<Frame>,
    pub start: Option<(f64, f64)>,
}

/// A card and its centre.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub card: Card,
    pub x: f64,
    pub y: f64,
}

impl Placed {
    pub(super) fn left(&self) -> f64 {
        self.x - self.card.width / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.card.width / 2.0
    }

    pub(super) fn top(&self) -> f64 {
        self.y - self.card.height / 2.0
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.card.height / 2.0
    }
}

/// A drawn edge. The one from the start has no edge of the sketch.
#[derive(Debug)]
pub(super) struct Wire {
    pub edge: Option<usize>,
    pub path: String,
    /// Points of the arrow's head.
    pub head: [(f64, f64); 3],
    pub label: Option<Label>,
}

/// Words on an edge, with their middle.
#[derive(Debug)]
pub(super) struct Label {
    pub text: String,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The frame around the body of a loop.
#[derive(Debug)]
pub(super) struct Frame {
    /// Number of the loop's node.
    pub node: usize,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Lays the sketch out.
pub(super) fn scene(sketch: &Sketch) -> Scene {
    let plan = Plan::of(sketch);
    let mut graph = plan.graph();
    let options = LayoutOptions { nodesep: 34.0, edgesep: 22.0, ranksep: 52.0, ..LayoutOptions::default() };
    dagre::layout(&mut graph, Some(options));
    plan.read(&graph)
}

/// What is handed to the layout, and how to find it again.
struct Plan<'a> {
    sketch: &'a Sketch,
    numbers: HashMap<&'a str, usize>,
    cards: Vec<Option<Card>>,
    /// Edge and card of each small `hold`.
    holds: Vec<(usize, Card)>,
    labels: Vec<String>,
}

impl<'a> Plan<'a> {
    fn of(sketch: &'a Sketch) -> Self {
        let numbers: HashMap<&str, usize> =
            sketch.nodes.iter().enumerate().map(|(number, node)| (node.name.as_str(), number)).collect();
        let leaving: HashSet<&str> = sketch.edges.iter().map(|edge| edge.from.as_str()).collect();
        // Every way to `hold` gets a card of its own beside the node that takes it: one for all would draw the
        // ways that nobody hopes for right across the picture.
        let is_hold = |name: &str| {
            sketch.node(name).is_some_and(|node| node.kind == "hold") && !leaving.contains(name)
        };
        let mut holds = Vec::new();
        let mut stood_for = HashSet::new();
        let mut labels = Vec::new();
        for (i, edge) in sketch.edges.iter().enumerate() {
            let known = numbers.contains_key(edge.from.as_str());
            if known && is_hold(&edge.to) {
                holds.push((i, card::of_hold(&edge.to, edge)));
                stood_for.insert(edge.to.as_str());
                labels.push(String::new());
            } else {
                labels.push(label(edge));
            }
        }
        let cards = sketch.nodes.iter();
        let cards =
            cards.map(|node| (!stood_for.contains(node.name.as_str())).then(|| card::of(node))).collect();
        Self { sketch, numbers, cards, holds, labels }
    }

    fn hold_of(&self, edge: usize) -> Option<usize> {
        self.holds.binary_search_by_key(&edge, |(edge, _)| *edge).ok()
    }

    fn graph(&self) -> Layout {
        let mut graph = Layout::with_options(GraphOptions { directed: true, multigraph: true, compound: true });
        let sized = |width: f64, height: f64| Some(NodeLabel { width, height, ..NodeLabel::default() });
        if self.start().is_some() {
            graph.set_node("start", sized(START, START));
        }
        for (i, card) in self.cards.iter().enumerate() {
            if let Some(card) = card {
                graph.set_node(node_key(i), sized(card.width, card.height));
            }
        }
        for (i, (_, card)) in self.holds.iter().enumerate() {
            graph.set_node(hold_key(i), sized(card.width, card.height));
        }
        self.nest(&mut graph);
        if let Some(start) = self.start() {
            graph.set_edge("start", node_key(start), Some(line(8, "")), None);
        }
        for (i, edge) in self.sketch.edges.iter().enumerate() {
            let Some((from, to)) = self.ends(i, edge) else { continue };
            let text = self.labels.get(i).map_or("", String::as_str);
            let weight = match (edge.faint, edge.when().is_empty()) {
                (true, _) => 1,
                (false, false) => 3,
                (false, true) => 8,
            };
            graph.set_edge(from, to, Some(line(weight, text)), Some(&edge_key(i)));
        }
        graph
    }

    /// Loop bodies as containers.
    fn nest(&self, graph: &mut Layout) {
        for group in &self.sketch.groups {
            let Some(number) = self.numbers.get(group.name.as_str()) else { continue };
            graph.set_node(group_key(*number), Some(NodeLabel::default()));
            if let Some(parent) = group.parent.as_deref().and_then(|parent| self.numbers.get(parent)) {
                graph.set_parent(&group_key(*number), Some(&group_key(*parent)));
            }
            graph.set_parent(&node_key(*number), Some(&group_key(*number)));
        }
        let group_of = |name: &str| {
            let group = self.sketch.groups.iter().find(|group| group.name == name)?;
            self.numbers.get(group.name.as_str()).copied()
        };
        for (i, node) in self.sketch.nodes.iter().enumerate() {
            let group = node.group.as_deref().and_then(group_of);
            if let (Some(group), Some(Some(_)), false) = (group, self.cards.get(i), node.kind == "loop") {
                graph.set_parent(&node_key(i), Some(&group_key(group)));
            }
        }
        for (i, (edge, _)) in self.holds.iter().enumerate() {
            let from = self.sketch.edges.get(*edge).and_then(|edge| self.sketch.node(&edge.from));
            if let Some(group) = from.and_then(|node| node.group.as_deref()).and_then(group_of) {
                graph.set_parent(&hold_key(i), Some(&group_key(group)));
            }
        }
    }

    fn start(&self) -> Option<usize> {
        self.numbers.get(self.sketch.start.as_deref()?).copied()
    }

    fn ends(&self, number: usize, edge: &Edge) -> Option<(String, String)> {
        let from = self.numbers.get(edge.from.as_str())?;
        let to = match self.hold_of(number) {
            Some(hold) => hold_key(hold),
            None => node_key(*self.numbers.get(edge.to.as_str())?),
        };
        Some((node_key(*from), to))
    }

    fn read(self, graph: &Layout) -> Scene {
        let at = |key: &str| {
            let node = graph.node(key)?;
            Some((node.x?, node.y?))
        };
        let placed = |card: &Card, key: &str| {
            let (x, y) = at(key).unwrap_or_default();
            Placed { card: card.clone(), x, y }
        };
        let cards: Vec<Option<Placed>> = (self.cards.iter().enumerate())
            .map(|(i, card)| card.as_ref().map(|card| placed(card, &node_key(i))))
            .collect();
        let holds: Vec<(usize, Placed)> = (self.holds.iter().enumerate())
            .map(|(i, (edge, card))| (*edge, placed(card, &hold_key(i))))
            .collect();
        let mut scene = Scene { cards, holds, start: at("start"), ..Scene::default() };
        scene.frames = self.frames(graph, &scene);
        let strands = self.strands(graph, &scene);
        scene.wires = route::wires(strands, &scene);
        scene.measure();
        scene
    }

    fn strands(&self, graph: &Layout, scene: &Scene) -> Vec<route::Strand> {
        let mut strands = Vec::new();
        let interior = |points: &[dagre::Point]| {
            let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
            inner.iter().map(|point| (point.x, point.y)).collect()
        };
        if let (Some(start), Some((x, y))) = (self.start(), scene.start)
            && let Some(edge) = graph.edge("start", &node_key(start), None)
        {
            let from = route::End { x, y, half_width: START / 2.0, half_height: START / 2.0 };
            if let Some(to) = scene.cards.get(start).and_then(Option::as_ref) {
                let to = route::End::of(to);
                strands.push(route::Strand { edge: None, from, to, points: interior(&edge.points), label: None });
            }
        }
        for (i, edge) in self.sketch.edges.iter().enumerate() {
            let Some((from_key, to_key)) = self.ends(i, edge) else { continue };
            let Some(drawn) = graph.edge(&from_key, &to_key, Some(&edge_key(i))) else { continue };
            let card = |name: &str| scene.cards.get(*self.numbers.get(name)?)?.as_ref();
            let to = match self.hold_of(i) {
                Some(hold) => scene.holds.get(hold).map(|(_, placed)| placed),
                None => card(&edge.to),
            };
            let (Some(from), Some(to)) = (card(&edge.from), to) else { continue };
            let text = self.labels.get(i).cloned().unwrap_or_default();
            let label = drawn.x.zip(drawn.y).filter(|_| !text.is_empty()).map(|(x, y)| {
                let width = LABEL.width(&text) + 8.0;
                Label { text, x, y, width, height: LABEL_HEIGHT - 2.0 }
            });
            let (from, to) = (route::End::of(from), route::End::of(to));
            strands.push(route::Strand { edge: Some(i), from, to, points: interior(&drawn.points), label });
        }
        strands
    }

    fn frames(&self, graph: &Layout, scene: &Scene) -> Vec<Frame> {
        let mut frames = Vec::new();
        for group in &self.sketch.groups {
            let Some(number) = self.numbers.get(group.name.as_str()).copied() else { continue };
            let Some(body) = graph.node(&group_key(number)) else { continue };
            let (Some(x), Some(y)) = (body.x, body.y) else { continue };
            // The head sits on the upper line.
            let head = scene.cards.get(number).and_then(Option::as_ref);
            let top = head.map_or(y - body.height / 2.0, |head| head.y);
            let bottom = (y + body.height / 2.0).max(top);
            let (left, width) = (x - body.width / 2.0, body.width);
            frames.push(Frame { node: number, x: left, y: top, width, height: bottom - top });
        }
        frames
    }
}

impl Scene {
    /// The size of all of it.
    fn measure(&mut self) {
        let cards = self.cards.iter().flatten().chain(self.holds.iter().map(|(_, placed)| placed));
        let cards = cards.map(|placed| (placed.right(), placed.bottom()));
        let frames = self.frames.iter().map(|frame| (frame.x + frame.width, frame.y + frame.height));
        let labels = self.wires.iter().filter_map(|wire| wire.label.as_ref());
        let labels = labels.map(|label| (label.x + label.width / 2.0, label.y + label.height / 2.0));
        for (right, bottom) in cards.chain(frames).chain(labels) {
            self.width = self.width.max(right);
            self.height = self.height.max(bottom);
        }
    }
}

fn label(edge: &Edge) -> String {
    let sign = edge.mark.sign();
    let when = clean(&edge.when());
    let text = if sign.is_empty() { when } else { format!("{sign} {when}") };
    LABEL.cut(text.trim(), LABEL_ROOM)
}

fn line(weight: i32, text: &str) -> EdgeLabel {
    let (width, height) =
        if text.is_empty() { (0.0, 0.0) } else { (LABEL.width(text) + 12.0, LABEL_HEIGHT) };
    EdgeLabel { weight, width, height, labelpos: dagre::layout::types::LabelPos::Center, ..EdgeLabel::default() }
}

// Keys of one length, so that their order is the order of the sketch.
fn node_key(number: usize) -> String {
    format!("n{number:06}")
}

fn hold_key(number: usize) -> String {
    format!("h{number:06}")
}

fn group_key(number: usize) -> String {
    format!("g{number:06}")
}

fn edge_key(number: usize) -> String {
    format!("e{number:06}")
}
