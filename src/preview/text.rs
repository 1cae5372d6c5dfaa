//! The sketch as a listing for a terminal: a heading, then every step with what it needs and where it leads; the
//! body of a loop stands in a box. Legible without colours and in 100 columns.

use super::{Edge, Group, Mark, Node, Sketch};
use crate::escape::visible;
use std::collections::HashSet;

/// Columns that the listing keeps to where words allow it.
const WIDTH: usize = 98;
/// Column of the facts of a step, after its key.
const KEY_WIDTH: usize = 9;
/// Deeper loops are not indented further.
const DEEPEST: usize = 12;

pub(super) fn print(sketch: &Sketch, color: bool) -> String {
    let mut listing = Listing { sketch, paint: Paint { color }, drawn: HashSet::new(), out: String::new() };
    listing.heading();
    listing.body(None, "");
    // What a forged file hides in a circle of loops is shown all the same.
    for node in &sketch.nodes {
        if !listing.drawn.contains(node.name.as_str()) {
            listing.out.push('\n');
            listing.step(node, "");
        }
    }
    listing.out
}

struct Listing<'a> {
    sketch: &'a Sketch,
    paint: Paint,
    drawn: HashSet<&'a str>,
    out: String,
}

impl<'a> Listing<'a> {
    fn heading(&mut self) {
        let sketch = self.sketch;
        let name = self.paint.bold(&visible(&sketch.name));
        let digest = self.paint.dim(&visible(&sketch.digest_short));
        self.line("", &format!("{name}  {digest}"));
        if let Some(title) = &sketch.title {
            self.wrapped("", "", &one_line(title));
        }
        for fact in &sketch.facts {
            self.wrapped("", "  ", fact);
        }
        for fact in &sketch.proved {
            self.wrapped("", "  ✓ ", fact);
        }
        for change in sketch.compared.iter().flat_map(|compared| &compared.changes) {
            self.wrapped("", "~ ", change);
        }
    }

    /// The steps of a loop body, or those outside all loops.
    fn body(&mut self, group: Option<&'a Group>, margin: &str) {
        let sketch = self.sketch;
        let known = |name: &String| sketch.groups.iter().any(|group| group.name == *name);
        for node in &sketch.nodes {
            let here = match (&node.group, group) {
                (Some(inner), Some(group)) => *inner == group.name,
                (Some(inner), None) => !known(inner),
                (None, group) => group.is_none(),
            };
            if !here || self.drawn.contains(node.name.as_str()) {
                continue;
            }
            self.line(margin, "");
            match sketch.groups.iter().find(|group| group.name == node.name) {
                Some(inner) if margin.chars().count() < 2 * DEEPEST => self.repeated(node, inner, margin),
                Some(_) | None => self.step(node, margin),
            }
        }
    }

    fn step(&mut self, node: &'a Node, margin: &str) {
        self.drawn.insert(&node.name);
        self.head(node, margin, "");
        let edges = self.leaving(node);
        let rail = if edges.is_empty() { "  " } else { "│ " };
        self.details(node, &format!("{margin}{rail}"));
        self.edges(node, &edges, margin, "└─");
    }

    /// A loop: its head, the steps of its body in a box, and where it leads.
    fn repeated(&mut self, node: &'a Node, group: &'a Group, margin: &str) {
        self.drawn.insert(&node.name);
        self.head(node, margin, "╭─ ");
        let inner = format!("{margin}│ ");
        self.details(node, &inner);
        let (begins, leaves): (Vec<&Edge>, Vec<&Edge>) = self
            .leaving(node)
            .into_iter()
            .partition(|edge| edge.ways.iter().any(|way| way.when == "each time"));
        for edge in begins {
            self.edge(node, edge, margin, "├─");
        }
        self.body(Some(group), &inner);
        self.line(&inner, "");
        if leaves.is_empty() {
            self.line(margin, "╰─");
        }
        self.edges(node, &leaves, margin, "╰─");
    }

