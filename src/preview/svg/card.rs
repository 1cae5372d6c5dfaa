//! What a node looks like: the rows of its card and their places, measured from its upper left corner. The place of
//! the card itself is not known here.

use super::measure::Font;
use super::{Piece, clean};
use crate::preview::{Edge, Mark, Node};

const PAD: f64 = 12.0;
/// Widest row.
const ROOM: f64 = 226.0;
const NARROWEST: f64 = 96.0;
const ICON: f64 = 16.0;
const NAME: Font = Font::bold(13.0);
const TITLE: Font = Font::plain(12.0);
const FACT: Font = Font::plain(11.0);
const SMALL: Font = Font::plain(10.5);
const MARK: Font = Font::bold(11.0);

/// The outline of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// A rectangle with corners of this radius.
    Round(f64),
    /// With a point at the left and at the right.
    Hexagon,
}

/// A node, ready to be placed.
#[derive(Clone, Debug)]
pub(super) struct Card {
    pub width: f64,
    pub height: f64,
    pub shape: Shape,
    /// Names its colours and its icon.
    pub look: &'static str,
    pub pieces: Vec<Piece>,
}

impl Card {
    /// How far points stand out at its sides.
    pub(super) fn tip(&self) -> f64 {
        match self.shape {
            Shape::Round(_) => 0.0,
            Shape::Hexagon => 7.0,
        }
    }
}

/// The card of a node.
pub(super) fn of(node: &Node) -> Card {
    let look = look(node);
    let mut rows = Rows::new(look);
    if node.kind == "loop" {
        rows.loop_head(node);
    } else {
        rows.head(icon(node), &node.name, kind_word(node));
        if Some(node.title.as_str()) != node.stop && node.title != node.name {
            rows.lines(&node.title, TITLE, "fw-title", 3);
        }
        rows.brief(node);
        for gate in &node.gates {
            rows.gate(gate);
        }
    }
    rows.mark(&node.mark);
    let shape = match node.kind {
        "switch" | "pick" => Shape::Hexagon,
        "cron" | "end" | "stop" | "hold" | "loop" => Shape::Round(18.0),
        "question" => Shape::Round(12.0),
        _ => Shape::Round(5.0),
    };
    rows.card(shape)
}

/// The small card that stands for `hold` beside the node that leads there; it tells where a person goes on.
pub(super) fn of_hold<'a>(name: &str, edge: &Edge, resumes: impl Iterator<Item = &'a Edge>) -> Card {
    let mut rows = Rows::new("hold");
    rows.room = 132.0;
    rows.icon("hold", 12.0);
    let text = SMALL_BOLD.cut(&clean(name), 110.0);
    rows.wide(18.0 + SMALL_BOLD.width(&text));
    rows.pieces.push(Piece::text(PAD + 17.0, rows.y + 10.0, "fw-small fw-strong", text));
    rows.y += 15.0;
    rows.lines(&edge.label(), SMALL, "fw-small", 3);
    rows.mark(&edge.mark);
    for resume in resumes {
        rows.lines(&format!("resume → {}", resume.to), SMALL, "fw-small", 2);
        rows.mark(&resume.mark);
    }
    rows.card(Shape::Round(9.0))
}

const SMALL_BOLD: Font = Font::bold(10.5);

/// Colours by what a node is.
pub(super) fn look(node: &Node) -> &'static str {
    match node.kind {
        "switch" | "pick" => "branch",
        "stop" if node.stop == Some("succeeded") => "end",
        "stop" if node.stop == Some("failed") => "failed",
        kind => kind,
    }
}

fn icon(node: &Node) -> &'static str {
    match node.kind {
        "stop" if node.stop == Some("succeeded") => "end",
        "stop" if node.stop == Some("failed") => "failed",
        kind => kind,
    }
}

/// The word at the right of the head, where the name does not say it.
fn kind_word(node: &Node) -> &'static str {
    match node.stop {
        Some(status) => status,
        None if node.kind == node.name => "",
        None => node.kind,
    }
}

struct Rows {
    look: &'static str,
    pieces: Vec<Piece>,
    y: f64,
    room: f64,
    widest: f64,
}

impl Rows {
    fn new(look: &'static str) -> Self {
        Self { look, pieces: Vec::new(), y: 9.0, room: ROOM, widest: 0.0 }
    }

    fn wide(&mut self, width: f64) {
        self.widest = self.widest.max(width);
    }

