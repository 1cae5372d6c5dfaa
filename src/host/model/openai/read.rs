//! Reading chat completions: whole answers and streams through the same steps. Runs no call and judges no arguments.

use super::calls::Calls;
use crate::engine::agent::command::Answer;
use crate::engine::agent::event::Usage;
use crate::host::model::fault::passing;
use crate::host::model::raw;
use crate::host::model::sse;
use crate::host::model::told::Told;
use crate::host::model::wire::{Protocol, Stage, Trouble};
use crate::host::perform::ModelFault;
use serde_json::{Map, Value};

/// What this protocol keeps under its name in `carry`.
pub(super) const CARRY: &str = "chat_completions";

/// A reply as it grows.
#[derive(Clone, Debug, Default)]
pub(in crate::host::model) struct Reply {
    model: String,
    text: String,
    thinking: String,
    refusal: String,
    calls: Calls,
    details: Vec<Value>,
    usage: Option<Usage>,
    finish: Option<String>,
    begun: bool,
    done: bool,
}

impl Reply {
    /// Of the model that was asked.
    pub(in crate::host::model) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }

    /// A message or a piece of one; `written` is its text as it came.
    fn take(&mut self, message: &Value, written: Option<&str>, is_whole: bool, told: &mut Told<'_>) {
        if let Some(content) = message.get("content") {
            self.take_content(content, told);
        }
        let named = ["reasoning_content", "reasoning"].iter();
        let thought = named.filter_map(|key| message.get(*key)?.as_str()).find(|text| !text.is_empty());
        if let Some(thought) = thought {
            self.think(thought, told);
        }
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
            self.refusal.push_str(refusal);
        }
        let calls = written.and_then(|text| raw::items(raw::member(text, "tool_calls")?));
        for (position, call) in list(message.get("tool_calls")).iter().enumerate() {
            let text = calls.as_ref().and_then(|calls| calls.get(position).copied());
            if is_whole { self.calls.whole(call, text) } else { self.calls.piece(call, text) }
        }
        for detail in list(message.get("reasoning_details")) {
            self.take_detail(detail);
        }
    }

    /// A text, or a list of chunks as Mistral's thinking models send it.
    fn take_content(&mut self, content: &Value, told: &mut Told<'_>) {
        if let Some(text) = content.as_str() {
            self.say(text, told);
        }
        for chunk in list(Some(content)) {
            if let Some(text) = chunk.get("text").and_then(Value::as_str) {
                self.say(text, told);
            }
            match chunk.get("thinking") {
                Some(Value::String(text)) => self.think(text, told),
                other => {
                    for part in list(other) {
                        self.think(part.get("text").and_then(Value::as_str).unwrap_or_default(), told);
                    }
                }
            }
        }
    }

    fn say(&mut self, piece: &str, told: &mut Told<'_>) {
        self.text.push_str(piece);
        told.text(piece);
    }

    fn think(&mut self, piece: &str, told: &mut Told<'_>) {
        self.thinking.push_str(piece);
        told.thinking(piece);
    }

    /// Pieces of one detail have one index and one type: their texts are joined, so that they go back as one.
    fn take_detail(&mut self, detail: &Value) {
        let same = |known: &&mut Value| {
            ["index", "type"]
                .iter()
                .all(|key| known.get(*key) == detail.get(*key) && detail.get(*key).is_some())
        };
        let known = self.details.iter_mut().rev().find(same).and_then(Value::as_object_mut);
        let (Some(known), Value::Object(detail)) = (known, detail) else {
            self.details.push(detail.clone());
            return;
        };
        for (key, value) in detail {
            match (known.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(piece))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(piece);
                }
                (_, Value::Null) => {}
                _ => {
                    known.insert(key.clone(), value.clone());
                }
            }
        }
    }

    fn take_usage(&mut self, value: &Value) {
        let places = ["/usage", "/choices/0/usage", "/x_groq/usage"];
        let Some(found) = places.iter().find_map(|at| value.pointer(at)?.as_object()) else { return };
        let count = |paths: &[&str]| {
            let inside = Value::Object(found.clone());
            paths.iter().find_map(|path| inside.pointer(path).and_then(Value::as_u64)).unwrap_or_default()
        };
        self.usage = Some(Usage {
            input: count(&["/prompt_tokens"]),
            output: count(&["/completion_tokens"]),
            cached: count(&[
                "/prompt_tokens_details/cached_tokens",
                "/cached_tokens",
                "/prompt_cache_hit_tokens",
            ]),
            reasoning: count(&["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]),
        });
    }

    fn take_finish(&mut self, choice: &Value) {
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|it| !it.is_empty())
        {
            self.finish = Some(reason.to_owned());
        }
    }

    fn carry(&mut self) -> Option<Value> {
        let mut kept = Map::new();
        if !self.details.is_empty() {
            kept.insert("reasoning_details".to_owned(), std::mem::take(&mut self.details).into());
        }
        if let Some(extras) = self.calls.extras() {
            kept.insert("extra_content".to_owned(), extras);
        }
        if kept.is_empty() {
            return None;
        }
        kept.insert("model".to_owned(), self.model.clone().into());
        Some(Value::Object(Map::from_iter([(CARRY.to_owned(), Value::Object(kept))])))
    }
}

