//! The sketch as a Mermaid flowchart. Every word of the author stands in a quoted label, encoded, so that it can
//! neither end the label nor be read as markup, as a directive or as a comment.

use super::walk::{self, Pen};
use super::{Edge, Mark, Node, Sketch};
use crate::escape::visible;
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

/// Laid over the class of a node that a comparison marks.
const MARKS: &str = "  classDef added stroke:#1a7f37,stroke-width:3px
  classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 3
  classDef changed stroke:#9a6700,stroke-width:3px
";

pub(super) fn print(sketch: &Sketch) -> String {
    let mut out = "flowchart TD\n".to_owned();
    // Writing into a String cannot fail, here and below.
    let _ = writeln!(out, "  %% {} {}", encode(&sketch.name), encode(&sketch.digest_short));
    for change in sketch.compared.iter().flat_map(|compared| &compared.changes) {
        let _ = writeln!(out, "  %% ~ {}", encode(change));
    }
    let facts = sketch.facts.iter().map(|fact| format!("<br/><small>{}</small>", encode(fact)));
    let heading = format!("<b>{}</b>{}", encode(&sketch.name), facts.collect::<String>());
    let mut chart = Chart { out, heading, marks: String::new(), links: 0 };
    walk::draw(sketch, &mut chart);
    chart.out.push_str(CLASSES);
    if sketch.compared.is_some() {
        chart.out.push_str(MARKS);
        chart.out.push_str(&chart.marks);
    }
    chart.out
}

struct Chart {
    out: String,
    /// What the node before the first says: the name and the facts of the whole.
    heading: String,
    /// What lays marks over nodes and links, for the end.
    marks: String,
    /// Links written so far: Mermaid counts them.
    links: usize,
}

impl Pen for Chart {
    fn start(&mut self, number: usize) {
        let _ = writeln!(self.out, "  start([\"{}\"]) --> n{number}", self.heading);
        self.links += 1;
    }

    fn open(&mut self, number: usize, head: &Node, indent: &str) {
        let label: Vec<String> =
            std::iter::once(&head.name).chain(&head.brief).map(|word| encode(word)).collect();
        let _ = writeln!(self.out, "{indent}subgraph g{number}[\"↻ {}\"]", label.join(" · "));
    }

    fn close(&mut self, indent: &str) {
        let _ = writeln!(self.out, "{indent}end");
    }

    fn node(&mut self, number: usize, node: &Node, indent: &str) {
        let (open, close) = shape(node.kind);
        let mut label = format!("<b>{}</b>", encode(&node.name));
        if node.title != node.name {
            let _ = write!(label, "<br/>{}", encode(&node.title));
        }
        for detail in &node.details {
            let _ = write!(label, "<br/><small>{}: {}</small>", encode(&detail.key), encode(&detail.text));
        }
        if let (Some(told), Some(word)) = (node.mark.told(), node.mark.word()) {
            let _ = write!(label, "<br/><i>{}</i>", encode(&format!("{} {told}", node.mark.sign())));
            let _ = writeln!(self.marks, "  class n{number} {word}");
        }
        let class = if node.kind == "end" { "end_" } else { node.kind };
        let _ = writeln!(self.out, "{indent}n{number}{open}\"{label}\"{close}:::{class}");
    }

    fn edge(&mut self, from: usize, to: usize, edge: &Edge) {
        let arrow = if edge.faint { "-.->" } else { "-->" };
        let words = [edge.mark.sign().to_owned(), edge.label()];
        let words: Vec<_> = words.iter().filter(|word| !word.is_empty()).map(|word| encode(word)).collect();
        let label = if words.is_empty() { String::new() } else { format!("|\"{}\"|", words.join(" ")) };
        let _ = writeln!(self.out, "  n{from} {arrow}{label} n{to}");
        let colour = match edge.mark {
            Mark::Same => None,
            Mark::Added => Some("#1a7f37"),
            Mark::Removed => Some("#cf222e"),
            Mark::Changed(_) => Some("#9a6700"),
        };
        if let Some(colour) = colour {
            let _ = writeln!(self.marks, "  linkStyle {} stroke:{colour},stroke-width:3px", self.links);
        }
        self.links += 1;
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
