//! Agent sessions without a host: what follows from each notification, what is owed, what goes to the model.

mod calls;
mod delegation;
mod dispositions;
mod history;
mod model;
mod random;
mod stop;
mod submission;

use flowright::engine::agent::command::{Answer, Command, Notification, Part, Report, Said};
use flowright::engine::agent::event::{Contract, Event, Message, MessageKind, SUBMIT_TOOL, Spec, ToolResult};
use flowright::engine::agent::state::{Call, CallState, State, Turn};
use flowright::engine::agent::{conversation, decide, evolve, pending};
use flowright::engine::{Principal, Rejection, RejectionCode, SessionId};
use flowright::ir::toolbox::{ExtraAgent, Toolboxes};
use flowright::ir::{Agent, Decorator, Digest, Disposition, Isolation, Policy, PolicyRule};
use flowright::time::Timestamp;
use indexmap::IndexMap;
use serde_json::{Value, json};

/// An agent with one tool for each disposition: `free`, `twice` (repeatable), `asks` (deferred), `never`, `far`.
fn agent() -> Agent {
    let rule = |tool: &str, disposition| PolicyRule { tool: tool.to_owned(), disposition };
    Agent {
        slug: "planner".to_owned(),
        base: Some("workflow-agent@1".to_owned()),
        announce: None,
        file: "agents/planner.json".to_owned(),
        flavor: None,
        model_url: None,
        model_name: None,
        api_key_id: None,
        system_prompt: vec!["You plan.".to_owned(), "You never write code.".to_owned()],
        asynchronous: false,
        toolboxes: Toolboxes {
            agents: vec![ExtraAgent {
                slug: "scout".to_owned(),
                path: "agents/scout.json".to_owned(),
                agent: None,
                announce: None,
            }],
            ..Toolboxes::default()
        },
        policy: Policy {
            default: Disposition::RunSync,
            rules: vec![
                rule("asks", Disposition::Defer { reason: Some("approval required".to_owned()) }),
                rule("never", Disposition::Deny { reason: Some("too dangerous".to_owned()) }),
                rule("far", Disposition::RunIsolated { spec: Isolation::Docker { image: "box".to_owned() } }),
                rule("asks", Disposition::RunSync),
                rule(
                    "look",
                    Disposition::Decorate {
                        decorators: vec![Decorator::Cache { key: None }, Decorator::Retries { count: 1 }],
                        inner: Box::new(Disposition::RunSync),
                    },
                ),
                rule(
                    "wrapped",
                    Disposition::Decorate {
                        decorators: vec![Decorator::Timeout { seconds: 5 }],
                        inner: Box::new(Disposition::Decorate {
                            decorators: vec![Decorator::Retries { count: 2 }],
                            inner: Box::new(Disposition::RunAsync),
                        }),
                    },
                ),
            ],
        },
        bash_toolboxes: Vec::new(),
        repeatable_tools: vec!["twice".to_owned()],
        max_concurrency: 2,
        max_tool_calls: None,
        call_timeout_seconds: 60,
        inputs: None,
        tool_choice: None,
        temperature: None,
        max_tokens: None,
        later: Value::Null,
    }
}

fn contract() -> Contract {
    Contract {
        parent: SessionId("parent".to_owned()),
        invocation: "plan/1".to_owned(),
        schema: Some(json!({
            "type": "object",
            "required": ["title", "points"],
            "properties": { "title": { "type": "string" }, "points": { "type": "integer" } },
            "additionalProperties": false
        })),
        evaluator: false,
    }
}

fn spec(contract: Option<Contract>) -> Spec {
    Spec {
        session: SessionId("child".to_owned()),
        slug: "planner".to_owned(),
        agent: Digest::of(b"agent"),
        root: "/somewhere".to_owned(),
        owner: "ada".to_owned(),
        prompt: "Plan it.".to_owned(),
        with: IndexMap::new(),
        contract,
        media: Vec::new(),
        caller: None,
        forked_from: None,
    }
}

fn ada() -> Principal {
    Principal { user: "ada".to_owned(), roles: vec!["lead".to_owned()], via: "test".to_owned() }
}

fn person(id: &str, text: &str) -> Notification {
    Notification::Take(Message {
        id: id.to_owned(),
        kind: MessageKind::Person,
        text: text.to_owned(),
        media: Vec::new(),
    })
}

fn text(text: &str) -> ToolResult {
    ToolResult::Text(text.to_owned())
}

/// A session under test. Every notification also checks that state is the fold of the events as they are written.
struct Session {
    ir: Agent,
    state: State,
    log: Vec<(Timestamp, String)>,
    at: Timestamp,
}

impl Session {
    fn new(ir: Agent) -> Self {
        Self { ir, state: State::default(), log: Vec::new(), at: Timestamp(1_000) }
    }

    fn started(ir: Agent, contract: Option<Contract>) -> Self {
        let mut session = Self::new(ir);
        session.ok(Notification::Start(spec(contract)));
        session
    }

    /// A session without contract whose model has just made these calls.
    fn calling(calls: &[(&str, &str)]) -> Self {
        let mut session = Self::started(agent(), None);
        session.model_calls(calls);
        session
    }

