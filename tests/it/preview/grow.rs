//! Workflows that are grown: well formed ones as the compiler draws them, and forged ones that it never would.

use super::by_hand;
use flowright::ir::{
    EdgeKind, Feedback, Gate, GateKind, Graph, Node, NodeKind, Outcome, StopStatus, Text, Turn, Workflow,
};
use indexmap::IndexMap;
use proptest::prelude::*;

/// A step of a grown definition.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Cron,
    Agent(u8),
    Ask(Vec<To>),
    Switch(Vec<To>),
    Loop(Option<u32>, Vec<Step>),
    Stop,
}

/// Where a choice or a case goes.
#[derive(Clone, Debug)]
pub(super) enum To {
    Continue,
    Break,
    Next,
    Hold,
    Stop,
    Steps(Vec<Step>),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf =
        prop_oneof![Just(Step::Cron), (0_u8..4).prop_map(Step::Agent), Just(Step::Ask(vec![To::Continue]))];
    let step = leaf.prop_recursive(4, 18, 3, |inner| {
        let list = prop::collection::vec(inner, 1..4);
        let to = prop_oneof![
            3 => Just(To::Continue),
            1 => Just(To::Break),
            1 => Just(To::Next),
            1 => Just(To::Hold),
            1 => Just(To::Stop),
            2 => list.clone().prop_map(To::Steps),
        ];
        let tos = prop::collection::vec(to, 1..5);
        prop_oneof![
            2 => tos.clone().prop_map(Step::Ask),
            2 => tos.prop_map(Step::Switch),
            3 => (prop::option::of(1_u32..9), list).prop_map(|(times, body)| Step::Loop(times, body)),
            1 => Just(Step::Stop),
        ]
    });
    prop::collection::vec(step, 1..5)
}

pub(super) fn workflow(steps: &[Step]) -> Workflow {
    let mut grower = Grower { graph: Graph::new(), count: 0, edges: Vec::new() };
    let first = grower.list(steps, &[], &None, "end".to_owned());
    for (name, kind) in [("end", NodeKind::End), ("hold", NodeKind::Hold)] {
        grower.graph.add(by_hand::node(name, kind));
    }
    for (from, to, kind, turn) in grower.edges {
        by_hand::edge(&mut grower.graph, &from, &to, kind, turn);
    }
    assert_eq!(grower.graph.entry().and_then(|id| grower.graph.node(id)).unwrap().name, first);
    by_hand::workflow("grown", grower.graph)
}

struct Grower {
    graph: Graph,
    count: usize,
    edges: Vec<(String, String, EdgeKind, Turn)>,
}

impl Grower {
    fn name(&mut self, word: &str) -> String {
        self.count += 1;
        format!("{word}-{}", self.count)
    }

    fn add(&mut self, name: &str, scope: &[String], kind: NodeKind) {
        self.graph.add(Node { scope: scope.to_vec(), ..by_hand::node(name, kind) });
    }

    fn edge(&mut self, from: &str, to: &str, kind: EdgeKind, turn: Turn) {
        self.edges.push((from.to_owned(), to.to_owned(), kind, turn));
    }

    /// Draws a list and names its first step.
    fn list(&mut self, steps: &[Step], scope: &[String], after: &Option<String>, next: String) -> String {
        let names: Vec<String> = steps.iter().map(|step| self.name(word(step))).collect();
        for (i, step) in steps.iter().enumerate() {
            let next = names.get(i + 1).unwrap_or(&next).clone();
            self.step(step, &names[i], scope, after, &next);
        }
        names[0].clone()
    }

