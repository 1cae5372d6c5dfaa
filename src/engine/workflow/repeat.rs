//! Answers and decisions that nothing is open for: the identical repeat is a success without effect, everything else
//! is refused with what stands in its way.

use super::command::Decision;
use super::people::refuse;
use super::state::{Settled, Work};
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
                refuse(RejectionCode::NotWaiting, "no such question is open")
            }
        }
    }

    /// No open gate has this candidate: a repeat, a conflict, or something stale.
    pub(super) fn decision_on_nothing(
        &self,
        revision: Option<u32>,
        digest: Option<&str>,
        decision: &Decision,
        by: &Principal,
    ) -> Result<(), Rejection> {
        let (wanted, said) = match decision {
            Decision::Accept => ("accepted", ""),
            Decision::Reject { feedback } => ("rejected", feedback.as_str()),
            Decision::Abort { reason } => ("aborted", reason.as_str()),
        };
        let invocation = match &self.state.work {
            Work::Stage(stage) => Some(stage.invocation.as_str()),
            Work::Cron { .. } | Work::Question(_) | Work::None => None,
        };
        let fits = |settled: &&Settled| match settled {
            Settled::Decision { invocation: whose, revision: number, digest: known, .. } => {
                invocation.is_none_or(|open| open == whose)
                    && revision.is_none_or(|wanted| wanted == *number)
                    && digest.is_none_or(|written| {
                        known
                            .as_str()
                            .trim_start_matches("sha256:")
                            .starts_with(written.trim_start_matches("sha256:"))
                    })
            }
            Settled::Answer { .. } => false,
        };
        if let Some(Settled::Decision { revision, word, text, by: who, .. }) =
            self.state.settled.iter().rev().find(fits)
        {
            let same_person = who.as_ref().is_some_and(|who| who.user == by.user);
            if *word == wanted && text == said && same_person {
                return Ok(());
            }
            let whom =
                who.as_ref().map_or_else(|| "the runtime or an evaluator".to_owned(), |who| who.user.clone());
            return refuse(
                RejectionCode::Conflict,
                format!("revision {revision} was already {word} by {whom}"),
            );
        }
        self.open()?;
        if let Work::Stage(stage) = &self.state.work
            && let Some(candidate) = stage.candidate()
        {
            let now = candidate.revision;
            return refuse(
                RejectionCode::Stale,
                format!("that candidate is no longer under review; the current one is revision {now}"),
            );
        }
        refuse(RejectionCode::NotWaiting, "nothing is under review")
    }
}
