//! From points to curves: an edge leaves a card below and enters one above, bends only between the layers, and comes
//! back up at the side. Nothing here knows what an edge means.

use super::place::{Label, Placed, Scene, Wire};
use super::turn::Return;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Least distance between two edges at a card.
const GAP: f64 = 16.0;
/// Edges keep this far from the corners of a card.
pub(super) const INSET: f64 = 14.0;
pub(super) const ARROW: f64 = 7.0;

type Point = (f64, f64);

/// One end of an edge: the card there.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub x: f64,
    pub y: f64,
    pub half_width: f64,
    pub half_height: f64,
    /// The middle of its layer.
    pub layer: f64,
    /// Places at its lower line that ways back take, from the left.
    pub returns: u32,
}

impl End {
    pub(super) fn of(placed: &Placed) -> Self {
        Self {
            x: placed.x,
            y: placed.y,
            half_width: placed.card.width / 2.0,
            half_height: placed.card.height / 2.0,
            layer: placed.layer,
            returns: placed.returns,
        }
    }
}

/// An edge as the layout gave it; `points` without its ends.
#[derive(Debug)]
pub(super) struct Strand {
    pub edge: Option<usize>,
    /// Numbers of its nodes.
    pub ends: Option<(usize, usize)>,
    pub from: End,
    pub to: End,
    pub points: Vec<Point>,
    pub label: Option<Label>,
}

impl Strand {
    /// Whether it leads up, or round to where it began.
    fn is_back(&self) -> bool {
        self.to.y <= self.from.y
    }
}

/// Draws all edges.
pub(super) fn wires(strands: Vec<Strand>, returns: &[Return], scene: &Scene) -> Vec<Wire> {
    let bands = bands(scene, &strands, returns);
    let below = spread(&strands, |strand| strand.from, |strand| strand.points.first().copied());
    let entered = |strand: &Strand| End { returns: 0, ..strand.to };
    let above = spread(&strands, entered, |strand| strand.points.last().copied());
    let mut wires = Vec::new();
    for (i, strand) in strands.into_iter().enumerate() {
        let mut pen = Pen::default();
        if strand.is_back() {
            pen.back(&strand, &bands);
        } else {
            let from = below.get(i).copied().unwrap_or(strand.from.x);
            let to = above.get(i).copied().unwrap_or(strand.to.x);
            pen.forth(&strand, from, to, &bands);
        }
        wires.push(Wire { edge: strand.edge, path: pen.path, head: pen.head, label: strand.label });
    }
    wires
}

/// Half the height of each layer, by the middle of the layer.
struct Bands(HashMap<i64, f64>);

impl Bands {
    fn half(&self, y: f64) -> f64 {
        self.0.get(&key(y)).copied().unwrap_or(0.0)
    }
}

/// Layers are whole units apart, so half a unit tells them.
fn key(y: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "pictures are far smaller than the range")]
    let key = (y * 2.0).round() as i64;
    key
}

fn bands(scene: &Scene, strands: &[Strand], returns: &[Return]) -> Bands {
    let mut bands = Bands(HashMap::new());
    let mut widen = |layer: f64, top: f64, bottom: f64| {
        let half = (bottom - layer).max(layer - top);
        let entry = bands.0.entry(key(layer)).or_insert(0.0);
        *entry = entry.max(half);
    };
    for placed in scene.cards.iter().flatten() {
        widen(placed.layer, placed.top(), placed.bottom());
    }
    for (side, placed) in &scene.sides {
        // It belongs to the layer of the card that it stands beside.
        if let Some(card) = scene.cards.get(side.beside).and_then(Option::as_ref) {
            widen(card.layer, placed.top(), placed.bottom());
        }
    }
    for back in returns {
        let card = scene.cards.get(back.from).and_then(Option::as_ref);
        if let (Some(card), Some(label)) = (card, &back.label) {
            widen(card.layer, label.y, label.y + label.height / 2.0);
        }
    }
    for label in strands.iter().filter_map(|strand| strand.label.as_ref()) {
        widen(label.y, label.y - label.height / 2.0 - 1.0, label.y + label.height / 2.0 + 1.0);
    }
    bands
}

/// Where each edge meets the line of its card: below its next point if it can, never two at one place.
fn spread(
    strands: &[Strand],
    end: impl Fn(&Strand) -> End,
    next: impl Fn(&Strand) -> Option<Point>,
) -> Vec<f64> {
    let mut at: Vec<f64> = strands.iter().map(|strand| end(strand).x).collect();
    let mut by_card: HashMap<(i64, i64), Vec<(f64, usize)>> = HashMap::new();
    for (i, strand) in strands.iter().enumerate().filter(|(_, strand)| !strand.is_back()) {
        let card = end(strand);
        let wanted = next(strand).map_or(card.x, |point| point.0);
        by_card.entry((key(card.x), key(card.y))).or_default().push((wanted, i));
    }
    for edges in by_card.into_values() {
        settle(edges, strands, &end, &mut at);
    }
    at
}

