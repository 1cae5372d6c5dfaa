//! Walking the graph: entering and leaving nodes, loops begun and left on the way. One decision's working state.

use super::event::{Event, Frame, Remedy};
use super::evolve::evolve;
use super::render;
use super::state::{Hold, Position, State};
use crate::engine::{Principal, SessionId};
use crate::ir::{self, Edge, EdgeKind, NodeKind, StopStatus};
use crate::schedule::Schedule;
use crate::time::Timestamp;
use indexmap::IndexMap;
use serde_json::Value;

/// Nodes that one decision may pass; a definition that turns on the spot is held instead.
const NODES: u32 = 10_000;

/// One decision under way: every event is folded at once, so that what follows sees it.
pub(super) struct Turn<'a> {
    pub ir: &'a ir::Workflow,
    pub state: State,
    pub at: Timestamp,
    pub events: Vec<Event>,
    passed: u32,
}

impl<'a> Turn<'a> {
    pub(super) fn new(ir: &'a ir::Workflow, state: State, at: Timestamp) -> Self {
        Self { ir, state, at, events: Vec::new(), passed: 0 }
    }

    pub(super) fn emit(&mut self, event: Event) {
        evolve(&mut self.state, self.at, &event);
        self.events.push(event);
    }

    /// The node that is open, with its definition.
    pub(super) fn open_node(&self) -> Option<(Position, &'a ir::Node)> {
        let position = self.state.position.clone()?;
        let node = self.ir.graph().by_name(&position.node)?;
        Some((position, node))
    }

    /// Goes to a node and on, until something waits.
    pub(super) fn go(&mut self, target: String) {
        self.go_on(target, false);
    }

    /// Like [`Turn::go`]; `afresh` enters a loop as from outside.
    pub(super) fn go_on(&mut self, target: String, afresh: bool) {
        let mut next = Some((target, afresh));
        while let Some((name, afresh)) = next.take() {
            self.passed += 1;
            let Some(node) = self.ir.graph().by_name(&name) else { return };
            if self.passed > NODES {
                let reason = format!("{NODES} steps were passed without a wait");
                self.hold(&name, reason, vec![Remedy::Retry, Remedy::Cancel]);
                return;
            }
            next = self.enter(node, afresh).map(|name| (name, false));
        }
    }

    /// Enters a node. Gives the next one if this one does not wait.
    fn enter(&mut self, node: &ir::Node, afresh: bool) -> Option<String> {
        let mut frames = self.frames_of(node);
        if let Some(expired) =
            frames.iter().find(|frame| frame.deadline_at.is_some_and(|at| at <= self.at)).cloned()
        {
            self.emit(Event::LoopExpired { node: expired.node.clone() });
            return self.step_out(
                &expired.node,
                EdgeKind::Deadline,
                IndexMap::new(),
                "the deadline of the loop passed",
            );
        }
        if let NodeKind::Loop { times, deadline_ms } = &node.kind {
            return self.enter_loop(node, frames, *times, *deadline_ms, afresh);
        }
        match &node.kind {
            NodeKind::End => {
                self.finish(StopStatus::Succeeded, String::new());
                return None;
            }
            NodeKind::Stop { status, reason } => {
                let reason =
                    reason.as_ref().map(|text| render::text(&self.state, text, None)).unwrap_or_default();
                self.finish(*status, reason);
                return None;
            }
            NodeKind::Hold => {
                // Led here by a person's resume: there is nothing behind it to go on to.
                let at =
                    self.state.position.as_ref().map_or_else(String::new, |position| position.node.clone());
                self.hold(&at, "the definition holds here".to_owned(), vec![Remedy::Retry, Remedy::Cancel]);
                return None;
            }
            NodeKind::Loop { .. } => return None,
            NodeKind::Cron { .. }
            | NodeKind::Question(_)
            | NodeKind::Agent(_)
            | NodeKind::Switch { .. }
            | NodeKind::Pick { .. } => {}
        }
        let visit = self.state.visits.get(&node.name).copied().unwrap_or(0) + 1;
        let frames = std::mem::take(&mut frames);
        self.emit(Event::StepEntered { node: node.name.clone(), visit, frames });
        match &node.kind {
            NodeKind::Cron { .. } => self.await_occurrence(),
            NodeKind::Question(question) => self.ask(question),
            NodeKind::Agent(stage) => self.invoke(node, stage, 1),
            NodeKind::Switch { on } => return self.branch(node, on),
            NodeKind::Pick { from } => {
                let value = from.iter().find_map(|path| render::current_value(&self.state, path));
                let outputs = IndexMap::from([("value".to_owned(), value.unwrap_or(Value::Null))]);
                return self.step_out(&node.name, EdgeKind::Next, outputs, "");
            }
            NodeKind::End | NodeKind::Stop { .. } | NodeKind::Hold | NodeKind::Loop { .. } => {}
        }
        None
    }

