//! What must hold of the events of a workflow session, whatever happens to it: each is seen as it is written.

use flowright::engine::workflow::command::{Decision, Notification};
use flowright::engine::workflow::event::{Decider, Event, Frame};
use flowright::engine::workflow::evolve::evolve;
use flowright::engine::workflow::state::{Hold, StagePhase, State, Work};
use flowright::engine::{Principal, SessionId};
use flowright::ir::{self, EdgeKind, GateKind, NodeKind};
use flowright::time::Timestamp;
use std::collections::{HashMap, HashSet};

/// Who brought the notification.
pub(crate) enum Cause {
    /// Children, clocks, hosts.
    World,
    /// A person; the same number is the same word said again.
    Person { number: usize, news: Notification },
}

/// What of the log must be remembered to judge what comes next.
pub(crate) struct Witness {
    ir: ir::Workflow,
    left: HashSet<(String, u32)>,
    children: HashSet<SessionId>,
    accepted: HashMap<(String, u32), Vec<u32>>,
    rejected: HashMap<(String, u32), u32>,
    effects: HashMap<usize, u32>,
    frames: Vec<Frame>,
    paused: bool,
    cancelled: bool,
    ended: bool,
    marks: usize,
}

impl Witness {
    pub(crate) fn new(ir: &ir::Workflow) -> Self {
        Self {
            ir: ir.clone(),
            left: HashSet::new(),
            children: HashSet::new(),
            accepted: HashMap::new(),
            rejected: HashMap::new(),
            effects: HashMap::new(),
            frames: Vec::new(),
            paused: false,
            cancelled: false,
            ended: false,
            marks: 0,
        }
    }

    pub(crate) fn see(&mut self, before: &State, at: Timestamp, events: &[Event], cause: &Cause) {
        let mut open = before.clone();
        for event in events {
            self.fences(event);
            self.people(&open, at, event, cause);
            self.gates(&open, event);
            self.loops(event);
            self.children(event, &open);
            evolve(&mut open, at, event);
            assert_eq!(open.marks.len(), self.marks, "marks come and go by their events");
        }
    }

