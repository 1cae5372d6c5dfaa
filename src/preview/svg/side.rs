//! What stands beside a card and not below it: the ways to `hold`, and stops that only this node leads to. So the way
//! that is hoped for runs straight down, and no line to a place of rest crosses the picture.

use super::card::{self, Card};
use super::place::{LABEL, LABEL_HEIGHT, Label, Placed, Wire};
use super::route::{ARROW, digits};
use crate::preview::{Edge, Sketch};
use std::collections::{HashMap, HashSet};

/// Between a card and what stands beside it.
const GAP: f64 = 30.0;
/// Between two of them.
const APART: f64 = 10.0;

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// Number of the edge that leads there.
    pub edge: usize,
    /// Number of the node that it is.
    pub node: usize,
    /// Number of the node beside which it stands.
    pub beside: usize,
    pub card: Card,
    /// Words on the edge.
    pub label: String,
    /// Whether it stands for `hold`, which may stand in several places.
    pub holds: bool,
    /// Numbers of the edges by which a person goes on from there, told in its words.
    pub resumes: Vec<usize>,
}

/// All of them beside one card, from above.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    pub sides: Vec<Side>,
}

impl Stack {
    /// What it adds to the right of the card.
    pub(super) fn width(&self) -> f64 {
        let widest = self.sides.iter().map(|side| side.card.width).fold(0.0, f64::max);
        if self.sides.is_empty() { 0.0 } else { self.gap() + widest }
    }

    pub(super) fn height(&self) -> f64 {
        let cards: f64 = self.sides.iter().map(|side| side.card.height).sum();
        let gaps = u32::try_from(self.sides.len().saturating_sub(1)).unwrap_or(u32::MAX);
        cards + f64::from(gaps) * APART
    }

    fn gap(&self) -> f64 {
        let labels = self.sides.iter().filter(|side| !side.label.is_empty());
        labels.map(|side| LABEL.width(&side.label) + 8.0 + 40.0).fold(GAP, f64::max)
    }

    /// Puts them beside the card, with the edges to them.
    pub(super) fn place(&self, card: &Placed) -> Vec<(Side, Placed, Wire)> {
        let mut top = card.y - self.height() / 2.0;
        let left = card.right() + self.gap();
        let mut found = Vec::new();
        for side in &self.sides {
            let y = top + side.card.height / 2.0;
            let placed =
                Placed { card: side.card.clone(), x: left + side.card.width / 2.0, y, layer: y, returns: 0 };
            found.push((side.clone(), placed, self.wire(side, card, y)));
            top += side.card.height + APART;
        }
        found
    }

    fn wire(&self, side: &Side, card: &Placed, y: f64) -> Wire {
        let reach = (card.card.height / 2.0 - 12.0).max(0.0);
        let from = (card.right() + card.card.tip(), y.clamp(card.y - reach, card.y + reach));
        let to = card.right() + self.gap();
        // The bend stands before the words.
        let turn = from.0 + 18.0;
        let middle = f64::midpoint(from.0, turn);
        let [x, start, bend, turn, y_text, end] = [from.0, from.1, middle, turn, y, to - ARROW].map(digits);
        let path = if (from.1 - y).abs() < 0.5 {
            format!("M{x} {y_text}H{end}")
        } else {
            format!("M{x} {start}C{bend} {start} {bend} {y_text} {turn} {y_text}H{end}")
        };
        let label = (!side.label.is_empty()).then(|| {
            let width = LABEL.width(&side.label) + 8.0;
            let x = f64::midpoint(from.0 + 10.0, to - ARROW - 6.0);
            Label { text: side.label.clone(), x, y, width, height: LABEL_HEIGHT - 2.0 }
        });
        let head = [(to, y), (to - ARROW - 0.5, y - 4.0), (to - ARROW - 0.5, y + 4.0)];
        Wire { edge: Some(side.edge), path, head, label }
    }
}

/// What stands beside each node, by its number.
pub(super) fn stacks(
    sketch: &Sketch,
    numbers: &HashMap<&str, usize>,
    label: impl Fn(&Edge) -> String,
) -> HashMap<usize, Stack> {
    let leaving: HashSet<&str> = sketch.edges.iter().map(|edge| edge.from.as_str()).collect();
    let mut entering: HashMap<&str, usize> = HashMap::new();
    for edge in &sketch.edges {
        *entering.entry(edge.to.as_str()).or_default() += 1;
    }
    let mut stacks: HashMap<usize, Stack> = HashMap::new();
    for (i, edge) in sketch.edges.iter().enumerate() {
        let ends = numbers.get(edge.from.as_str()).zip(numbers.get(edge.to.as_str()));
        let Some((from, to)) = ends else { continue };
        let Some(node) = sketch.nodes.get(*to).filter(|node| !leaving.contains(node.name.as_str())) else {
            continue;
        };
        if sketch.start.as_ref() == Some(&edge.to) {
            continue;
        }
        let holds = node.kind == "hold";
        // A frame must hold what is in the loop and nothing else.
        let from_node = sketch.nodes.get(*from);
        let together = from_node.is_some_and(|from| from.kind != "loop" && from.group == node.group);
        let is_only = entering.get(edge.to.as_str()) == Some(&1) && together;
        let mut resumes = Vec::new();
        let (card, label) = if holds {
            let only_resumes =
                |other: &Edge| other.from == edge.from && other.ways.iter().all(|way| way.resumes);
            resumes.extend(
                sketch.edges.iter().enumerate().filter(|(_, other)| only_resumes(other)).map(|(i, _)| i),
            );
            let targets = resumes.iter().filter_map(|i| sketch.edges.get(*i));
            (card::of_hold(&node.name, edge, targets), String::new())
        } else if node.kind == "stop" && is_only && !edge.when().is_empty() {
            (card::of(node), label(edge))
        } else {
            continue;
        };
        let side = Side { edge: i, node: *to, beside: *from, card, label, holds, resumes };
        stacks.entry(*from).or_default().sides.push(side);
    }
    for stack in stacks.values_mut() {
        // What is hoped for least stands lowest.
        stack
            .sides
            .sort_by_key(|side| (side.holds, sketch.edges.get(side.edge).is_some_and(|edge| edge.faint)));
    }
    stacks
}
