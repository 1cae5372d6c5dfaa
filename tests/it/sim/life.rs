//! One life of an agent session, from its seed: what is done to it, by whom, and what breaks meanwhile.

use super::check;
use super::disk::Wire;
use super::outside::{self, Ledger, Outside};
use crate::support::dice::Dice;
use crate::support::world::person;
use flowright::engine::SessionId;
use flowright::engine::agent::command::{Notification, Resolution};
use flowright::engine::agent::event::{Event, Message, MessageKind, Spec, ToolResult};
use flowright::engine::agent::state::{CallState, State, Turn};
use flowright::host::clock::Clock;
use flowright::host::holder;
use flowright::host::run::{Host, HostError, Until};
use flowright::store::Store;
use flowright::store::memory::MemoryStore;
use flowright::time::{Millis, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// How often something happened, over all seeds.
#[derive(Debug, Default)]
pub(crate) struct Tally(std::collections::BTreeMap<&'static str, u64>);

impl Tally {
    pub(crate) fn count(&mut self, what: &'static str, times: u64) {
        *self.0.entry(what).or_default() += times;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (what, times) in &other.0 {
            self.count(what, *times);
        }
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(what, times)| (*what, *times))
    }
}

/// A clock that goes where it is told, backwards too.
struct Clockwork(Mutex<Timestamp>);

impl Clock for Clockwork {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn fresh_id(&self) -> String {
        "00000000-0000-8000-a000-000000000001".to_owned()
    }

    fn advance_to(&self, to: Timestamp) -> bool {
        let mut now = self.0.lock().unwrap();
        *now = (*now).max(to);
        true
    }
}

impl Clockwork {
    fn jump(&self, by: Millis) {
        let mut now = self.0.lock().unwrap();
        *now = Timestamp(now.0 + by.0);
    }
}

/// Longer than a lease.
const LAPSE: Millis = Millis(31_000);
const DAY: Millis = Millis(86_400_000);

struct Life {
    seed: u64,
    dice: Dice,
    disk: Arc<MemoryStore>,
    clock: Arc<Clockwork>,
    ledger: Arc<Mutex<Ledger>>,
    runtime: tokio::runtime::Runtime,
    session: SessionId,
    deaths: Arc<AtomicU64>,
    hosts: u64,
    tally: Tally,
}

/// One process.
struct Process {
    host: Host,
    wire: Arc<Wire>,
}

pub(crate) fn live(seed: u64) -> Tally {
    let mut life = Life::new(seed);
    life.begin();
    let rounds = 4 + life.dice.roll(12);
    for _ in 0..rounds {
        match life.dice.roll(10) {
            0..=3 => life.drive(),
            4 => life.two_at_once(),
            5 => life.one_stops_past_its_lease(),
            6..=8 => life.person_acts(),
            _ => life.clock_jumps(),
        }
        check::everything(&life.disk, &life.session, &life.ledger.lock().unwrap());
    }
    life.comes_to_rest();
    life.done()
}

impl Life {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            dice: Dice::new(seed),
            disk: Arc::new(MemoryStore::default()),
            clock: Arc::new(Clockwork(Mutex::new(Timestamp::parse(crate::support::world::START).unwrap()))),
            ledger: Arc::default(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            session: SessionId("00000000-0000-4000-8000-00000000000a".to_owned()),
            deaths: Arc::default(),
            hosts: 0,
            tally: Tally::default(),
        }
    }

    /// A new process. Some look dead to others while they live: a wrong verdict must never cost a second effect.
    fn process(&mut self, hit_one_in: u64, stall: Option<Arc<Semaphore>>) -> Process {
        self.hosts += 1;
        let looks_dead = self.dice.once_in(2);
        let name = if looks_dead {
            format!("999999999/1/{}", self.hosts)
        } else {
            format!("{}{}", holder::this_process(), self.hosts)
        };
        let dice = Dice::new(self.dice.next());
        let wire = Arc::new(Wire::new(Arc::clone(&self.disk), dice, hit_one_in, Arc::clone(&self.deaths)));
        let outside = Outside {
            seed: self.seed,
            disk: Arc::clone(&self.disk),
            ledger: Arc::clone(&self.ledger),
            stall,
            can_isolate: self.dice.once_in(2),
        };
        let store = Arc::clone(&wire) as Arc<dyn Store>;
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Process { host: Host::new(store, Arc::new(outside), clock, name), wire }
    }

    fn begin(&mut self) {
        let frozen = outside::agent();
        let spec = Spec {
            session: self.session.clone(),
            slug: frozen.slug.clone(),
            agent: frozen.digest(),
            root: "/somewhere".to_owned(),
            owner: "ada".to_owned(),
            prompt: "Go.".to_owned(),
            with: indexmap::IndexMap::new(),
            contract: None,
            media: Vec::new(),
            caller: None,
            forked_from: None,
        };
        // Whoever started it starts it again until it knows that it stands.
        for _ in 0..50 {
            let mut process = self.process(3, None);
            if process.host.start_agent(&frozen, spec.clone()).is_ok() {
                return;
            }
        }
        panic!("the session never began");
    }

    /// A drive that ends in whatever way hosts may end one.
    fn ended(&mut self, process: &Process, outcome: Result<flowright::host::run::Stopped, HostError>) {
        match outcome {
            Ok(_) => self.tally.count("drives to a rest", 1),
            Err(HostError::Held { .. }) => self.tally.count("held by another", 1),
            Err(HostError::Store(_)) => {
                let what = if process.wire.is_dead() { "processes killed" } else { "failed writes" };
                self.tally.count(what, 1);
                // A dead process gives its lease back to nobody.
                self.clock.jump(LAPSE);
            }
            Err(HostError::Refused(_)) => self.tally.count("drives refused", 1),
            Err(error) => panic!("{error}"),
        }
    }

    fn drive(&mut self) {
        let hit_one_in = 4 + self.dice.roll(30);
        let mut process = self.process(hit_one_in, None);
        let until = if self.dice.once_in(2) { Until::Step } else { Until::Rest };
        let outcome = self.runtime.block_on(process.host.drive(&self.session, until));
        self.ended(&process, outcome);
    }

    fn two_at_once(&mut self) {
        let (mut a, mut b) = (self.process(40, None), self.process(40, None));
        let session = self.session.clone();
        let (one, other) = self.runtime.block_on(async {
            tokio::join!(a.host.drive(&session, Until::Rest), b.host.drive(&session, Until::Rest))
        });
        self.ended(&a, one);
        self.ended(&b, other);
        self.tally.count("two at once", 1);
    }

    /// A process stands still in the middle of a call, its lease lapses, another takes over; then the first goes on.
    fn one_stops_past_its_lease(&mut self) {
        let stall = Arc::new(Semaphore::new(0));
        let (mut a, mut b) = (self.process(0, Some(Arc::clone(&stall))), self.process(40, None));
        let session = self.session.clone();
        let clock = Arc::clone(&self.clock);
        let stalled = |ledger: &Mutex<Ledger>| ledger.lock().unwrap().stalled;
        let before = stalled(&self.ledger);
        let (one, other) = self.runtime.block_on(async {
            let first = a.host.drive(&session, Until::Rest);
            tokio::pin!(first);
            for _ in 0..200 {
                tokio::select! {
                    biased;
                    outcome = &mut first => return (outcome, None),
                    () = tokio::task::yield_now() => {}
                }
            }
            clock.jump(LAPSE);
            let other = b.host.drive(&session, Until::Rest).await;
            stall.add_permits(1_000_000);
            (first.await, Some(other))
        });
        self.ended(&a, one);
        if let Some(other) = other {
            self.ended(&b, other);
            self.tally.count("taken over", 1);
        }
        self.tally.count("stalled calls", stalled(&self.ledger) - before);
    }

    fn clock_jumps(&mut self) {
        let by = *self.dice.pick(&[LAPSE, DAY, Millis(-DAY.0), Millis(-5_000), Millis(120_000)]);
        self.clock.jump(by);
        self.tally.count("clock jumps", 1);
    }

    fn state(&self) -> State {
        check::folded(&self.disk, &self.session)
    }

    /// Says something to the session through a process of its own; gives whether it was taken.
    fn tell(&mut self, news: Notification, hit_one_in: u64) -> Option<Result<bool, HostError>> {
        let mut process = self.process(hit_one_in, None);
        match process.host.tell_agent(&self.session, news) {
            Err(HostError::Store(_)) => None,
            other => Some(other),
        }
    }

    fn person_acts(&mut self) {
        let state = self.state();
        let calls: Vec<(String, CallState)> = state
            .turns
            .iter()
            .flat_map(|turn| match turn {
                Turn::Reply { calls, .. } => {
                    calls.iter().map(|call| (call.made.id.clone(), call.state.clone())).collect()
                }
                Turn::Said { .. } => Vec::new(),
            })
            .collect();
        let by = person("ada");
        if self.dice.once_in(40) {
            self.tally.count("stops", 1);
            let _ = self.tell(Notification::Stop, 4);
            return;
        }
        if self.dice.once_in(4) {
            let number = self.dice.roll(6);
            let message = Message {
                id: format!("m{number}"),
                kind: MessageKind::Person,
                text: format!("message {number}"),
                media: Vec::new(),
            };
            let _ = self.tell(Notification::Take(message), 4);
            self.tally.count("messages", 1);
            return;
        }
        let open: Vec<_> = calls
            .into_iter()
            .filter(|(_, state)| matches!(state, CallState::Deferred { .. } | CallState::Unknown))
            .collect();
        if open.is_empty() {
            self.repeat_a_completion(&state);
            return;
        }
        let (call, call_state) = self.dice.pick(&open).clone();
        let news = match call_state {
            CallState::Deferred { token, .. } => match self.dice.roll(4) {
                0 => Notification::Approve { token, by },
                1 => Notification::Refuse { token, reason: "no".to_owned(), by },
                _ => {
                    let result = ToolResult::Text(format!("completed {token}"));
                    Notification::Complete { token, result, by }
                }
            },
            _ => {
                let resolution = match self.dice.roll(3) {
                    0 => Resolution::Retry,
                    1 => Resolution::Failed("it did not".to_owned()),
                    _ => Resolution::Completed(ToolResult::Text(format!("found {call}"))),
                };
                Notification::Resolve { call, resolution, by }
            }
        };
        self.tally.count(name(&news), 1);
        let _ = self.tell(news, 4);
    }

    /// A completion that was taken before is taken again without effect; with another content it is refused.
    fn repeat_a_completion(&mut self, state: &State) {
        let Some((token, result)) = state.used_tokens.last().cloned() else { return };
        // What has come due takes effect first, whoever speaks.
        let _ = self.tell(Notification::Tick, 0);
        let before = self.disk.events_after(&self.session, 0, 1_000_000).unwrap().len();
        let by = person("ada");
        let same = Notification::Complete { token: token.clone(), result, by: by.clone() };
        assert!(matches!(self.tell(same, 0), Some(Ok(false))), "a repeat is a success without effect");
        let other = Notification::Complete { token, result: ToolResult::Text("other".to_owned()), by };
        assert!(matches!(self.tell(other, 0), Some(Err(HostError::Refused(_)))));
        let after = self.disk.events_after(&self.session, 0, 1_000_000).unwrap().len();
        assert_eq!(before, after);
        self.tally.count("repeated completions", 1);
    }

    /// Without faults, and with people who answer everything, it comes to rest.
    fn comes_to_rest(&mut self) {
        for _ in 0..100 {
            self.clock.jump(LAPSE);
            let mut process = self.process(0, None);
            match self.runtime.block_on(process.host.drive(&self.session, Until::Rest)) {
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            }
            let state = self.state();
            let waiting = open(&state);
            if waiting.is_empty() {
                assert!(state.asking.is_none(), "{:?}", state.asking);
                return;
            }
            for (call, call_state) in waiting {
                let by = person("ada");
                let news = match call_state {
                    CallState::Deferred { token, .. } => {
                        let result = ToolResult::Text(format!("completed {token}"));
                        Notification::Complete { token, result, by }
                    }
                    CallState::Unknown => Notification::Resolve {
                        call,
                        resolution: Resolution::Failed("nobody knows".to_owned()),
                        by,
                    },
                    other => panic!("{call} is left as {other:?}"),
                };
                self.tell(news, 0).unwrap().unwrap();
            }
        }
        panic!("it does not come to rest: {:?}", self.state());
    }

    fn done(mut self) -> Tally {
        check::everything(&self.disk, &self.session, &self.ledger.lock().unwrap());
        let mut process = self.process(0, None);
        let folded = self.state();
        let flowright::host::run::Subject::Agent { state, .. } =
            &process.host.live(&self.session).unwrap().subject
        else {
            panic!()
        };
        assert_eq!(*state, folded, "what a host loads is the fold (invariant 1)");
        for event in outside::events(&self.disk, &self.session) {
            match event {
                Event::CallUnknown { .. } => self.tally.count("unknown outcomes", 1),
                Event::CallFailed { .. } => self.tally.count("retries", 1),
                Event::CallCached { .. } => self.tally.count("cache hits", 1),
                Event::CallLost { .. } => self.tally.count("lost calls run again", 1),
                Event::CallDeferred { isolation: Some(_), .. } => self.tally.count("cannot isolate", 1),
                Event::CallDeferred { isolation: None, .. } => self.tally.count("deferrals", 1),
                Event::ModelCallLost { .. } => self.tally.count("lost model calls", 1),
                _ => {}
            }
        }
        self.tally.count("effects", self.ledger.lock().unwrap().effects.len() as u64);
        self.tally.count("deaths", self.deaths.load(Ordering::SeqCst));
        self.tally
    }
}

fn open(state: &State) -> Vec<(String, CallState)> {
    let last = state.turns.last();
    match last {
        Some(Turn::Reply { calls, .. }) => calls
            .iter()
            .filter(|call| !call.state.is_terminal())
            .map(|call| (call.made.id.clone(), call.state.clone()))
            .collect(),
        Some(Turn::Said { .. }) | None => Vec::new(),
    }
}

fn name(news: &Notification) -> &'static str {
    match news {
        Notification::Approve { .. } => "approvals",
        Notification::Refuse { .. } => "refusals",
        Notification::Complete { .. } => "completions",
        Notification::Resolve { .. } => "resolutions",
        _ => "others",
    }
}
