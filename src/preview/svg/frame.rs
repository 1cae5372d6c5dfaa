//! The frames around loop bodies, closed around what is in them, and the extent of the whole. Nothing here lays out.

use super::nest::Nest;
use super::place::{Placed, START, Scene};
use super::route::Strand;
use super::turn::Return;
use std::collections::{HashMap, HashSet};

/// Between a frame and what is in it.
const PAD: f64 = 16.0;
/// Between the ways back and what is to the right of them, and the frame to the left.
const LANE: f64 = 13.0;

/// The frame around the body of a loop.
#[derive(Debug)]
pub(super) struct Frame {
    /// Number of the loop's node.
    pub node: usize,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    /// Where the ways back of the loop go up, if it has any.
    pub lane: Option<f64>,
}

/// A rectangle that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub low: (f64, f64),
    pub high: (f64, f64),
}

impl Default for Extent {
    fn default() -> Self {
        Self { low: (f64::INFINITY, f64::INFINITY), high: (f64::NEG_INFINITY, f64::NEG_INFINITY) }
    }
}

impl Extent {
    pub(super) fn add(&mut self, x: f64, y: f64) {
        self.low = (self.low.0.min(x), self.low.1.min(y));
        self.high = (self.high.0.max(x), self.high.1.max(y));
    }

    pub(super) fn card(&mut self, placed: &Placed) {
        self.add(placed.left() - placed.card.tip(), placed.top());
        self.add(placed.right() + placed.card.tip(), placed.bottom());
    }

    fn strand(&mut self, strand: &Strand) {
        for (x, y) in &strand.points {
            self.add(*x, *y);
        }
        if let Some(label) = &strand.label {
            self.add(label.x - label.width / 2.0, label.y);
            self.add(label.x + label.width / 2.0, label.y);
        }
    }

    /// The head of the loop sits on the upper line.
    fn frame(&self, node: usize, head: Option<&Placed>, has_lane: bool) -> Frame {
        let top = head.map_or(self.low.1, |head| head.y);
        let lane = has_lane.then_some(self.low.0 - LANE);
        let x = lane.map_or(self.low.0 - PAD, |lane| lane - LANE);
        Frame { node, x, y: top, width: self.high.0 + PAD - x, height: self.high.1 + PAD - top, lane }
    }
}

/// Sets the frames, closed around what is in them, and the extent of the whole.
pub(super) fn close(
    nest: &Nest,
    strands: &[Strand],
    returns: &[Return],
    scene: &mut Scene,
    loose: &HashSet<usize>,
) {
    let mut extents: HashMap<usize, Extent> = HashMap::new();
    let mut whole = Extent::default();
    for (i, placed) in scene.cards.iter().enumerate().filter(|(i, _)| !loose.contains(i)) {
        let Some(placed) = placed else { continue };
        whole.card(placed);
        if let Some(a_loop) = nest.innermost(i) {
            extents.entry(a_loop).or_default().card(placed);
        }
    }
    for (side, placed) in &scene.sides {
        whole.card(placed);
        if let Some(a_loop) = nest.innermost(side.beside) {
            extents.entry(a_loop).or_default().card(placed);
        }
    }
    for strand in strands {
        whole.strand(strand);
        if let Some(a_loop) = strand.ends.and_then(|(from, to)| common(nest, from, to)) {
            extents.entry(a_loop).or_default().strand(strand);
        }
    }
    for back in returns {
        if let (Some(label), Some(a_loop)) = (&back.label, nest.innermost(back.from)) {
            let extent = extents.entry(a_loop).or_default();
            extent.add(label.x - label.width / 2.0, label.y);
            extent.add(label.x + label.width / 2.0, label.y + label.height / 2.0);
        }
    }
    let lanes: HashSet<usize> = returns.iter().map(|back| back.head).collect();
    let mut frames = Vec::new();
    // Inner loops first, for outer ones close around their frames.
    for a_loop in nest.loops.iter().rev() {
        let Some(extent) = extents.get(a_loop) else { continue };
        let head = scene.cards.get(*a_loop).and_then(Option::as_ref);
        let frame = extent.frame(*a_loop, head, lanes.contains(a_loop));
        let around = nest.parent(*a_loop).map(|parent| extents.entry(parent).or_default());
        for extent in [Some(&mut whole), around].into_iter().flatten() {
            extent.add(frame.x, frame.y);
            extent.add(frame.x + frame.width, frame.y + frame.height);
        }
        frames.push(frame);
    }
    frames.reverse();
    if let Some((x, y)) = scene.start {
        whole.add(x - START / 2.0, y - START / 2.0);
    }
    scene.frames = frames;
    scene.extent = whole;
}

/// The innermost loop that holds both.
fn common(nest: &Nest, from: usize, to: usize) -> Option<usize> {
    let mut at = nest.innermost(from);
    while let Some(a_loop) = at {
        if nest.is_within(to, a_loop) {
            return Some(a_loop);
        }
        at = nest.parent(a_loop);
    }
    None
}
