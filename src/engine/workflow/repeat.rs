//! Answers and decisions that nothing is open for: the identical repeat is a success without effect, everything else
//! is refused with what stands in its way.

use super::command::Decision;
use super::people::{Named, refuse};
use super::state::{Settled, Stage, StagePhase, Work};
use super::walk::Turn;
use crate::engine::{Principal, Rejection, RejectionCode};

impl Turn<'_> {
    pub(super) fn answer_to_nothing(
        &self,
        occurrence: Option<u32>,
        choice: &str,
        feedback: &str,
        by: &Principal,
    ) -> Result<(), Rejection> {
        let settled = self.state.settled.iter().rev().find_map(|settled| match settled {
            Settled::Answer { occurrence: number, choice, feedback, by }
                if occurrence.is_none_or(|n| n == *number) =>
            {
                Some((choice.clone(), feedback.clone(), by.clone()))
            }
            Settled::Answer { .. } | Settled::Decision { .. } => None,
        });
        match settled {
            Some((Some(known), said, Some(who)))
                if known == choice && said == feedback && who.user == by.user =>
            {
                Ok(())
            }
            Some((Some(known), _, Some(who))) => refuse(
                RejectionCode::Conflict,
                format!("the question was already answered `{known}` by {}", who.user),
            ),
            Some((Some(known), _, None)) => refuse(
                RejectionCode::Stale,
                format!("the question's deadline passed and `{known}` was taken"),
            ),
            Some((None, _, _)) => refuse(RejectionCode::Stale, "the question's deadline has passed"),
            None => {
                self.open()?;
                if occurrence.is_some_and(|number| (1..self.state.occurrences).contains(&number)) {
                    return refuse(RejectionCode::Stale, "that question is no longer open");
                }
                refuse(RejectionCode::NotWaiting, "no such question is open")
            }
        }
    }

    /// No open gate has this candidate: a repeat, a conflict, or something stale.
    pub(super) fn decision_on_nothing(
        &self,
        named: &Named,
        decision: &Decision,
        by: &Principal,
    ) -> Result<(), Rejection> {
        if self.is_repeat(named, decision, by) {
            return Ok(());
        }
        let stage = self.open_stage();
        let spoken_of = self.spoken_of(named, stage);
        let current = stage.and_then(|stage| Some((stage, stage.candidate()?)));
        if let Some(past) = spoken_of.first() {
            let (revision, word) = (past.revision, past.word);
            // Of the open stage a later revision stands: the word comes too late, whatever was said before.
            let newer = current
                .filter(|(stage, _)| stage.invocation == past.invocation)
                .map(|(_, candidate)| candidate.revision)
                .filter(|now| *now > revision);
            let (code, now) = match newer {
                Some(now) => (RejectionCode::Stale, format!("; the current one is revision {now}")),
                None => (RejectionCode::Conflict, String::new()),
            };
            return refuse(
                code,
                match past.user {
                    Some(user) => format!("revision {revision} was already {word} by {user}{now}"),
                    None => {
                        format!("nobody decided on revision {revision} before the deadline of its gate{now}")
                    }
                },
            );
        }
        self.open()?;
        let Some((stage, candidate)) = current else {
            return refuse(RejectionCode::NotWaiting, "nothing is under review");
        };
        let now = candidate.revision;
        let message = match &stage.phase {
            _ if !named.means(stage, candidate) => {
                format!("that candidate is not under review; the current one is revision {now}")
            }
            StagePhase::HumanGate { gate, .. } => {
                format!("revision {now} is not at that gate; it is at gate {}", gate.saturating_add(1))
            }
            StagePhase::MachineGate { .. } => {
                format!("revision {now} is with an evaluator and not yet with a person")
            }
            StagePhase::Producing | StagePhase::CorrectionDue | StagePhase::Unsuccessful { .. } => {
                format!("revision {now} is no longer under review")
            }
        };
        refuse(RejectionCode::Stale, message)
    }

    /// Whether this person has said just this before of what `named` can mean.
    pub(super) fn is_repeat(&self, named: &Named, decision: &Decision, by: &Principal) -> bool {
        let (wanted, said) = match decision {
            Decision::Accept => ("accepted", ""),
            Decision::Reject { feedback } => ("rejected", feedback.as_str()),
            Decision::Abort { reason } => ("aborted", reason.as_str()),
        };
        self.spoken_of(named, self.open_stage())
            .iter()
            .any(|past| past.word == wanted && past.text == said && past.user == Some(by.user.as_str()))
    }

    fn open_stage(&self) -> Option<&Stage> {
        match &self.state.work {
            Work::Stage(stage) => Some(stage),
            Work::Cron { .. } | Work::Question(_) | Work::None => None,
        }
    }

    /// Decisions of persons, and gates that nobody decided in time, that `named` can mean, newest first. The open stage
    /// comes first: earlier stages are looked through only where it has no such candidate.
    fn spoken_of<'a>(&'a self, named: &Named, stage: Option<&Stage>) -> Vec<Past<'a>> {
        let fits = |settled: &'a Settled| match settled {
            Settled::Decision { invocation, revision, digest, gate, word, text, by } => {
                let by_people = by.is_some() || *word == "expired";
                let meant = named.is_of(invocation)
                    && named.fits(*revision, digest)
                    && named.gate.is_none_or(|wanted| wanted == *gate);
                let user = by.as_ref().map(|by| by.user.as_str());
                (by_people && meant).then_some(Past { invocation, revision: *revision, word, text, user })
            }
            Settled::Answer { .. } => None,
        };
        let mut all: Vec<_> = self.state.settled.iter().rev().filter_map(fits).collect();
        if let Some(stage) = stage
            && stage.candidates.iter().any(|candidate| named.means(stage, candidate))
        {
            all.retain(|past| past.invocation == stage.invocation);
        }
        all
    }
}

/// A decision that was settled.
struct Past<'a> {
    invocation: &'a str,
    revision: u32,
    word: &'static str,
    text: &'a str,
    user: Option<&'a str>,
}