    fn tell(&mut self, notification: Notification) -> Result<Vec<Event>, Rejection> {
        let before = self.state.clone();
        let decided = decide::decide(&self.ir, &before, self.at, notification);
        assert_eq!(before, self.state);
        for event in decided.iter().flatten() {
            let at = self.at.max(self.state.now);
            evolve::evolve(&mut self.state, at, event);
            self.log.push((at, serde_json::to_string(event).unwrap()));
        }
        let mut folded = State::default();
        for (at, written) in &self.log {
            evolve::evolve(&mut folded, *at, &serde_json::from_str(written).unwrap());
        }
        assert_eq!(folded, self.state, "state is the fold of the written events");
        decided
    }

    /// Loads what the log holds now.
    fn fold_anew(&mut self) {
        self.state = State::default();
        for (at, written) in &self.log {
            evolve::evolve(&mut self.state, *at, &serde_json::from_str(written).unwrap());
        }
    }

    fn ok(&mut self, notification: Notification) -> Vec<Event> {
        self.tell(notification).unwrap()
    }

    /// Told to change nothing, with success.
    fn no_effect(&mut self, notification: Notification) {
        assert_eq!(self.tell(notification), Ok(Vec::new()));
    }

    fn rejected(&mut self, notification: Notification) -> RejectionCode {
        self.tell(notification).unwrap_err().code
    }

    fn pending(&self) -> Vec<Command> {
        pending::pending(&self.ir, &self.state)
    }

    fn ids(&self) -> Vec<String> {
        self.pending().iter().map(Command::id).collect()
    }

    fn messages(&self) -> Vec<Said> {
        conversation::messages(&self.ir, &self.state)
    }

    fn status(&self) -> String {
        pending::index(&self.ir, &self.state).status
    }

    fn reports(&self) -> Vec<Report> {
        self.state.owed_reports.iter().map(|(_, report)| report.clone()).collect()
    }

    fn admit_model(&mut self) -> (u32, u32) {
        let asking = self.state.asking.clone().expect("a model call is owed");
        let (reply, admission) = (asking.reply, asking.admissions + 1);
        assert!(self.ids().contains(&format!("model/{reply}/{admission}")), "the host can see it");
        self.ok(Notification::AdmitModelCall { reply, admission, holder: "one".to_owned() });
        (reply, admission)
    }

    fn answer(&mut self, answer: Answer) -> Vec<Event> {
        let (reply, admission) = self.admit_model();
        self.ok(Notification::ModelReplied { reply, admission, answer })
    }

    fn model_says(&mut self, text: &str) -> Vec<Event> {
        self.answer(Answer { text: text.to_owned(), ..Answer::default() })
    }

    fn model_calls(&mut self, calls: &[(&str, &str)]) -> Vec<Event> {
        let calls = calls.iter().map(|(name, args)| (String::new(), (*name).to_owned(), (*args).to_owned()));
        self.answer(Answer { calls: calls.collect(), ..Answer::default() })
    }

    fn submit(&mut self, arguments: &str) -> Vec<Event> {
        self.model_calls(&[(SUBMIT_TOOL, arguments)])
    }

    fn calls(&self) -> Vec<Call> {
        let calls = self.state.turns.iter().rev().find_map(|turn| match turn {
            Turn::Reply { calls, .. } => Some(calls.clone()),
            Turn::Said { .. } => None,
        });
        calls.unwrap_or_default()
    }

    fn id(&self, index: usize) -> String {
        self.calls()[index].made.id.clone()
    }

    fn failure(&self, index: usize) -> String {
        match &self.calls()[index].state {
            CallState::Failed(reason) => reason.clone(),
            other => panic!("call {index} has not failed but is {other:?}"),
        }
    }

    fn token(&self, index: usize) -> String {
        match &self.calls()[index].state {
            CallState::Deferred { token, .. } => token.clone(),
            other => panic!("call {index} is not deferred but {other:?}"),
        }
    }

    fn admit(&mut self, index: usize) -> u32 {
        let call = self.calls()[index].clone();
        let (id, admission) = (call.made.id, call.admissions + 1);
        let holder = "one".to_owned();
        self.ok(Notification::AdmitCall { call: id, admission, holder, repeatable: false, definition: None });
        admission
    }

    fn report(&mut self, index: usize, admission: u32, result: ToolResult) -> Result<Vec<Event>, Rejection> {
        let call = self.id(index);
        self.tell(Notification::CallReported { call, admission, result })
    }

    fn run(&mut self, index: usize, result: ToolResult) {
        let admission = self.admit(index);
        self.report(index, admission, result).unwrap();
    }

    fn complete(&mut self, token: &str, result: ToolResult) -> Result<Vec<Event>, Rejection> {
        self.tell(Notification::Complete { token: token.to_owned(), result, by: ada() })
    }
}

/// The answers to calls, in the order in which a model sees them.
fn answers(messages: &[Said]) -> Vec<(String, String)> {
    let tools = messages.iter().filter_map(|said| match said {
        Said::Tool { call, content, .. } => Some((call.clone(), plain(content))),
        _ => None,
    });
    tools.collect()
}

/// The texts of an answer.
fn plain(content: &[Part]) -> String {
    let texts = content.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Kept(kept) => kept.head.clone(),
        Part::Media(media) => media.mime.clone(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn user(text: &str) -> Said {
    Said::User { text: text.to_owned(), media: Vec::new() }
}

fn contents(messages: &[Said]) -> Vec<String> {
    answers(messages).into_iter().map(|(_, content)| content).collect()
}
