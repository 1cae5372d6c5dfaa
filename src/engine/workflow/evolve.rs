//! Folding: the only way the state of a workflow session changes. Every event ever written is read here.

use super::event::{Decider, Event};
use super::state::{
    Asking, Candidate, Child, Decided, Ending, Hold, Position, Record, Settled, Stage, StagePhase, State,
    Work,
};
use crate::engine::agent::event::{Message, MessageKind};
use crate::engine::{Principal, derived_id};
use crate::ir::StopStatus;
use crate::time::Timestamp;

/// Settled answers and decisions that are kept to tell a repeat from a conflict.
const SETTLED: usize = 64;

/// Folds one event in.
pub fn evolve(state: &mut State, at: Timestamp, event: &Event) {
    state.now = state.now.max(at);
    state.sequence += 1;
    match event {
        Event::Started(spec) => {
            state.spec = Some(spec.clone());
            state.started_at = at;
        }
        Event::StepEntered { node, visit, frames } => {
            state.visits.insert(node.clone(), *visit);
            let (node, visit, frames) = (node.clone(), *visit, frames.clone());
            state.position = Some(Position { node, visit, frames, entered_at: at });
            state.work = Work::None;
        }
        Event::OccurrenceAwaited { at, previous_at } => {
            state.work = Work::Cron { at: Some(*at), previous_at: *previous_at };
        }
        Event::OccurrenceSkipped { .. } => {
            if let Work::Cron { at, .. } = &mut state.work {
                *at = None;
            }
        }
        Event::OccurrenceFired { at } => {
            if let Some(position) = &state.position {
                state.fired.insert(position.node.clone(), *at);
            }
        }
        Event::QuestionAsked { occurrence, text, choices, respondents, deadline_at } => {
            state.occurrences = *occurrence;
            state.work = Work::Question(Asking {
                occurrence: *occurrence,
                text: text.clone(),
                choices: choices.clone(),
                respondents: respondents.clone(),
                deadline_at: *deadline_at,
            });
        }
        Event::QuestionAnswered { occurrence, choice, feedback, by } => {
            let (occurrence, choice, feedback) = (*occurrence, Some(choice.clone()), feedback.clone());
            settle(state, Settled::Answer { occurrence, choice, feedback, by: by.clone() });
        }
        Event::QuestionExpired { occurrence } => {
            let feedback = String::new();
            settle(state, Settled::Answer { occurrence: *occurrence, choice: None, feedback, by: None });
            state.work = Work::None;
        }
        Event::InvocationAdmitted { invocation, attempt, child, deadline_ms } => {
            let id = child.session.clone();
            state.children.insert(id.clone(), Child { spec: child.clone(), started: false, stopping: false });
            state.work = Work::Stage(Stage {
                invocation: invocation.clone(),
                attempt: *attempt,
                child: id,
                phase: StagePhase::Producing,
                candidates: Vec::new(),
                taken: 0,
                rounds: indexmap::IndexMap::new(),
                reminded_after: None,
                silent: false,
                left_ms: *deadline_ms,
                running_since: Some(at),
            });
        }
        Event::CandidateSealed { revision, digest, summary, result, submission, .. } => {
            if matches!(state.hold, Hold::NeedsAttention { .. }) {
                state.hold = Hold::None;
            }
            with_stage(state, |stage| {
                stage.candidates.push(Candidate {
                    revision: *revision,
                    digest: digest.clone(),
                    summary: summary.clone(),
                    result: result.clone(),
                    at,
                    decisions: Vec::new(),
                });
                stage.taken = submission.unwrap_or(*revision);
                stage.phase = StagePhase::Producing;
                stage.reminded_after = None;
                stage.silent = false;
            });
            // A reminder that is still on its way has nothing to remind of.
            state.owed_messages.retain(|(_, owed)| owed.kind != MessageKind::Reminder);
        }
        Event::StageUnsuccessful { outcome, summary, .. } => {
            // Only a silent stage is held while it is open; its end takes the place of the silence.
            if matches!(state.hold, Hold::NeedsAttention { .. }) {
                state.hold = Hold::None;
            }
            with_stage(state, |stage| {
                stage.phase = StagePhase::Unsuccessful { outcome: *outcome, summary: summary.clone() };
                stage.stop_clock(at);
            });
        }
        Event::FellSilent { .. } => with_stage(state, |stage| stage.silent = true),
        Event::ReminderOwed { invocation, turn } => {
            let message = Message {
                id: derived_id(&["reminder", invocation, &turn.to_string()]),
                kind: MessageKind::Reminder,
                text: REMINDER.to_owned(),
                media: Vec::new(),
            };
            if let Work::Stage(stage) = &mut state.work {
                stage.reminded_after = Some(*turn);
                state.owed_messages.push((stage.child.clone(), message));
            }
        }
        Event::GateOpened { gate, text, respondents, deadline_at, .. } => with_stage(state, |stage| {
            stage.stop_clock(at);
            stage.phase = StagePhase::HumanGate {
                gate: *gate,
                text: text.clone(),
                respondents: respondents.clone(),
                deadline_at: *deadline_at,
            };
        }),
        Event::RoundAdmitted { gate, round, child, deadline_at, .. } => {
            let id = child.session.clone();
            state.children.insert(id.clone(), Child { spec: child.clone(), started: false, stopping: false });
            with_stage(state, |stage| {
                stage.rounds.insert(*gate, *round);
                stage.start_clock(at);
                let (gate, round, deadline_at) = (*gate, *round, *deadline_at);
                stage.phase = StagePhase::MachineGate { gate, round, child: id, deadline_at };
            });
        }
        Event::Accepted { invocation, revision, gate, by, .. } => {
            decided(state, at, invocation, *revision, *gate, "accepted", "", Some(by));
        }
        Event::Rejected { invocation, revision, gate, by, feedback, .. } => {
            decided(state, at, invocation, *revision, *gate, "rejected", feedback, Some(by));
        }
        Event::Aborted { invocation, revision, gate, by, reason } => {
            let by = Decider::Person(by.clone());
            decided(state, at, invocation, *revision, *gate, "aborted", reason, Some(&by));
        }
        Event::GateExpired { invocation, revision, gate } => {
            decided(state, at, invocation, *revision, *gate, "expired", "", None);
        }
        Event::ChildStarted { child } => {
            if let Some(child) = state.children.get_mut(child) {
                child.started = true;
            }
        }
        Event::MessageAcknowledged { message } => {
            state.owed_messages.retain(|(_, owed)| owed.id != *message);
            if let Work::Stage(stage) = &mut state.work
                && stage.phase == StagePhase::CorrectionDue
            {
                stage.phase = StagePhase::Producing;
            }
        }
        Event::StopOwed { child } => {
            state.owed_messages.retain(|(to, _)| to != child);
            if let Some(child) = state.children.get_mut(child) {
                child.stopping = true;
            }
        }
        Event::WorkSettled { child } => {
            state.children.shift_remove(child);
        }
        Event::StepLeft { node, visit, exit: _, outputs, marked } => {
            if let Some(reason) = marked {
                super::mark::mark(state, at, node, *visit, reason);
            }
            left(state, node, *visit, outputs.clone());
        }
        Event::Dismissed { marks, .. } => state.marks.retain(|mark| !marks.contains(&mark.number)),
        Event::LoopExpired { .. } => {}
        Event::AttentionRaised { node, reason, remedies } => {
            let (node, reason, remedies) = (node.clone(), reason.clone(), remedies.clone());
            // The clock of a silent stage runs on: attention saves nobody from a deadline.
            state.hold = Hold::NeedsAttention { node, reason, remedies };
        }
        Event::Retried { .. } | Event::Resumed { .. } => state.hold = Hold::None,
        Event::Paused { .. } => {
            state.hold = Hold::Paused;
            with_stage(state, |stage| stage.stop_clock(at));
        }
        Event::Unpaused { .. } => {
            state.hold = Hold::None;
            with_stage(state, |stage| {
                if !matches!(stage.phase, StagePhase::HumanGate { .. } | StagePhase::Unsuccessful { .. }) {
                    stage.start_clock(at);
                }
            });
        }
        Event::CancelRequested { by, reason } => {
            let status = if by.is_some() { StopStatus::Cancelled } else { StopStatus::Failed };
            state.hold = Hold::Cancelling { reason: reason.clone(), status };
        }
        Event::Ended { status, reason, outputs } => {
            state.ended =
                Some(Ending { status: *status, reason: reason.clone(), outputs: outputs.clone(), at });
            state.hold = Hold::None;
            state.work = Work::None;
            state.owed_messages.clear();
        }
    }
}

