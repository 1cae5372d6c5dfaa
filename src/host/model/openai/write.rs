//! Writing chat completions requests. Numbers keep their digits; every call has exactly one answer behind it.

use super::read::CARRY;
use crate::engine::agent::command::{Part, Said};
use crate::engine::agent::event::{CallMade, Media};
use crate::host::model::Asked;
use crate::host::model::flavor::Flavor;
use crate::host::model::ids::Ids;
use crate::host::model::media::{Shown, shown};
use crate::host::perform::{ToolSpec, described};
use reqwest::Url;
use serde_json::{Map, Value, json};

/// Stands between a tool's answer and the next words of the user where a server wants the model to speak there.
const BRIDGE: &str = "(I have read the result.)";
/// Opens the message that shows what tools gave.
const GIVEN: &str = "Files that the tools gave:";

/// The request.
pub(in crate::host::model) fn body(asked: &Asked<'_>, url: &Url) -> Value {
    let agent = &asked.request.agent;
    let mut body = Map::new();
    body.insert("model".to_owned(), agent.model_name.clone().unwrap_or_default().into());
    let mut writer = Writer { asked, ids: Ids::default(), lines: Vec::new(), given: Vec::new() };
    for said in &asked.request.messages {
        writer.say(said);
    }
    body.insert("messages".to_owned(), writer.finish());
    if !asked.tools.is_empty() {
        body.insert("tools".to_owned(), asked.tools.iter().map(|it| tool(asked, it)).collect());
        if let Some(choice) = &agent.tool_choice {
            let choice = match (asked.flavor, choice.as_str()) {
                (Flavor::Mistral, "required") => "any",
                (_, choice) => choice,
            };
            body.insert("tool_choice".to_owned(), choice.into());
        }
    }
    if let Some(temperature) = &agent.temperature {
        body.insert("temperature".to_owned(), Value::Number(temperature.clone()));
    }
    if let Some(most) = agent.max_tokens {
        // OpenAI itself has given the old name up; nobody else knows the new one for sure.
        let is_openai = url.host_str() == Some("api.openai.com");
        let key = if is_openai { "max_completion_tokens" } else { "max_tokens" };
        body.insert(key.to_owned(), most.into());
    }
    body.insert("stream".to_owned(), asked.streams().into());
    // Mistral counts without being asked, and refuses the key.
    if asked.streams() && asked.flavor != Flavor::Mistral {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    Value::Object(body)
}

fn tool(asked: &Asked<'_>, tool: &ToolSpec) -> Value {
    json!({ "type": "function", "function": {
        "name": asked.names.sent(&tool.name),
        "description": tool.description,
        "parameters": parameters(&tool.parameters) } })
}

/// The schema of a tool's arguments as servers demand it: an object with properties.
pub(in crate::host::model) fn parameters(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Object(map) => map.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    schema.entry("type").or_insert_with(|| "object".into());
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    Value::Object(schema)
}

/// One message on its way: what a user says may still grow.
enum Line {
    User(Vec<Value>),
    Tool(Value),
    Other(Value),
}

struct Writer<'a> {
    asked: &'a Asked<'a>,
    ids: Ids<'a>,
    lines: Vec<Line>,
    /// What the tools of the last reply gave to be shown.
    given: Vec<Value>,
}

impl<'a> Writer<'a> {
    fn say(&mut self, said: &'a Said) {
        match said {
            Said::System(text) => {
                self.show_given();
                self.lines.push(Line::Other(json!({ "role": "system", "content": text })));
            }
            Said::User { text, media } => {
                self.show_given();
                let mut parts = Vec::new();
                if !text.is_empty() || media.is_empty() {
                    parts.push(words(text));
                }
                parts.extend(media.iter().map(|media| self.part(media)));
                self.user(parts);
            }
            Said::Assistant { text, calls, thinking, carry } => {
                self.show_given();
                let message = self.assistant(text, calls, thinking, carry.as_ref());
                self.lines.push(Line::Other(message));
            }
            Said::Tool { call, name, content, .. } => self.tool(call, name, content),
        }
    }

    /// Neighbouring messages of the user become one: templates of local models want the roles to alternate.
    fn user(&mut self, mut parts: Vec<Value>) {
        match self.lines.last_mut() {
            Some(Line::User(before)) => before.append(&mut parts),
            Some(Line::Tool(_)) if self.asked.flavor == Flavor::Mistral => {
                self.lines.push(Line::Other(json!({ "role": "assistant", "content": BRIDGE })));
                self.lines.push(Line::User(parts));
            }
            Some(Line::Tool(_) | Line::Other(_)) | None => self.lines.push(Line::User(parts)),
        }
    }

    /// Tool messages can hold no files, and nothing may stand between them: files follow behind the last.
    fn show_given(&mut self) {
        let given = std::mem::take(&mut self.given);
        if !given.is_empty() {
            self.user(given);
        }
    }