    /// A pause admits nothing, a cancellation nothing more, an end nothing at all.
    fn fences(&mut self, event: &Event) {
        match event {
            Event::StepEntered { .. }
            | Event::InvocationAdmitted { .. }
            | Event::RoundAdmitted { .. }
            | Event::QuestionAsked { .. }
            | Event::GateOpened { .. }
            | Event::GateExpired { .. }
            | Event::QuestionExpired { .. }
            | Event::OccurrenceAwaited { .. }
            | Event::OccurrenceFired { .. }
            | Event::OccurrenceSkipped { .. }
            | Event::LoopExpired { .. }
            | Event::AttentionRaised { .. }
            | Event::Retried { .. }
            | Event::Resumed { .. } => {
                assert!(!self.paused && !self.cancelled && !self.ended, "{event:?} past a fence");
            }
            Event::ChildStarted { .. } | Event::WorkSettled { .. } => {}
            Event::MessageAcknowledged { .. } | Event::StopOwed { .. } => assert!(!self.ended, "{event:?}"),
            Event::Ended { .. } => {
                assert!(!self.ended && !self.paused, "{event:?}");
                self.ended = true;
            }
            Event::CancelRequested { .. } => {
                assert!(!self.cancelled && !self.ended);
                (self.cancelled, self.paused) = (true, false);
            }
            Event::Paused { .. } => {
                assert!(!self.paused && !self.cancelled && !self.ended);
                self.paused = true;
            }
            Event::Unpaused { .. } => {
                assert!(self.paused && !self.cancelled && !self.ended);
                self.paused = false;
            }
            Event::Started(_)
            | Event::QuestionAnswered { .. }
            | Event::CandidateSealed { .. }
            | Event::StageUnsuccessful { .. }
            | Event::ReminderOwed { .. }
            | Event::FellSilent { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::Aborted { .. }
            | Event::StepLeft { .. }
            | Event::Dismissed { .. } => assert!(!self.cancelled && !self.ended, "{event:?} past a fence"),
        }
    }

    /// What a person did was said by just this person, of just this, in time, and a word has its effect once.
    fn people(&mut self, open: &State, at: Timestamp, event: &Event, cause: &Cause) {
        let (by, wanted) = match event {
            Event::Accepted { by: Decider::Person(by), .. } => (by, "accept"),
            Event::Rejected { by: Decider::Person(by), .. } => (by, "reject"),
            Event::Aborted { by, .. } => (by, "abort"),
            Event::QuestionAnswered { by: Some(by), .. } => (by, "answer"),
            _ => return,
        };
        let Cause::Person { number, news } = cause else { panic!("{event:?} without a person") };
        let times = self.effects.entry(*number).or_default();
        *times += 1;
        match (&open.work, news) {
            (Work::Question(asking), Notification::Answer { occurrence, choice, by: whose, .. }) => {
                assert_eq!((wanted, whose), ("answer", by));
                assert!(matches!(event, Event::QuestionAnswered { choice: known, .. } if known == choice));
                assert!(occurrence.is_none_or(|named| named == asking.occurrence));
                assert!(asking.deadline_at.is_none_or(|deadline| at < deadline), "an answer that came late");
                assert!(occurrence.is_none() || *times == 1, "one answer answers one asking");
                assert!(may(&asking.respondents, by));
            }
            (
                Work::Stage(stage),
                Notification::Decide { revision, digest, gate: named, invocation, decision, by: whose },
            ) => {
                let StagePhase::HumanGate { gate, respondents, deadline_at, .. } = &stage.phase else {
                    panic!("{event:?} and no gate is open")
                };
                let said = match decision {
                    Decision::Accept => "accept",
                    Decision::Reject { .. } => "reject",
                    Decision::Abort { .. } => "abort",
                };
                assert_eq!((wanted, whose), (said, by));
                let candidate = stage.candidate().unwrap();
                assert!(revision.is_none_or(|revision| revision == candidate.revision));
                assert!(digest.as_ref().is_none_or(|digest| digest == candidate.digest.as_str()));
                assert!(named.is_none_or(|named| named == *gate));
                assert!(invocation.as_ref().is_none_or(|named| *named == stage.invocation));
                assert!(deadline_at.is_none_or(|deadline| at < deadline), "a decision that came late");
                let bound = invocation.is_some() && revision.is_some();
                assert!(!bound || *times == 1, "one decision is made once");
                assert!(may(respondents, by), "{by:?} is none of {respondents:?}");
            }
            other => panic!("{event:?} in {other:?}"),
        }
    }

    /// Every gate is passed once and in order, by whom it asks; a stage is left well only behind all of them.
    fn gates(&mut self, open: &State, event: &Event) {
        match event {
            Event::Accepted { invocation, revision, gate, by, digest } => {
                let Work::Stage(stage) = &open.work else { panic!("no stage is open") };
                let candidate = stage.candidate().unwrap();
                assert_eq!(
                    (&stage.invocation, candidate.revision, &candidate.digest),
                    (invocation, *revision, digest)
                );
                let machine =
                    matches!(self.stage(invocation).gates[*gate as usize].kind, GateKind::Agent { .. });
                assert_eq!(machine, matches!(by, Decider::Evaluator { .. }), "who passes which gate");
                let passed = self.accepted.entry((invocation.clone(), *revision)).or_default();
                assert_eq!(passed.len(), *gate as usize, "gates in order");
                passed.push(*gate);
            }
            Event::Rejected { invocation, gate, by: Decider::Evaluator { .. }, .. } => {
                let times = self.rejected.entry((invocation.clone(), *gate)).or_default();
                *times += 1;
                let times = *times;
                if let GateKind::Agent { max_rounds: Some(most), .. } =
                    &self.stage(invocation).gates[*gate as usize].kind
                {
                    assert!(times <= *most, "rejected {times} times at most {most}");
                }
            }
            Event::CandidateSealed { invocation, revision, .. } => {
                let stage = self.stage(invocation);
                assert!(*revision <= stage.max_revisions);
                let before = self.accepted.get(&(invocation.clone(), revision - 1)).map_or(0, Vec::len);
                let through = *revision > 1 && before >= stage.gates.len();
                assert!(!through, "an accepted result is replaced");
            }
            Event::StepLeft { node, visit, exit, marked, .. } => {
                self.marks += usize::from(marked.is_some());
                if matches!(self.ir.graph().by_name(node).unwrap().kind, NodeKind::Loop { .. }) {
                    return;
                }
                assert!(self.left.insert((node.clone(), *visit)), "{node}/{visit} advances twice");
                if let (EdgeKind::Next, Work::Stage(stage)) = (exit, &open.work) {
                    let key = (stage.invocation.clone(), stage.candidate().unwrap().revision);
                    let gates = self.stage(&stage.invocation).gates.len();
                    assert_eq!(self.accepted.get(&key).map_or(0, Vec::len), gates, "a gate was not passed");
                }
            }
            Event::Dismissed { marks, .. } => self.marks -= marks.len(),
            _ => {}
        }
    }

    /// Iterations count from 1, one by one, and not further than the definition says.
    fn loops(&mut self, event: &Event) {
        let Event::StepEntered { frames, .. } = event else { return };
        for frame in frames {
            let NodeKind::Loop { times, .. } = &self.ir.graph().by_name(&frame.node).unwrap().kind else {
                panic!("{frame:?} is no loop")
            };
            assert!(times.is_none_or(|times| frame.iteration <= times), "{frame:?}");
            let before = self
                .frames
                .iter()
                .find(|known| known.node == frame.node && known.entered_at == frame.entered_at)
                .map_or(0, |known| known.iteration);
            let steps = frame.iteration.checked_sub(before);
            assert!(matches!(steps, Some(0 | 1)) || frame.iteration == 1, "{frame:?} after {before}");
        }
        self.frames.clone_from(frames);
    }

    /// A child is admitted once; a further attempt only where a person wanted it.
    fn children(&mut self, event: &Event, open: &State) {
        match event {
            Event::InvocationAdmitted { child, attempt, .. } => {
                assert!(self.children.insert(child.session.clone()), "a child is admitted once");
                assert_eq!(open.hold, Hold::None);
                let again = matches!(&open.work, Work::Stage(stage) if stage.attempt + 1 == *attempt);
                assert!(*attempt == 1 || again);
            }
            Event::RoundAdmitted { child, .. } => {
                assert!(self.children.insert(child.session.clone()), "an evaluator is admitted once");
            }
            _ => {}
        }
    }

    fn stage(&self, invocation: &str) -> &ir::Stage {
        let node = invocation.split('/').next().unwrap();
        self.ir.graph().by_name(node).unwrap().kind.as_agent().unwrap()
    }
}

fn may(respondents: &[String], by: &Principal) -> bool {
    respondents.iter().any(|asked| match asked.split_once(':') {
        Some(("role", role)) => by.roles.iter().any(|known| known == role),
        Some((_, user)) => user == by.user,
        None => asked == "owner" && by.user == "ada",
    })
}
