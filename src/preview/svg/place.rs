//! Where everything stands: cards with what is beside them, edges and loop frames are laid out in layers by dagre.
//! The same sketch always gives the same places. Nothing here writes SVG.

use super::card::{self, Card};
use super::clean;
use super::frame::{self, Extent, Frame};
use super::measure::Font;
use super::nest::Nest;
use super::route::{self, End, Strand};
use super::side::{self, Side, Stack};
use super::turn::{self, Return};
use crate::preview::{Edge, Mark, Sketch};
use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};
use std::collections::{HashMap, HashSet};

/// Font of the words on an edge.
pub(super) const LABEL: Font = Font::plain(11.0);
const LABEL_ROOM: f64 = 150.0;
pub(super) const LABEL_HEIGHT: f64 = 18.0;
pub(super) const START: f64 = 14.0;

type Layout = Graph<NodeLabel, EdgeLabel>;

/// Everything with its place.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub extent: Extent,
    /// One for each node of the sketch, in its order; none for what stands beside others.
    pub cards: Vec<Option<Placed>>,
    /// What stands beside others.
    pub sides: Vec<(Side, Placed)>,
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
    /// The middle of the layer in which it stands.
    pub layer: f64,
    /// Places at its lower line that ways back take, from the left.
    pub returns: u32,
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

/// Lays the sketch out.
pub(super) fn scene(sketch: &Sketch) -> Scene {
    let plan = Plan::of(sketch);
    let mut graph = plan.graph();
    let options = LayoutOptions { nodesep: 40.0, edgesep: 22.0, ranksep: 52.0, ..LayoutOptions::default() };
    dagre::layout(&mut graph, Some(options));
    plan.read(&graph)
}

/// What is handed to the layout, and how to find it again.
struct Plan<'a> {
    sketch: &'a Sketch,
    numbers: HashMap<&'a str, usize>,
    nest: Nest,
    /// None for what stands beside others.
    cards: Vec<Option<Card>>,
    stacks: HashMap<usize, Stack>,
    labels: Vec<String>,
    /// Numbers of the nodes that no edge touches.
    loose: HashSet<usize>,
    /// Ways back out of each node, by the numbers of their edges.
    returns: HashMap<usize, Vec<usize>>,
    /// Edges that a small card for `hold` tells of in words.
    told: HashSet<usize>,
}