fn settle(mut edges: Vec<(f64, usize)>, strands: &[Strand], end: &impl Fn(&Strand) -> End, at: &mut [f64]) {
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let Some(card) = edges.first().and_then(|(_, i)| strands.get(*i)).map(end) else { return };
    let reach = (card.half_width - INSET).max(0.0);
    let taken = (f64::from(card.returns) * GAP).min(reach);
    let (low, high) = (card.x - reach + taken, card.x + reach);
    let room = high - low;
    let steps = u32::try_from(edges.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let gap = if steps == 0 { 0.0 } else { GAP.min(room / f64::from(steps)) };
    let mut places: Vec<f64> = edges.iter().map(|(wanted, _)| wanted.clamp(low, high)).collect();
    let mut before = f64::NEG_INFINITY;
    for place in &mut places {
        *place = place.max(before + gap);
        before = *place;
    }
    let mut after = high;
    for place in places.iter_mut().rev() {
        *place = place.min(after);
        after = *place - gap;
    }
    for (place, (_, i)) in places.into_iter().zip(edges) {
        if let Some(slot) = at.get_mut(i) {
            *slot = place;
        }
    }
}

#[derive(Default)]
struct Pen {
    path: String,
    at: Point,
    head: [Point; 3],
}

impl Pen {
    fn start(&mut self, to: Point) {
        self.at = to;
        // Writing into a String cannot fail, here and below.
        let _ = write!(self.path, "M{} {}", digits(to.0), digits(to.1));
    }

    fn line(&mut self, to: Point) {
        if (to.0 - self.at.0).abs() < 0.05 && (to.1 - self.at.1).abs() < 0.05 {
            return;
        }
        let _ = write!(self.path, "L{} {}", digits(to.0), digits(to.1));
        self.at = to;
    }

    fn curve(&mut self, one: Point, two: Point, to: Point) {
        let [a, b, c, d, e, f] = [one.0, one.1, two.0, two.1, to.0, to.1].map(digits);
        let _ = write!(self.path, "C{a} {b} {c} {d} {e} {f}");
        self.at = to;
    }

    /// To a point, vertical at both ends.
    fn bend(&mut self, to: Point) {
        let from = self.at;
        if (from.0 - to.0).abs() < 0.5 {
            return self.line(to);
        }
        let middle = f64::midpoint(from.1, to.1);
        self.curve((from.0, middle), (to.0, middle), to);
    }

    /// Through a layer without bending in it.
    fn through(&mut self, point: Point, half: f64, down: bool) {
        let half = if down { half } else { -half };
        self.bend((point.0, point.1 - half));
        self.line((point.0, point.1 + half));
    }

    fn forth(&mut self, strand: &Strand, from: f64, to: f64, bands: &Bands) {
        let bottom = strand.from.y + strand.from.half_height;
        self.start((from, bottom));
        self.line((from, (strand.from.layer + bands.half(strand.from.layer)).max(bottom)));
        for point in &strand.points {
            self.through(*point, bands.half(point.1), true);
        }
        let top = strand.to.y - strand.to.half_height;
        let end = (to, top - ARROW);
        self.bend((to, (strand.to.layer - bands.half(strand.to.layer) - 2.0).min(end.1)));
        self.line(end);
        self.head = [(to, top), (to - 4.0, top - ARROW - 0.5), (to + 4.0, top - ARROW - 0.5)];
    }

    /// Out at the side, up between the layers, in at the side.
    fn back(&mut self, strand: &Strand, bands: &Bands) {
        let (from, to) = (strand.from, strand.to);
        let first = strand.points.first().copied().unwrap_or((from.x + from.half_width + 24.0, from.y));
        let last = strand.points.last().copied().unwrap_or(first);
        let side = |end: End, x: f64| if x > end.x { end.x + end.half_width } else { end.x - end.half_width };
        let beside = |end: End, x: f64| (x - end.x).abs() > end.half_width + 6.0;
        if beside(from, first.0) {
            self.start((side(from, first.0), from.y));
            let turn = (first.0, from.layer - bands.half(from.layer));
            self.curve((first.0, from.y), (first.0, from.y), turn);
        } else {
            let x = first.0.clamp(from.x - from.half_width + INSET, from.x + from.half_width - INSET);
            self.start((x, from.y - from.half_height));
            self.line((x, from.layer - bands.half(from.layer)));
        }
        for point in &strand.points {
            self.through(*point, bands.half(point.1), false);
        }
        if beside(to, last.0) {
            let way = if last.0 > to.x { 1.0 } else { -1.0 };
            let edge = side(to, last.0);
            self.bend((last.0, to.layer + bands.half(to.layer)));
            self.curve((last.0, to.y), (last.0, to.y), (edge + way * ARROW, to.y));
            self.head = [
                (edge, to.y),
                (edge + way * (ARROW + 0.5), to.y - 4.0),
                (edge + way * (ARROW + 0.5), to.y + 4.0),
            ];
        } else {
            let x = last.0.clamp(to.x - to.half_width + INSET, to.x + to.half_width - INSET);
            let bottom = to.y + to.half_height;
            self.bend((x, bottom + ARROW));
            self.head = [(x, bottom), (x - 4.0, bottom + ARROW + 0.5), (x + 4.0, bottom + ARROW + 0.5)];
        }
    }
}

/// Tenths are enough for a screen, and the same on every machine.
pub(super) fn digits(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // No minus before nothing.
    let text = format!("{:.1}", if rounded == 0.0 { 0.0 } else { rounded });
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
