//! What people do: answers, decisions, retries, pauses, cancellations. Authority is judged here, at this moment.

use super::command::Decision;
use super::event::{Decider, Event, Remedy};
use super::state::{Candidate, Hold, Settled, Stage, StagePhase, Work};
use super::walk::Turn;
use crate::engine::{Principal, Rejection, RejectionCode};
use crate::ir::{Digest, EdgeKind, Feedback, NodeKind};
use crate::time::Timestamp;

/// Digits of a digest that name a candidate at least.
const DIGEST_DIGITS: usize = 8;

/// What a decision says that it decides.
pub(super) struct Named {
    pub revision: Option<u32>,
    pub digest: Option<String>,
    pub gate: Option<u32>,
    pub invocation: Option<String>,
}

pub(super) fn refuse<T>(code: RejectionCode, message: impl Into<String>) -> Result<T, Rejection> {
    Err(Rejection::new(code, message))
}

impl Turn<'_> {
    /// Nothing is decided any more in a session that has ended or is being cancelled.
    pub(super) fn open(&self) -> Result<(), Rejection> {
        if let Some(ending) = &self.state.ended {
            return refuse(RejectionCode::Ended, format!("the session has ended: {}", ending.status.word()));
        }
        if matches!(self.state.hold, Hold::Cancelling { .. }) {
            return refuse(RejectionCode::Ended, "the session is being cancelled");
        }
        Ok(())
    }

    /// The deadlines of people run in a pause too: what comes after one is late, though it applies on resume.
    fn in_time(&self, deadline_at: Option<Timestamp>, what: &str) -> Result<(), Rejection> {
        if deadline_at.is_some_and(|deadline| deadline <= self.at) {
            return refuse(RejectionCode::Stale, format!("the deadline of the {what} has passed"));
        }
        Ok(())
    }

    fn may(&self, respondents: &[String], by: &Principal) -> Result<(), Rejection> {
        let owner = self.state.spec.as_ref().map(|spec| spec.owner.as_str()).unwrap_or_default();
        let fits = |respondent: &String| match respondent.split_once(':') {
            Some(("user", name)) => name == by.user,
            Some(("role", name)) => by.roles.iter().any(|role| role == name),
            Some(_) => false,
            None => respondent == "owner" && owner == by.user,
        };
        if respondents.iter().any(fits) {
            return Ok(());
        }
        let asked = respondents.join(", ");
        refuse(RejectionCode::NotAllowed, format!("`{}` may not decide this; asked is {asked}", by.user))
    }

    pub(super) fn answer(
        &mut self,
        occurrence: Option<u32>,
        choice: String,
        feedback: String,
        by: Principal,
    ) -> Result<(), Rejection> {
        let asking = match &self.state.work {
            Work::Question(asking) if occurrence.is_none_or(|number| number == asking.occurrence) => {
                asking.clone()
            }
            Work::Question(_) | Work::Cron { .. } | Work::Stage(_) | Work::None => {
                return self.answer_to_nothing(occurrence, &choice, &feedback, &by);
            }
        };
        self.open()?;
        self.in_time(asking.deadline_at, "question")?;
        let Some((position, node)) = self.open_node() else {
            return refuse(RejectionCode::NotWaiting, "no question is open");
        };
        let NodeKind::Question(question) = &node.kind else {
            return refuse(RejectionCode::NotWaiting, "no question is open");
        };
        self.may(&asking.respondents, &by)?;
        let Some(chosen) = question.choices.iter().find(|known| known.value == choice) else {
            let names: Vec<_> = question.choices.iter().map(|known| known.value.as_str()).collect();
            let hint = crate::diagnostic::nearest(&choice, names.iter().copied()).map_or_else(
                || format!("there is {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return refuse(
                RejectionCode::Invalid,
                format!("`{choice}` is no choice of this question; {hint}"),
            );
        };
        match chosen.feedback {
            Feedback::Required if feedback.trim().is_empty() => {
                return refuse(RejectionCode::Invalid, format!("the choice `{choice}` needs feedback"));
            }
            Feedback::None if !feedback.is_empty() => {
                return refuse(RejectionCode::Invalid, format!("the choice `{choice}` takes no feedback"));
            }
            Feedback::None | Feedback::Optional | Feedback::Required => {}
        }
        let user = by.user.clone();
        let (number, recorded) = (asking.occurrence, choice.clone());
        self.emit(Event::QuestionAnswered {
            occurrence: number,
            choice: recorded,
            feedback: feedback.clone(),
            by: Some(by),
        });
        let outputs = self.answer_outputs(&choice, &feedback, &user);
        if self.state.hold == Hold::Paused {
            // Recorded; what follows applies on resume.
            self.emit_answered(&position.node, choice, outputs);
            return Ok(());
        }
        self.leave(&position.node, EdgeKind::Choice(choice), outputs, "the choice holds here");
        Ok(())
    }

    /// While paused the step is left, and its successor entered on resume.
    fn emit_answered(
        &mut self,
        node: &str,
        choice: String,
        outputs: indexmap::IndexMap<String, serde_json::Value>,
    ) {
        let visit = self.state.visits.get(node).copied().unwrap_or(0);
        self.emit(Event::StepLeft {
            node: node.to_owned(),
            visit,
            exit: EdgeKind::Choice(choice),
            outputs,
            marked: None,
        });
    }

    /// A person decides at a gate. The decision names what it decides: revision or digest.
    pub(super) fn judge(
        &mut self,
        named: &Named,
        decision: Decision,
        by: Principal,
    ) -> Result<(), Rejection> {
        named.check()?;
        let open = match &self.state.work {
            Work::Stage(stage) => match (&stage.phase, stage.candidate()) {
                (StagePhase::HumanGate { gate, respondents, deadline_at, .. }, Some(candidate))
                    if named.means(stage, candidate) && named.gate.is_none_or(|wanted| wanted == *gate) =>
                {
                    Some((stage.clone(), candidate.clone(), *gate, respondents.clone(), *deadline_at))
                }
                _ => None,
            },
            Work::Cron { .. } | Work::Question(_) | Work::None => None,
        };
        let Some((stage, candidate, gate, respondents, deadline_at)) = open else {
            return self.decision_on_nothing(named, &decision, &by);
        };
        self.open()?;
        self.in_time(deadline_at, "gate")?;
        if matches!(self.state.hold, Hold::NeedsAttention { .. }) {
            return refuse(RejectionCode::NotWaiting, "the session needs attention first");
        }
        if let Err(refused) = self.may(&respondents, &by) {
            // Who is not asked here may repeat what they said at a gate before.
            return if self.is_repeat(named, &decision, &by) { Ok(()) } else { Err(refused) };
        }
        let before = candidate.decisions.iter().find(|decided| match &decided.by {
            Decider::Person(person) => person.user == by.user,
            Decider::Evaluator { .. } => false,
        });
        if let (Decision::Accept, None, Some(before)) = (&decision, named.gate, before) {
            // It may be the same acceptance sent twice, and one person's word passes one gate.
            let (passed, now) = (before.gate.saturating_add(1), gate.saturating_add(1));
            let revision = candidate.revision;
            return refuse(
                RejectionCode::Invalid,
                format!(
                    "you accepted revision {revision} at gate {passed} already; \
                     to accept it at gate {now} name that gate"
                ),
            );
        }
        self.record(&stage, &candidate, gate, decision, by)
    }

    fn record(
        &mut self,
        stage: &Stage,
        candidate: &Candidate,
        gate: u32,
        decision: Decision,
        by: Principal,
    ) -> Result<(), Rejection> {
        let (invocation, revision, digest) =
            (stage.invocation.clone(), candidate.revision, candidate.digest.clone());
        match decision {
            Decision::Accept => {
                let by = Decider::Person(by);
                self.emit(Event::Accepted { invocation, revision, digest, gate, by });
                self.advance_stage();
            }
            Decision::Reject { feedback } => {
                if feedback.trim().is_empty() {
                    return refuse(RejectionCode::Invalid, "a rejection says what to change");
                }
                let by = Decider::Person(by);
                self.emit(Event::Rejected { invocation, revision, digest, gate, by, feedback });
                self.after_rejection(gate);
            }
            Decision::Abort { reason } => {
                self.emit(Event::Aborted { invocation, revision, gate, by, reason });
                self.stop_child(&stage.child);
                self.advance_stage();
            }
        }
        Ok(())
    }

    pub(super) fn retry(&mut self, by: Principal) -> Result<(), Rejection> {
        self.open()?;
        let Hold::NeedsAttention { node, remedies, .. } = self.state.hold.clone() else {
            return refuse(RejectionCode::NotWaiting, "nothing here needs attention");
        };
        if !remedies.contains(&Remedy::Retry) {
            return refuse(RejectionCode::Invalid, format!("`{node}` cannot be tried again"));
        }
        self.owner_only(&by)?;
        let attempt = match &self.state.work {
            Work::Stage(stage) => Some(stage.attempt),
            Work::Cron { .. } | Work::Question(_) | Work::None => None,
        };
        self.emit(Event::Retried { node: node.clone(), by });
        let Some(target) = self.ir.graph().by_name(&node) else { return Ok(()) };
        match (&target.kind, attempt) {
            (NodeKind::Agent(stage), Some(attempt)) => {
                let open: Vec<_> = self.state.children.keys().cloned().collect();
                for child in open {
                    self.stop_child(&child);
                }
                self.invoke(target, stage, attempt.saturating_add(1));
            }
            _ => self.go_on(node, true),
        }
        Ok(())
    }

    pub(super) fn resume(&mut self, by: Principal) -> Result<(), Rejection> {
        self.open()?;
        self.owner_only(&by)?;
        match self.state.hold.clone() {
            Hold::Paused => {
                self.emit(Event::Unpaused { by });
                self.expire();
                self.catch_up();
                Ok(())
            }
            Hold::NeedsAttention { node, remedies, .. } if remedies.contains(&Remedy::Resume) => {
                let target =
                    self.ir.graph().follow(&node, &EdgeKind::Resume).map(|target| target.name.clone());
                self.emit(Event::Resumed { node, by });
                if let Some(target) = target {
                    self.go(target);
                }
                Ok(())
            }
            Hold::NeedsAttention { node, .. } => refuse(
                RejectionCode::Invalid,
                format!(
                    "`{node}` has not given its outputs, so the session cannot go on behind it; retry or cancel"
                ),
            ),
            Hold::None | Hold::Cancelling { .. } => {
                refuse(RejectionCode::NotWaiting, "the session is not held")
            }
        }
    }

    /// What was recorded while paused takes its course.
    fn catch_up(&mut self) {
        // What came due in the pause goes first, and may have given the session up.
        if self.state.ended.is_some() || self.state.hold != Hold::None {
            return;
        }
        if matches!(&self.state.work, Work::Stage(stage) if stage.silent && stage.phase == StagePhase::Producing)
        {
            self.silence();
            return;
        }
        self.advance_stage();
        let stands = self.state.work == Work::None && self.state.hold == Hold::None;
        if !stands || self.state.ended.is_some() {
            return;
        }
        let Some((position, _)) = self.open_node() else { return };
        let answered = self.state.settled.iter().rev().find_map(|settled| match settled {
            Settled::Answer { occurrence, choice: Some(choice), .. }
                if *occurrence == self.state.occurrences =>
            {
                Some(choice.clone())
            }
            Settled::Answer { .. } | Settled::Decision { .. } => None,
        });
        let target =
            answered.and_then(|choice| self.ir.graph().follow(&position.node, &EdgeKind::Choice(choice)));
        match target.map(|target| (target.name.clone(), matches!(target.kind, NodeKind::Hold))) {
            // Without a way on it is held and said, never left standing.
            Some((_, true)) | None => {
                let remedies = self.remedies(&position.node);
                self.hold(&position.node, "the choice holds here".to_owned(), remedies);
            }
            Some((name, false)) => self.go(name),
        }
    }

    pub(super) fn pause(&mut self, by: Principal) -> Result<(), Rejection> {
        self.open()?;
        self.owner_only(&by)?;
        match &self.state.hold {
            Hold::Paused => Ok(()),
            Hold::None => {
                self.emit(Event::Paused { by });
                Ok(())
            }
            Hold::NeedsAttention { .. } | Hold::Cancelling { .. } => {
                refuse(RejectionCode::NotWaiting, "the session is held already")
            }
        }
    }

    pub(super) fn cancel(&mut self, by: Principal, reason: String) -> Result<(), Rejection> {
        if let Some(ending) = &self.state.ended {
            return refuse(RejectionCode::Ended, format!("the session has ended: {}", ending.status.word()));
        }
        self.owner_only(&by)?;
        if !matches!(self.state.hold, Hold::Cancelling { .. }) {
            self.fence(Some(by), reason);
        }
        Ok(())
    }

    pub(super) fn owner_only(&self, by: &Principal) -> Result<(), Rejection> {
        self.may(&["owner".to_owned(), "role:operator".to_owned()], by)
    }
}