    /// The frames that stay open in a node's scope, outermost first.
    pub(super) fn frames_of(&self, node: &ir::Node) -> Vec<Frame> {
        let open =
            self.state.position.as_ref().map(|position| position.frames.as_slice()).unwrap_or_default();
        node.scope.iter().filter_map(|name| open.iter().find(|frame| frame.node == *name).cloned()).collect()
    }

    fn enter_loop(
        &mut self,
        node: &ir::Node,
        mut frames: Vec<Frame>,
        times: Option<u32>,
        deadline_ms: Option<crate::time::Millis>,
        afresh: bool,
    ) -> Option<String> {
        let open = self
            .state
            .position
            .as_ref()
            .and_then(|position| position.frames.iter().find(|frame| frame.node == node.name));
        let inside = open.filter(|_| !afresh).cloned();
        let visits = self.state.visits.get(&node.name).copied().unwrap_or(0);
        let (frame, visit) = match inside {
            Some(frame) if frame.deadline_at.is_some_and(|at| at <= self.at) => {
                self.emit(Event::LoopExpired { node: node.name.clone() });
                return self.step_out(
                    &node.name,
                    EdgeKind::Deadline,
                    IndexMap::new(),
                    "the deadline of the loop passed",
                );
            }
            Some(frame) if times.is_some_and(|times| frame.iteration >= times) => {
                return self.step_out(
                    &node.name,
                    EdgeKind::Exhausted,
                    IndexMap::new(),
                    "the last iteration is over",
                );
            }
            Some(frame) => (Frame { iteration: frame.iteration.saturating_add(1), ..frame }, visits),
            None => {
                let deadline_at = deadline_ms.map(|deadline| self.at.plus(deadline));
                (
                    Frame { node: node.name.clone(), iteration: 1, entered_at: self.at, deadline_at },
                    visits + 1,
                )
            }
        };
        frames.push(frame);
        self.emit(Event::StepEntered { node: node.name.clone(), visit, frames });
        self.step_out(&node.name, EdgeKind::Body, IndexMap::new(), "")
    }

    fn branch(&mut self, node: &ir::Node, on: &ir::Path) -> Option<String> {
        let value = render::value(&self.state, on, None).unwrap_or(Value::Null);
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let case = EdgeKind::Case(text.clone());
        let edges = self.ir.graph().leaving(&node.name);
        let has = |kind: &EdgeKind| edges.iter().any(|(edge, _): &(&Edge, &ir::Node)| edge.kind == *kind);
        if has(&case) {
            return self.step_out(&node.name, case, IndexMap::new(), &format!("the case `{text}` holds"));
        }
        if has(&EdgeKind::Default) {
            return self.step_out(&node.name, EdgeKind::Default, IndexMap::new(), "the default holds");
        }
        self.hold(&node.name, format!("no case covers the value {value}"), vec![Remedy::Cancel]);
        None
    }

    /// Leaves a step by an edge and goes on.
    pub(super) fn leave(&mut self, node: &str, exit: EdgeKind, outputs: IndexMap<String, Value>, why: &str) {
        if let Some(next) = self.step_out(node, exit, outputs, why) {
            self.go(next);
        }
    }