    fn icon(&mut self, name: &'static str, size: f64) {
        self.pieces.push(Piece::Icon { x: PAD, y: self.y, size, name, look: None });
    }

    fn head(&mut self, icon: &'static str, name: &str, kind: &'static str) {
        self.icon(icon, ICON);
        let kind_width = if kind.is_empty() { 0.0 } else { FACT.width(kind) + 14.0 };
        let name = NAME.cut(&clean(name), self.room - ICON - 6.0 - kind_width);
        self.wide(ICON + 6.0 + NAME.width(&name) + kind_width);
        self.pieces.push(Piece::text(PAD + ICON + 6.0, self.y + 12.5, "fw-name", name));
        if !kind.is_empty() {
            self.pieces.push(Piece::AtRight { y: self.y + 12.5, class: "fw-kind", text: kind.to_owned() });
        }
        self.y += ICON + 5.0;
    }

    /// The head of a loop sits on the frame of its body, as one line.
    fn loop_head(&mut self, node: &Node) {
        self.icon("loop", ICON);
        let name = NAME.cut(&clean(&node.name), 150.0);
        let bounds = clean(&node.brief.join(" · "));
        let name_width = NAME.width(&name);
        self.wide(ICON + 6.0 + name_width + 10.0 + FACT.width(&bounds));
        self.pieces.push(Piece::text(PAD + ICON + 6.0, self.y + 12.5, "fw-name", name));
        self.pieces.push(Piece::text(PAD + ICON + 16.0 + name_width, self.y + 12.5, "fw-fact", bounds));
        self.y += ICON + 5.0;
        if node.details.iter().any(|detail| detail.key == "repeats") {
            self.lines(&node.title, TITLE, "fw-title", 2);
        }
    }

    fn lines(&mut self, text: &str, font: Font, class: &'static str, most: usize) {
        // A binding is not broken.
        let text = clean(text).replace("${{ ", "${{\u{a0}").replace(" }}", "\u{a0}}}");
        let (lines, _) = font.wrap(&text, self.room, most);
        for line in lines.into_iter().filter(|line| !line.is_empty()) {
            self.wide(font.width(&line));
            self.pieces.push(Piece::text(PAD, self.y + font.size, class, line));
            self.y += font.size + 4.0;
        }
    }

    fn brief(&mut self, node: &Node) {
        if node.kind != "cron" {
            return self.lines(&node.brief.join(" · "), FACT, "fw-fact", 2);
        }
        for (i, fact) in node.brief.iter().enumerate() {
            if i == 0 {
                self.lines(fact, Font::mono(11.0), "fw-code", 2);
            } else {
                self.lines(fact, FACT, "fw-fact", 1);
            }
        }
    }

    /// A person stands on amber with a solid line, a machine on blue with a dashed one; each with its icon.
    fn gate(&mut self, gate: &crate::preview::Gate) {
        let (look, icon) = if gate.human { ("question", "question") } else { ("machine", "agent") };
        let room = self.room - 34.0;
        let (lines, _) = FACT.wrap(&clean(&gate.text), room, 2);
        let bounds = SMALL.cut(&clean(&gate.bounds), room);
        let mut texts: Vec<(f64, &'static str, String)> = Vec::new();
        let top = self.y + 3.0;
        let mut y = top + 5.0;
        for line in lines {
            self.wide(FACT.width(&line) + 34.0);
            texts.push((y + 11.0, "fw-title fw-tight", line));
            y += 15.0;
        }
        if !bounds.is_empty() {
            self.wide(SMALL.width(&bounds) + 34.0);
            texts.push((y + 10.0, "fw-small", bounds));
            y += 14.0;
        }
        self.pieces.push(Piece::Gate { y: top, height: y + 5.0 - top, look, icon, texts });
        self.y = y + 6.0;
    }

    fn mark(&mut self, mark: &Mark) {
        if let Some(told) = mark.told() {
            let text = format!("{} {told}", mark.sign());
            self.lines(&text, MARK, "fw-mark", 3);
        }
    }

    fn card(self, shape: Shape) -> Card {
        let width = (self.widest + 2.0 * PAD).max(if self.look == "hold" { 60.0 } else { NARROWEST });
        Card {
            width: width.ceil(),
            height: (self.y + 5.0).ceil(),
            shape,
            look: self.look,
            pieces: self.pieces,
        }
    }
}
