//! Which loops are around a node, by numbers: the question that layout and frames ask most. Nothing here draws.

use crate::preview::Sketch;
use std::collections::HashMap;

/// The loops around each node, innermost first. The head of a loop is within its own loop here.
#[derive(Debug)]
pub(super) struct Nest {
    around: Vec<Vec<usize>>,
    /// Numbers of the loops, outer ones before inner ones.
    pub loops: Vec<usize>,
}

impl Nest {
    pub(super) fn of(sketch: &Sketch, numbers: &HashMap<&str, usize>) -> Self {
        let mut parents: HashMap<&str, Option<&str>> = HashMap::new();
        for group in &sketch.groups {
            parents.insert(&group.name, group.parent.as_deref());
        }
        let number = |name: &str| numbers.get(name).copied();
        let around = sketch.nodes.iter().map(|node| {
            let own = parents.get_key_value(node.name.as_str()).map(|(name, _)| *name);
            let mut at = own.or(node.group.as_deref().filter(|group| parents.contains_key(group)));
            let mut loops = Vec::new();
            // INVARIANT: groups hold no circle.
            while let Some(name) = at {
                loops.extend(number(name));
                at = parents.get(name).copied().flatten();
            }
            loops
        });
        let around = around.collect();
        Self { around, loops: sketch.groups.iter().filter_map(|group| number(&group.name)).collect() }
    }

    /// The innermost loop around a node, or its own.
    pub(super) fn innermost(&self, node: usize) -> Option<usize> {
        self.around.get(node)?.first().copied()
    }

    /// The loop around a loop.
    pub(super) fn parent(&self, a_loop: usize) -> Option<usize> {
        self.around.get(a_loop)?.get(1).copied()
    }

    /// Whether the node is in the loop, at any depth, or is its head.
    pub(super) fn is_within(&self, node: usize, a_loop: usize) -> bool {
        self.around.get(node).is_some_and(|around| around.contains(&a_loop))
    }
}
