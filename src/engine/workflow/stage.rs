//! Agent stages: invocations, candidates, gates, corrections.

use super::command::{evaluation_schema, result_digest};
use super::event::{Decider, Event};
use super::render;
use super::state::{Candidate, Decided, Hold, Stage, StagePhase, Work};
use super::walk::Turn;
use crate::engine::agent::event::{Contract, Envelope, EnvelopeOutcome, Spec};
use crate::engine::{SessionId, derived_id};
use crate::ir::{self, Data, EdgeKind, GateKind, NodeKind, Outcome};
use crate::schema::Schema;
use indexmap::IndexMap;
use serde_json::Value;

impl Turn<'_> {
    /// Admits a producing child.
    pub(super) fn invoke(&mut self, node: &ir::Node, stage: &ir::Stage, attempt: u32) {
        let Some(spec) = self.state.spec.clone() else { return };
        let visit = self.state.visits.get(&node.name).copied().unwrap_or(1);
        let invocation = format!("{}/{visit}/{attempt}", node.name);
        let child = derived_id(&["invocation", &spec.session.0, &invocation]);
        let prompt = render::text(&self.state, &stage.task, None);
        let with = self.with(&stage.with, None);
        let contract = Contract {
            parent: spec.session.clone(),
            invocation: invocation.clone(),
            schema: stage.result.clone(),
            evaluator: false,
        };
        let Some(child) = self.child(SessionId(child), &stage.agent, prompt, with, contract) else {
            return self.no_agent(&stage.agent);
        };
        self.emit(Event::InvocationAdmitted { invocation, attempt, child, deadline_ms: stage.deadline_ms });
    }

    fn with(
        &self,
        entries: &IndexMap<String, Data>,
        candidate: Option<&Candidate>,
    ) -> IndexMap<String, Value> {
        entries
            .iter()
            .map(|(name, data)| (name.clone(), render::data(&self.state, data, candidate)))
            .collect()
    }

    fn child(
        &self,
        session: SessionId,
        agent: &str,
        prompt: String,
        with: IndexMap<String, Value>,
        contract: Contract,
    ) -> Option<Spec> {
        let spec = self.state.spec.as_ref()?;
        let frozen = self.ir.agents().get(agent)?;
        Some(Spec {
            session,
            slug: frozen.slug.clone(),
            agent: frozen.digest(),
            root: spec.root.clone(),
            owner: spec.owner.clone(),
            prompt,
            with,
            media: Vec::new(),
            caller: None,
            forked_from: None,
            contract: Some(contract),
        })
    }

    /// A child submitted a valid envelope.
    pub(super) fn submitted(&mut self, child: &SessionId, submission: u32, envelope: Envelope) {
        if self.fenced() {
            return;
        }
        let Work::Stage(stage) = self.state.work.clone() else { return };
        if stage.child == *child {
            self.produced(&stage, submission, envelope);
        } else if matches!(&stage.phase, StagePhase::MachineGate { child: evaluator, .. } if evaluator == child)
        {
            self.evaluated(&stage, child, &envelope);
        }
    }

    /// Nothing that is reported counts any more.
    pub(super) fn fenced(&self) -> bool {
        self.state.ended.is_some() || matches!(self.state.hold, Hold::Cancelling { .. })
    }

    fn produced(&mut self, stage: &Stage, submission: u32, envelope: Envelope) {
        let sealed = u32::try_from(stage.candidates.len()).unwrap_or(u32::MAX);
        let Some((_, node)) = self.open_node() else { return };
        let NodeKind::Agent(definition) = &node.kind else { return };
        let over = matches!(stage.phase, StagePhase::Unsuccessful { .. })
            || stage.given_up().is_some()
            || is_through(definition, stage);
        if submission <= stage.taken || over {
            return;
        }
        match envelope.outcome {
            EnvelopeOutcome::Succeeded => {}
            EnvelopeOutcome::Blocked => return self.unsuccessful(Outcome::Blocked, envelope.summary),
            EnvelopeOutcome::Failed => return self.unsuccessful(Outcome::Failed, envelope.summary),
        }
        let schema = definition.result.as_ref().and_then(|schema| Schema::compile(schema).ok());
        if let Some(first) = schema.and_then(|schema| schema.validate(&envelope.result).into_iter().next()) {
            let summary = format!("the submitted result does not fit its schema: {}", first.message);
            return self.unsuccessful(Outcome::Failed, summary);
        }
        if let StagePhase::MachineGate { child, .. } = &stage.phase {
            self.stop_child(child);
        }
        if sealed >= definition.max_revisions {
            return self.unsuccessful(Outcome::Exhausted, "no revision is left".to_owned());
        }
        self.emit(Event::CandidateSealed {
            invocation: stage.invocation.clone(),
            revision: sealed + 1,
            digest: result_digest(&envelope.result),
            summary: envelope.summary,
            result: envelope.result,
            submission: (submission != sealed + 1).then_some(submission),
        });
        self.advance_stage();
    }

    /// Goes on with an open stage whose last word is in: to the next gate, out of it, or out of the step.
    pub(super) fn advance_stage(&mut self) {
        if self.state.hold != Hold::None {
            return;
        }
        let Work::Stage(stage) = self.state.work.clone() else { return };
        let Some((position, node)) = self.open_node() else { return };
        let NodeKind::Agent(definition) = &node.kind else { return };
        if let StagePhase::Unsuccessful { outcome, summary } = &stage.phase {
            return self.leave_unsuccessful(&position.node, *outcome, summary);
        }
        let (StagePhase::Producing, Some(candidate)) = (&stage.phase, stage.candidate()) else { return };
        if let Some(decided) = stage.given_up() {
            let (edge, why) = (EdgeKind::GateAborted(decided.gate), "the stage was given up at its gate");
            return self.leave_gate(&position.node, edge, candidate, "aborted", why);
        }
        let Some(passed) = passed_gates(candidate) else { return };
        match definition.gates.get(passed) {
            Some(gate) if definition.reviewed => self.open_gate(&stage, candidate, passed, gate),
            Some(_) | None => {
                let outputs = stage_outputs("succeeded", candidate);
                self.leave(&position.node, EdgeKind::Next, outputs, "");
            }
        }
    }

    fn open_gate(&mut self, stage: &Stage, candidate: &Candidate, index: usize, gate: &ir::Gate) {
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let deadline_at = gate.deadline_ms.map(|deadline| self.at.plus(deadline));
        let (invocation, revision) = (stage.invocation.clone(), candidate.revision);
        match &gate.kind {
            GateKind::Human { text, respondents } => {
                let text = render::text(&self.state, text, Some(candidate));
                let respondents = self.respondents(respondents);
                self.emit(Event::GateOpened {
                    invocation,
                    revision,
                    gate: number,
                    text,
                    respondents,
                    deadline_at,
                });
            }
            GateKind::Agent { agent, task, with, .. } => {
                let Some(spec) = self.state.spec.clone() else { return };
                let round = stage.rounds.get(&number).copied().unwrap_or(0) + 1;
                let (revision_text, gate_text, round_text) =
                    (revision.to_string(), number.to_string(), round.to_string());
                let id = derived_id(&[
                    "round",
                    &spec.session.0,
                    &invocation,
                    &revision_text,
                    &gate_text,
                    &round_text,
                ]);
                let mut with = self.with(with, Some(candidate));
                let shown = serde_json::json!({
                    "revision": revision, "summary": candidate.summary, "result": candidate.result });
                with.insert("candidate".to_owned(), shown);
                let contract = Contract {
                    parent: spec.session.clone(),
                    invocation: format!("{invocation}/gate-{number}/round-{round}"),
                    schema: Some(evaluation_schema()),
                    evaluator: true,
                };
                let prompt = render::text(&self.state, task, Some(candidate));
                let Some(child) = self.child(SessionId(id), agent, prompt, with, contract) else {
                    return self.no_agent(agent);
                };
                self.emit(Event::RoundAdmitted {
                    invocation,
                    revision,
                    gate: number,
                    round,
                    child,
                    deadline_at,
                });
            }
        }
    }

    fn evaluated(&mut self, stage: &Stage, child: &SessionId, envelope: &Envelope) {
        let StagePhase::MachineGate { gate, .. } = stage.phase else { return };
        let Some(candidate) = stage.candidate() else { return };
        let decision = envelope.result.get("decision").and_then(Value::as_str);
        let feedback = envelope.result.get("feedback").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (invocation, revision, digest) =
            (stage.invocation.clone(), candidate.revision, candidate.digest.clone());
        let by = Decider::Evaluator { child: child.clone() };
        match (envelope.outcome, decision) {
            (EnvelopeOutcome::Succeeded, Some("accept")) => {
                self.emit(Event::Accepted { invocation, revision, digest, gate, by });
                self.advance_stage();
            }
            (EnvelopeOutcome::Succeeded, Some("reject")) => {
                self.emit(Event::Rejected { invocation, revision, digest, gate, by, feedback });
                self.after_rejection(gate);
            }
            (EnvelopeOutcome::Succeeded | EnvelopeOutcome::Blocked | EnvelopeOutcome::Failed, _) => {
                let said = &envelope.summary;
                self.unsuccessful(Outcome::Failed, format!("the evaluator gave no decision: {said}"));
            }
        }
    }

    /// A rejection that leaves no revision or no round exhausts the stage.
    pub(super) fn after_rejection(&mut self, gate: u32) {
        let Work::Stage(stage) = self.state.work.clone() else { return };
        let Some((_, node)) = self.open_node() else { return };
        let NodeKind::Agent(definition) = &node.kind else { return };
        let sealed = u32::try_from(stage.candidates.len()).unwrap_or(u32::MAX);
        let rejected = |decided: &&Decided| decided.gate == gate && decided.word == "rejected";
        let rejections =
            stage.candidates.iter().flat_map(|candidate| &candidate.decisions).filter(rejected).count();
        let rejections = u32::try_from(rejections).unwrap_or(u32::MAX);
        let most = definition.gates.get(gate as usize).and_then(|gate| match &gate.kind {
            GateKind::Agent { max_rounds, .. } => *max_rounds,
            GateKind::Human { .. } => None,
        });
        if sealed >= definition.max_revisions {
            let summary = format!("revision {sealed} was not accepted and no revision is left");
            self.unsuccessful(Outcome::Exhausted, summary);
        } else if most.is_some_and(|most| rejections >= most) {
            self.unsuccessful(
                Outcome::Exhausted,
                format!("the evaluator rejected {rejections} times and no round is left"),
            );
        }
    }

    pub(super) fn gate_expired(&mut self, stage: &Stage, gate: u32) {
        let Some((position, _)) = self.open_node() else { return };
        let Some(candidate) = stage.candidate() else { return };
        self.emit(Event::GateExpired {
            invocation: stage.invocation.clone(),
            revision: candidate.revision,
            gate,
        });
        let edge = EdgeKind::GateDeadline(gate);
        self.leave_gate(&position.node, edge, candidate, "deadline", "nobody decided in time");
    }

    /// Leaves a stage from a human gate that was aborted or not decided in time.
    pub(super) fn leave_gate(
        &mut self,
        node: &str,
        edge: EdgeKind,
        candidate: &Candidate,
        outcome: &str,
        why: &str,
    ) {
        let mut outputs = stage_outputs(outcome, candidate);
        outputs.shift_remove("result");
        outputs.shift_remove("revision");
        if self.leads_to_hold(node, &edge) {
            let reason = why.to_owned();
            let summary = why.to_owned();
            let Work::Stage(stage) = &self.state.work else { return };
            let invocation = stage.invocation.clone();
            let outcome = if outcome == "deadline" { Outcome::Deadline } else { Outcome::Failed };
            self.emit(Event::StageUnsuccessful { invocation, outcome, summary });
            let remedies = self.remedies(node);
            self.hold(node, reason, remedies);
            return;
        }
        self.leave(node, edge, outputs, why);
    }

    fn leads_to_hold(&self, node: &str, edge: &EdgeKind) -> bool {
        self.ir.graph().follow(node, edge).is_none_or(|target| matches!(target.kind, NodeKind::Hold))
    }

    /// The stage ends without an accepted result.
    pub(super) fn unsuccessful(&mut self, outcome: Outcome, summary: String) {
        let Work::Stage(stage) = self.state.work.clone() else { return };
        let invocation = stage.invocation.clone();
        self.emit(Event::StageUnsuccessful { invocation, outcome, summary });
        if let StagePhase::MachineGate { child, .. } = &stage.phase {
            self.stop_child(child);
        }
        if matches!(outcome, Outcome::Deadline | Outcome::Exhausted) {
            self.stop_child(&stage.child);
        }
        self.advance_stage();
    }

    fn leave_unsuccessful(&mut self, node: &str, outcome: Outcome, summary: &str) {
        let edge = EdgeKind::On(outcome);
        let why = format!("the stage ended {}: {summary}", outcome.word());
        if self.leads_to_hold(node, &edge) {
            // The stage stays open with everything that it has, so that a retry is its next attempt.
            let remedies = self.remedies(node);
            self.hold(node, why, remedies);
            return;
        }
        let outputs = IndexMap::from([
            ("outcome".to_owned(), outcome.word().into()),
            ("summary".to_owned(), summary.into()),
        ]);
        self.leave(node, edge, outputs, &why);
    }
}

/// How many gates a candidate has passed in order; `None` once it was rejected or given up.
pub(super) fn passed_gates(candidate: &Candidate) -> Option<usize> {
    candidate.decisions.iter().all(|decided| decided.word == "accepted").then_some(candidate.decisions.len())
}

/// Whether its candidate has passed all that it has to pass, and the stage is left as soon as a pause is over.
fn is_through(definition: &ir::Stage, stage: &Stage) -> bool {
    let gates = if definition.reviewed { definition.gates.len() } else { 0 };
    stage.candidate().and_then(passed_gates).is_some_and(|passed| passed >= gates)
}

fn stage_outputs(outcome: &str, candidate: &Candidate) -> IndexMap<String, Value> {
    IndexMap::from([
        ("result".to_owned(), candidate.result.clone()),
        ("summary".to_owned(), candidate.summary.clone().into()),
        ("outcome".to_owned(), outcome.into()),
        ("revision".to_owned(), candidate.revision.into()),
    ])
}
