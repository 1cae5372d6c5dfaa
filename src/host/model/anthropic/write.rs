//! Writing messages requests: roles alternate, answers to calls stand first, what was thought goes back as it came.

use super::CARRY;
use crate::engine::agent::command::{Part, Said};
use crate::engine::agent::event::{CallMade, Media};
use crate::host::model::Asked;
use crate::host::model::flavor::Flavor;
use crate::host::model::ids::Ids;
use crate::host::model::media::{Shown, shown};
use crate::host::model::openai::parameters;
use crate::host::perform::described;
use serde_json::{Map, Value, json};

/// The protocol demands a bound; every model of today can write so much.
const MOST_TOKENS: u32 = 16_384;
/// The protocol takes no text that is empty.
const NOTHING: &str = "(nothing)";
/// Stands at the beginning of a conversation that the model would have begun.
const GO_ON: &str = "(The conversation goes on.)";

/// The request, with the inputs of calls in it exactly as the model wrote them: a parsed number would lose the form of
/// its exponent (B46). They are put into a text that holds a mark in each of their places.
pub(in crate::host::model) fn body(asked: &Asked<'_>) -> String {
    let mut number = 0_u32;
    loop {
        let mark = format!("flowright-input-{number}");
        let (body, inputs) = with_marks(asked, &mark);
        let text = body.to_string();
        let quoted = format!("\"{mark}\"");
        // The very unlikely text that is the mark itself: another mark is taken.
        if text.matches(&quoted).count() == inputs.len() {
            let mut out = String::with_capacity(text.len());
            let mut inputs = inputs.into_iter();
            for piece in text.split(&quoted) {
                out.push_str(piece);
                out.push_str(inputs.next().unwrap_or_default());
            }
            return out;
        }
        number = number.wrapping_add(1);
    }
}

fn with_marks<'a>(asked: &'a Asked<'a>, mark: &'a str) -> (Value, Vec<&'a str>) {
    let agent = &asked.request.agent;
    let mut body = Map::new();
    body.insert("model".to_owned(), agent.model_name.clone().unwrap_or_default().into());
    body.insert("max_tokens".to_owned(), agent.max_tokens.unwrap_or(MOST_TOKENS).into());
    let mut writer = Writer {
        asked,
        mark,
        ids: Ids::default(),
        system: Vec::new(),
        turns: Vec::new(),
        inputs: Vec::new(),
    };
    for said in &asked.request.messages {
        writer.say(said);
    }
    let inputs = std::mem::take(&mut writer.inputs);
    let (system, messages) = writer.finish();
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages);
    if !asked.tools.is_empty() {
        let tools = asked.tools.iter().map(|tool| {
            json!({ "name": asked.names.sent(&tool.name), "description": tool.description,
                "input_schema": parameters(&tool.parameters) })
        });
        body.insert("tools".to_owned(), tools.collect());
        if let Some(choice) = &agent.tool_choice {
            let kind = if choice == "required" { "any" } else { choice };
            body.insert("tool_choice".to_owned(), json!({ "type": kind }));
        }
    }
    if let Some(temperature) = &agent.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    body.insert("stream".to_owned(), asked.streams().into());
    (Value::Object(body), inputs)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

struct Writer<'a> {
    asked: &'a Asked<'a>,
    mark: &'a str,
    ids: Ids<'a>,
    system: Vec<&'a str>,
    turns: Vec<(Role, Vec<Value>)>,
    /// What belongs in the places of the marks, in order.
    inputs: Vec<&'a str>,
}

impl<'a> Writer<'a> {
    fn say(&mut self, said: &'a Said) {
        match said {
            Said::System(text) => self.system.push(text),
            Said::User { text, media } => {
                let mut blocks = Vec::new();
                if !text.trim().is_empty() {
                    blocks.push(words(text));
                }
                blocks.extend(media.iter().map(|media| self.block(media)));
                if blocks.is_empty() {
                    blocks.push(words(NOTHING));
                }
                self.add(Role::User, blocks);
            }
            Said::Assistant { text, calls, carry, .. } => {
                let blocks = self.assistant(text, calls, carry.as_ref());
                self.add(Role::Assistant, blocks);
            }
            Said::Tool { call, content, is_error, .. } => {
                let result = self.result(call, content, *is_error);
                self.add(Role::User, vec![result]);
            }
        }
    }

