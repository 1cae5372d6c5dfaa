//! Reading messages: whole answers and streams through the same blocks. Runs no call and judges no input.

use super::CARRY;
use crate::engine::agent::command::Answer;
use crate::engine::agent::event::Usage;
use crate::host::model::told::Told;
use crate::host::model::wire::{Protocol, Stage, Trouble};
use crate::host::model::{raw, sse};
use crate::host::perform::ModelFault;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

const STRAY: Trouble = Trouble::Shape("has a piece of a block that was not begun");

/// One block as it grows.
#[derive(Clone, Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        /// What stood at the beginning of the block, as it was written.
        input: String,
        /// What came in pieces.
        json: String,
    },
    /// Thinking with its signature, and everything else that only the server understands.
    Kept {
        block: Map<String, Value>,
        json: String,
    },
}

/// A reply as it grows.
#[derive(Clone, Debug, Default)]
pub(in crate::host::model) struct Reply {
    model: String,
    blocks: Vec<Block>,
    by_index: HashMap<u64, usize>,
    thinking: String,
    usage: Map<String, Value>,
    stop: Option<String>,
    begun: bool,
    done: bool,
}

impl Reply {
    /// Of the model that was asked.
    pub(in crate::host::model) fn new(model: &str) -> Self {
        Self { model: model.to_owned(), ..Self::default() }
    }

    /// A block or the beginning of one; `written` is its text as it came.
    fn begin(&mut self, block: &Value, written: Option<&str>, told: &mut Told<'_>) {
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        self.blocks.push(match text("type") {
            "text" => {
                told.text(text("text"));
                Block::Text(text("text").to_owned())
            }
            "tool_use" => Block::Call {
                id: text("id").to_owned(),
                name: text("name").to_owned(),
                input: input(block, written),
                json: String::new(),
            },
            _ => {
                self.thinking.push_str(text("thinking"));
                told.thinking(text("thinking"));
                Block::Kept { block: block.as_object().cloned().unwrap_or_default(), json: String::new() }
            }
        });
    }

    fn grow(&mut self, index: u64, delta: &Value, told: &mut Told<'_>) -> Result<(), Trouble> {
        let piece = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        let block = self.by_index.get(&index).and_then(|at| self.blocks.get_mut(*at)).ok_or(STRAY)?;
        match (piece("type"), block) {
            ("text_delta", Block::Text(text)) => {
                text.push_str(piece("text"));
                told.text(piece("text"));
            }
            ("input_json_delta", Block::Call { json, .. } | Block::Kept { json, .. }) => {
                json.push_str(piece("partial_json"));
            }
            ("thinking_delta", Block::Kept { block, .. }) => {
                append(block, "thinking", piece("thinking"));
                self.thinking.push_str(piece("thinking"));
                told.thinking(piece("thinking"));
            }
            ("signature_delta", Block::Kept { block, .. }) => append(block, "signature", piece("signature")),
            // Citations and kinds of later versions change neither text nor calls.
            _ => {}
        }
        Ok(())
    }

    /// Counts are given in full each time; what is missing later stays as it was.
    fn count(&mut self, usage: Option<&Value>) {
        for (name, count) in usage.and_then(Value::as_object).into_iter().flatten() {
            if !count.is_null() {
                self.usage.insert(name.clone(), count.clone());
            }
        }
    }

    fn used(&self) -> Option<Usage> {
        if self.usage.is_empty() {
            return None;
        }
        let count = |name: &str| self.usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let cached = count("cache_read_input_tokens");
        let read = [count("input_tokens"), cached, count("cache_creation_input_tokens")];
        let details = self.usage.get("output_tokens_details");
        let reasoning = details.and_then(|details| details.get("thinking_tokens")).and_then(Value::as_u64);
        Some(Usage {
            input: read.iter().fold(0, |sum, count| sum.saturating_add(*count)),
            output: count("output_tokens"),
            cached,
            reasoning: reasoning.unwrap_or_default(),
        })
    }

    fn stopped(&mut self, reason: Option<&Value>) {
        if let Some(reason) = reason.and_then(Value::as_str) {
            self.stop = Some(reason.to_owned());
        }
    }
}

