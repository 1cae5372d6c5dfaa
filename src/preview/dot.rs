//! The sketch as a Graphviz digraph. Every word of the author stands in a quoted string, so nothing of it is read as
//! an attribute, an edge or HTML.

use super::walk::{self, Pen};
use super::{Edge, Mark, Node, Sketch};
use crate::escape::visible;
use std::fmt::Write as _;

/// Longer lines of a label are broken, in characters.
const WIDEST: usize = 48;

pub(super) fn print(sketch: &Sketch) -> String {
    let name = quote(&sketch.name);
    let mut label = format!("{name}  {}", quote(&sketch.digest_short));
    let changes = sketch.compared.iter().flat_map(|compared| &compared.changes);
    for line in sketch.facts.iter().cloned().chain(changes.map(|change| format!("~ {change}"))) {
        // Writing into a String cannot fail, here and below.
        let _ = write!(label, "\\l{}", broken(&line));
    }
    label.push_str("\\l");
    let mut out = format!("digraph \"{name}\" {{\n");
    let _ = writeln!(out, "  label=\"{label}\"; labelloc=t; labeljust=l;");
    out.push_str("  rankdir=TB; fontname=\"sans-serif\"; compound=true;\n");
    out.push_str(
        "  node [fontname=\"sans-serif\", fontsize=10, shape=box, style=\"rounded,filled\", fillcolor=white];\n",
    );
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=9];\n");
    let mut drawing = Drawing { out };
    walk::draw(sketch, &mut drawing);
    drawing.out.push_str("}\n");
    drawing.out
}

struct Drawing {
    out: String,
}

impl Pen for Drawing {
    fn start(&mut self, number: usize) {
        self.out.push_str("  start [label=\"\", shape=circle, width=0.2, fillcolor=black];\n");
        let _ = writeln!(self.out, "  start -> n{number};");
    }

    fn open(&mut self, number: usize, head: &Node, indent: &str) {
        let words: Vec<&str> = std::iter::once(&head.name).chain(&head.brief).map(String::as_str).collect();
        let label = quote(&words.join(" · "));
        let _ = writeln!(self.out, "{indent}subgraph cluster_{number} {{");
        let _ = writeln!(self.out, "{indent}  label=\"↻ {label}\"; style=rounded; color=gray50;");
    }

    fn close(&mut self, indent: &str) {
        let _ = writeln!(self.out, "{indent}}}");
    }

    fn node(&mut self, number: usize, node: &Node, indent: &str) {
        let mut label = format!("{}\\n{}", quote(&node.name), broken(&node.title));
        for detail in &node.details {
            let _ = write!(label, "\\n{}", broken(&format!("{}: {}", detail.key, detail.text)));
        }
        if let Some(told) = node.mark.told() {
            let _ = write!(label, "\\n{} {}", node.mark.sign(), broken(&told));
        }
        let mark = colour(&node.mark).map(|colour| format!(", color=\"{colour}\", penwidth=3"));
        let look = look(node.kind);
        let _ =
            writeln!(self.out, "{indent}n{number} [label=\"{label}\", {look}{}];", mark.unwrap_or_default());
    }

    fn edge(&mut self, from: usize, to: usize, edge: &Edge) {
        let mut style = if edge.faint { ", style=dashed" } else { "" }.to_owned();
        match colour(&edge.mark) {
            Some(colour) => {
                let _ = write!(style, ", color=\"{colour}\", penwidth=2");
            }
            None if edge.faint => style.push_str(", color=gray50"),
            None => {}
        }
        let label = quote(&edge.label());
        let sign = edge.mark.sign();
        let gap = if sign.is_empty() || label.is_empty() { "" } else { " " };
        let _ = writeln!(self.out, "  n{from} -> n{to} [label=\"{sign}{gap}{label}\"{style}];");
    }
}

fn colour(mark: &Mark) -> Option<&'static str> {
    match mark {
        Mark::Same => None,
        Mark::Added => Some("#1a7f37"),
        Mark::Removed => Some("#cf222e"),
        Mark::Changed(_) => Some("#9a6700"),
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
