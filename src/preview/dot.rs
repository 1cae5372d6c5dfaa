//! The sketch as a Graphviz digraph. Every word of the author stands in a quoted string, so nothing of it is read as
//! an attribute, an edge or HTML.

use super::{Edge, Group, Node, Sketch};
use crate::escape::visible;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Longer lines of a label are broken, in characters.
const WIDEST: usize = 48;

pub(super) fn print(sketch: &Sketch) -> String {
    let mut drawing = Drawing { sketch, numbers: HashMap::new(), drawn: HashSet::new(), out: String::new() };
    for (number, node) in sketch.nodes.iter().enumerate() {
        drawing.numbers.insert(&node.name, number);
    }
    drawing.draw();
    drawing.out
}

struct Drawing<'a> {
    sketch: &'a Sketch,
    numbers: HashMap<&'a str, usize>,
    drawn: HashSet<&'a str>,
    out: String,
}

impl<'a> Drawing<'a> {
    fn draw(&mut self) {
        let sketch = self.sketch;
        let name = quote(&sketch.name);
        let _ = writeln!(self.out, "digraph \"{name}\" {{");
        let _ = writeln!(
            self.out,
            "  label=\"{name}  {}\"; labelloc=t; labeljust=l;",
            quote(&sketch.digest_short)
        );
        self.out.push_str("  rankdir=TB; fontname=\"sans-serif\"; compound=true;\n");
        self.out.push_str(
            "  node [fontname=\"sans-serif\", fontsize=10, shape=box, style=\"rounded,filled\", fillcolor=white];\n",
        );
        self.out.push_str("  edge [fontname=\"sans-serif\", fontsize=9];\n");
        if let Some(start) = sketch.start.as_deref().and_then(|start| self.numbers.get(start)) {
            self.out.push_str("  start [label=\"\", shape=circle, width=0.2, fillcolor=black];\n");
            let _ = writeln!(self.out, "  start -> n{start};");
        }
        for group in sketch.groups.iter().filter(|group| group.parent.is_none()) {
            self.group(group, 1);
        }
        for node in &sketch.nodes {
            self.node(node, 1);
        }
        for edge in &sketch.edges {
            self.edge(edge);
        }
        self.out.push_str("}\n");
    }

    /// Depth is the depth of loops, which the readers bound; `groups` holds no circle.
    fn group(&mut self, group: &'a Group, depth: usize) {
        let sketch = self.sketch;
        let Some(head) = sketch.node(&group.name) else { return };
        let number = self.numbers.get(group.name.as_str()).copied().unwrap_or_default();
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}subgraph cluster_{number} {{");
        let _ =
            writeln!(self.out, "{indent}  label=\"↻ {}\"; style=rounded; color=gray50;", quote(&head.name));
        self.node(head, depth + 1);
        for node in sketch.nodes.iter().filter(|node| node.group.as_ref() == Some(&group.name)) {
            if node.kind != "loop" {
                self.node(node, depth + 1);
            }
        }
        for inner in sketch.groups.iter().filter(|inner| inner.parent.as_ref() == Some(&group.name)) {
            self.group(inner, depth + 1);
        }
        let _ = writeln!(self.out, "{indent}}}");
    }

    fn node(&mut self, node: &'a Node, depth: usize) {
        if !self.drawn.insert(&node.name) {
            return;
        }
        let number = self.numbers.get(node.name.as_str()).copied().unwrap_or_default();
        let mut label = format!("{}\\n{}", quote(&node.name), broken(&node.title));
        for detail in &node.details {
            let _ = write!(label, "\\n{}", broken(&format!("{}: {}", detail.key, detail.text)));
        }
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}n{number} [label=\"{label}\", {}];", look(node.kind));
    }

    fn edge(&mut self, edge: &Edge) {
        let (Some(from), Some(to)) =
            (self.numbers.get(edge.from.as_str()), self.numbers.get(edge.to.as_str()))
        else {
            return;
        };
        let style = if edge.faint { ", style=dashed, color=gray50" } else { "" };
        let _ = writeln!(self.out, "  n{from} -> n{to} [label=\"{}\"{style}];", quote(&edge.label()));
    }
}

fn look(kind: &str) -> &'static str {
    match kind {
        "question" => "shape=parallelogram, style=filled, fillcolor=\"#fff4d6\"",
        "agent" => "fillcolor=\"#e3edff\"",
        "cron" => "shape=oval, style=filled, fillcolor=\"#e9e3fb\"",
        "loop" => "shape=hexagon, style=filled, fillcolor=\"#eef2f6\"",
        "switch" | "pick" => "shape=diamond, style=filled, fillcolor=\"#e2f5f3\"",
        "end" => "peripheries=2, fillcolor=\"#e1f5e4\"",
        "hold" => "style=\"dashed,filled\", fillcolor=\"#fde4e1\"",
        _ => "peripheries=2, fillcolor=\"#f4f4f5\"",
    }
}

fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The text quoted, with line ends between words where a line grows too wide.
fn broken(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + length >= WIDEST {
            out.push_str("\\n");
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(&quote(word));
        width += length;
    }
    out
}
