//! The ways back to the head of a loop: down out of the card, left below its layer, up along the frame's left side and
//! into the head. All ways back of one loop share that side. Nothing here lays out.

use super::place::{LABEL_HEIGHT, Label, Placed, Scene, Wire};
use super::route::{ARROW, INSET, digits};

/// Between two ways back out of one card.
const STEP: f64 = 12.0;
/// Between what stands in a layer and the way below it.
const BELOW: f64 = 8.0;
/// Height that the words of one way back take below their card.
pub(super) const ROOM: f64 = LABEL_HEIGHT + 2.0;

/// A way back.
#[derive(Debug)]
pub(super) struct Return {
    /// Number of its edge.
    pub edge: usize,
    /// Number of the node that it leaves.
    pub from: usize,
    /// Number of the head that it enters.
    pub head: usize,
    /// How many others leave the same card before it.
    pub place: u32,
    pub label: Option<Label>,
}

impl Return {
    /// Where it leaves the card.
    fn port(&self, card: &Placed) -> f64 {
        port(card, self.place)
    }
}

fn port(card: &Placed, place: u32) -> f64 {
    card.left() + INSET + f64::from(place) * STEP
}

/// The words of a way back, below its card.
pub(super) fn label(card: &Placed, place: u32, text: String, width: f64) -> Label {
    let x = port(card, place).max(card.left() + width / 2.0);
    let y = card.bottom() + 5.0 + f64::from(place) * ROOM + LABEL_HEIGHT / 2.0;
    Label { text, x, y, width, height: LABEL_HEIGHT - 2.0 }
}

/// Draws them; frames know where their left side is.
pub(super) fn wires(returns: Vec<Return>, scene: &Scene) -> Vec<Wire> {
    let layers = Layers::of(&returns, scene);
    returns.into_iter().filter_map(|back| wire(back, scene, &layers)).collect()
}

fn wire(back: Return, scene: &Scene, layers: &Layers) -> Option<Wire> {
    let card = scene.cards.get(back.from)?.as_ref()?;
    let head = scene.cards.get(back.head)?.as_ref()?;
    let lane = scene.frames.iter().find(|frame| frame.node == back.head)?.lane?;
    let x = back.port(card);
    let low = layers.below(card.layer, lane, x).max(card.bottom()) + BELOW;
    let end = head.left() - ARROW;
    let turn = 7.0_f64.min((x - lane) / 2.0).max(0.0);
    let corner = turn.min((end - lane).max(0.0));
    let [x1, y1, y2, y3, x2, x3, y4, x4, y5, x5, y6] = [
        x,
        card.bottom(),
        low - turn,
        low,
        x - turn,
        lane + turn,
        low - turn,
        lane,
        head.y + corner,
        lane + corner,
        head.y,
    ]
    .map(digits);
    let path = format!(
        "M{x1} {y1}V{y2}Q{x1} {y3} {x2} {y3}H{x3}Q{x4} {y3} {x4} {y4}V{y5}Q{x4} {y6} {x5} {y6}H{}",
        digits(end)
    );
    let point = (head.left(), head.y);
    let head = [point, (end - 0.5, head.y - 4.0), (end - 0.5, head.y + 4.0)];
    Some(Wire { edge: Some(back.edge), path, head, label: back.label })
}

/// How far down things reach in each layer.
struct Layers {
    /// Layer, left, right, bottom.
    things: Vec<(f64, f64, f64, f64)>,
}

impl Layers {
    fn of(returns: &[Return], scene: &Scene) -> Self {
        let mut things = Vec::new();
        for placed in scene.cards.iter().flatten() {
            things.push((placed.layer, placed.left(), placed.right(), placed.bottom()));
        }
        for (side, placed) in &scene.sides {
            if let Some(card) = scene.cards.get(side.beside).and_then(Option::as_ref) {
                things.push((card.layer, placed.left(), placed.right(), placed.bottom()));
            }
        }
        for back in returns {
            let card = scene.cards.get(back.from).and_then(Option::as_ref);
            if let (Some(card), Some(label)) = (card, &back.label) {
                let (left, right) = (label.x - label.width / 2.0, label.x + label.width / 2.0);
                things.push((card.layer, left, right, label.y + label.height / 2.0));
            }
        }
        Self { things }
    }

    /// The lowest end of what stands in the layer between two places.
    fn below(&self, layer: f64, from: f64, to: f64) -> f64 {
        let here = |thing: &&(f64, f64, f64, f64)| {
            (thing.0 - layer).abs() < 0.5 && thing.1 <= to + 2.0 && thing.2 >= from
        };
        self.things.iter().filter(here).map(|thing| thing.3).fold(f64::NEG_INFINITY, f64::max)
    }
}
