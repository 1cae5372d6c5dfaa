//! A session as a file of version 2, newest turn first.

use crate::engine::agent::event::{Media, ToolResult, Usage};
use crate::engine::agent::state::{Call, CallState, State, Turn};
use crate::engine::{derived_id, policy};
use crate::ir;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// The file of a session. `blobs` gives the bytes of long texts and media; what is gone is said in its place.
#[must_use]
pub fn write(state: &State, ir: &ir::Agent, blobs: &dyn Fn(&ir::Digest) -> Option<Vec<u8>>) -> Value {
    let spec = state.spec.as_ref();
    let session = spec.map(|spec| spec.session.0.clone()).unwrap_or_default();
    let mut writing = Writing { ir, blobs, turns: Vec::new() };
    let mut results: Option<&[Call]> = None;
    for turn in state.turns.iter() {
        match turn {
            Turn::Said { text, media, .. } => {
                let query = writing.query(text, media);
                writing.user(results.take().unwrap_or_default(), query);
            }
            Turn::Reply { text, thinking, calls, usage, carry, .. } => {
                if let Some(calls) = results.take() {
                    writing.user(calls, Value::Null);
                }
                writing.reply(text, thinking, calls, *usage, carry.as_ref());
                results = (!calls.is_empty()).then_some(calls.as_slice());
            }
        }
    }
    if let Some(calls) = results {
        writing.last(calls);
    }
    let mut turns = writing.turns;
    let count = turns.len();
    turns.reverse();
    json!({
        "sessionId": session,
        "forkedFromSessionId": spec.and_then(|spec| spec.forked_from.as_ref()).map(|from| from.0.clone()),
        "turnId": derived_id(&[&session, "turn", &count.to_string()]),
        "sessionVersion": 2,
        "sessionExecutionMode": if ir.asynchronous { "asynchronous" } else { "synchronous" },
        "turns": turns,
    })
}

struct Writing<'a> {
    ir: &'a ir::Agent,
    blobs: &'a dyn Fn(&ir::Digest) -> Option<Vec<u8>>,
    turns: Vec<Value>,
}

