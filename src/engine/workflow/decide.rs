//! What follows from a notification: everything that is due is expired first, then the notification is judged.

use super::command::Notification;
use super::event::{Event, Spec};
use super::people::Named;
use super::state::{Hold, StagePhase, State, Work};
use super::walk::Turn;
use crate::engine::{Rejection, RejectionCode};
use crate::ir::{self, EdgeKind, Outcome, StopStatus};
use crate::schema::Schema;
use crate::time::{Millis, Timestamp};
use indexmap::IndexMap;

/// An occurrence that is consumed this long after its time still fires; later it is skipped (invariant 11).
const LATE_MS: Millis = Millis(60_000);
/// Expiries handled in one decision; more than this many at one moment is a definition that turns on the spot.
const EXPIRIES: u32 = 1000;

/// What happened, or why it may not. An empty list is a success without effect: the repeat of something settled.
///
/// # Errors
/// Why the notification changes nothing.
pub fn decide(
    ir: &ir::Workflow,
    state: &State,
    at: Timestamp,
    notification: Notification,
) -> Result<Vec<Event>, Rejection> {
    let mut turn = Turn::new(ir, state.clone(), at.max(state.now));
    let Some(spec) = &state.spec else {
        let Notification::Start(spec) = notification else {
            return Err(Rejection::new(RejectionCode::NotWaiting, "the session has not begun"));
        };
        turn.start(spec)?;
        return Ok(turn.events);
    };
    let same = matches!(&notification, Notification::Start(again)
        if filled(ir, again.clone()).is_ok_and(|again| again == *spec));
    turn.expire();
    match notification {
        Notification::Start(_) if same => {}
        Notification::Start(_) => {
            return Err(Rejection::new(RejectionCode::Conflict, "the session was started otherwise"));
        }
        Notification::Tick => {}
        Notification::ChildStarted { child } => {
            if turn.state.children.get(&child).is_some_and(|known| !known.started) {
                turn.emit(Event::ChildStarted { child });
            }
        }
        Notification::Submitted { child, submission, envelope } => {
            turn.submitted(&child, submission, envelope)
        }
        Notification::Yielded { child, turn: number } => turn.yielded(&child, number),
        Notification::ChildFailed { child, reason } => turn.child_failed(&child, &reason),
        Notification::MessageAcknowledged { message } => {
            if turn.state.owed_messages.iter().any(|(_, owed)| owed.id == message) {
                turn.emit(Event::MessageAcknowledged { message });
            }
        }
        Notification::WorkSettled { child } => turn.settled(child),
        Notification::Answer { occurrence, choice, feedback, by } => {
            turn.answer(occurrence, choice, feedback, by)?;
        }
        Notification::Decide { revision, digest, gate, invocation, decision, by } => {
            turn.judge(&Named { revision, digest, gate, invocation }, decision, by)?;
        }
        Notification::Retry { by } => turn.retry(by)?,
        Notification::Resume { by } => turn.resume(by)?,
        Notification::Dismiss { mark, by } => turn.dismiss(mark, by)?,
        Notification::Pause { by } => turn.pause(by)?,
        Notification::Cancel { by, reason } => turn.cancel(by, reason)?,
    }
    Ok(turn.events)
}