impl<'a> Plan<'a> {
    fn of(sketch: &'a Sketch) -> Self {
        let numbers: HashMap<&str, usize> =
            sketch.nodes.iter().enumerate().map(|(number, node)| (node.name.as_str(), number)).collect();
        let nest = Nest::of(sketch, &numbers);
        let stacks = side::stacks(sketch, &numbers, label);
        let mut cards: Vec<Option<Card>> = sketch.nodes.iter().map(|node| Some(card::of(node))).collect();
        for side in stacks.values().flat_map(|stack| &stack.sides) {
            if let Some(card) = cards.get_mut(side.node) {
                *card = None;
            }
        }
        let labels = sketch.edges.iter().map(label).collect();
        let told =
            stacks.values().flat_map(|stack| &stack.sides).flat_map(|side| side.resumes.clone()).collect();
        let mut loose: HashSet<usize> =
            (0..sketch.nodes.len()).filter(|node| nest.innermost(*node).is_none()).collect();
        let start = sketch.start.as_deref();
        let ends = sketch.edges.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]).chain(start);
        for number in ends.filter_map(|name| numbers.get(name)) {
            loose.remove(number);
        }
        let mut returns: HashMap<usize, Vec<usize>> = HashMap::new();
        for (i, edge) in sketch.edges.iter().enumerate() {
            let ends = numbers.get(edge.from.as_str()).zip(numbers.get(edge.to.as_str()));
            if let Some((from, to)) = ends
                && nest.is_within(*from, *to)
            {
                returns.entry(*from).or_default().push(i);
            }
        }
        Self { sketch, numbers, nest, cards, stacks, labels, loose, returns, told }
    }

    fn graph(&self) -> Layout {
        let mut graph =
            Layout::with_options(GraphOptions { directed: true, multigraph: true, compound: true });
        let sized = |width: f64, height: f64| Some(NodeLabel { width, height, ..NodeLabel::default() });
        if self.start().is_some() {
            graph.set_node("start", sized(START, START));
        }
        for (i, card) in self.cards.iter().enumerate().filter(|(i, _)| !self.loose.contains(i)) {
            let Some(card) = card else { continue };
            let (aside, height) = match self.stacks.get(&i) {
                Some(stack) => (stack.width(), stack.height().max(card.height)),
                None => (0.0, card.height),
            };
            // The card stays in the middle, so that lines to it stay straight.
            let width = card.width.max(self.widest_return(i)) + 2.0 * (aside + card.tip());
            graph.set_node(node_key(i), sized(width, height + self.below(i)));
        }
        self.group(&mut graph);
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
            graph.set_edge(node_key(from), node_key(to), Some(line(weight, text)), Some(&edge_key(i)));
        }
        self.push_down(&mut graph);
        graph
    }

    /// What follows a loop stands below all of its body, and its head above: an edge that is never drawn leads to
    /// what follows from each step at the end of the body, and from the head to what nothing in the body leads to.
    fn push_down(&self, graph: &mut Layout) {
        let ends = self.sketch.edges.iter().enumerate().filter_map(|(i, edge)| self.ends(i, edge));
        let ends: Vec<(usize, usize)> = ends.collect();
        for a_loop in &self.nest.loops {
            let is_in = |node: usize| self.nest.is_within(node, *a_loop);
            let goes_on: HashSet<usize> =
                ends.iter().filter(|(from, to)| is_in(*from) && is_in(*to)).map(|(from, _)| *from).collect();
            let entered: HashSet<usize> =
                ends.iter().filter(|(from, _)| is_in(*from)).map(|(_, to)| *to).collect();
            let after = ends.iter().filter(|(from, to)| from == a_loop && !is_in(*to)).map(|(_, to)| *to);
            let after: Vec<usize> = after.collect();
            for (node, card) in self.cards.iter().enumerate() {
                if card.is_none() || !is_in(node) || node == *a_loop {
                    continue;
                }
                if !entered.contains(&node) {
                    graph.set_edge(node_key(*a_loop), node_key(node), Some(line(1, "")), Some("below"));
                }
                if goes_on.contains(&node) {
                    continue;
                }
                for to in &after {
                    graph.set_edge(node_key(node), node_key(*to), Some(line(2, "")), Some("below"));
                }
            }
        }
    }

    /// Loop bodies as containers.
    fn group(&self, graph: &mut Layout) {
        for number in &self.nest.loops {
            graph.set_node(group_key(*number), Some(NodeLabel::default()));
            if let Some(parent) = self.nest.parent(*number) {
                graph.set_parent(&group_key(*number), Some(&group_key(parent)));
            }
        }
        for (i, card) in self.cards.iter().enumerate() {
            if let (Some(a_loop), Some(_)) = (self.nest.innermost(i), card) {
                graph.set_parent(&node_key(i), Some(&group_key(a_loop)));
            }
        }
    }

    fn start(&self) -> Option<usize> {
        self.numbers.get(self.sketch.start.as_deref()?).copied()
    }

    /// Both ends of an edge that the layout knows: what stands beside others and the ways back of loops are drawn
    /// without it.
    fn ends(&self, number: usize, edge: &Edge) -> Option<(usize, usize)> {
        if self.told.contains(&number) {
            return None;
        }
        let from = *self.numbers.get(edge.from.as_str())?;
        let to = *self.numbers.get(edge.to.as_str())?;
        let known = |number: usize| self.cards.get(number).is_some_and(Option::is_some);
        (known(from) && known(to) && !self.nest.is_within(from, to)).then_some((from, to))
    }

    fn return_labels(&self, node: usize) -> impl Iterator<Item = &str> {
        let edges = self.returns.get(&node).into_iter().flatten();
        edges.filter_map(|edge| self.labels.get(*edge)).map(String::as_str)
    }

    fn widest_return(&self, node: usize) -> f64 {
        self.return_labels(node).map(|text| LABEL.width(text) + 8.0).fold(0.0, f64::max)
    }

    /// Height for the words on ways back.
    fn below(&self, node: usize) -> f64 {
        self.return_labels(node).map(|text| if text.is_empty() { 0.0 } else { turn::ROOM }).sum()
    }

    fn read(self, graph: &Layout) -> Scene {
        let at = |key: &str| {
            let node = graph.node(key)?;
            Some((node.x?, node.y?))
        };
        let placed = |(i, card): (usize, &Option<Card>)| {
            let card = card.clone()?;
            let (x, layer) = at(&node_key(i)).unwrap_or_default();
            let returns = self.returns.get(&i).map_or(0, Vec::len);
            let returns = u32::try_from(returns).unwrap_or(u32::MAX);
            Some(Placed { card, x, y: layer - self.below(i) / 2.0, layer, returns })
        };
        let cards = self.cards.iter().enumerate().map(placed).collect();
        let mut scene = Scene { cards, start: at("start"), ..Scene::default() };
        let mut beside = Vec::new();
        for (i, placed) in scene.cards.iter().enumerate() {
            if let (Some(placed), Some(stack)) = (placed, self.stacks.get(&i)) {
                for (side, placed, wire) in stack.place(placed) {
                    scene.sides.push((side, placed));
                    beside.push(wire);
                }
            }
        }
        let strands = self.strands(graph, &scene);
        let returns = self.back(&scene);
        frame::close(&self.nest, &strands, &returns, &mut scene, &self.loose);
        self.set_loose(&mut scene);
        scene.wires = route::wires(strands, &returns, &scene);
        scene.wires.append(&mut beside);
        scene.wires.append(&mut turn::wires(returns, &scene));
        scene
    }

    /// What no edge touches stands in a row below everything.
    fn set_loose(&self, scene: &mut Scene) {
        let mut left = scene.extent.low.0.min(scene.extent.high.0);
        let top = scene.extent.high.1 + 28.0;
        for (i, placed) in scene.cards.iter_mut().enumerate() {
            let Some(placed) = placed.as_mut().filter(|_| self.loose.contains(&i)) else { continue };
            placed.x = left + placed.card.width / 2.0;
            placed.y = top + placed.card.height / 2.0;
            placed.layer = placed.y;
            left = placed.right() + 24.0;
            scene.extent.card(placed);
        }
    }

    fn back(&self, scene: &Scene) -> Vec<Return> {
        let mut found = Vec::new();
        for (from, edges) in
            scene.cards.iter().enumerate().filter_map(|(i, _)| Some((i, self.returns.get(&i)?)))
        {
            let Some(card) = scene.cards.get(from).and_then(Option::as_ref) else { continue };
            for (place, edge) in (0..).zip(edges) {
                let head = self.sketch.edges.get(*edge).and_then(|edge| self.numbers.get(edge.to.as_str()));
                let Some(head) = head.copied() else { continue };
                let text = self.labels.get(*edge).filter(|text| !text.is_empty());
                let label = text.map(|text| turn::label(card, place, text.clone(), LABEL.width(text) + 8.0));
                found.push(Return { edge: *edge, from, head, place, label });
            }
        }
        found
    }

    fn strands(&self, graph: &Layout, scene: &Scene) -> Vec<Strand> {
        let mut strands = Vec::new();
        let card = |number: usize| scene.cards.get(number)?.as_ref();
        if let (Some(start), Some((x, y))) = (self.start(), scene.start)
            && let Some(drawn) = graph.edge("start", &node_key(start), None)
            && let Some(to) = card(start)
        {
            let from = End { x, y, layer: y, half_width: START / 2.0, half_height: START / 2.0, returns: 0 };
            let points = interior(&drawn.points);
            strands.push(Strand { edge: None, ends: None, from, to: End::of(to), points, label: None });
        }
        for (i, edge) in self.sketch.edges.iter().enumerate() {
            let Some((from, to)) = self.ends(i, edge) else { continue };
            let Some(drawn) = graph.edge(&node_key(from), &node_key(to), Some(&edge_key(i))) else {
                continue;
            };
            let ends = Some((from, to));
            let (Some(from), Some(to)) = (card(from), card(to)) else { continue };
            let text = self.labels.get(i).cloned().unwrap_or_default();
            let label = drawn.x.zip(drawn.y).filter(|_| !text.is_empty()).map(|(x, y)| {
                let width = LABEL.width(&text) + 8.0;
                Label { text, x, y, width, height: LABEL_HEIGHT - 2.0 }
            });
            let (from, to) = (End::of(from), End::of(to));
            strands.push(Strand { edge: Some(i), ends, from, to, points: interior(&drawn.points), label });
        }
        strands
    }
}

fn interior(points: &[dagre::Point]) -> Vec<(f64, f64)> {
    let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
    inner.iter().map(|point| (point.x, point.y)).collect()
}

fn label(edge: &Edge) -> String {
    // A hyphen would hardly be seen on a line.
    let sign = if edge.mark == Mark::Removed { "−" } else { edge.mark.sign() };
    let when = clean(&edge.when());
    let text = if sign.is_empty() { when } else { format!("{sign} {when}") };
    LABEL.cut(text.trim(), LABEL_ROOM)
}

fn line(weight: i32, text: &str) -> EdgeLabel {
    let (width, height) = if text.is_empty() { (0.0, 0.0) } else { (LABEL.width(text) + 12.0, LABEL_HEIGHT) };
    EdgeLabel {
        weight,
        width,
        height,
        labelpos: dagre::layout::types::LabelPos::Center,
        ..EdgeLabel::default()
    }
}

// Keys of one length, so that their order is the order of the sketch.
fn node_key(number: usize) -> String {
    format!("n{number:06}")
}

fn group_key(number: usize) -> String {
    format!("g{number:06}")
}

fn edge_key(number: usize) -> String {
    format!("e{number:06}")
}