impl Protocol for Reply {
    fn event(&mut self, event: &sse::Event, told: &mut Told<'_>) -> Result<(), Trouble> {
        let value: Value =
            serde_json::from_str(&event.data).map_err(|_| Trouble::Shape("has a piece that is no JSON"))?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        let index = value.get("index").and_then(Value::as_u64).unwrap_or_default();
        match kind {
            "error" => return Err(Trouble::Error(value)),
            "message_start" => {
                self.begun = true;
                self.count(value.pointer("/message/usage"));
            }
            "content_block_start" => {
                let block = value.get("content_block").ok_or(STRAY)?;
                self.by_index.insert(index, self.blocks.len());
                self.begin(block, raw::member(&event.data, "content_block"), told);
            }
            "content_block_delta" => self.grow(index, value.get("delta").ok_or(STRAY)?, told)?,
            "message_delta" => {
                self.count(value.get("usage"));
                self.stopped(value.pointer("/delta/stop_reason"));
            }
            "message_stop" if self.begun => self.done = true,
            "message_stop" => return Err(Trouble::Shape("has no message in it")),
            // Pings, ends of blocks, and events of later versions.
            _ => {}
        }
        Ok(())
    }

    fn stage(&self) -> Stage {
        if self.done {
            Stage::Done
        } else if self.stop.is_some() {
            Stage::Whole
        } else {
            Stage::Open
        }
    }

    fn body(&mut self, value: &Value, text: &str, told: &mut Told<'_>) -> Result<(), Trouble> {
        let is_error = value.get("type").and_then(Value::as_str) == Some("error");
        if is_error || value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Trouble::Error(value.clone()));
        }
        let content = value.get("content").and_then(Value::as_array);
        let written = raw::member(text, "content").and_then(raw::items);
        for (position, block) in content.ok_or(Trouble::Shape("has no content in it"))?.iter().enumerate() {
            self.begin(block, written.as_ref().and_then(|blocks| blocks.get(position).copied()), told);
        }
        self.count(value.get("usage"));
        self.stopped(value.get("stop_reason"));
        Ok(())
    }

    fn answer(self) -> Result<Answer, ModelFault> {
        let usage = self.used();
        let mut answer = Answer { thinking: self.thinking, usage, ..Answer::default() };
        let mut order = Vec::new();
        let mut is_kept = false;
        for block in self.blocks {
            match block {
                Block::Text(text) => {
                    order.push(json!({ "text": text.len() }));
                    answer.text.push_str(&text);
                }
                Block::Call { id, name, input, json } => {
                    order.push(json!({ "call": answer.calls.len() }));
                    answer.calls.push((id, name, if json.is_empty() { input } else { json }));
                }
                Block::Kept { mut block, json } => {
                    is_kept = true;
                    if let Ok(input) = serde_json::from_str::<Value>(&json) {
                        block.insert("input".to_owned(), input);
                    }
                    order.push(json!({ "block": block }));
                }
            }
        }
        if is_kept {
            answer.carry = Some(json!({ CARRY: { "model": self.model, "order": order } }));
        }
        match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => answer.cut_off = true,
            Some(reason @ "refusal") => {
                // What was said up to here is not meant to stand; its calls least of all.
                answer.cut_off = true;
                let gap = if answer.text.is_empty() { "" } else { "\n" };
                let note = format!("{gap}[flowright: the model server ended this reply with `{reason}`]");
                answer.text.push_str(&note);
            }
            Some(_) | None => {}
        }
        Ok(answer)
    }
}

fn input(block: &Value, written: Option<&str>) -> String {
    match block.get("input").filter(|input| !input.is_null()) {
        Some(input) => {
            let raw = written.and_then(|text| raw::member(text, "input"));
            raw.map_or_else(|| input.to_string(), str::to_owned)
        }
        None => String::new(),
    }
}

fn append(block: &mut Map<String, Value>, key: &str, piece: &str) {
    match block.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            block.insert(key.to_owned(), piece.into());
        }
    }
}