fn with_stage(state: &mut State, f: impl FnOnce(&mut Stage)) {
    if let Work::Stage(stage) = &mut state.work {
        f(stage);
    }
}

fn settle(state: &mut State, settled: Settled) {
    if state.settled.len() >= SETTLED {
        state.settled.remove(0);
    }
    state.settled.push(settled);
}

/// What a child that went idle is told, once.
const REMINDER: &str = "You have stopped without submitting a result. If the assignment is done, submit it now with \
submit_workflow_result; if you cannot go on, submit the outcome blocked or failed and say why. Prose does not count.";

/// A gate is closed by a decision or by its deadline.
#[expect(clippy::too_many_arguments, reason = "the parts of four events that are folded alike")]
fn decided(
    state: &mut State,
    at: Timestamp,
    invocation: &str,
    revision: u32,
    gate: u32,
    word: &'static str,
    text: &str,
    by: Option<&Decider>,
) {
    let paused = state.hold == Hold::Paused;
    let Work::Stage(stage) = &mut state.work else { return };
    let child = stage.child.clone();
    let Some(candidate) = stage.candidates.iter_mut().find(|candidate| candidate.revision == revision) else {
        return;
    };
    let digest = candidate.digest.clone();
    if let Some(by) = by {
        candidate.decisions.push(Decided { gate, word, text: text.to_owned(), by: by.clone(), at });
    }
    // The gate is closed; what follows says where the stage goes on.
    stage.phase = if word == "rejected" { StagePhase::CorrectionDue } else { StagePhase::Producing };
    if !paused {
        stage.start_clock(at);
    }
    if word == "rejected" {
        stage.reminded_after = None;
        stage.silent = false;
        let whom = by.map_or_else(|| "the runtime".to_owned(), named);
        let id = derived_id(&["feedback", invocation, &revision.to_string(), &gate.to_string()]);
        let words =
            format!("Revision {revision} was not accepted by {whom}. Correct it and submit again.\n\n{text}");
        state
            .owed_messages
            .push((child, Message { id, kind: MessageKind::Feedback, text: words, media: Vec::new() }));
    }
    let person: Option<Principal> = match by {
        Some(Decider::Person(principal)) => Some(principal.clone()),
        Some(Decider::Evaluator { child }) => {
            // It has submitted and is idle: nothing of it is owed any more.
            state.children.shift_remove(child);
            None
        }
        None => None,
    };
    settle(
        state,
        Settled::Decision {
            invocation: invocation.to_owned(),
            revision,
            digest,
            gate,
            word,
            text: text.to_owned(),
            by: person,
        },
    );
}