impl Turn<'_> {
    fn start(&mut self, spec: Spec) -> Result<(), Rejection> {
        let spec = filled(self.ir, spec)?;
        self.emit(Event::Started(spec));
        let entry =
            self.ir.graph().entry().and_then(|id| self.ir.graph().node(id)).map(|node| node.name.clone());
        match entry {
            Some(entry) => self.go(entry),
            None => self.finish(StopStatus::Succeeded, String::new()),
        }
        Ok(())
    }

    /// Expires everything that is due. A pause lets nothing apply; what came due applies on resume.
    pub(super) fn expire(&mut self) {
        for _ in 0..EXPIRIES {
            if !self.expire_one() {
                return;
            }
        }
    }

    fn expire_one(&mut self) -> bool {
        if self.state.ended.is_some() || matches!(self.state.hold, Hold::Paused | Hold::Cancelling { .. }) {
            return false;
        }
        let now = self.at;
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        if due(self.ir.deadline_ms().map(|deadline| self.state.started_at.plus(deadline))) {
            self.fence(None, "the deadline of the session passed".to_owned());
            return true;
        }
        if self.state.hold != Hold::None && !self.is_silent() {
            return false;
        }
        if self.expire_loop() {
            return true;
        }
        match self.state.work.clone() {
            Work::Cron { at: Some(occurrence), .. } if occurrence <= self.at => self.fire(occurrence),
            Work::Cron { at: None, .. } => self.await_occurrence(),
            Work::Question(asking) if due(asking.deadline_at) => self.question_expired(&asking),
            Work::Stage(stage) => match &stage.phase {
                StagePhase::HumanGate { gate, deadline_at, .. } if due(*deadline_at) => {
                    self.gate_expired(&stage, *gate);
                }
                StagePhase::MachineGate { deadline_at, .. } if due(*deadline_at) => {
                    self.unsuccessful(Outcome::Failed, "the evaluator did not decide in time".to_owned());
                }
                StagePhase::Producing | StagePhase::MachineGate { .. } | StagePhase::CorrectionDue
                    if due(stage.deadline_at()) =>
                {
                    self.unsuccessful(Outcome::Deadline, "the deadline of the stage passed".to_owned());
                }
                StagePhase::Producing
                | StagePhase::HumanGate { .. }
                | StagePhase::MachineGate { .. }
                | StagePhase::CorrectionDue
                | StagePhase::Unsuccessful { .. } => return false,
            },
            Work::Cron { .. } | Work::Question(_) | Work::None => return false,
        }
        true
    }

    /// Held only since its agent says nothing: the deadline of the stage still passes.
    fn is_silent(&self) -> bool {
        matches!(&self.state.work, Work::Stage(stage) if stage.phase == StagePhase::Producing)
    }

    /// Open waits end when a loop's deadline passes; running work settles first and is caught on its way on.
    fn expire_loop(&mut self) -> bool {
        let Some(position) = &self.state.position else { return false };
        let expired =
            position.frames.iter().find(|frame| frame.deadline_at.is_some_and(|at| at <= self.at)).cloned();
        let Some(frame) = expired else { return false };
        match self.state.work.clone() {
            Work::Question(asking) => self.emit(Event::QuestionExpired { occurrence: asking.occurrence }),
            Work::Stage(stage) => {
                let StagePhase::HumanGate { gate, .. } = stage.phase else { return false };
                let revision = stage.candidate().map_or(0, |candidate| candidate.revision);
                self.emit(Event::GateExpired { invocation: stage.invocation.clone(), revision, gate });
                self.stop_child(&stage.child);
            }
            Work::Cron { .. } => {}
            Work::None => return false,
        }
        self.emit(Event::LoopExpired { node: frame.node.clone() });
        self.leave(&frame.node, EdgeKind::Deadline, IndexMap::new(), "the deadline of the loop passed");
        true
    }

    fn fire(&mut self, occurrence: Timestamp) {
        let Some(position) = self.state.position.clone() else { return };
        if self.at.since(occurrence) > LATE_MS {
            let reason = format!("nobody took it up until {}", self.at);
            self.emit(Event::OccurrenceSkipped { at: occurrence, reason });
            self.await_occurrence();
            return;
        }
        let Work::Cron { previous_at, .. } = self.state.work else { return };
        self.emit(Event::OccurrenceFired { at: occurrence });
        let Some(node) = self.ir.graph().by_name(&position.node) else { return };
        let ir::NodeKind::Cron { timezone, .. } = &node.kind else { return };
        let timezone = timezone.clone();
        let outputs = IndexMap::from([
            ("scheduled_at".to_owned(), occurrence.to_string().into()),
            ("previous_at".to_owned(), previous_at.to_string().into()),
            ("timezone".to_owned(), timezone.into()),
        ]);
        self.leave(&position.node, EdgeKind::Next, outputs, "");
    }
}

/// The spec with its inputs judged and defaults filled in.
fn filled(ir: &ir::Workflow, mut spec: Spec) -> Result<Spec, Rejection> {
    let invalid = |message: String| Rejection::new(RejectionCode::Invalid, message);
    let declared = ir.inputs();
    if let Some(unknown) = spec.inputs.keys().find(|name| !declared.contains_key(*name)) {
        let near = crate::diagnostic::nearest(unknown, declared.keys().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(invalid(format!("the workflow has no input `{unknown}`{hint}")));
    }
    let mut inputs = IndexMap::new();
    for (name, input) in declared {
        let given = spec.inputs.get(name).or(input.default.as_ref());
        let Some(value) = given else { return Err(invalid(format!("the input `{name}` is missing"))) };
        if let Ok(schema) = Schema::compile(&input.schema)
            && let Some(first) = schema.validate(value).first()
        {
            return Err(invalid(format!("the input `{name}` does not fit: {}", first.message)));
        }
        inputs.insert(name.clone(), value.clone());
    }
    spec.inputs = inputs;
    Ok(spec)
}
