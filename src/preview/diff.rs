//! Two workflows in one sketch: what both have, what only one has, and what differs, by the keys of the language.
//!
//! Steps are matched by name; steps that the author gave no name by what they say and by their order, for their names
//! are numbers that shift. Nothing here prints.

mod changes;
mod pair;

use super::{Compared, Edge, Mark, Node, Sketch};
use crate::ir;
use crate::time::Timestamp;
use indexmap::IndexMap;
use pair::Pairs;
use std::collections::HashSet;

/// The sketch of both: the newer one with marks, and what it no longer has.
#[must_use]
pub fn diff(old: &ir::Workflow, new: &ir::Workflow, as_of: Option<Timestamp>) -> Sketch {
    let pairs = Pairs::of(old.graph(), new.graph());
    let mut sketch = Sketch::of(new, as_of);
    let before = Sketch::of(old, as_of);
    let names = Names::of(&pairs, &before, &sketch);
    mark_nodes(&mut sketch, &before, &names, &pairs, (old, new));
    mark_edges(&mut sketch, &before, &names);
    take_groups(&mut sketch, &before, &names);
    let mut found = changes::whole(old, new);
    let start = before.start.as_deref().map(|start| names.now(start));
    if start != sketch.start {
        found.push("a session begins at another step".to_owned());
    }
    let differs = |mark: &Mark| *mark != Mark::Same;
    let shown = !found.is_empty()
        || sketch.nodes.iter().any(|node| differs(&node.mark))
        || sketch.edges.iter().any(|edge| differs(&edge.mark));
    if !shown && old.digest() != new.digest() {
        found.push("steps or their names stand in another order".to_owned());
    }
    sketch.compared = Some(Compared { old_digest: old.digest().as_str().to_owned(), changes: found });
    sketch
}

/// Whether the sketch of a comparison shows any difference.
#[must_use]
pub fn differs(sketch: &Sketch) -> bool {
    sketch.compared.as_ref().is_some_and(|compared| !compared.changes.is_empty())
        || sketch.nodes.iter().any(|node| node.mark != Mark::Same)
        || sketch.edges.iter().any(|edge| edge.mark != Mark::Same)
}

/// What the nodes of the older workflow are called in the common sketch.
struct Names {
    now: IndexMap<String, String>,
}

impl Names {
    fn of(pairs: &Pairs, before: &Sketch, after: &Sketch) -> Self {
        let mut taken: HashSet<String> = after.nodes.iter().map(|node| node.name.clone()).collect();
        let mut now = IndexMap::new();
        for node in &before.nodes {
            let name = match pairs.new_name(&node.name) {
                Some(name) => name.to_owned(),
                // A name that was given to another step since.
                None => {
                    let mut name = node.name.clone();
                    while !taken.insert(name.clone()) {
                        name.push_str(" (old)");
                    }
                    name
                }
            };
            now.insert(node.name.clone(), name);
        }
        Self { now }
    }

    fn now(&self, name: &str) -> String {
        self.now.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }
}

fn mark_nodes(
    sketch: &mut Sketch,
    before: &Sketch,
    names: &Names,
    pairs: &Pairs,
    (old, new): (&ir::Workflow, &ir::Workflow),
) {
    for node in &mut sketch.nodes {
        node.mark = match pairs.old_name(&node.name) {
            None => Mark::Added,
            Some(name) => {
                let ends = old.graph().by_name(name).zip(new.graph().by_name(&node.name));
                let keys = ends.map(|(a, b)| changes::of_node(a, b, old, new, &|name| names.now(name)));
                keys.filter(|keys| !keys.is_empty()).map_or(Mark::Same, Mark::Changed)
            }
        };
    }
    // What is gone stands where it stood: behind the last step before it that is still there.
    let mut after: Option<String> = None;
    for node in &before.nodes {
        let name = names.now(&node.name);
        if pairs.new_name(&node.name).is_none() {
            let group = node.group.as_deref().map(|group| names.now(group));
            let gone = Node { name: name.clone(), group, mark: Mark::Removed, ..node.clone() };
            let place =
                after.as_ref().and_then(|after| sketch.nodes.iter().position(|node| node.name == *after));
            sketch.nodes.insert(place.map_or(0, |place| place + 1), gone);
        }
        after = Some(name);
    }
}

fn mark_edges(sketch: &mut Sketch, before: &Sketch, names: &Names) {
    let mut gone: IndexMap<(String, String), Edge> = IndexMap::new();
    for edge in &before.edges {
        let (from, to) = (names.now(&edge.from), names.now(&edge.to));
        gone.insert((from.clone(), to.clone()), Edge { from, to, mark: Mark::Removed, ..edge.clone() });
    }
    for edge in &mut sketch.edges {
        edge.mark = match gone.shift_remove(&(edge.from.clone(), edge.to.clone())) {
            None => Mark::Added,
            Some(old) if labels(&old) == labels(edge) => Mark::Same,
            Some(old) => Mark::Changed(changed_labels(&old, edge)),
        };
    }
    sketch.edges.extend(gone.into_values());
}

fn labels(edge: &Edge) -> Vec<String> {
    let mut labels: Vec<String> = edge.ways.iter().map(super::Way::label).collect();
    labels.sort();
    labels
}

/// `+approved`, `-rejected`.
fn changed_labels(old: &Edge, new: &Edge) -> Vec<String> {
    let (old, new) = (labels(old), labels(new));
    let shown = |label: &String| if label.is_empty() { "done".to_owned() } else { label.clone() };
    let lost = old.iter().filter(|label| !new.contains(label)).map(|label| format!("-{}", shown(label)));
    let won = new.iter().filter(|label| !old.contains(label)).map(|label| format!("+{}", shown(label)));
    lost.chain(won).collect()
}

/// The bodies of loops that are gone, for what stood in them.
fn take_groups(sketch: &mut Sketch, before: &Sketch, names: &Names) {
    for group in &before.groups {
        let name = names.now(&group.name);
        if sketch.groups.iter().any(|known| known.name == name) || !is_loop(sketch, &name) {
            continue;
        }
        let parent = group.parent.as_deref().map(|parent| names.now(parent));
        let parent = parent.filter(|parent| sketch.groups.iter().any(|known| known.name == *parent));
        sketch.groups.push(super::Group { name, parent });
    }
}

fn is_loop(sketch: &Sketch, name: &str) -> bool {
    sketch.node(name).is_some_and(|node| node.kind == "loop")
}
