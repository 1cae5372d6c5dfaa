//! The world outside: a model that calls tools as its seed says, tools with effects that are counted. What they see is
//! checked at once.

use crate::support::dice::Dice;
use flowright::engine::SessionId;
use flowright::engine::agent::command::{Answer, Said};
use flowright::engine::agent::event::{Event, Spec};
use flowright::host::perform::{Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest};
use flowright::ir;
use flowright::store::Store;
use flowright::store::memory::MemoryStore;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Replies with calls before the model has said enough.
const TALKATIVE: u32 = 5;

/// One effect that really happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) session: SessionId,
    pub(crate) call: String,
    pub(crate) tool: String,
    pub(crate) admission: u32,
}

#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) effects: Vec<Effect>,
    /// How often the model was asked for a reply.
    pub(crate) asked: HashMap<(SessionId, u32), u32>,
    /// What the model was told of each call, the first time.
    pub(crate) told: HashMap<(SessionId, String), String>,
    /// What may be told of a call: outputs of tools and words of people.
    pub(crate) known: HashMap<String, Vec<String>>,
    pub(crate) stalled: u64,
}

pub(crate) struct Outside {
    pub(crate) seed: u64,
    pub(crate) disk: Arc<MemoryStore>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    /// Tools of this host stop in their middle until told.
    pub(crate) stall: Option<Arc<tokio::sync::Semaphore>>,
    pub(crate) can_isolate: bool,
}

/// Tool names with what the agent's policy says of them.
pub(crate) const TOOLS: [&str; 9] =
    ["free", "slow", "asks", "never", "boxed", "again", "cached", "twice", "missing"];

/// An agent with a rule for each of [`TOOLS`].
pub(crate) fn agent() -> ir::Agent {
    let rule = |tool: &str, disposition| ir::PolicyRule { tool: tool.to_owned(), disposition };
    let around =
        |decorator, inner| ir::Disposition::Decorate { decorators: vec![decorator], inner: Box::new(inner) };
    let mut agent = crate::support::ir::agent("sim");
    agent.base = None;
    agent.asynchronous = true;
    agent.max_concurrency = 3;
    agent.repeatable_tools = vec!["twice".to_owned()];
    agent.policy.rules = vec![
        rule("slow", ir::Disposition::RunAsync),
        rule("asks", ir::Disposition::Defer { reason: Some("approval".to_owned()) }),
        rule("never", ir::Disposition::Deny { reason: None }),
        rule(
            "boxed",
            ir::Disposition::RunIsolated { spec: ir::Isolation::Docker { image: "box".to_owned() } },
        ),
        rule("again", around(ir::Decorator::Retries { count: 2 }, ir::Disposition::RunSync)),
        rule("cached", around(ir::Decorator::Cache { key: None }, ir::Disposition::RunSync)),
    ];
    agent
}

