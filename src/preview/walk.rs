//! The order in which a drawing by numbers is written: loop bodies with what is in them, the nodes outside, then the
//! edges. The number of a node is its place in the sketch; each node is drawn once. Pens know the syntax.

use super::{Edge, Group, Node, Sketch};
use std::collections::{HashMap, HashSet};

/// Writes the parts of a drawing in some syntax.
pub(super) trait Pen {
    /// The session begins at this node.
    fn start(&mut self, number: usize);
    /// A loop body begins; its head is drawn next, inside.
    fn open(&mut self, number: usize, head: &Node, indent: &str);
    /// The loop body ends.
    fn close(&mut self, indent: &str);
    /// A node.
    fn node(&mut self, number: usize, node: &Node, indent: &str);
    /// An edge between two nodes.
    fn edge(&mut self, from: usize, to: usize, edge: &Edge);
}

/// Draws the whole sketch.
pub(super) fn draw(sketch: &Sketch, pen: &mut impl Pen) {
    let numbers: HashMap<&str, usize> =
        sketch.nodes.iter().enumerate().map(|(number, node)| (node.name.as_str(), number)).collect();
    if let Some(start) = sketch.start.as_deref().and_then(|start| numbers.get(start)) {
        pen.start(*start);
    }
    let mut walk = Walk { sketch, numbers, drawn: HashSet::new() };
    for group in sketch.groups.iter().filter(|group| group.parent.is_none()) {
        walk.group(group, 1, pen);
    }
    for node in &sketch.nodes {
        walk.node(node, 1, pen);
    }
    for edge in &sketch.edges {
        if let (Some(from), Some(to)) = (walk.number(&edge.from), walk.number(&edge.to)) {
            pen.edge(from, to, edge);
        }
    }
}

struct Walk<'a> {
    sketch: &'a Sketch,
    numbers: HashMap<&'a str, usize>,
    drawn: HashSet<&'a str>,
}

impl<'a> Walk<'a> {
    fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Depth is the depth of loops, which the readers bound; `groups` holds no circle.
    fn group(&mut self, group: &'a Group, depth: usize, pen: &mut impl Pen) {
        let sketch = self.sketch;
        let Some((number, head)) = self.number(&group.name).zip(sketch.node(&group.name)) else { return };
        let indent = "  ".repeat(depth);
        pen.open(number, head, &indent);
        self.node(head, depth + 1, pen);
        for node in sketch.nodes.iter().filter(|node| node.group.as_ref() == Some(&group.name)) {
            if node.kind != "loop" {
                self.node(node, depth + 1, pen);
            }
        }
        for inner in sketch.groups.iter().filter(|inner| inner.parent.as_ref() == Some(&group.name)) {
            self.group(inner, depth + 1, pen);
        }
        pen.close(&indent);
    }

    fn node(&mut self, node: &'a Node, depth: usize, pen: &mut impl Pen) {
        if self.drawn.insert(&node.name) {
            let number = self.number(&node.name).unwrap_or_default();
            pen.node(number, node, &"  ".repeat(depth));
        }
    }
}