    fn step(&mut self, step: &Step, name: &str, scope: &[String], after: &Option<String>, next: &str) {
        // The way on from the end of a body is the way back.
        let on = if scope.last().is_some_and(|head| head == next) { Turn::Again } else { Turn::Forward };
        match step {
            Step::Cron => {
                let kind = NodeKind::Cron { expression: "0 9 * * MON-FRI".into(), timezone: "UTC".into() };
                self.add(name, scope, kind);
                self.edge(name, next, EdgeKind::Next, on);
            }
            Step::Stop => self.add(name, scope, by_hand::stop(StopStatus::Succeeded)),
            Step::Agent(gates) => {
                self.add(name, scope, NodeKind::Agent(stage(*gates)));
                self.edge(name, next, EdgeKind::Next, on);
                for outcome in [Outcome::Blocked, Outcome::Failed, Outcome::Deadline, Outcome::Exhausted] {
                    self.edge(name, "hold", EdgeKind::On(outcome), Turn::Hold);
                }
                self.edge(name, next, EdgeKind::Resume, on);
            }
            Step::Ask(tos) => {
                let choices =
                    (0..tos.len()).map(|i| by_hand::choice(&format!("choice-{i}"), "Go", Feedback::None));
                self.add(name, scope, by_hand::question("What now?", choices.collect()));
                for (i, to) in tos.iter().enumerate() {
                    self.go(name, EdgeKind::Choice(format!("choice-{i}")), to, scope, after, next);
                }
            }
            Step::Switch(tos) => {
                self.add(name, scope, NodeKind::Switch { on: by_hand::step("any", "result", &["state"]) });
                for (i, to) in tos.iter().enumerate() {
                    let case = format!("a case with a name that is long enough to be cut {i}");
                    self.go(name, EdgeKind::Case(case), to, scope, after, next);
                }
            }
            Step::Loop(times, body) => {
                self.add(name, scope, NodeKind::Loop { times: *times, deadline_ms: None });
                let inside: Vec<String> = scope.iter().cloned().chain([name.to_owned()]).collect();
                let first = self.list(body, &inside, &Some(next.to_owned()), name.to_owned());
                self.edge(name, &first, EdgeKind::Body, Turn::Forward);
                if times.is_some() {
                    self.edge(name, next, EdgeKind::Exhausted, on);
                }
            }
        }
    }

    fn go(
        &mut self,
        name: &str,
        kind: EdgeKind,
        to: &To,
        scope: &[String],
        after: &Option<String>,
        next: &str,
    ) {
        match (to, after, scope.last()) {
            (To::Break, Some(after), _) => self.edge(name, &after.clone(), kind, Turn::Break),
            (To::Next, _, Some(head)) => self.edge(name, &head.clone(), kind, Turn::Again),
            (To::Hold, ..) => self.edge(name, "hold", kind, Turn::Hold),
            (To::Stop, ..) => {
                let stop = self.name("stop");
                self.add(&stop, scope, by_hand::stop(StopStatus::Failed));
                self.edge(name, &stop, kind, Turn::Stop);
            }
            (To::Steps(steps), ..) => {
                let first = self.list(steps, scope, after, next.to_owned());
                self.edge(name, &first, kind, Turn::Forward);
            }
            (To::Continue | To::Break | To::Next, ..) => self.edge(name, next, kind, Turn::Forward),
        }
    }
}

fn word(step: &Step) -> &'static str {
    match step {
        Step::Cron => "cron",
        Step::Agent(_) => "agent",
        Step::Ask(_) => "question",
        Step::Switch(_) => "switch",
        Step::Loop(..) => "loop",
        Step::Stop => "stop",
    }
}

fn stage(gates: u8) -> flowright::ir::Stage {
    let gate = |i: u8| {
        let kind = if i.is_multiple_of(2) {
            GateKind::Human { text: Text::literal("Good?"), respondents: Vec::new() }
        } else {
            let (task, with) = (Text::literal("Judge it."), IndexMap::new());
            GateKind::Agent { agent: "agents/critic.json".into(), task, with, max_rounds: Some(2) }
        };
        Gate { deadline_ms: None, kind }
    };
    let gates: Vec<Gate> = (0..gates).map(gate).collect();
    flowright::ir::Stage {
        reviewed: !gates.is_empty(),
        gates,
        ..by_hand::stage("agents/worker.json", "Work.")
    }
}

pub(super) fn forged(nodes: &[(u8, Option<usize>)], edges: &[(usize, usize)]) -> Workflow {
    let mut graph = Graph::new();
    for (i, (kind, scope)) in nodes.iter().enumerate() {
        let kind = match kind {
            0 => NodeKind::End,
            1 => NodeKind::Hold,
            2 => by_hand::stop(StopStatus::Cancelled),
            3 => NodeKind::Cron { expression: "never".into(), timezone: "Nowhere".into() },
            4 => by_hand::question("What?", Vec::new()),
            5 => NodeKind::Agent(stage(2)),
            6 => NodeKind::Switch { on: by_hand::step("n-0", "result", &[]) },
            _ => NodeKind::Loop { times: None, deadline_ms: None },
        };
        let scope = scope.map(|scope| format!("n-{scope}")).into_iter().collect();
        graph.add(Node { scope, ..by_hand::node(&format!("n-{i}"), kind) });
    }
    for (i, (from, to)) in edges.iter().enumerate() {
        let (from, to) = (from % nodes.len(), to % nodes.len());
        let kind = if i % 3 == 0 { EdgeKind::Next } else { EdgeKind::Case(format!("case {i}")) };
        by_hand::edge(&mut graph, &format!("n-{from}"), &format!("n-{to}"), kind, Turn::Forward);
    }
    by_hand::workflow("forged", graph)
}