impl Protocol for Reply {
    fn event(&mut self, event: &sse::Event, told: &mut Told<'_>) -> Result<(), Trouble> {
        if event.data.trim() == "[DONE]" {
            self.done = self.begun;
            return if self.begun { Ok(()) } else { Err(Trouble::Shape("has no choice in it")) };
        }
        let value: Value =
            serde_json::from_str(&event.data).map_err(|_| Trouble::Shape("has a piece that is no JSON"))?;
        if let Some(error) = error_in(&value).or_else(|| (event.name == "error").then(|| value.clone())) {
            return Err(Trouble::Error(error));
        }
        self.take_usage(&value);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
        for choice in list(value.get("choices")).iter().filter(first) {
            let key = if choice.get("delta").is_some() { "delta" } else { "message" };
            if let Some(delta) = choice.get(key) {
                self.take(delta, written(&event.data, key), false, told);
            }
            self.take_finish(choice);
            self.begun = true;
        }
        Ok(())
    }

    fn stage(&self) -> Stage {
        if self.done {
            Stage::Done
        } else if self.finish.is_some() {
            Stage::Whole
        } else {
            Stage::Open
        }
    }

    fn body(&mut self, value: &Value, text: &str, told: &mut Told<'_>) -> Result<(), Trouble> {
        if let Some(error) = error_in(value) {
            return Err(Trouble::Error(error));
        }
        let choice = value.pointer("/choices/0").ok_or(Trouble::Shape("has no choice in it"))?;
        let message = choice.get("message").ok_or(Trouble::Shape("has no message in it"))?;
        self.take(message, written(text, "message"), true, told);
        self.take_usage(value);
        self.take_finish(choice);
        Ok(())
    }

    fn answer(mut self) -> Result<Answer, ModelFault> {
        let mut cut_off = false;
        match self.finish.as_deref() {
            Some("length" | "model_length" | "max_tokens") => cut_off = true,
            Some(reason @ ("error" | "abort" | "cancelled" | "insufficient_system_resource")) => {
                return Err(passing(format!("the model server broke its reply off with `{reason}`")));
            }
            Some(reason @ ("content_filter" | "refusal" | "sensitive")) => {
                // What a filter has cut is as incomplete as what a length has cut.
                cut_off = true;
                self.text.push_str(&ended(&self.text, reason));
            }
            Some(_) | None => {}
        }
        if self.text.is_empty() {
            self.text.clone_from(&self.refusal);
        }
        let carry = self.carry();
        Ok(Answer {
            text: self.text,
            thinking: self.thinking,
            calls: self.calls.into_triples(),
            usage: self.usage,
            cut_off,
            carry,
        })
    }
}

/// Says in the conversation why a reply stops where it does.
fn ended(text: &str, reason: &str) -> String {
    let gap = if text.is_empty() { "" } else { "\n" };
    format!("{gap}[flowright: the model server ended this reply with `{reason}`]")
}

/// An error that stands where an answer should.
fn error_in(value: &Value) -> Option<Value> {
    let has_error = value.get("error").is_some_and(|error| !error.is_null());
    let is_error = value.get("object").and_then(Value::as_str) == Some("error");
    (has_error || is_error).then(|| value.clone())
}

/// The message of the first choice as it was written.
fn written<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    raw::member(raw::items(raw::member(text, "choices")?)?.first()?, key)
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