    /// Leaves a step by an edge; gives the target, or holds.
    fn step_out(
        &mut self,
        node: &str,
        exit: EdgeKind,
        outputs: IndexMap<String, Value>,
        why: &str,
    ) -> Option<String> {
        let target =
            self.ir.graph().follow(node, &exit).map(|target| (target.name.clone(), target.kind.clone()));
        let answered = exit != EdgeKind::Deadline || !self.is_question(node);
        let visit = self.state.visits.get(node).copied().unwrap_or(0);
        let marked = self.is_marked(node, &exit).then(|| why.to_owned());
        self.emit(Event::StepLeft { node: node.to_owned(), visit, exit, outputs, marked });
        match target {
            Some((_, NodeKind::Hold)) | None => {
                let why = if why.is_empty() { "the definition holds here" } else { why };
                let mut remedies = self.remedies(node);
                // Behind a question that nobody answered its outputs are not definite.
                remedies.retain(|remedy| answered || *remedy != Remedy::Resume);
                self.hold(node, why.to_owned(), remedies);
                None
            }
            Some((name, _)) => Some(name),
        }
    }

    fn is_question(&self, node: &str) -> bool {
        self.ir.graph().by_name(node).is_some_and(|node| matches!(node.kind, NodeKind::Question(_)))
    }

    /// What a person can do about a held step.
    pub(super) fn remedies(&self, node: &str) -> Vec<Remedy> {
        let mut remedies = vec![Remedy::Retry];
        if self.ir.graph().follow(node, &EdgeKind::Resume).is_some() {
            remedies.push(Remedy::Resume);
        }
        remedies.push(Remedy::Cancel);
        remedies
    }

    pub(super) fn hold(&mut self, node: &str, reason: String, remedies: Vec<Remedy>) {
        self.emit(Event::AttentionRaised { node: node.to_owned(), reason, remedies });
    }

    /// Frozen bytes that lost an agent: said aloud, for nothing would ever come of waiting.
    pub(super) fn no_agent(&mut self, agent: &str) {
        let node = self.state.position.as_ref().map_or_else(String::new, |position| position.node.clone());
        let reason = format!("the frozen definition does not carry the agent `{agent}`");
        self.hold(&node, reason, vec![Remedy::Cancel]);
    }

    /// The session comes to its end. Children that still settle are waited for by their stop commands alone.
    pub(super) fn finish(&mut self, status: StopStatus, reason: String) {
        let outputs = self
            .ir
            .outputs()
            .iter()
            .map(|(name, data)| {
                let value = if status == StopStatus::Succeeded {
                    render::data(&self.state, data, None)
                } else {
                    Value::Null
                };
                (name.clone(), value)
            })
            .collect();
        self.emit(Event::Ended { status, reason, outputs });
    }

    /// Fences everything: no wait, result, decision or start counts any more; ends once all work has settled.
    pub(super) fn fence(&mut self, by: Option<Principal>, reason: String) {
        self.emit(Event::CancelRequested { by, reason });
        let open: Vec<SessionId> = self.state.children.keys().cloned().collect();
        for child in open {
            self.stop_child(&child);
        }
        self.end_if_settled();
    }

    /// Owes a stop to a child that is known and not stopping.
    pub(super) fn stop_child(&mut self, child: &SessionId) {
        if self.state.children.get(child).is_some_and(|known| !known.stopping) {
            self.emit(Event::StopOwed { child: child.clone() });
        }
    }

    pub(super) fn settled(&mut self, child: SessionId) {
        if self.state.children.get(&child).is_some_and(|known| known.stopping) {
            self.emit(Event::WorkSettled { child });
            self.end_if_settled();
        }
    }

    fn end_if_settled(&mut self) {
        if let Hold::Cancelling { reason, status } = self.state.hold.clone()
            && self.state.children.is_empty()
            && self.state.ended.is_none()
        {
            self.finish(status, reason);
        }
    }

    /// Computes the next occurrence after now and waits for it.
    pub(super) fn await_occurrence(&mut self) {
        let Some((position, node)) = self.open_node() else { return };
        let NodeKind::Cron { expression, timezone } = &node.kind else { return };
        let next =
            Schedule::parse(expression, timezone).ok().and_then(|schedule| schedule.next_after(self.at));
        let previous_at = self.state.fired.get(&position.node).copied().unwrap_or(self.state.started_at);
        match next {
            Some(at) => self.emit(Event::OccurrenceAwaited { at, previous_at }),
            None => {
                self.hold(
                    &position.node,
                    format!("`{expression}` has no next occurrence"),
                    vec![Remedy::Cancel],
                );
            }
        }
    }
}
