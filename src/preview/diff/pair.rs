//! Which node of the older graph is which of the newer one. Nothing here looks at what changed in a pair.

use crate::ir;
use std::collections::{HashMap, HashSet};

/// Matched nodes by name.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    old_to_new: HashMap<String, String>,
    new_to_old: HashMap<String, String>,
}

impl Pairs {
    pub(super) fn new_name(&self, old: &str) -> Option<&str> {
        self.old_to_new.get(old).map(String::as_str)
    }

    pub(super) fn old_name(&self, new: &str) -> Option<&str> {
        self.new_to_old.get(new).map(String::as_str)
    }

    pub(super) fn of(old: &ir::Graph, new: &ir::Graph) -> Self {
        let mut pairs = Self::default();
        for (_, node) in old.nodes().filter(|(_, node)| !is_numbered(node)) {
            if new.by_name(&node.name).is_some_and(|other| !is_numbered(other)) {
                pairs.join(&node.name, &node.name);
            }
        }
        let kinds: HashSet<&str> = old.nodes().map(|(_, node)| node.kind.word()).collect();
        let mut kinds: Vec<&str> = kinds.into_iter().collect();
        // Stops are known by who leads to them, so they come when the others are matched.
        kinds.sort_by_key(|kind| (*kind == "stop", *kind));
        for kind in kinds {
            pairs.align(old, new, kind);
        }
        pairs
    }

    fn join(&mut self, old: &str, new: &str) {
        self.old_to_new.insert(old.to_owned(), new.to_owned());
        self.new_to_old.insert(new.to_owned(), old.to_owned());
    }

    /// Numbered nodes of one kind: those that say the same pair in order; between two such pairs the rest pairs in
    /// order too.
    fn align(&mut self, old: &ir::Graph, new: &ir::Graph, kind: &str) {
        let numbered = |graph: &ir::Graph| -> Vec<ir::Node> {
            let nodes = graph.nodes().map(|(_, node)| node);
            nodes.filter(|node| is_numbered(node) && node.kind.word() == kind).cloned().collect()
        };
        let (before, after) = (numbered(old), numbered(new));
        let as_now = |name: &str| self.new_name(name).unwrap_or(name).to_owned();
        let old_signs: Vec<String> = before.iter().map(|node| sign(old, node, as_now)).collect();
        let new_signs: Vec<String> = after.iter().map(|node| sign(new, node, str::to_owned)).collect();
        let mut anchors = common(&old_signs, &new_signs);
        anchors.push((before.len(), after.len()));
        let (mut i, mut j) = (0, 0);
        for (old_anchor, new_anchor) in anchors {
            let rest = before.get(i..old_anchor).into_iter().flatten();
            for (a, b) in rest.zip(after.get(j..new_anchor).into_iter().flatten()) {
                self.join(&a.name, &b.name);
            }
            if let (Some(a), Some(b)) = (before.get(old_anchor), after.get(new_anchor)) {
                self.join(&a.name, &b.name);
            }
            (i, j) = (old_anchor + 1, new_anchor + 1);
        }
    }
}

/// Whether the name is `kind-7`: given by the compiler, or chosen as if it were.
fn is_numbered(node: &ir::Node) -> bool {
    let number = node.name.strip_prefix(node.kind.word()).and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What a numbered node is known by: what it says, and of a stop who leads to it.
fn sign(graph: &ir::Graph, node: &ir::Node, name: impl Fn(&str) -> String) -> String {
    let said = serde_json::to_string(&node.kind).unwrap_or_default();
    if node.kind.word() != "stop" {
        return said;
    }
    let led = graph.edges().filter(|(_, to, _)| to.name == node.name);
    let led: Vec<String> =
        led.map(|(from, _, edge)| format!("{} {:?}", name(&from.name), edge.kind)).collect();
    format!("{said} {}", led.join(" "))
}

/// A longest common subsequence as pairs of places. The languages bounds steps to 500, so the table stays small.
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut table = vec![0_u32; (old.len() + 1) * width];
    let at = |table: &[u32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let longest = if a == b {
                at(&table, i + 1, j + 1) + 1
            } else {
                at(&table, i + 1, j).max(at(&table, i, j + 1))
            };
            if let Some(place) = table.get_mut(i * width + j) {
                *place = longest;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(a), Some(b)) = (old.get(i), new.get(j)) {
        if a == b {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if at(&table, i + 1, j) >= at(&table, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
