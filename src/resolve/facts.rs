//! Definite assignment: which outputs surely have a value when a node is entered, over every path to it.
//!
//! A forward analysis over the flow, by edges: each way out of a step makes other outputs definite. It says only
//! what holds on all paths; for one path on which something is missing see `path`.

use super::flow::{Edge, Flow, NodeIndex};
use super::outputs_of;
use crate::ast::StepKind;
use crate::ir::EdgeKind;
use std::collections::VecDeque;

/// What is definite at each node.
#[derive(Debug)]
pub struct Facts {
    at: Vec<Option<Bits>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

/// Outputs of one step at most.
const WIDTH: usize = 4;

impl Bits {
    fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, bit: usize, on: bool) {
        if let Some(word) = self.0.get_mut(bit / 64) {
            if on {
                *word |= 1 << (bit % 64);
            } else {
                *word &= !(1 << (bit % 64));
            }
        }
    }

    fn has(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    fn meet(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
}

/// Nodes to look at, each at most once at a time.
struct Queue {
    nodes: VecDeque<NodeIndex>,
    waiting: Vec<bool>,
}

impl Queue {
    fn new(count: usize) -> Self {
        Self { nodes: VecDeque::new(), waiting: vec![false; count] }
    }

    fn push(&mut self, node: NodeIndex) {
        if let Some(waits) = self.waiting.get_mut(node.index())
            && !*waits
        {
            *waits = true;
            self.nodes.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<NodeIndex> {
        let node = self.nodes.pop_front()?;
        if let Some(waits) = self.waiting.get_mut(node.index()) {
            *waits = false;
        }
        Some(node)
    }
}

impl Facts {
    /// Runs the analysis to its fixed point.
    #[must_use]
    pub fn of(flow: &Flow<'_>) -> Self {
        let count = flow.graph().node_count();
        let mut facts = Self { at: vec![None; count] };
        let Some(entry) = flow.entry() else { return facts };
        facts.put(entry, Bits::none(count * WIDTH));
        let mut open = Queue::new(count);
        open.push(entry);
        while let Some(from) = open.pop() {
            for (_, edge, to) in flow.leaving(from) {
                let Some(out) = facts.after(flow, from, edge) else { continue };
                let met = match facts.get(to) {
                    None => out,
                    Some(before) => {
                        let mut met = before.clone();
                        met.meet(&out);
                        met
                    }
                };
                if facts.get(to) != Some(&met) {
                    facts.put(to, met);
                    open.push(to);
                    // The way out of a counted loop reads the edges into it, see `after`: that of a loop which
                    // `to` ends an iteration of, and of a loop which such a loop ends an iteration of.
                    let mut changed = vec![to];
                    for a_loop in flow.node(to).into_iter().flat_map(|node| node.scope.iter().rev().copied())
                    {
                        if changed.iter().any(|from| flow.graph().contains_edge(*from, a_loop)) {
                            changed.push(a_loop);
                            open.push(a_loop);
                        }
                    }
                }
            }
        }
        facts
    }

    /// Whether `output` of `step` surely has a value when `reader` is entered. True where nobody comes.
    #[must_use]
    pub fn sure(&self, flow: &Flow<'_>, reader: NodeIndex, step: NodeIndex, output: &str) -> bool {
        let Some(at) = self.get(reader) else { return true };
        let Some(place) = flow.step(step).and_then(|step| position(&step.kind, output)) else { return true };
        at.has(step.index() * WIDTH + place)
    }

    fn get(&self, node: NodeIndex) -> Option<&Bits> {
        self.at.get(node.index())?.as_ref()
    }

    fn put(&mut self, node: NodeIndex, bits: Bits) {
        if let Some(place) = self.at.get_mut(node.index()) {
            *place = Some(bits);
        }
    }

    /// What is definite behind an edge. The last iteration of a counted loop is over only after a body, so that
    /// edge carries what all ends of the body have in common and nothing of the first entry.
    fn after(&self, flow: &Flow<'_>, from: NodeIndex, edge: &Edge) -> Option<Bits> {
        if edge.kind == EdgeKind::Exhausted {
            let mut met: Option<Bits> = None;
            for (_, back, source) in flow.entering(from) {
                if !flow.is_back(source, from) || self.get(source).is_none() {
                    continue;
                }
                let out = self.after(flow, source, back)?;
                match &mut met {
                    None => met = Some(out),
                    Some(met) => met.meet(&out),
                }
            }
            return met;
        }
        let mut bits = self.get(from)?.clone();
        let step = flow.step(from)?;
        for (i, output) in outputs_of(&step.kind).iter().enumerate() {
            bits.set(from.index() * WIDTH + i, gives(&step.kind, edge, output));
        }
        Some(bits)
    }
}

fn position(kind: &StepKind, output: &str) -> Option<usize> {
    outputs_of(kind).iter().position(|name| *name == output)
}

/// Whether leaving a step of this kind by this edge makes the output definite.
#[must_use]
pub fn gives(kind: &StepKind, edge: &Edge, output: &str) -> bool {
    match kind {
        StepKind::Cron(_) | StepKind::Pick(_) => edge.kind == EdgeKind::Next,
        StepKind::Question(_) => matches!(edge.kind, EdgeKind::Choice(_) | EdgeKind::Resume),
        StepKind::Agent(_) => edge.kind == EdgeKind::Next || matches!(output, "outcome" | "summary"),
        StepKind::Loop(_) | StepKind::Switch(_) | StepKind::Stop(_) => false,
        StepKind::Hole => true,
    }
}
