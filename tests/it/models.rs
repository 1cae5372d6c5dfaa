//! Model adapters against a scripted server on loopback: what is sent, what is made of every kind of answer.

mod answers;
mod claude;
mod faults;
mod keys;

mod server;
mod sse;
mod streams;

use flowright::engine::SessionId;
use flowright::engine::agent::command::{Answer, Said};
use flowright::engine::agent::event::{CallMade, Spec};
use flowright::host::model::keys::Keys;
use flowright::host::model::{Limits, ask};
use flowright::host::perform::{Blobs, Delta, ModelFault, ModelRequest, ToolSpec, Watcher};
use flowright::ir;
use serde_json::{Value, json};
use server::{Server, Turn};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// What a model is asked, and everything around it.
struct Desk {
    agent: ir::Agent,
    messages: Vec<Said>,
    blobs: Blobs,
    tools: Vec<ToolSpec>,
    keys: Keys,
    limits: Limits,
    heard: Arc<Mutex<Vec<(char, String)>>>,
    client: OnceLock<reqwest::Client>,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    fn new(flavor: &str) -> Self {
        let mut agent = crate::support::ir::agent("asker");
        agent.flavor = Some(flavor.to_owned());
        agent.model_name = Some("model-1".to_owned());
        Self {
            agent,
            messages: vec![user("Hello")],
            blobs: Blobs::default(),
            tools: Vec::new(),
            keys: Keys::default(),
            limits: Limits { answer: Duration::from_secs(30), idle: Duration::from_secs(30) },
            heard: Arc::default(),
            client: OnceLock::new(),
            // A thread of its own closes what the client has given up, for the server waits for that.
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    fn ask_at(&mut self, url: &str, watched: bool) -> Result<Answer, ModelFault> {
        self.agent.model_url = Some(url.to_owned());
        let heard = Arc::clone(&self.heard);
        let hear = move |delta: Delta<'_>| {
            heard.lock().unwrap().push(match delta {
                Delta::Text(text) => ('T', text.to_owned()),
                Delta::Thinking(text) => ('H', text.to_owned()),
            });
        };
        let request = ModelRequest {
            agent: Arc::new(self.agent.clone()),
            spec: Arc::new(spec()),
            messages: self.messages.clone(),
            reply: 1,
            idempotency_key: "session-1/1".to_owned(),
            blobs: self.blobs.clone(),
            watcher: watched.then(|| Watcher(Arc::new(hear))),
        };
        self.runtime.block_on(ask(&self.client, &self.keys, self.limits, &request, &self.tools))
    }

    /// One question to a server that gives one answer; what it was sent is looked at, too.
    fn exchange(&mut self, watched: bool, turn: Turn) -> (Result<Answer, ModelFault>, server::Request) {
        let server = Server::start(vec![turn]);
        let got = self.ask_at(&server.url("/v1"), watched);
        let mut requests = server.requests();
        assert_eq!(requests.len(), 1, "{got:?}");
        (got, requests.remove(0))
    }

    fn whole(&mut self, body: &Value) -> Result<Answer, ModelFault> {
        self.exchange(false, Turn::json(200, &body.to_string())).0
    }

    fn streamed(&mut self, events: &[&str]) -> Result<Answer, ModelFault> {
        self.exchange(true, Turn::stream(events)).0
    }

    /// The body that is sent, checked to be UTF-8 JSON.
    fn sent(&mut self, watched: bool) -> Value {
        let (_, request) = self.exchange(watched, Turn::json(400, "{}"));
        serde_json::from_str(&String::from_utf8(request.body).unwrap()).unwrap()
    }

    /// What the watcher was told: the text, the thinking.
    fn told(&self) -> (String, String) {
        let heard = self.heard.lock().unwrap();
        let of =
            |kind: char| heard.iter().filter(|(it, _)| *it == kind).map(|(_, text)| text.as_str()).collect();
        (of('T'), of('H'))
    }
}

fn spec() -> Spec {
    Spec {
        session: SessionId("s".to_owned()),
        slug: "asker".to_owned(),
        agent: ir::Digest::of(b"agent"),
        root: ".".to_owned(),
        owner: "ada".to_owned(),
        prompt: "Hello".to_owned(),
        with: indexmap::IndexMap::new(),
        contract: None,
        media: Vec::new(),
        caller: None,
        forked_from: None,
    }
}

fn user(text: &str) -> Said {
    Said::User { text: text.to_owned(), media: Vec::new() }
}

fn call(id: &str, name: &str, arguments: &str) -> CallMade {
    CallMade {
        id: id.to_owned(),
        provider_id: "call_0".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("What {name} does"),
        parameters: json!({ "type": "object", "properties": { "id": { "type": "integer" } } }),
        repeatable: false,
    }
}

/// A chat completion with one choice.
fn completion(message: &Value, finish: &str) -> Value {
    json!({ "id": "c-1", "object": "chat.completion", "choices": [
        { "index": 0, "message": message, "finish_reason": finish }] })
}
