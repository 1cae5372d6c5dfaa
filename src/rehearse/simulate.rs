//! Every path of a workflow, walked on the pure engine up to a bound: what each ends in, what never ends, what is never
//! reached. States that only time, names and texts tell apart are one; any deadline may pass at any time.

mod likeness;
mod moves;
mod sample;
mod time;

use crate::ir::{self, EdgeKind, NodeKind};
use moves::Position;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// States that are looked at where nothing else is asked for.
pub const BOUND: usize = 10_000;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// Different states.
    pub states: usize,
    /// Moves between them.
    pub moves: usize,
    /// Whether every path was walked to its end: the bound was not reached, and nothing is missing.
    pub is_complete: bool,
    /// Places where a session ends or is held, with a shortest path there.
    pub ends: Vec<End>,
    /// States from which no move leads to an end or a hold: a shortest path to each step where that is so.
    pub endless: Vec<Path>,
    /// `end` and `stop` that no path reaches; empty unless everything was walked.
    pub unreached: Vec<String>,
    /// What could not be made up, so that paths are missing: one sentence each.
    pub gaps: Vec<String>,
}

/// A way from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The step that it leads to.
    pub step: String,
    /// What happens on the way, in order.
    pub moves: Vec<String>,
}

/// Where a session ends or is held.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Whether a person must act; otherwise the session is over.
    pub is_held: bool,
    /// `completed`, `failed`, `cancelled`, `needs_attention`.
    pub status: &'static str,
    /// Why, or empty.
    pub reason: String,
    /// The place of rest or the held step, and the shortest way there.
    pub path: Path,
    /// Different states that end here.
    pub states: usize,
}

/// A state that was found, and how.
struct Found {
    position: Position,
    from: Option<(usize, String)>,
    leads_to: Vec<usize>,
}

/// Walks all paths, at most `bound` states.
#[must_use]
pub fn simulate(ir: &ir::Workflow, bound: usize) -> Simulated {
    let mut walk = Walk {
        made: sample::Made::of(ir),
        ir,
        found: Vec::new(),
        known: HashMap::new(),
        queue: VecDeque::new(),
        bound,
        moves: 0,
        is_complete: true,
    };
    walk.all();
    walk.report()
}

struct Walk<'a> {
    ir: &'a ir::Workflow,
    made: sample::Made,
    found: Vec<Found>,
    known: HashMap<String, usize>,
    queue: VecDeque<usize>,
    bound: usize,
    moves: usize,
    is_complete: bool,
}

impl Walk<'_> {
    fn all(&mut self) {
        for (label, position) in moves::starts(self.ir, &mut self.made) {
            self.arrive(position, None, label);
        }
        while let Some(at) = self.queue.pop_front() {
            let Some(position) = self.found.get(at).map(|found| found.position.clone()) else { continue };
            for (label, next) in moves::moves(self.ir, &self.made, &position) {
                self.moves += 1;
                self.arrive(next, Some(at), label);
            }
        }
    }

    fn arrive(&mut self, position: Position, from: Option<usize>, label: String) {
        let key = likeness::key(self.ir, &position);
        let number = match self.known.get(&key) {
            Some(number) => *number,
            None if self.found.len() >= self.bound => {
                self.is_complete = false;
                return;
            }
            None => {
                let number = self.found.len();
                let from = from.map(|from| (from, label));
                self.found.push(Found { position, from, leads_to: Vec::new() });
                self.known.insert(key, number);
                self.queue.push_back(number);
                number
            }
        };
        if let Some(found) = from.and_then(|from| self.found.get_mut(from)) {
            found.leads_to.push(number);
        }
    }

    fn path(&self, to: usize) -> Path {
        let mut moves = Vec::new();
        let mut at = to;
        // Each state was found from an earlier one.
        while let Some((from, label)) = self.found.get(at).and_then(|found| found.from.as_ref()) {
            moves.push(label.clone());
            at = *from;
        }
        moves.reverse();
        let step = self.found.get(to).map(|found| found.position.step()).unwrap_or_default();
        Path { step, moves }
    }

    fn report(&self) -> Simulated {
        let mut ends: BTreeMap<(bool, String, String), End> = BTreeMap::new();
        for (number, found) in self.found.iter().enumerate() {
            let Some((is_held, status, reason)) = found.position.rest() else { continue };
            let key = (is_held, found.position.step(), reason.clone());
            let path = || self.path(number);
            let end =
                ends.entry(key).or_insert_with(|| End { is_held, status, reason, path: path(), states: 0 });
            end.states += 1;
        }
        let reached: Vec<&str> = ends.keys().map(|(_, step, _)| step.as_str()).collect();
        let gaps = self.made.gaps();
        // Where paths are missing, nothing is known to be shut out or endless.
        let is_complete = self.is_complete && gaps.is_empty();
        let unreached = if is_complete { self.unreached(&reached) } else { Vec::new() };
        Simulated {
            states: self.found.len(),
            moves: self.moves,
            is_complete,
            endless: if is_complete { self.endless() } else { Vec::new() },
            unreached,
            gaps,
            ends: ends.into_values().collect(),
        }
    }

    /// Places of rest that something leads to in the graph, and no path in fact.
    fn unreached(&self, reached: &[&str]) -> Vec<String> {
        let graph = self.ir.graph();
        let rests =
            graph.nodes().filter(|(_, node)| matches!(node.kind, NodeKind::End | NodeKind::Stop { .. }));
        let is_led_to =
            |name: &str| graph.edges().any(|(_, to, edge)| to.name == name && edge.kind != EdgeKind::Resume);
        let names = rests.map(|(_, node)| node.name.clone());
        names.filter(|name| is_led_to(name) && !reached.contains(&name.as_str())).collect()
    }

    /// One path to each step where a state lies from which nothing leads to rest.
    fn endless(&self) -> Vec<Path> {
        let mut comes_from: Vec<Vec<usize>> = vec![Vec::new(); self.found.len()];
        for (number, found) in self.found.iter().enumerate() {
            for to in &found.leads_to {
                if let Some(list) = comes_from.get_mut(*to) {
                    list.push(number);
                }
            }
        }
        let mut ends = vec![false; self.found.len()];
        let mut queue: Vec<usize> = Vec::new();
        for (number, found) in self.found.iter().enumerate() {
            if found.position.rest().is_some() {
                queue.push(number);
            }
        }
        while let Some(at) = queue.pop() {
            if let Some(seen) = ends.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                queue.extend(comes_from.get(at).into_iter().flatten());
            }
        }
        let mut paths: BTreeMap<String, Path> = BTreeMap::new();
        for (number, _) in ends.iter().enumerate().filter(|(_, ends)| !**ends) {
            let path = self.path(number);
            paths.entry(path.step.clone()).or_insert(path);
        }
        paths.into_values().collect()
    }
}