    fn head(&mut self, node: &Node, margin: &str, corner: &str) {
        let kind = match node.stop {
            Some(status) => format!("stop {status}"),
            None => node.kind.to_owned(),
        };
        let start = if self.sketch.start.as_ref() == Some(&node.name) { "  ← start" } else { "" };
        let marked = marked(&node.mark);
        let title = if Some(node.title.as_str()) == node.stop { "" } else { node.title.as_str() };
        let mark = mark(node.kind);
        let name = visible(&node.name);
        let plain = format!("{corner}{mark} {name}  ");
        // A step that is named after its kind does not say it twice.
        let kind = if kind == node.name { String::new() } else { format!("{kind}  ") };
        let lead = format!(
            "{corner}{} {}  {}",
            self.paint.accent(node.kind, mark),
            self.paint.bold(&name),
            self.paint.dim(&kind)
        );
        let hanging = plain.chars().count() + kind.chars().count();
        let room = WIDTH.saturating_sub(margin.chars().count() + hanging + start.chars().count()).max(24);
        let room = room.saturating_sub(marked.chars().count()).max(24);
        let title = visible(title);
        let mut lines = wrap(&title, room).into_iter();
        let first = lines.next().unwrap_or_default();
        let marked = self.paint.mark(&node.mark, &marked);
        self.line(margin, format!("{lead}{first}{marked}{}", self.paint.dim(start)).trim_end());
        let rail = if self.leaving(node).is_empty() { "  " } else { "│ " };
        for line in lines {
            let gap = " ".repeat(hanging.saturating_sub(2));
            self.line(margin, &format!("{rail}{gap}{line}"));
        }
    }

    fn details(&mut self, node: &Node, margin: &str) {
        for detail in &node.details {
            let key = visible(&detail.key);
            let room = WIDTH.saturating_sub(margin.chars().count() + KEY_WIDTH + 3).max(24);
            let text = visible(&detail.text);
            let pad = " ".repeat(KEY_WIDTH.saturating_sub(key.chars().count()));
            for (i, line) in wrap(&text, room).into_iter().enumerate() {
                if i == 0 {
                    self.line(margin, &format!("  {}{pad} {line}", self.paint.dim(&key)));
                } else {
                    self.line(margin, &format!("  {} {line}", " ".repeat(KEY_WIDTH)));
                }
            }
        }
    }

    fn leaving(&self, node: &Node) -> Vec<&'a Edge> {
        let sketch = self.sketch;
        sketch.edges.iter().filter(|edge| edge.from == node.name).collect()
    }

    fn edges(&mut self, node: &Node, edges: &[&Edge], margin: &str, last: &str) {
        for (i, edge) in edges.iter().enumerate() {
            let corner = if i + 1 == edges.len() { last } else { "├─" };
            self.edge(node, edge, margin, corner);
        }
    }

    fn edge(&mut self, node: &Node, edge: &Edge, margin: &str, corner: &str) {
        let target = match self.sketch.node(&edge.to).and_then(|node| node.stop) {
            Some(status) => format!("{} (stop {status})", edge.to),
            None if edge.to == node.name => format!("{} (itself)", edge.to),
            None => edge.to.clone(),
        };
        let label = edge.label();
        let words = if label.is_empty() { String::new() } else { format!("{} ", visible(&label)) };
        let text = format!("{words}→ {}", visible(&target));
        let text = if edge.faint { self.paint.dim(&text) } else { text };
        let marked = self.paint.mark(&edge.mark, &marked(&edge.mark));
        self.line(margin, &format!("{corner} {text}{marked}"));
    }

    fn wrapped(&mut self, margin: &str, indent: &str, text: &str) {
        let room = WIDTH.saturating_sub(margin.chars().count() + indent.chars().count());
        for line in wrap(&visible(text), room) {
            self.line(margin, &format!("{indent}{line}"));
        }
    }

    fn line(&mut self, margin: &str, text: &str) {
        let line = format!("{margin}{text}");
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

/// What a comparison says, for the end of a line.
fn marked(mark: &Mark) -> String {
    mark.told().map(|told| format!("  [{} {}]", mark.sign(), visible(&told))).unwrap_or_default()
}

fn mark(kind: &str) -> &'static str {
    match kind {
        "question" => "◆",
        "agent" => "●",
        "cron" => "◷",
        "loop" => "↻",
        "switch" => "◇",
        "pick" => "▽",
        "hold" => "‖",
        _ => "■",
    }
}

#[derive(Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn code(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.code("2", text)
    }

    fn mark(self, mark: &Mark, text: &str) -> String {
        match mark {
            Mark::Same => text.to_owned(),
            Mark::Added => self.code("32", text),
            Mark::Removed => self.code("31", text),
            Mark::Changed(_) => self.code("33", text),
        }
    }

    fn accent(self, kind: &str, text: &str) -> String {
        let code = match kind {
            "question" => "33",
            "agent" => "34",
            "cron" => "35",
            "hold" => "31",
            "end" => "32",
            _ => "36",
        };
        self.code(code, text)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines of at most `room` characters where words allow it; at least one line.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut width = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > room {
            lines.push(std::mem::take(&mut line));
            width = 0;
        }
        if width > 0 {
            line.push(' ');
            width += 1;
        }
        line.push_str(word);
        width += length;
    }
    lines.push(line);
    lines
}
