//! The sketch as a Mermaid flowchart. Every word of the author stands in a quoted label, encoded, so that it can
//! neither end the label nor be read as markup, as a directive or as a comment.

use super::{Edge, Group, Node, Sketch};
use crate::escape::visible;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

const CLASSES: &str = "  classDef question fill:#fff4d6,stroke:#b7791f,color:#3b2a07
  classDef agent fill:#e3edff,stroke:#2b5fb8,color:#0f2347
  classDef cron fill:#e9e3fb,stroke:#6b46c1,color:#2a1a57
  classDef loop fill:#eef2f6,stroke:#52606d,color:#1f2933
  classDef switch fill:#e2f5f3,stroke:#1f7a72,color:#0b3330
  classDef pick fill:#e2f5f3,stroke:#1f7a72,color:#0b3330
  classDef stop fill:#f4f4f5,stroke:#52525b,color:#18181b
  classDef end_ fill:#e1f5e4,stroke:#2f855a,color:#123822
  classDef hold fill:#fde4e1,stroke:#c53030,color:#5a1010,stroke-dasharray:4 3
";

pub(super) fn print(sketch: &Sketch) -> String {
    let mut chart = Chart { sketch, numbers: HashMap::new(), drawn: HashSet::new(), out: String::new() };
    for (number, node) in sketch.nodes.iter().enumerate() {
        chart.numbers.insert(&node.name, number);
    }
    chart.draw();
    chart.out
}

struct Chart<'a> {
    sketch: &'a Sketch,
    numbers: HashMap<&'a str, usize>,
    drawn: HashSet<&'a str>,
    out: String,
}

impl<'a> Chart<'a> {
    fn draw(&mut self) {
        let sketch = self.sketch;
        let _ = writeln!(self.out, "flowchart TD");
        let _ = writeln!(self.out, "  %% {} {}", encode(&sketch.name), encode(&sketch.digest_short));
        if let Some(start) = sketch.start.as_deref().and_then(|start| self.numbers.get(start)) {
            let _ = writeln!(self.out, "  start(( )) --> n{start}");
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
        self.out.push_str(CLASSES);
    }

    /// Depth is the depth of loops, which the readers bound; `groups` holds no circle.
    fn group(&mut self, group: &'a Group, depth: usize) {
        let sketch = self.sketch;
        let Some(head) = sketch.node(&group.name) else { return };
        let number = self.numbers.get(group.name.as_str()).copied().unwrap_or_default();
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}subgraph g{number}[\"↻ {}\"]", encode(&head.name));
        self.node(head, depth + 1);
        for node in sketch.nodes.iter().filter(|node| node.group.as_ref() == Some(&group.name)) {
            if node.kind != "loop" {
                self.node(node, depth + 1);
            }
        }
        for inner in sketch.groups.iter().filter(|inner| inner.parent.as_ref() == Some(&group.name)) {
            self.group(inner, depth + 1);
        }
        let _ = writeln!(self.out, "{indent}end");
    }

    fn node(&mut self, node: &'a Node, depth: usize) {
        if !self.drawn.insert(&node.name) {
            return;
        }
        let number = self.numbers.get(node.name.as_str()).copied().unwrap_or_default();
        let (open, close) = shape(node.kind);
        let mut label = format!("<b>{}</b>", encode(&node.name));
        if node.title != node.name {
            let _ = write!(label, "<br/>{}", encode(&node.title));
        }
        for detail in &node.details {
            let _ = write!(label, "<br/><small>{}: {}</small>", encode(&detail.key), encode(&detail.text));
        }
        let class = if node.kind == "end" { "end_" } else { node.kind };
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}n{number}{open}\"{label}\"{close}:::{class}");
    }

    fn edge(&mut self, edge: &Edge) {
        let (Some(from), Some(to)) =
            (self.numbers.get(edge.from.as_str()), self.numbers.get(edge.to.as_str()))
        else {
            return;
        };
        let arrow = if edge.faint { "-.->" } else { "-->" };
        let label = edge.label();
        let label = if label.is_empty() { String::new() } else { format!("|\"{}\"|", encode(&label)) };
        let _ = writeln!(self.out, "  n{from} {arrow}{label} n{to}");
    }
}

fn shape(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "question" => ("[/", "/]"),
        "cron" => ("([", "])"),
        "loop" => ("{{", "}}"),
        "switch" | "pick" => ("{", "}"),
        "stop" | "end" => ("(((", ")))"),
        "hold" => ("[[", "]]"),
        _ => ("[", "]"),
    }
}

/// Entity codes for everything that Mermaid, Markdown or HTML could read as markup, the marks of a list included.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut digits_so_far = true;
    for (i, c) in visible(text).chars().enumerate() {
        let opens_list = (i == 0 && matches!(c, '-' | '+')) || (i > 0 && digits_so_far && c == '.');
        digits_so_far &= c.is_ascii_digit();
        match c {
            '"' => out.push_str("#quot;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' | '%' | '\'' | '(' | ')' | '*' | ':' | ';' | '[' | ']' | '\\' | '_' | '`' | '{' | '|'
            | '}' | '~' => {
                push_code(c, &mut out);
            }
            _ if opens_list => push_code(c, &mut out),
            _ => out.push(c),
        }
    }
    out
}

fn push_code(c: char, out: &mut String) {
    // Writing into a String cannot fail.
    let _ = write!(out, "#{};", u32::from(c));
}