impl Perform for Outside {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        self.listen(&request);
        let session = request.spec.session.clone();
        let mut dice = Dice::named(self.seed, &format!("model {session} {}", request.reply));
        let attempts = self.ledger.lock().unwrap().asked[&(session.clone(), request.reply)];
        let fails = attempts < 3 && dice.once_in(8);
        let calls = if request.reply > TALKATIVE { 0 } else { dice.roll(5) };
        let calls: Vec<_> = (0..calls)
            .map(|_| {
                let arguments = dice.pick(&["{}", "{\"a\":1}", "{\"a\":18446744073709551616}", "{\"a"]);
                // Providers reuse ids (B42, B43).
                ("call_0".to_owned(), (*dice.pick(&TOOLS)).to_owned(), (*arguments).to_owned())
            })
            .collect();
        let text = format!("reply {}", request.reply);
        Box::pin(async move {
            tokio::task::yield_now().await;
            if fails {
                return Err(ModelFault { message: "503".to_owned(), retryable: true, retry_after_ms: None });
            }
            Ok(Answer { text, calls, ..Answer::default() })
        })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        let effect = Effect {
            session: request.spec.session.clone(),
            call: request.call.id.clone(),
            tool: request.call.name.clone(),
            admission: request.admission,
        };
        self.is_admitted(&effect);
        let name = format!("tool {} {}", effect.call, effect.admission);
        let mut dice = Dice::named(self.seed, &name);
        let output = match dice.roll(12) {
            0 | 1 => Output::Failed(format!("failed {name}")),
            2 => Output::Unknown("the line went dead".to_owned()),
            3 => Output::Text("x".repeat(20_000) + &name),
            _ => Output::Text(name),
        };
        let yields = dice.roll(6);
        let stall = self.stall.clone().filter(|_| dice.once_in(3));
        let mut ledger = self.ledger.lock().unwrap();
        let known = match &output {
            Output::Failed(text) => format!("Error: {text}"),
            Output::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        ledger.known.entry(effect.call.clone()).or_default().push(known);
        ledger.effects.push(effect);
        ledger.stalled += u64::from(stall.is_some());
        drop(ledger);
        Box::pin(async move {
            for _ in 0..yields {
                tokio::task::yield_now().await;
            }
            if let Some(stall) = stall {
                let _ = stall.acquire().await;
            }
            output
        })
    }

    fn can_isolate(
        &self,
        _agent: Arc<ir::Agent>,
        _spec: Arc<Spec>,
        _place: ir::Isolation,
    ) -> Doing<Result<(), String>> {
        let can = self.can_isolate;
        Box::pin(async move { if can { Ok(()) } else { Err("there is no docker here".to_owned()) } })
    }

    fn repeatable(&self, agent: Arc<ir::Agent>, _spec: Arc<Spec>, tool: String) -> Doing<bool> {
        Box::pin(async move { agent.repeatable_tools.contains(&tool) })
    }
}

impl Outside {
    /// An effect begins only under an admission that is durable (invariant 13).
    fn is_admitted(&self, effect: &Effect) {
        let events = events(self.disk.as_ref(), &effect.session);
        let admitted = events.iter().any(|event| {
            matches!(event, Event::CallAdmitted { call, admission, .. }
                if *call == effect.call && *admission == effect.admission)
        });
        assert!(admitted, "{effect:?} began without a durable admission");
    }

    /// Every call of what goes to a model has exactly one answer, in the order of the calls, that never changes and was
    /// never made up (invariant 14, B37).
    fn listen(&self, request: &ModelRequest) {
        let session = &request.spec.session;
        let mut ledger = self.ledger.lock().unwrap();
        *ledger.asked.entry((session.clone(), request.reply)).or_default() += 1;
        let mut waiting: Vec<String> = Vec::new();
        for said in &request.messages {
            match said {
                Said::Assistant { calls, .. } => {
                    assert_eq!(waiting, Vec::<String>::new(), "calls without an answer");
                    waiting = calls.iter().map(|call| call.id.clone()).collect();
                }
                Said::Tool { call, content, .. } => {
                    assert_eq!(waiting.first(), Some(call), "an answer out of its order");
                    waiting.remove(0);
                    let parts: Vec<String> = content.iter().map(|part| request.blobs.text(part)).collect();
                    let text = parts.join("\n");
                    let before =
                        ledger.told.entry((session.clone(), call.clone())).or_insert_with(|| text.clone());
                    assert_eq!(*before, text, "the answer to {call} has changed");
                }
                Said::System(_) | Said::User { .. } => {
                    assert_eq!(waiting, Vec::<String>::new(), "calls without an answer");
                }
            }
        }
        assert_eq!(waiting, Vec::<String>::new(), "calls without an answer");
    }
}

pub(crate) fn events(disk: &MemoryStore, session: &SessionId) -> Vec<Event> {
    let kept = disk.events_after(session, 0, 1_000_000).unwrap();
    kept.iter().map(|kept| serde_json::from_str(&kept.body).unwrap()).collect()
}
