//! The sketch as one SVG picture, light or dark as the reader likes it. Every node and edge is an element with
//! `data-node`, or `data-from` and `data-to`, so that a page can mark what happens in it. Nothing of the author is
//! read as markup, and no font, script or file from outside is needed.

mod card;
mod frame;
mod measure;
mod nest;
mod place;
mod route;
mod side;
mod style;
mod turn;

use super::{Edge, Mark, Node, Sketch, Way};
use crate::escape;
use card::{Card, Shape};
use frame::Frame;
use measure::Font;
use place::{Placed, Scene, Wire};
use route::digits;
use std::fmt::Write as _;

const MARGIN: f64 = 24.0;
/// The heading needs this much at least.
const NARROWEST: f64 = 380.0;
const HEADING: Font = Font::bold(18.0);
const FACT: Font = Font::plain(12.0);

/// Draws the picture. `on_page` is for a page that has a heading of its own and the details of each node: a node is a
/// link to them.
pub(super) fn print(sketch: &Sketch, on_page: bool) -> String {
    let scene = place::scene(sketch);
    let (low, high) = (scene.extent.low, scene.extent.high);
    let width = (high.0 - low.0 + 2.0 * MARGIN).max(if on_page { 0.0 } else { NARROWEST });
    let heading = if on_page { Heading::default() } else { heading(sketch, width - 2.0 * MARGIN) };
    let top = heading.height + MARGIN;
    let height = top + (high.1 - low.1) + MARGIN;
    let mut out = Writer { sketch, on_page, out: String::new() };
    out.open(width, height);
    out.out.push_str(&heading.text);
    let _ =
        writeln!(out.out, "<g transform=\"translate({} {})\">", digits(MARGIN - low.0), digits(top - low.1));
    out.scene(&scene);
    out.out.push_str("</g>\n</svg>\n");
    out.out
}

/// The anchor of a node's details on a page, and the stem of its id.
pub(super) fn slug(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '-' {
            out.push(c);
        } else {
            // Writing into a String cannot fail, here and below.
            let _ = write!(out, "_{:x}_", u32::from(c));
        }
    }
    out
}

