//! One case, played: each step is taken as a person, an agent or the clock would take it.

use super::actor::Reply;
use super::stage::{AtWork, Stage};
use super::{Played, expect};
use crate::ast::rehearsal::{Act, Case, Decision, Move, Operation, Rehearsal, Step, StepKind};
use crate::diagnostic::Diagnostic;
use crate::engine::Principal;
use crate::engine::workflow::command::{Decision as Decided, Notification};
use crate::engine::workflow::state::{StagePhase, State, Work};
use crate::ir;
use crate::parse::rules;
use crate::source::{Span, Spanned};
use crate::time::Timestamp;
use crate::tree::Node;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// A Monday morning, 2026-01-05T09:00:00Z: when a case begins that does not say.
const MONDAY: Timestamp = Timestamp(1_767_603_600_000);
/// Who owns a session whose file does not say.
const OWNER: &str = "owner";

/// A case under way.
struct Play<'a> {
    rehearsal: &'a Rehearsal,
    stage: Stage,
}

/// Why a step cannot be taken, and the place to point at.
struct Refusal(String, Span);

type Taken = Result<(), Refusal>;

pub(super) async fn play(ir: &Arc<ir::Workflow>, rehearsal: &Rehearsal, case: &Case) -> Played {
    let mut inputs: IndexMap<String, Value> = IndexMap::new();
    for entry in rehearsal.inputs.iter().chain(&case.inputs) {
        inputs.insert(entry.key.value.clone(), entry.value.to_json());
    }
    let owner = rehearsal.owner.as_ref().map_or(OWNER, |owner| owner.value.as_str());
    let start_at = case.start_at.as_ref().or(rehearsal.start_at.as_ref()).map_or(MONDAY, |at| at.value);
    let name = case.name.value.clone();
    match Stage::open(ir, inputs, owner, start_at).await {
        Err(reason) => {
            let message = format!("the session cannot be started: {reason}");
            let findings = vec![Diagnostic::new(&rules::REFUSED_STEP, case.name.span, message)];
            Played { name, findings, events: Vec::new() }
        }
        Ok(stage) => {
            let mut play = Play { rehearsal, stage };
            let findings = play.all(case).await;
            Played { name, findings, events: play.stage.events() }
        }
    }
}