impl Writing<'_> {
    fn query(&self, text: &str, media: &[Media]) -> Value {
        if media.is_empty() {
            return text.into();
        }
        let media: Vec<Value> = media
            .iter()
            .map(|media| {
                let mut written = Map::new();
                written.insert("mimeType".to_owned(), media.mime.clone().into());
                written.insert("base64Data".to_owned(), self.base64(media).into());
                if let Some(name) = &media.name {
                    written.insert("filename".to_owned(), name.clone().into());
                }
                Value::Object(written)
            })
            .collect();
        json!({ "text": text, "media": media })
    }

    fn base64(&self, media: &Media) -> String {
        (self.blobs)(&media.digest).map(|bytes| STANDARD.encode(bytes)).unwrap_or_default()
    }

    fn user(&mut self, results: &[Call], query: Value) {
        let ids = written_ids(results);
        let pairs: Vec<Value> = results
            .iter()
            .zip(&ids)
            .enumerate()
            .map(|(index, (call, id))| json!([raw(call, id, index), self.ended(call)]))
            .collect();
        let contents = json!({ "userPrompt": self.ir.system_prompt.join("\n\n"), "userTools": [], "userQuery": query,
            "userToolResponses": pairs });
        self.turns.push(json!({ "tag": "UserTurn", "contents": contents, "byteUsage": null }));
    }

    /// The turn after the last reply: whole, or with what became of its calls so far.
    fn last(&mut self, calls: &[Call]) {
        if calls.iter().all(|call| call.state.is_terminal()) {
            self.user(calls, Value::Null);
            return;
        }
        let ids = written_ids(calls);
        let tracked: Vec<Value> = calls
            .iter()
            .zip(&ids)
            .enumerate()
            .map(|(index, (call, id))| self.tracked(call, id, index))
            .collect();
        let contents = json!({ "userPrompt": self.ir.system_prompt.join("\n\n"), "userTools": [], "userQuery": null,
            "trackedToolCalls": tracked });
        self.turns.push(json!({ "tag": "PartialUserTurn", "contents": contents, "byteUsage": null }));
    }

    fn tracked(&self, call: &Call, id: &str, index: usize) -> Value {
        let (word, extra) = match &call.state {
            CallState::Ready => ("Ready", None),
            CallState::Running { .. } | CallState::Delegated { .. } => ("Running", None),
            CallState::Unknown => ("Running", Some(("unknownOutcome", Value::Bool(true)))),
            CallState::Deferred { token, .. } => {
                ("Deferred", Some(("continuation", Value::from(token.clone()))))
            }
            CallState::Completed(_) => ("Completed", Some(("result", self.ended(call)))),
            CallState::Failed(_) => ("Failed", Some(("result", self.ended(call)))),
        };
        let reason = match &call.state {
            CallState::Deferred { reason, .. } => Value::from(reason.clone()),
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Delegated { .. }
            | CallState::Unknown
            | CallState::Completed(_)
            | CallState::Failed(_) => Value::Null,
        };
        let disposition = disposition(&policy::judge(&self.ir.policy, &call.made.name).0);
        let mut tracked = json!({ "id": call.made.id, "call": raw(call, id, index), "state": word,
            "policy": { "disposition": disposition, "reason": reason } });
        if let (Some(map), Some((key, value))) = (tracked.as_object_mut(), extra) {
            map.insert(key.to_owned(), value);
        }
        tracked
    }

    fn ended(&self, call: &Call) -> Value {
        match &call.state {
            CallState::Completed(result) => self.response(result),
            CallState::Failed(reason) => json!({ "type": "text", "content": format!("Error: {reason}") }),
            CallState::Ready
            | CallState::Running { .. }
            | CallState::Deferred { .. }
            | CallState::Delegated { .. }
            | CallState::Unknown => Value::Null,
        }
    }

    fn response(&self, result: &ToolResult) -> Value {
        match result {
            ToolResult::Text(text) => json!({ "type": "text", "content": text }),
            ToolResult::Error(text) => json!({ "type": "text", "content": format!("Error: {text}") }),
            ToolResult::Json(value) => json!({ "type": "json", "content": value }),
            ToolResult::Kept(kept) => {
                let bytes = (self.blobs)(&kept.digest);
                let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                let whole = text.as_ref().filter(|_| kept.json);
                let value: Option<Value> = whole.and_then(|text| serde_json::from_str(text).ok());
                match (value, text) {
                    (Some(value), _) => json!({ "type": "json", "content": value }),
                    (None, Some(text)) => json!({ "type": "text", "content": text }),
                    (None, None) => json!({ "type": "text", "content": kept.head }),
                }
            }
            ToolResult::Media(media) => {
                let mut value =
                    json!({ "type": "media", "mimeType": media.mime, "base64Data": self.base64(media) });
                if let (Some(map), Some(name)) = (value.as_object_mut(), &media.name) {
                    map.insert("filename".to_owned(), name.clone().into());
                }
                value
            }
            ToolResult::Mixed(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.response(part)).collect();
                json!({ "type": "mixed", "parts": parts })
            }
        }
    }

    fn reply(
        &mut self,
        text: &str,
        thinking: &str,
        calls: &[Call],
        usage: Option<Usage>,
        carry: Option<&Value>,
    ) {
        let ids = written_ids(calls);
        let made: Vec<Value> =
            calls.iter().zip(&ids).enumerate().map(|(index, (call, id))| raw(call, id, index)).collect();
        let mut response =
            json!({ "responseText": text, "responseThinking": thinking, "rawResponse": carry });
        let tokens = usage.map(|usage| {
            json!({ "promptTokens": usage.input, "completionTokens": usage.output, "cachedTokens": usage.cached,
                "reasoningTokens": usage.reasoning })
        });
        if let (Some(map), Some(tokens)) = (response.as_object_mut(), &tokens) {
            map.insert("responseTokenUsage".to_owned(), tokens.clone());
        }
        let tools: usize = calls.iter().map(|call| call.made.name.len() + call.made.arguments.len()).sum();
        let total = text.len() + thinking.len() + tools;
        let mut bytes = json!({ "stepTotalBytes": total, "stepInputBytes": 0, "stepOutputBytes": text.len(),
            "stepReasoningBytes": thinking.len(), "stepToolBytes": tools });
        if let (Some(map), Some(tokens)) = (bytes.as_object_mut(), tokens) {
            map.insert("stepTokenUsage".to_owned(), tokens);
        }
        let contents = json!({ "llmResponse": response, "llmToolCalls": made });
        self.turns.push(json!({ "tag": "LlmTurn", "contents": contents, "byteUsage": bytes }));
    }
}

/// The ids that stand in the file: the provider's where they name one call of the turn, else ours (B42, B43).
fn written_ids(calls: &[Call]) -> Vec<String> {
    calls
        .iter()
        .map(|call| {
            let own = &call.made.provider_id;
            let same = calls.iter().filter(|other| other.made.provider_id == *own).count();
            if own.is_empty() || same > 1 { call.made.id.clone() } else { own.clone() }
        })
        .collect()
}

fn raw(call: &Call, id: &str, index: usize) -> Value {
    json!({ "id": id, "index": index, "type": "function",
        "function": { "name": call.made.name, "arguments": call.made.arguments } })
}

/// A disposition in the words of agent files, without its decorators.
#[must_use]
pub fn disposition(of: &ir::Disposition) -> Value {
    match of {
        ir::Disposition::RunSync | ir::Disposition::Decorate { .. } => json!({ "tag": "runSync" }),
        ir::Disposition::RunAsync => json!({ "tag": "runAsync" }),
        ir::Disposition::Defer { reason } => json!({ "tag": "defer", "reason": reason }),
        ir::Disposition::Deny { reason } => json!({ "tag": "deny", "reason": reason }),
        ir::Disposition::RunIsolated { spec } => {
            let spec = match spec {
                ir::Isolation::Docker { image } => json!({ "tag": "docker", "image": image }),
                ir::Isolation::LocalProcess { path } => json!({ "tag": "localProcess", "path": path }),
                ir::Isolation::FunctionRunner { target } => {
                    json!({ "tag": "functionRunner", "target": target })
                }
            };
            json!({ "tag": "runIsolated", "spec": spec })
        }
    }
}