fn left(state: &mut State, node: &str, visit: u32, outputs: indexmap::IndexMap<String, serde_json::Value>) {
    let frames = state.position.as_ref().map(|position| position.frames.clone()).unwrap_or_default();
    let kept = state.records.entry(node.to_owned()).or_default();
    keep(kept, Record { visit, frames, outputs });
    if let Work::Stage(stage) = &state.work {
        let child = stage.child.clone();
        if state.children.get(&child).is_some_and(|known| !known.stopping) {
            state.children.shift_remove(&child);
            state.owed_messages.retain(|(to, _)| *to != child);
        }
    }
    state.work = Work::None;
}

/// Who rejected, for the child.
fn named(by: &Decider) -> String {
    match by {
        Decider::Person(person) => person.user.clone(),
        Decider::Evaluator { .. } => "an evaluator".to_owned(),
    }
}

/// Takes a visit in. A visit of the same iteration (a retry) gives way; of earlier iterations the newest stays for each
/// loop around the node, which is what `previous` can read.
fn keep(kept: &mut Vec<Record>, record: Record) {
    let parts_at = |old: &Record| {
        let mut pairs = old.frames.iter().zip(&record.frames);
        pairs
            .position(|(a, b)| a.node != b.node || a.iteration != b.iteration || a.entered_at != b.entered_at)
    };
    let mut depths = Vec::new();
    let mut staying: Vec<Record> = Vec::new();
    for old in kept.drain(..).rev() {
        if let Some(depth) = parts_at(&old)
            && !depths.contains(&depth)
        {
            depths.push(depth);
            staying.push(old);
        }
    }
    staying.reverse();
    staying.push(record);
    *kept = staying;
}
