//! Children that fall silent or fail: nothing of it is ever an acceptance.

use super::event::{Event, Remedy};
use super::stage::passed_gates;
use super::state::{Hold, Stage, StagePhase, Work};
use super::walk::Turn;
use crate::engine::SessionId;
use crate::ir::Outcome;

impl Turn<'_> {
    /// A child went idle without a submission: prose establishes nothing (R88).
    pub(super) fn yielded(&mut self, child: &SessionId, number: u32) {
        if self.fenced() {
            return;
        }
        let Work::Stage(stage) = self.state.work.clone() else { return };
        if matches!(&stage.phase, StagePhase::MachineGate { child: evaluator, .. } if evaluator == child) {
            return self.unsuccessful(Outcome::Failed, "the evaluator stopped without a decision".to_owned());
        }
        let waits = stage.child == *child && stage.phase == StagePhase::Producing;
        if !waits || self.is_undecided(&stage) || stage.given_up().is_some() {
            return;
        }
        match stage.reminded_after {
            None => self.emit(Event::ReminderOwed { invocation: stage.invocation.clone(), turn: number }),
            Some(after) if number > after => match self.state.hold {
                Hold::None => self.silence(),
                Hold::Paused if !stage.silent => {
                    let invocation = stage.invocation.clone();
                    self.emit(Event::FellSilent { invocation, turn: number });
                }
                Hold::Paused | Hold::NeedsAttention { .. } | Hold::Cancelling { .. } => {}
            },
            Some(_) => {}
        }
    }

    /// The agent of the open stage says nothing, also after its reminder: a person is asked.
    pub(super) fn silence(&mut self) {
        let node = self.state.position.as_ref().map(|position| position.node.clone()).unwrap_or_default();
        let reason = "the agent stopped without submitting a result, also after a reminder".to_owned();
        self.hold(&node, reason, vec![Remedy::Retry, Remedy::Cancel]);
    }

    /// Whether the last candidate is in and waits to be taken further (as while paused).
    fn is_undecided(&self, stage: &Stage) -> bool {
        stage.candidate().is_some_and(|candidate| passed_gates(candidate).is_some())
    }

    pub(super) fn child_failed(&mut self, child: &SessionId, reason: &str) {
        if self.fenced() {
            return;
        }
        let Work::Stage(stage) = self.state.work.clone() else { return };
        if matches!(stage.phase, StagePhase::Unsuccessful { .. }) {
            return;
        }
        if matches!(&stage.phase, StagePhase::MachineGate { child: evaluator, .. } if evaluator == child) {
            self.unsuccessful(Outcome::Failed, format!("the evaluator failed: {reason}"));
        } else if stage.child == *child
            && !self.is_undecided(&stage)
            && stage.given_up().is_none()
            && matches!(stage.phase, StagePhase::Producing | StagePhase::CorrectionDue)
        {
            self.unsuccessful(Outcome::Failed, reason.to_owned());
        }
    }
}