    fn assistant(
        &mut self,
        text: &str,
        calls: &'a [CallMade],
        thinking: &str,
        carry: Option<&Value>,
    ) -> Value {
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        let is_mute = text.is_empty() && !calls.is_empty() && self.asked.flavor != Flavor::Mistral;
        message.insert("content".to_owned(), if is_mute { Value::Null } else { text.into() });
        // Without it the server refuses calls of a model that thinks, even where it thought nothing.
        if self.asked.flavor == Flavor::Kimi && (!thinking.is_empty() || !calls.is_empty()) {
            message.insert("reasoning_content".to_owned(), thinking.into());
        }
        let model = self.asked.request.agent.model_name.as_deref();
        let kept = carry
            .and_then(|carry| carry.get(CARRY))
            .filter(|kept| kept.get("model").and_then(Value::as_str) == model);
        if let Some(details) = kept.and_then(|kept| kept.get("reasoning_details")) {
            message.insert("reasoning_details".to_owned(), details.clone());
        }
        if !calls.is_empty() {
            let extras = kept.and_then(|kept| kept.get("extra_content"));
            let calls = calls.iter().enumerate().map(|(position, call)| {
                let extra = extras.and_then(|extras| extras.get(position)).filter(|it| !it.is_null());
                self.call(call, extra)
            });
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        Value::Object(message)
    }

    fn call(&mut self, call: &'a CallMade, extra: Option<&Value>) -> Value {
        let name = self.asked.names.sent(&call.name);
        let id = self.ids.give(self.asked.flavor, &call.id, name);
        let mut written = json!({ "id": id, "type": "function",
            "function": { "name": name, "arguments": call.arguments } });
        if let (Some(extra), Some(map)) = (extra, written.as_object_mut()) {
            map.insert("extra_content".to_owned(), extra.clone());
        }
        written
    }

    fn tool(&mut self, call: &str, name: &str, content: &'a [Part]) {
        let sent = self.asked.names.sent(name);
        let mut parts = Vec::new();
        for part in content {
            let Part::Media(media) = part else {
                parts.push(words(&self.asked.request.blobs.text(part)));
                continue;
            };
            let part = self.part(media);
            if self.asked.flavor == Flavor::Mistral || is_words(&part) {
                parts.push(part);
                continue;
            }
            parts.push(words(&format!("{}, shown in the next message", described(media))));
            if self.given.is_empty() {
                self.given.push(words(GIVEN));
            }
            self.given.push(words(&format!("`{sent}` gave {}", described(media))));
            self.given.push(part);
        }
        let id = self.ids.of(call);
        self.lines.push(Line::Tool(json!({ "role": "tool", "tool_call_id": id, "name": sent,
            "content": joined(parts, "\n") })));
    }

    /// A file in the manner of the server; a line where it has no place for it.
    fn part(&self, media: &Media) -> Value {
        let line = || words(&described(media));
        match (shown(media, &self.asked.request.blobs), self.asked.flavor) {
            (Shown::Text(text), _) => words(&text),
            (Shown::Picture { mime, base64 }, _) => {
                let url = format!("data:{mime};base64,{base64}");
                json!({ "type": "image_url", "image_url": { "url": url } })
            }
            (Shown::Pdf { name, base64 }, Flavor::OpenAi) => {
                let data = format!("data:application/pdf;base64,{base64}");
                json!({ "type": "file", "file": { "filename": name, "file_data": data } })
            }
            (Shown::Pdf { base64, .. }, Flavor::Mistral) => {
                let url = format!("data:application/pdf;base64,{base64}");
                json!({ "type": "document_url", "document_url": url })
            }
            (Shown::Sound { format, base64 }, Flavor::OpenAi) => {
                json!({ "type": "input_audio", "input_audio": { "data": base64, "format": format } })
            }
            (Shown::Sound { base64, .. }, Flavor::Mistral) => {
                json!({ "type": "input_audio", "input_audio": base64 })
            }
            (Shown::Pdf { .. } | Shown::Sound { .. }, Flavor::Kimi | Flavor::Claude) => line(),
        }
    }

    fn finish(mut self) -> Value {
        self.show_given();
        let lines = self.lines.into_iter().map(|line| match line {
            Line::User(parts) => json!({ "role": "user", "content": joined(parts, "\n\n") }),
            Line::Tool(message) | Line::Other(message) => message,
        });
        lines.collect()
    }
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn is_words(part: &Value) -> bool {
    part.get("type").and_then(Value::as_str) == Some("text")
}

/// Plain text where there is nothing else: not every server reads lists.
fn joined(parts: Vec<Value>, gap: &str) -> Value {
    if !parts.iter().all(is_words) {
        return parts.into();
    }
    let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join(gap).into()
}
