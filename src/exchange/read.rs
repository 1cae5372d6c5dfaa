//! Session files of version 1 and 2 and of the older partial turn. Nothing that can be kept is left out: what does not
//! fit together is told.

use super::Conversation;
use crate::engine::agent::event::{CallMade, Kept, Media, ToolResult, Usage};
use crate::engine::agent::state::{Call, CallState, Turn};
use crate::engine::derived_id;
use crate::ir::Digest;
use crate::time::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// Texts up to this length stand in their turn.
const INLINE_BYTES: usize = 16 * 1024;
/// Bytes of a long text that its turn shows.
const HEAD_BYTES: usize = 240;

/// Reads a session file; its turns are stamped `at`.
///
/// # Errors
/// One sentence, where the value is no session file at all.
pub fn read(value: &Value, at: Timestamp) -> Result<Conversation, String> {
    let map = value.as_object().ok_or("a session file is one JSON object")?;
    let turns = map.get("turns").and_then(Value::as_array).ok_or("a session file has a list of `turns`")?;
    match map.get("sessionVersion") {
        None | Some(Value::Null) => {}
        Some(version) if matches!(version.as_u64(), Some(1 | 2)) => {}
        Some(version) => {
            return Err(format!("the session file is of version {version}; 1 and 2 can be read"));
        }
    }
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let session = text("sessionId");
    let out = Conversation {
        forked_from: text("forkedFromSessionId"),
        asynchronous: text("sessionExecutionMode").as_deref() == Some("asynchronous"),
        session: session.clone(),
        ..Conversation::default()
    };
    let mut reading = Reading { session: session.unwrap_or_default(), at, replies: 0, out };
    // Newest first in the file.
    for (number, turn) in turns.iter().rev().enumerate() {
        reading.turn(number + 1, turn);
    }
    reading.look_for_orphans();
    Ok(reading.out)
}

struct Reading {
    session: String,
    at: Timestamp,
    replies: u32,
    out: Conversation,
}

impl Reading {
    fn fault(&mut self, number: usize, what: &str) {
        self.out.faults.push(format!("turn {number}: {what}"));
    }

    fn turn(&mut self, number: usize, turn: &Value) {
        let empty = Map::new();
        let contents = turn.get("contents").and_then(Value::as_object).unwrap_or(&empty);
        match turn.get("tag").and_then(Value::as_str) {
            Some("UserTurn") => {
                self.system(contents);
                let pairs = contents.get("userToolResponses").and_then(Value::as_array);
                for pair in pairs.into_iter().flatten() {
                    self.answered(number, pair);
                }
                if let Some((text, media)) = self.query(contents.get("userQuery")) {
                    self.out.turns.push(Turn::Said { text, media, at: self.at });
                }
            }
            Some("LlmTurn") => self.reply(contents),
            Some("PartialUserTurn") => {
                self.system(contents);
                self.partial(number, contents);
                if let Some(said) = self.query(contents.get("userQuery")) {
                    self.out.waiting.push(said);
                }
            }
            Some(other) => self.fault(number, &format!("`{other}` is no kind of turn")),
            None => self.fault(number, "it has no `tag`"),
        }
    }

    fn system(&mut self, contents: &Map<String, Value>) {
        if let Some(text) = contents.get("userPrompt").and_then(Value::as_str) {
            text.clone_into(&mut self.out.system);
        }
    }