/// A text that is safe between tags and in quoted attributes.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// In one line, with everything that hides or drives as `\u{…}`; what XML cannot hold among it.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape::visible(text).chars() {
        if u32::from(c) & 0xfffe == 0xfffe {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A part of a card, measured from its upper left corner.
#[derive(Clone, Debug)]
enum Piece {
    /// A line of text with its base line.
    Text { x: f64, y: f64, class: &'static str, text: String },
    /// A text that ends at the right edge of the card.
    AtRight { y: f64, class: &'static str, text: String },
    /// An icon; with other colours than the card's.
    Icon { x: f64, y: f64, size: f64, name: &'static str, look: Option<&'static str> },
    /// A judge: a plate over the width of the card with an icon and lines.
    Gate {
        y: f64,
        height: f64,
        look: &'static str,
        icon: &'static str,
        texts: Vec<(f64, &'static str, String)>,
    },
}

impl Piece {
    fn text(x: f64, y: f64, class: &'static str, text: String) -> Self {
        Self::Text { x, y, class, text }
    }
}

#[derive(Default)]
struct Heading {
    text: String,
    height: f64,
}

fn heading(sketch: &Sketch, room: f64) -> Heading {
    let mut text = String::new();
    let mut y = MARGIN;
    let mut line = |class: &str, size: f64, words: &str| {
        y += size;
        let words = xml(words);
        let _ = writeln!(
            text,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{words}</text>",
            digits(MARGIN),
            digits(y)
        );
        y += 6.0;
    };
    let title = sketch.title.as_deref().unwrap_or(&sketch.name);
    for words in HEADING.wrap(&clean(title), room, 2).0 {
        line("fw-h1", 18.0, &words);
    }
    line("fw-code", 11.0, &FACT.cut(&clean(&format!("{} · {}", sketch.name, sketch.digest_short)), room));
    for words in FACT.wrap(&clean(&sketch.facts.join(" · ")), room, 4).0 {
        line("fw-h2", 12.0, &words);
    }
    for change in sketch.compared.iter().flat_map(|compared| &compared.changes) {
        for words in FACT.wrap(&format!("~ {}", clean(change)), room, 2).0 {
            line("fw-mark fw-changed", 12.0, &words);
        }
    }
    Heading { text, height: y }
}

struct Writer<'a> {
    sketch: &'a Sketch,
    on_page: bool,
    out: String,
}

impl Writer<'_> {
    fn open(&mut self, width: f64, height: f64) {
        let (w, h) = (digits(width.ceil()), digits(height.ceil()));
        let name = xml(&self.sketch.name);
        let digest = xml(&self.sketch.digest);
        let _ = writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flowright\" role=\"group\" aria-label=\"{name}\" \
             data-workflow=\"{name}\" data-digest=\"{digest}\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">"
        );
        let _ = writeln!(self.out, "<title>{name}</title>");
        let _ = writeln!(self.out, "<desc>{}</desc>", xml(&self.sketch.facts.join("; ")));
        let _ = writeln!(self.out, "<style>\n{}</style>", style::sheet());
        self.out.push_str("<defs>\n");
        for (name, shape) in style::ICONS {
            let _ = writeln!(self.out, "<symbol id=\"fw-i-{name}\" viewBox=\"0 0 16 16\">{shape}</symbol>");
        }
        self.out.push_str("</defs>\n");
        let _ = writeln!(self.out, "<rect class=\"fw-page\" width=\"{w}\" height=\"{h}\" rx=\"10\"/>");
    }

    fn scene(&mut self, scene: &Scene) {
        for frame in &scene.frames {
            self.frame(frame);
        }
        for wire in &scene.wires {
            self.wire(wire);
        }
        if let Some((x, y)) = scene.start {
            let (x, y) = (digits(x), digits(y));
            let _ = writeln!(
                self.out,
                "<circle class=\"fw-begin\" cx=\"{x}\" cy=\"{y}\" r=\"7\"><title>start</title></circle>"
            );
        }
        for (node, placed) in self.sketch.nodes.iter().zip(&scene.cards) {
            if let Some(placed) = placed {
                self.node(node, placed, None, &node.mark);
            }
        }
        for (side, placed) in &scene.sides {
            let Some(node) = self.sketch.nodes.get(side.node) else { continue };
            let from = self.sketch.edges.get(side.edge).filter(|_| side.holds).map(|edge| edge.from.as_str());
            let mark = self.sketch.edges.get(side.edge).map(|edge| edge.mark.clone()).unwrap_or_default();
            let mark = if side.holds { &mark } else { &node.mark };
            self.node(node, placed, from, mark);
            for edge in side.resumes.iter().filter_map(|edge| self.sketch.edges.get(*edge)) {
                self.open_edge(edge);
                self.out.push_str("</g>\n");
            }
        }
    }

    fn frame(&mut self, frame: &Frame) {
        let name = self.sketch.nodes.get(frame.node).map_or("", |node| node.name.as_str());
        let [x, y, width, height] = [frame.x, frame.y, frame.width, frame.height].map(digits);
        let _ = writeln!(
            self.out,
            "<rect class=\"fw-frame\" data-loop=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\" rx=\"10\"/>",
            xml(name)
        );
    }

    fn wire(&mut self, wire: &Wire) {
        let [a, b, c] = wire.head.map(|(x, y)| format!("{} {}", digits(x), digits(y)));
        let head = format!("M{a}L{b}L{c}Z");
        let Some(edge) = wire.edge.and_then(|edge| self.sketch.edges.get(edge)) else {
            let _ = writeln!(
                self.out,
                "<g class=\"fw-edge\"><path class=\"fw-wire\" d=\"{}\"/><path class=\"fw-head\" d=\"{head}\"/></g>",
                wire.path
            );
            return;
        };
        self.open_edge(edge);
        let _ = writeln!(
            self.out,
            "<path class=\"fw-wire\" d=\"{}\"/><path class=\"fw-head\" d=\"{head}\"/>",
            wire.path
        );
        if let Some(label) = &wire.label {
            let (left, top) = (label.x - label.width / 2.0, label.y - label.height / 2.0);
            let [left, top, width, height] = [left, top, label.width, label.height].map(digits);
            let [x, y] = [label.x, label.y + 4.0].map(digits);
            let text = xml(&label.text);
            let _ = writeln!(
                self.out,
                "<rect class=\"fw-plate\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"4\"/>\
                 <text class=\"fw-label\" x=\"{x}\" y=\"{y}\">{text}</text>"
            );
        }
        self.out.push_str("</g>\n");
    }

    /// The group of an edge with all that is known of it; whoever calls closes it.
    fn open_edge(&mut self, edge: &Edge) {
        let (from, to) = (xml(&edge.from), xml(&edge.to));
        let class = format!("fw-edge{}{}", if edge.faint { " fw-faint" } else { "" }, mark_class(&edge.mark));
        let _ = writeln!(
            self.out,
            "<g class=\"{class}\" id=\"fw-edge-{}--{}\" data-edge=\"{from}→{to}\" data-from=\"{from}\" \
             data-to=\"{to}\">",
            slug(&edge.from),
            slug(&edge.to)
        );
        let several = edge.ways.len() > 1;
        let ways = edge.ways.iter().map(Way::label).filter(|way| several || !way.is_empty());
        let ways: Vec<String> =
            ways.map(|way| if way.is_empty() { "done".to_owned() } else { way }).collect();
        let told: Vec<String> =
            edge.mark.told().into_iter().chain((!ways.is_empty()).then(|| ways.join(", "))).collect();
        let colon = if told.is_empty() { "" } else { ": " };
        let _ = writeln!(self.out, "<title>{from} → {to}{colon}{}</title>", xml(&told.join("; ")));
    }

    /// A card; `held` names the node whose way to `hold` a small card stands for.
    fn node(&mut self, node: &Node, placed: &Placed, held: Option<&str>, mark: &Mark) {
        let card = &placed.card;
        if self.on_page {
            let _ = write!(self.out, "<a href=\"#about-{}\">", slug(&node.name));
        }
        let id = match held {
            None => format!("fw-node-{}", slug(&node.name)),
            Some(from) => format!("fw-node-{}--{}", slug(from), slug(&node.name)),
        };
        let of = held.map(|from| format!(" data-held=\"{}\"", xml(from))).unwrap_or_default();
        let mark = mark_class(mark);
        let _ = writeln!(
            self.out,
            "<g class=\"fw-node fw-{}{mark}\" id=\"{id}\" data-node=\"{}\" data-kind=\"{}\"{of} \
             transform=\"translate({} {})\">",
            card.look,
            xml(&node.name),
            node.kind,
            digits(placed.left()),
            digits(placed.top())
        );
        let _ = writeln!(self.out, "<title>{}</title>", tooltip(node));
        self.outline(card);
        for piece in &card.pieces {
            self.piece(piece, card);
        }
        self.out.push_str(if self.on_page { "</g></a>\n" } else { "</g>\n" });
    }

    fn outline(&mut self, card: &Card) {
        let (width, height) = (card.width, card.height);
        match card.shape {
            Shape::Round(radius) => {
                let [w, h, r] = [width, height, radius.min(height / 2.0)].map(digits);
                let _ =
                    writeln!(self.out, "<rect class=\"fw-card\" width=\"{w}\" height=\"{h}\" rx=\"{r}\"/>");
            }
            Shape::Hexagon => {
                // The points stand outside of the place that the rows need.
                let tip = card.tip();
                let [w, h, middle, left, right] =
                    [width, height, height / 2.0, -tip, width + tip].map(digits);
                let _ = writeln!(
                    self.out,
                    "<path class=\"fw-card\" d=\"M0 0H{w}L{right} {middle}L{w} {h}H0L{left} {middle}Z\"/>"
                );
            }
        }
    }

    fn piece(&mut self, piece: &Piece, card: &Card) {
        match piece {
            Piece::Text { x, y, class, text } => self.text(*x, *y, class, "", text),
            Piece::AtRight { y, class, text } => {
                self.text(card.width - 12.0, *y, class, " text-anchor=\"end\"", text);
            }
            Piece::Icon { x, y, size, name, look } => {
                let look = look.map(|look| format!(" fw-{look}")).unwrap_or_default();
                let [x, y, size] = [*x, *y, *size].map(digits);
                let _ = writeln!(
                    self.out,
                    "<use class=\"fw-icon{look}\" href=\"#fw-i-{name}\" x=\"{x}\" y=\"{y}\" width=\"{size}\" \
                     height=\"{size}\"/>"
                );
            }
            Piece::Gate { y, height, look, icon, texts } => {
                let _ =
                    writeln!(self.out, "<g class=\"fw-gate fw-{look}\" data-gate=\"{}\">", human_word(look));
                let [top, width, height] = [*y, card.width - 14.0, *height].map(digits);
                let _ = writeln!(
                    self.out,
                    "<rect x=\"7\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>"
                );
                let [icon_y] = [y + 4.0].map(digits);
                let _ = writeln!(
                    self.out,
                    "<use class=\"fw-icon\" href=\"#fw-i-{icon}\" x=\"13\" y=\"{icon_y}\" width=\"14\" height=\"14\"/>"
                );
                for (base, class, text) in texts {
                    self.text(33.0, *base, class, "", text);
                }
                self.out.push_str("</g>\n");
            }
        }
    }

    fn text(&mut self, x: f64, y: f64, class: &str, extra: &str, text: &str) {
        let [x, y] = [x, y].map(digits);
        let _ = writeln!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{extra}>{}</text>", xml(text));
    }
}

fn human_word(look: &str) -> &'static str {
    if look == "machine" { "agent" } else { "human" }
}

fn mark_class(mark: &Mark) -> &'static str {
    match mark {
        Mark::Same => "",
        Mark::Added => " fw-added",
        Mark::Removed => " fw-removed",
        Mark::Changed(_) => " fw-changed",
    }
}

/// All that is known of a node, whole, for whoever points at it.
fn tooltip(node: &Node) -> String {
    let mut lines = vec![format!("{} ({})", node.name, node.kind), node.title.clone()];
    lines.extend(node.details.iter().map(|detail| format!("{}: {}", detail.key, detail.text)));
    lines.extend(node.mark.told());
    lines.iter().map(|line| xml(line)).collect::<Vec<_>>().join("\n")
}
