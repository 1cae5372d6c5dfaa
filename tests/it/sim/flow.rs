//! One life of a workflow session, from its seed: children that do anything, people who look at old pictures and repeat
//! themselves, messages that come twice, late or in another order, clocks that jump, processes that die.

use super::flow_check::{Cause, Witness};
use super::life::Tally;
use crate::support::dice::Dice;
use crate::support::world::person;
use crate::workflow_engine::compiled;
use flowright::engine::agent::event::{Envelope, EnvelopeOutcome, Spec as ChildSpec};
use flowright::engine::workflow::command::{Command, Decision, Notification};
use flowright::engine::workflow::decide::decide;
use flowright::engine::workflow::event::{Event, Remedy, Spec};
use flowright::engine::workflow::evolve::evolve;
use flowright::engine::workflow::pending::{index, pending, wake_at};
use flowright::engine::workflow::state::{Hold, StagePhase, State, Work};
use flowright::engine::{Principal, RejectionCode, SessionId};
use flowright::ir;
use flowright::time::Timestamp;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::collections::HashSet;

const FLOWS: [&str; 5] = [
    "
deadline: 5h
steps: [{ id: make, agent: maker, task: Make it., deadline: 4h }, { id: last, agent: maker, task: End it. }]
",
    "
deadline: 90h
steps:
  - id: ask
    question: Go on?
    choices: { yes: Yes, wait: { label: Wait, then: hold } }
    deadline: 9h
  - id: make
    agent: maker
    task: Make it.
    result: { type: object, required: [n], properties: { n: { type: integer } } }
    completion: reviewed
    review:
      - { agent: critic, task: Judge., max_rounds: 2, deadline: 2h }
      - { human: Good?, respondents: [owner, \"role:lead\"], deadline: 5h, on_deadline: { stop: failed } }
      - human: Cheap enough?
        respondents: [\"role:lead\"]
        on_abort: { steps: [{ id: tidy, agent: maker, task: Tidy. }], then: { stop: cancelled } }
    max_revisions: 4
    deadline: 6h
    on_exhausted: { stop: failed }
  - { id: last, agent: maker, task: End it. }
",
    "
steps:
  - loop:
      repeat: until_stopped
      steps:
        - { id: tick, cron: \"0 * * * *\", timezone: UTC }
        - { id: make, agent: maker, task: Make it., on_failed: next, on_blocked: continue, deadline: 2h, on_deadline: next }
        - { id: more, question: More?, choices: { yes: Yes, no: { label: No, then: break } }, deadline: 3h, on_deadline: next }
",
    "
steps:
  - id: plan
    agent: maker
    task: Plan.
    completion: reviewed
    review: [{ human: Good? }, { human: Sure? }]
  - id: build
    agent: maker
    task: Build.
    completion: reviewed
    review: [{ human: Good? }]
    on_failed: { stop: failed }
",
    "
steps:
  - id: rounds
    loop:
      repeat: 3
      deadline: 30h
      on_exhausted: continue
      steps:
        - id: make
          agent: maker
          task: Make it.
          completion: reviewed
          review: [{ human: Good?, deadline: 3h, on_abort: next, on_deadline: next }]
          on_failed: continue
        - { id: more, question: More?, choices: { yes: Yes, no: { label: No, then: break } } }
  - { id: done, question: Done?, choices: { yes: Yes } }
",
];

const HOUR: i64 = 3_600_000;

/// A child as the world sees it.
struct Kid {
    spec: ChildSpec,
    stopped: bool,
    works: bool,
    turn: u32,
    said: Vec<Notification>,
    taken: HashSet<String>,
    dead: bool,
    submissions: u32,
}

/// Something that a person said; it may be said again.
#[derive(Clone)]
struct Said {
    number: usize,
    news: Notification,
}

struct Life {
    dice: Dice,
    ir: ir::Workflow,
    state: State,
    log: Vec<(Timestamp, String)>,
    clock: Timestamp,
    kids: IndexMap<SessionId, Kid>,
    queue: Vec<Notification>,
    picture: State,
    said: Vec<Said>,
    witness: Witness,
    sealed: HashSet<(SessionId, u32)>,
    tally: Tally,
}

pub(crate) fn live(seed: u64) -> Tally {
    let mut life = Life::new(seed);
    for _ in 0..40 + life.dice.roll(260) {
        match life.dice.roll(12) {
            0..=3 => life.dispatch(),
            4 => life.child_acts(),
            5..=7 => life.deliver(),
            8 | 9 => life.person_acts(),
            10 if life.state.hold == Hold::Paused || life.dice.once_in(3) => life.time_passes(),
            11 if life.dice.once_in(4) => life.dies(),
            _ => life.tell(Notification::Tick, &Cause::World),
        }
        life.judge();
    }
    life.comes_to_rest();
    life.tally
}

impl Life {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let ir = compiled(dice.pick::<&str>(&FLOWS));
        let clock = Timestamp(1_770_000_000_000);
        let mut life = Self {
            dice,
            state: State::default(),
            log: Vec::new(),
            clock,
            kids: IndexMap::new(),
            queue: Vec::new(),
            picture: State::default(),
            said: Vec::new(),
            witness: Witness::new(&ir),
            sealed: HashSet::new(),
            tally: Tally::default(),
            ir,
        };
        let spec = Spec {
            session: SessionId("s".to_owned()),
            workflow: "desk".to_owned(),
            definition: life.ir.digest().clone(),
            root: "/".to_owned(),
            source: None,
            inputs: IndexMap::new(),
            owner: "ada".to_owned(),
        };
        life.tell(Notification::Start(spec), &Cause::World);
        life
    }

    /// As a host does it: stamped, judged, recorded, folded.
    fn tell(&mut self, news: Notification, cause: &Cause) {
        let at = self.clock.max(self.state.now);
        let ticked = news == Notification::Tick;
        let submitted = match &news {
            Notification::Submitted { child, submission, .. } => Some((child.clone(), *submission)),
            _ => None,
        };
        let events = match decide(&self.ir, &self.state, at, news) {
            Ok(events) => events,
            Err(refused) => {
                self.tally.count(word(refused.code), 1);
                return;
            }
        };
        if events.iter().any(|event| matches!(event, Event::CandidateSealed { .. })) {
            assert!(self.sealed.insert(submitted.unwrap()), "one submission is sealed once");
        }
        self.witness.see(&self.state, at, &events, cause);
        for event in &events {
            evolve(&mut self.state, at, event);
            self.log.push((at, serde_json::to_string(event).unwrap()));
            self.tally_of(event);
        }
        if matches!(cause, Cause::Person { .. }) && events.is_empty() {
            self.tally.count("words without effect", 1);
        }
        if ticked {
            let next = wake_at(&self.ir, &self.state);
            assert!(next.is_none_or(|next| next > at), "still due after a tick: {next:?} at {at:?}");
        }
    }

    fn tally_of(&mut self, event: &Event) {
        let what = match event {
            Event::Accepted { .. } if self.state.hold == Hold::Paused => "acceptances in a pause",
            Event::Accepted { .. } => "acceptances",
            Event::Rejected { .. } => "rejections",
            Event::Aborted { .. } => "abortions",
            Event::GateExpired { .. } => "gates that expired",
            Event::Retried { .. } => "retries",
            Event::FellSilent { .. } => "silences in a pause",
            Event::StepLeft { marked: Some(_), .. } => "marks",
            Event::Dismissed { .. } => "dismissals",
            Event::LoopExpired { .. } => "loops that expired",
            Event::OccurrenceFired { .. } => "occurrences",
            Event::Ended { .. } => "ends",
            Event::CancelRequested { by: None, .. } => "sessions past their deadline",
            _ => return,
        };
        self.tally.count(what, 1);
    }

    /// Does some of what is owed.
    fn dispatch(&mut self) {
        let owed = pending(&self.ir, &self.state);
        if owed.is_empty() {
            return;
        }
        let command = self.dice.pick(&owed).clone();
        self.perform(command);
    }

    fn perform(&mut self, command: Command) {
        let news = match command {
            Command::StartChild { spec } => {
                let child = spec.session.clone();
                let known = self.kids.entry(child.clone()).or_insert_with(|| Kid {
                    spec: spec.clone(),
                    stopped: false,
                    works: true,
                    turn: 0,
                    said: Vec::new(),
                    taken: HashSet::new(),
                    dead: false,
                    submissions: 0,
                });
                assert_eq!(known.spec, spec, "one id, one child");
                Notification::ChildStarted { child }
            }
            Command::Tell { child, message } => {
                let kid = &mut self.kids[&child];
                if kid.taken.insert(message.id.clone()) {
                    kid.works = true;
                }
                Notification::MessageAcknowledged { message: message.id }
            }
            Command::StopWork { child } => {
                if let Some(kid) = self.kids.get_mut(&child) {
                    kid.stopped = true;
                }
                Notification::WorkSettled { child }
            }
        };
        self.queue.push(news);
    }

    /// A child takes a turn.
    fn child_acts(&mut self) {
        let anew = self.dice.once_in(6);
        let able: Vec<SessionId> = self
            .kids
            .iter()
            .filter(|(_, kid)| !kid.stopped && (kid.works || anew))
            .map(|(id, _)| id.clone())
            .collect();
        if able.is_empty() {
            return;
        }
        let child = self.dice.pick(&able).clone();
        let silent = matches!(self.kids[&child].said.last(), Some(Notification::Yielded { .. }));
        let kind = if silent && self.dice.once_in(2) { 12 } else { self.dice.roll(30) };
        self.turn(&child, kind);
    }

    fn turn(&mut self, child: &SessionId, kind: u64) {
        let n = self.dice.roll(3);
        let kid = &mut self.kids[child];
        kid.turn += 1;
        kid.works = false;
        if kind == 15 {
            kid.dead = true;
        }
        let child = child.clone();
        let evaluator = kid.spec.contract.as_ref().is_some_and(|contract| contract.evaluator);
        let news = match kind {
            _ if kid.dead => Notification::ChildFailed { child, reason: "no model".to_owned() },
            12..=14 => Notification::Yielded { child, turn: kid.turn },
            _ => {
                let outcome = match kind {
                    10 => EnvelopeOutcome::Blocked,
                    11 => EnvelopeOutcome::Failed,
                    _ => EnvelopeOutcome::Succeeded,
                };
                let result = match (evaluator, kind) {
                    (true, 0..=9 | 16..=19) => json!({ "decision": "accept", "feedback": "" }),
                    (true, _) => json!({ "decision": "reject", "feedback": "more" }),
                    (false, 9) => Value::Null,
                    // Often the very same result, so that digests do not tell revisions apart.
                    (false, _) => json!({ "n": n }),
                };
                kid.submissions += 1;
                let envelope = Envelope { outcome, summary: "said".to_owned(), result };
                Notification::Submitted { child, submission: kid.submissions, envelope }
            }
        };
        kid.said.push(news.clone());
        self.queue.push(news);
    }

    /// Some message arrives: any, and some come again.
    fn deliver(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let which = usize::try_from(self.dice.roll(self.queue.len() as u64)).unwrap();
        let news = if self.dice.once_in(4) { self.queue[which].clone() } else { self.queue.remove(which) };
        self.tell(news, &Cause::World);
    }

    fn person_acts(&mut self) {
        if self.dice.roll(3) > 0 {
            self.picture = self.state.clone();
        }
        if !self.said.is_empty() && self.dice.once_in(3) {
            let again = self.dice.pick(&self.said).clone();
            return self.hear(again);
        }
        let by = match self.dice.roll(6) {
            0..=2 => person("ada"),
            3 | 4 => lead(),
            _ => person("eve"),
        };
        let Some(news) = self.wish(by) else { return };
        let said = Said { number: self.said.len(), news };
        self.said.push(said.clone());
        self.hear(said);
    }

    fn hear(&mut self, said: Said) {
        let cause = Cause::Person { number: said.number, news: said.news.clone() };
        self.tell(said.news, &cause);
    }

    /// What somebody wants who looks at their picture of the session.
    fn wish(&mut self, by: Principal) -> Option<Notification> {
        if !matches!(self.picture.hold, Hold::None | Hold::Paused) && self.dice.roll(3) > 0 {
            return self.duty(false);
        }
        match self.dice.roll(14) {
            0 => return Some(Notification::Pause { by }),
            1 | 2 => return Some(Notification::Resume { by }),
            3 => return Some(Notification::Retry { by }),
            4 if self.dice.once_in(25) => {
                return Some(Notification::Cancel { by, reason: "enough".to_owned() });
            }
            5 if self.dice.once_in(2) => {
                let mark = self.picture.marks.first().map(|mark| mark.number);
                return mark.map(|number| Notification::Dismiss { mark: Some(number), by });
            }
            _ => {}
        }
        match &self.picture.work {
            Work::Question(asking) => {
                let named = !self.dice.once_in(4);
                let (occurrence, feedback) = (named.then_some(asking.occurrence), String::new());
                let choice = self.dice.pick(&asking.choices).0.clone();
                Some(Notification::Answer { occurrence, choice, feedback, by })
            }
            Work::Stage(stage) => {
                let candidate = stage.candidate()?;
                let decision = match self.dice.roll(8) {
                    0..=4 => Decision::Accept,
                    5 | 6 => Decision::Reject { feedback: "more".to_owned() },
                    _ => Decision::Abort { reason: "no".to_owned() },
                };
                let by_digest = self.dice.once_in(4);
                let revision = (!by_digest).then_some(candidate.revision);
                let digest = by_digest.then(|| candidate.digest.as_str().to_owned());
                let gate = match &stage.phase {
                    StagePhase::HumanGate { gate, .. } if self.dice.once_in(2) => Some(*gate),
                    _ => None,
                };
                let invocation = (self.dice.roll(3) > 0).then(|| stage.invocation.clone());
                Some(Notification::Decide { revision, digest, gate, invocation, decision, by })
            }
            Work::Cron { .. } | Work::None => None,
        }
    }

    fn time_passes(&mut self) {
        let by = match self.dice.roll(8) {
            // Pauses are long.
            _ if self.state.hold == Hold::Paused => HOUR * 4,
            0 => -HOUR * 24,
            1 if self.dice.once_in(3) => HOUR * 24,
            1..=3 => HOUR * 3,
            _ => i64::try_from(self.dice.roll(HOUR.unsigned_abs())).unwrap(),
        };
        self.clock = match wake_at(&self.ir, &self.state) {
            Some(next) if self.dice.once_in(6) => next,
            _ => Timestamp(self.clock.0 + by),
        };
        if self.dice.once_in(2) {
            self.tell(Notification::Tick, &Cause::World);
        }
    }

    /// The process is gone with all that was on its way; the next one has the log and asks every child again.
    fn dies(&mut self) {
        self.queue.clear();
        let state = self.folded();
        assert_eq!(state, self.state, "the state is the fold of its events");
        assert_eq!(pending(&self.ir, &state), pending(&self.ir, &self.state));
        assert_eq!(wake_at(&self.ir, &state), wake_at(&self.ir, &self.state));
        self.state = state;
        for (child, kid) in &self.kids {
            self.queue.push(Notification::ChildStarted { child: child.clone() });
            self.queue.extend(kid.said.last().cloned());
        }
        self.tally.count("deaths", 1);
    }

    fn folded(&self) -> State {
        let mut state = State::default();
        for (at, body) in &self.log {
            evolve(&mut state, *at, &serde_json::from_str::<Event>(body).unwrap());
        }
        state
    }

    /// What holds of every state.
    fn judge(&self) {
        let (state, owed) = (&self.state, pending(&self.ir, &self.state));
        let stops = owed.iter().all(|command| matches!(command, Command::StopWork { .. }));
        if matches!(state.hold, Hold::Paused | Hold::Cancelling { .. }) || state.ended.is_some() {
            assert!(stops, "{owed:?} is owed in {:?}", state.hold);
        }
        let ids: HashSet<String> = owed.iter().map(Command::id).collect();
        assert_eq!(ids.len(), owed.len(), "{owed:?}");
        if state.hold == Hold::Paused
            && let Work::Stage(stage) = &state.work
        {
            assert_eq!(stage.running_since, None, "the clock of a stage runs in a pause");
        }
        if state.hold == Hold::None && state.ended.is_none() {
            assert_ne!(state.work, Work::None, "stands still unseen");
        }
        let producing = state.children.values().filter(|child| {
            !child.stopping && child.spec.contract.as_ref().is_some_and(|contract| !contract.evaluator)
        });
        assert!(producing.count() <= 1, "one producing child at a time");
        let row = index(&self.ir, state);
        assert_eq!((row.ended, row.owes_work), (state.ended.is_some(), !owed.is_empty()));
    }

    /// The faults stop; whoever is asked does their part. Then the session ends, or can at least be cancelled.
    fn comes_to_rest(&mut self) {
        self.dies();
        for round in 0..200 {
            self.tell(Notification::Tick, &Cause::World);
            for command in pending(&self.ir, &self.state) {
                self.perform(command);
            }
            for news in std::mem::take(&mut self.queue) {
                self.tell(news, &Cause::World);
            }
            self.judge();
            if self.state.ended.is_some() && pending(&self.ir, &self.state).is_empty() {
                break;
            }
            let working: Vec<SessionId> = self
                .kids
                .iter()
                .filter(|(_, kid)| kid.works && !kid.stopped)
                .map(|(id, _)| id.clone())
                .collect();
            for child in working {
                self.turn(&child, 1);
            }
            self.picture = self.state.clone();
            if let Some(news) = self.duty(round > 100) {
                let said = Said { number: self.said.len(), news };
                self.said.push(said.clone());
                self.hear(said);
            } else if let Some(next) = wake_at(&self.ir, &self.state).filter(|_| round % 3 == 2) {
                self.clock = self.clock.max(next);
                self.tell(Notification::Tick, &Cause::World);
            }
        }
        if self.state.ended.is_none() {
            let last: Vec<_> = self.log.iter().rev().take(12).rev().collect();
            eprintln!("{last:#?}");
        }
        assert!(self.state.ended.is_some(), "it does not end: {:?} {:?}", self.state.hold, self.state.work);
        assert_eq!(pending(&self.ir, &self.state), []);
        assert_eq!(self.folded(), self.state);
        for said in self.said.clone() {
            let before = self.log.len();
            self.hear(said);
            self.tell(Notification::Tick, &Cause::World);
            assert_eq!(self.log.len(), before, "an ended session takes nothing more");
        }
    }

    /// What the person does who is asked now.
    fn duty(&self, weary: bool) -> Option<Notification> {
        if self.state.ended.is_some() {
            return None;
        }
        let by = person("ada");
        if weary {
            return Some(Notification::Cancel { by, reason: "enough".to_owned() });
        }
        match &self.state.hold {
            Hold::Paused => return Some(Notification::Resume { by }),
            Hold::NeedsAttention { remedies, .. } => {
                return Some(if remedies.contains(&Remedy::Resume) {
                    Notification::Resume { by }
                } else if remedies.contains(&Remedy::Retry) {
                    Notification::Retry { by }
                } else {
                    Notification::Cancel { by, reason: "nothing else can be done".to_owned() }
                });
            }
            Hold::Cancelling { .. } => return None,
            Hold::None => {}
        }
        match &self.state.work {
            Work::Question(asking) => {
                let choice = asking.choices.last()?.0.clone();
                let (occurrence, feedback) = (Some(asking.occurrence), String::new());
                Some(Notification::Answer { occurrence, choice, feedback, by })
            }
            Work::Stage(stage) => {
                let StagePhase::HumanGate { gate, respondents, .. } = &stage.phase else { return None };
                let by = if respondents.iter().any(|asked| asked == "owner") { by } else { lead() };
                Some(Notification::Decide {
                    revision: Some(stage.candidate()?.revision),
                    digest: None,
                    gate: Some(*gate),
                    invocation: Some(stage.invocation.clone()),
                    decision: Decision::Accept,
                    by,
                })
            }
            Work::Cron { .. } | Work::None => None,
        }
    }
}

fn lead() -> Principal {
    Principal { user: "lea".to_owned(), roles: vec!["lead".to_owned()], via: "test".to_owned() }
}

fn word(code: RejectionCode) -> &'static str {
    match code {
        RejectionCode::Stale => "refused as stale",
        RejectionCode::Conflict => "refused as conflicting",
        RejectionCode::NotAllowed => "refused as not allowed",
        RejectionCode::Ended => "refused as ended",
        _ => "refused otherwise",
    }
}