    fn query(&mut self, query: Option<&Value>) -> Option<(String, Vec<Media>)> {
        match query? {
            Value::String(text) => Some((text.clone(), Vec::new())),
            Value::Object(map) => {
                let text = map.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let files = map.get("media").and_then(Value::as_array);
                let media = files.into_iter().flatten().filter_map(|file| self.media(file)).collect();
                Some((text, media))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    fn media(&mut self, file: &Value) -> Option<Media> {
        let bytes = STANDARD.decode(file.get("base64Data")?.as_str()?).ok()?;
        let digest = Digest::of(&bytes);
        let media = Media {
            mime: file.get("mimeType")?.as_str()?.to_owned(),
            digest: digest.clone(),
            length: bytes.len() as u64,
            name: file.get("filename").and_then(Value::as_str).map(str::to_owned),
        };
        self.out.blobs.push((digest, bytes));
        Some(media)
    }

    fn reply(&mut self, contents: &Map<String, Value>) {
        self.replies += 1;
        let response = contents.get("llmResponse");
        let text = |key: &str| {
            response.and_then(|map| map.get(key)).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let calls =
            contents.get("llmToolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let calls = calls.iter().enumerate().map(|(index, raw)| self.call(index, raw)).collect();
        let usage = response.and_then(|map| map.get("responseTokenUsage")).and_then(usage);
        let carry = response.and_then(|map| map.get("rawResponse")).filter(|raw| !raw.is_null()).cloned();
        self.out.turns.push(Turn::Reply {
            reply: self.replies,
            text: text("responseText"),
            thinking: text("responseThinking"),
            calls,
            usage,
            carry,
            at: self.at,
        });
    }

    fn call(&self, index: usize, raw: &Value) -> Call {
        let text =
            |pointer: &str| raw.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let arguments = match raw.pointer("/function/arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        let id = derived_id(&[&self.session, "call", &self.replies.to_string(), &index.to_string()]);
        Call {
            made: CallMade { id, provider_id: text("/id"), name: text("/function/name"), arguments },
            state: CallState::Unknown,
            admissions: 0,
            losses: 0,
            failures: 0,
            approved: None,
        }
    }

    /// The calls of the last reply.
    fn open(&mut self) -> &mut [Call] {
        match self.out.turns.last_mut() {
            Some(Turn::Reply { calls, .. }) => calls,
            Some(Turn::Said { .. }) | None => &mut [],
        }
    }

    /// The first call of the last reply that is not settled and fits: by id, name and arguments; by id; by name.
    fn fitting(&mut self, raw: &Value) -> Option<&mut Call> {
        let wanted = self.call(0, raw).made;
        let same_id =
            |call: &Call| call.made.provider_id == wanted.provider_id || call.made.id == wanted.provider_id;
        let same_call =
            |call: &Call| call.made.name == wanted.name && call.made.arguments == wanted.arguments;
        let calls = self.open();
        let free = |call: &Call| call.state == CallState::Unknown;
        let at = calls
            .iter()
            .position(|call| free(call) && same_id(call) && same_call(call))
            .or_else(|| calls.iter().position(|call| free(call) && same_id(call)))
            .or_else(|| calls.iter().position(|call| free(call) && same_call(call)))?;
        calls.get_mut(at)
    }

    /// `[raw call, response]`.
    fn answered(&mut self, number: usize, pair: &Value) {
        let (Some(raw), Some(response)) = (pair.get(0), pair.get(1)) else {
            self.fault(number, "a tool response is no pair of call and response");
            return;
        };
        let state = self.ended(response);
        match self.fitting(raw) {
            Some(call) => call.state = state,
            None => self.fault(number, "a tool response answers no call of the reply before it"),
        }
    }

    fn partial(&mut self, number: usize, contents: &Map<String, Value>) {
        for tracked in contents.get("trackedToolCalls").and_then(Value::as_array).into_iter().flatten() {
            let raw = tracked.get("call").cloned().unwrap_or(Value::Null);
            let state = self.tracked(tracked);
            match self.fitting(&raw) {
                Some(call) => call.state = state,
                None => self.fault(number, "a tracked call is none of the reply before it"),
            }
        }
        // The older form.
        for pair in contents.get("completedResponses").and_then(Value::as_array).into_iter().flatten() {
            self.answered(number, pair);
        }
        for raw in contents.get("pendingCalls").and_then(Value::as_array).into_iter().flatten() {
            if let Some(call) = self.fitting(raw) {
                call.state = CallState::Ready;
            } else {
                self.fault(number, "a pending call is none of the reply before it");
            }
        }
    }

    fn tracked(&mut self, tracked: &Value) -> CallState {
        let token = tracked.get("continuation").and_then(token);
        match (tracked.get("state").and_then(Value::as_str), token) {
            (Some("Ready"), _) => CallState::Ready,
            (Some("Deferred"), Some(token)) => {
                let reason = tracked.pointer("/policy/reason").and_then(Value::as_str);
                let name = tracked.pointer("/call/function/name").and_then(Value::as_str).unwrap_or_default();
                let arguments = tracked.pointer("/call/function/arguments").and_then(Value::as_str);
                let arguments =
                    arguments.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
                CallState::Deferred {
                    token,
                    reason: reason.unwrap_or("waits for an outside result").to_owned(),
                    digest: crate::engine::agent::track::digest(name, arguments),
                    isolation: None,
                }
            }
            (Some("Completed" | "Failed"), _) => match tracked.get("result") {
                Some(result) => self.ended(result),
                None => CallState::Failed("no result was kept".to_owned()),
            },
            // Who ran it is gone: nobody knows whether it had its effect.
            (Some(_) | None, _) => CallState::Unknown,
        }
    }

    fn ended(&mut self, response: &Value) -> CallState {
        let result = self.response(response);
        match &result {
            ToolResult::Text(text) if text.starts_with("Error: ") => {
                CallState::Failed(text.trim_start_matches("Error: ").to_owned())
            }
            ToolResult::Text(_)
            | ToolResult::Json(_)
            | ToolResult::Error(_)
            | ToolResult::Kept(_)
            | ToolResult::Media(_)
            | ToolResult::Mixed(_) => CallState::Completed(result),
        }
    }

    fn response(&mut self, response: &Value) -> ToolResult {
        let content = response.get("content");
        match (response.get("type").and_then(Value::as_str), content) {
            (Some("text"), Some(Value::String(text))) => self.long(text.clone(), false),
            (Some("json"), Some(value)) => self.json(value),
            (Some("media"), _) => match self.media(response) {
                Some(media) => ToolResult::Media(media),
                None => self.json(response),
            },
            (Some("mixed"), _) => {
                let parts = response.get("parts").and_then(Value::as_array);
                ToolResult::Mixed(parts.into_iter().flatten().map(|part| self.response(part)).collect())
            }
            (Some(_) | None, _) => {
                let old = response.get("_userToolResponse").unwrap_or(response);
                match old.as_str() {
                    Some(text) => self.long(text.to_owned(), false),
                    None => self.json(old),
                }
            }
        }
    }

    fn json(&mut self, value: &Value) -> ToolResult {
        let text = value.to_string();
        if text.len() <= INLINE_BYTES { ToolResult::Json(value.clone()) } else { self.long(text, true) }
    }

    fn long(&mut self, text: String, json: bool) -> ToolResult {
        if text.len() <= INLINE_BYTES {
            return ToolResult::Text(text);
        }
        let head = text.get(..text.floor_char_boundary(HEAD_BYTES)).unwrap_or_default().to_owned();
        let (digest, length) = (Digest::of(text.as_bytes()), text.len() as u64);
        self.out.blobs.push((digest.clone(), text.into_bytes()));
        ToolResult::Kept(Kept { digest, length, json, head })
    }

    /// Calls that something was said after, but that have no result (B40); a last reply whose turn was never begun has
    /// its calls ready.
    fn look_for_orphans(&mut self) {
        let last = self.out.turns.len().saturating_sub(1);
        let mut faults = Vec::new();
        for (index, turn) in self.out.turns.iter_mut().enumerate() {
            let Turn::Reply { reply, calls, .. } = turn else { continue };
            let untouched = calls.iter().all(|call| call.state == CallState::Unknown);
            for call in calls.iter_mut().filter(|call| !call.state.is_terminal()) {
                if index < last {
                    faults.push(format!("reply {reply}: the call of `{}` has no result", call.made.name));
                } else if untouched {
                    call.state = CallState::Ready;
                }
            }
        }
        self.out.faults.extend(faults);
    }
}

fn token(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => map.values().find_map(token),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| value.get(*key)?.as_u64());
    Some(Usage {
        input: count(["promptTokens", "prompt_tokens"])?,
        output: count(["completionTokens", "completion_tokens"]).unwrap_or_default(),
        cached: count(["cachedTokens", "cached_tokens"]).unwrap_or_default(),
        reasoning: count(["reasoningTokens", "reasoning_tokens"]).unwrap_or_default(),
    })
}