impl Play<'_> {
    async fn all(&mut self, case: &Case) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for step in &case.steps {
            let taken = self.take(step, case, &mut findings).await;
            match (taken, &step.refused) {
                (Ok(()), None) => {}
                (Err(Refusal(reason, span)), None) => {
                    let found = Diagnostic::new(&rules::REFUSED_STEP, span, reason);
                    findings.push(found.help(expect::standing(&mut self.stage, &case.name.value)));
                    // What comes behind it would only follow from it.
                    return findings;
                }
                (Ok(()), Some(refused)) => {
                    let message = "this step was to be refused, and it was taken";
                    let found = Diagnostic::new(&rules::FAILED_EXPECTATION, refused.span, message);
                    findings.push(found.help(expect::standing(&mut self.stage, &case.name.value)));
                    return findings;
                }
                (Err(Refusal(reason, _)), Some(refused)) => {
                    let part = refused.value.as_deref().unwrap_or_default();
                    if !reason.contains(part) {
                        let message =
                            format!("the step is refused for another reason than `{part}`: {reason}");
                        findings.push(Diagnostic::new(&rules::FAILED_EXPECTATION, refused.span, message));
                    }
                }
            }
        }
        if let Some(expected) = &case.expect {
            findings.extend(expect::judge(&mut self.stage, expected, &case.name.value));
        }
        findings
    }

    async fn take(&mut self, step: &Step, case: &Case, findings: &mut Vec<Diagnostic>) -> Taken {
        let refused = |reason: String| Refusal(reason, step.span);
        let state = self.stage.state().map_err(refused)?;
        match &step.kind {
            StepKind::Expect(expected) => {
                findings.extend(expect::judge(&mut self.stage, expected, &case.name.value));
                Ok(())
            }
            StepKind::Agent { name, act, span } => {
                self.is_at_work(name)?;
                self.reply(act).await.map_err(|reason| Refusal(reason, *span))
            }
            StepKind::Message { to, text } => {
                let agent = self.listener(to)?;
                self.stage.say_to(&agent, text).await.map_err(refused)
            }
            StepKind::Answer { step: named, choice, feedback, by } => {
                let waits = matches!(state.work, Work::Question(_));
                is_open(&state, named.as_ref(), waits, "asks nobody now")?;
                let place = by.as_ref().map_or(choice.span, |by| by.span);
                let (choice, feedback, by) =
                    (choice.value.clone(), feedback.clone(), self.person(by.as_ref()));
                let notification = Notification::Answer { occurrence: None, choice, feedback, by };
                self.stage.tell(notification).await.map_err(|reason| Refusal(reason, place))
            }
            StepKind::Decide { step: named, decision, revision, gate, by } => {
                let (open_revision, open_gate) = under_review(&state).unzip();
                let waits = open_gate.is_some() || revision.is_some();
                is_open(&state, named.as_ref(), waits, "waits for no decision")?;
                let places = [revision.as_ref().map(|one| one.span), by.as_ref().map(|by| by.span)];
                let place = places.into_iter().flatten().next().unwrap_or(step.span);
                let revision = revision.as_ref().map(|revision| revision.value).or(open_revision);
                let gate = gate.as_ref().map(|gate| gate.value.saturating_sub(1)).or(open_gate);
                if revision.is_none() {
                    return Err(refused("no candidate waits for a decision".to_owned()));
                }
                let (decision, by) = (decided(decision), self.person(by.as_ref()));
                let notification =
                    Notification::Decide { revision, digest: None, gate, invocation: None, decision, by };
                self.stage.tell(notification).await.map_err(|reason| Refusal(reason, place))
            }
            StepKind::Operate { operation, by, reason } => {
                let by = self.person(by.as_ref());
                let notification = match operation {
                    Operation::Pause => Notification::Pause { by },
                    Operation::Resume => Notification::Resume { by },
                    Operation::Retry => Notification::Retry { by },
                    Operation::Cancel => Notification::Cancel { by, reason: reason.clone() },
                };
                self.stage.tell(notification).await.map_err(refused)
            }
            StepKind::Clock(how) => self.moved(*how).await.map_err(refused),
        }
    }

    async fn moved(&mut self, how: Move) -> Result<(), String> {
        let now = self.stage.now();
        match how {
            Move::Advance(span) => self.stage.advance(now.plus(span)).await,
            Move::Down(span) => self.stage.jump(now.plus(span)).await,
            Move::Until(at) if at < now => Err(format!("the clock shows {now} and never goes back")),
            Move::Until(at) => self.stage.advance(at).await,
        }
    }

    /// Whether the agent that is meant is the one to reply.
    fn is_at_work(&mut self, name: &Spanned<String>) -> Taken {
        let refused = |reason: String| Refusal(reason, name.span);
        match self.stage.at_work().map_err(refused)? {
            Some(agent) if agent.is(&name.value) => Ok(()),
            Some(agent) => {
                let (slug, node, name) = (&agent.spec.slug, &agent.node, &name.value);
                Err(refused(format!("`{name}` is not at work; `{slug}` works at `{node}`")))
            }
            None => Err(refused(format!("`{}` is not at work; no agent is", name.value))),
        }
    }

    /// The agent that hears a person: the one at work, or the one whose candidate is under review.
    fn listener(&mut self, name: &Spanned<String>) -> Result<AtWork, Refusal> {
        let refused = |reason: String| Refusal(reason, name.span);
        let state = self.stage.state().map_err(refused)?;
        let node = state.position.as_ref().map(|position| position.node.clone()).unwrap_or_default();
        let producer = match &state.work {
            Work::Stage(stage) => state.children.get(&stage.child),
            Work::Cron { .. } | Work::Question(_) | Work::None => None,
        };
        let producer = producer.map(|child| AtWork { node, spec: child.spec.clone() });
        let at_work = self.stage.at_work().map_err(refused)?;
        let found = at_work.into_iter().chain(producer).find(|agent| agent.is(&name.value));
        found.ok_or_else(|| refused(format!("no agent `{}` is there to hear it", name.value)))
    }

    async fn reply(&mut self, act: &Act) -> Result<(), String> {
        let judges = self.stage.at_work()?.is_some_and(|agent| agent.judges());
        let closing = |outcome: &str, summary: &str| json!({ "outcome": outcome, "summary": summary });
        let reply = match act {
            Act::Submit { summary, result } => {
                let mut envelope = closing("succeeded", summary);
                if let (Some(result), Some(envelope)) = (result, envelope.as_object_mut()) {
                    envelope.insert("result".to_owned(), Node::to_json(result));
                }
                Reply::Submit(envelope)
            }
            Act::Block(summary) => Reply::Submit(closing("blocked", summary)),
            Act::Fail(summary) => Reply::Submit(closing("failed", summary)),
            Act::Crash(message) => Reply::Crash(message.clone()),
            Act::Say(text) => Reply::Say(text.clone()),
            Act::Judge { .. } if !judges => {
                return Err("this agent judges nothing; it produces a result with `submit`".to_owned());
            }
            Act::Judge { accepts, feedback } => {
                let decision = if *accepts { "accept" } else { "reject" };
                let mut envelope = closing("succeeded", "");
                if let Some(envelope) = envelope.as_object_mut() {
                    let result = json!({ "decision": decision, "feedback": feedback });
                    envelope.insert("result".to_owned(), result);
                }
                Reply::Submit(envelope)
            }
        };
        self.stage.reply(reply).await
    }

    fn person(&self, by: Option<&Spanned<String>>) -> Principal {
        let owner = self.rehearsal.owner.as_ref().map_or(OWNER, |owner| owner.value.as_str());
        let user = by.map_or(owner, |by| by.value.as_str());
        let known = self.rehearsal.people.iter().find(|(name, _)| name.value == user);
        let roles = known.map(|(_, roles)| roles.clone()).unwrap_or_default();
        Principal { user: user.to_owned(), roles, via: "test".to_owned() }
    }
}

/// Whether the step that is meant is the open one and waits for this.
fn is_open(state: &State, named: Option<&Spanned<String>>, waits: bool, not: &str) -> Taken {
    let Some(named) = named else { return Ok(()) };
    let open = state.position.as_ref().map(|position| position.node.as_str());
    if open == Some(named.value.as_str()) && waits {
        return Ok(());
    }
    Err(Refusal(format!("`{}` {not}", named.value), named.span))
}

/// Revision and gate that a person is asked about.
fn under_review(state: &State) -> Option<(u32, u32)> {
    let Work::Stage(stage) = &state.work else { return None };
    let StagePhase::HumanGate { gate, .. } = &stage.phase else { return None };
    Some((stage.candidate()?.revision, *gate))
}

fn decided(decision: &Decision) -> Decided {
    match decision {
        Decision::Accept => Decided::Accept,
        Decision::Reject(feedback) => Decided::Reject { feedback: feedback.clone() },
        Decision::Abort(reason) => Decided::Abort { reason: reason.clone() },
    }
}