    fn add(&mut self, role: Role, mut blocks: Vec<Value>) {
        match self.turns.last_mut() {
            Some((last, before)) if *last == role => before.append(&mut blocks),
            Some(_) | None if blocks.is_empty() => {}
            Some(_) | None => self.turns.push((role, blocks)),
        }
    }

    /// The blocks of a reply in the order in which they came, as far as this model's server has told it.
    fn assistant(&mut self, text: &str, calls: &'a [CallMade], carry: Option<&Value>) -> Vec<Value> {
        let written: Vec<Value> = calls.iter().map(|call| self.call(call)).collect();
        let model = self.asked.request.agent.model_name.as_deref();
        let kept = carry
            .and_then(|carry| carry.get(CARRY))
            .filter(|kept| kept.get("model").and_then(Value::as_str) == model)
            .and_then(|kept| kept.get("order")?.as_array());
        if let Some(blocks) = kept.and_then(|order| in_order(order, text, &written)) {
            return blocks;
        }
        let said = (!text.trim().is_empty()).then(|| words(text));
        said.into_iter().chain(written).collect()
    }

    fn call(&mut self, call: &'a CallMade) -> Value {
        let name = self.asked.names.sent(&call.name);
        let id = self.ids.give(Flavor::Claude, &call.id, name);
        // Unreadable arguments were taken out before; the text would not be JSON with them.
        let is_object = matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_)));
        self.inputs.push(if is_object { call.arguments.as_str() } else { "{}" });
        json!({ "type": "tool_use", "id": id, "name": name, "input": self.mark })
    }

    fn result(&self, call: &str, content: &[Part], is_error: bool) -> Value {
        let mut blocks = Vec::new();
        for part in content {
            match part {
                // The answer of a call that failed may hold nothing but text.
                Part::Media(media) if is_error => blocks.push(words(&described(media))),
                Part::Media(media) => blocks.push(self.block(media)),
                Part::Text(_) | Part::Kept(_) => {
                    let text = self.asked.request.blobs.text(part);
                    if !text.trim().is_empty() {
                        blocks.push(words(&text));
                    }
                }
            }
        }
        let mut result = Map::new();
        result.insert("type".to_owned(), "tool_result".into());
        result.insert("tool_use_id".to_owned(), self.ids.of(call).into());
        if !blocks.is_empty() {
            result.insert("content".to_owned(), blocks.into());
        }
        if is_error {
            result.insert("is_error".to_owned(), true.into());
        }
        Value::Object(result)
    }

    fn block(&self, media: &Media) -> Value {
        let source = |mime: &str, data: String| json!({ "type": "base64", "media_type": mime, "data": data });
        match shown(media, &self.asked.request.blobs) {
            Shown::Picture { mime, base64 } => json!({ "type": "image", "source": source(mime, base64) }),
            Shown::Pdf { name, base64 } => {
                json!({ "type": "document", "source": source("application/pdf", base64), "title": name })
            }
            Shown::Sound { .. } => words(&described(media)),
            Shown::Text(text) => words(&text),
        }
    }

    fn finish(mut self) -> (String, Value) {
        if self.turns.first().is_none_or(|(role, _)| *role == Role::Assistant) {
            self.turns.insert(0, (Role::User, vec![words(GO_ON)]));
        }
        let messages = self.turns.into_iter().map(|(role, content)| {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "content": content })
        });
        (self.system.join("\n\n"), messages.collect())
    }
}

/// Puts text and calls back between the blocks that were kept; none if they are no longer what they were.
fn in_order(order: &[Value], text: &str, calls: &[Value]) -> Option<Vec<Value>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    let mut left = calls.iter();
    for entry in order {
        if let Some(block) = entry.get("block") {
            blocks.push(block.clone());
        } else if let Some(length) = entry.get("text").and_then(Value::as_u64) {
            let (piece, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            rest = behind;
            if !piece.trim().is_empty() {
                blocks.push(words(piece));
            }
        } else {
            blocks.push(left.next()?.clone());
        }
    }
    (rest.is_empty() && left.next().is_none()).then_some(blocks)
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