impl Named {
    /// Refuses names that mean nothing.
    fn check(&self) -> Result<(), Rejection> {
        if self.revision.is_none() && self.digest.is_none() {
            return refuse(
                RejectionCode::Invalid,
                "a decision names the revision or the digest that it decides",
            );
        }
        if self.digest.as_deref().is_some_and(|written| digits(written).len() < DIGEST_DIGITS) {
            return refuse(
                RejectionCode::Invalid,
                format!("a digest is named by at least {DIGEST_DIGITS} digits"),
            );
        }
        Ok(())
    }

    /// Whether it speaks of this revision with this digest.
    pub(super) fn fits(&self, revision: u32, digest: &Digest) -> bool {
        self.revision.is_none_or(|wanted| wanted == revision)
            && self
                .digest
                .as_deref()
                .is_none_or(|written| digits(digest.as_str()).starts_with(digits(written)))
    }

    /// Whether it speaks of this candidate.
    pub(super) fn means(&self, stage: &Stage, candidate: &Candidate) -> bool {
        self.is_of(&stage.invocation) && self.fits(candidate.revision, &candidate.digest)
    }

    /// Whether it can speak of this invocation.
    pub(super) fn is_of(&self, invocation: &str) -> bool {
        self.invocation.as_deref().is_none_or(|wanted| wanted == invocation)
    }
}

fn digits(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}
