//! Tool calls that come in pieces: put together by index, whatever servers do with ids, names and indexes (B43).
//! Judges no arguments: they are handed on as they came.

use crate::host::model::raw;
use serde_json::Value;
use std::collections::HashMap;

/// One call as it grows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Growing {
    id: String,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

/// The calls of one reply, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    all: Vec<Growing>,
    /// Where the newest call of an index stands.
    by_index: HashMap<u64, usize>,
}

impl Calls {
    /// A call of a whole answer: each is one of its own, even where ids repeat.
    pub(super) fn whole(&mut self, call: &Value, text: Option<&str>) {
        self.all.push(Growing::default());
        if let Some(growing) = self.all.last_mut() {
            grow(growing, call, text);
        }
    }

    /// A piece of a stream.
    pub(super) fn piece(&mut self, call: &Value, text: Option<&str>) {
        let index = call.get("index").and_then(Value::as_u64);
        let known = match index {
            Some(index) => self.by_index.get(&index).copied(),
            // Without an index a piece belongs to the newest call.
            None => self.all.len().checked_sub(1),
        };
        let position = match known {
            Some(position) if !self.begins_another(position, call) => position,
            Some(_) | None => {
                self.all.push(Growing::default());
                self.all.len() - 1
            }
        };
        if let Some(index) = index {
            self.by_index.insert(index, position);
        }
        if let Some(growing) = self.all.get_mut(position) {
            grow(growing, call, text);
        }
    }

    /// Some servers number every call 0, or none at all: a new id tells, or a name behind complete arguments.
    fn begins_another(&self, position: usize, call: &Value) -> bool {
        let Some(known) = self.all.get(position) else { return true };
        let id = text(call.get("id"));
        if !id.is_empty() && !known.id.is_empty() {
            return id != known.id || (is_whole(known) && brings_more(known, call));
        }
        is_whole(known) && brings_more(known, call)
    }

    /// What servers want back with single calls, by position; none if there is nothing.
    pub(super) fn extras(&self) -> Option<Value> {
        let extras = self.all.iter().map(|call| call.extra.clone().unwrap_or(Value::Null));
        self.all.iter().any(|call| call.extra.is_some()).then(|| extras.collect())
    }

    pub(super) fn into_triples(self) -> Vec<(String, String, String)> {
        self.all.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }
}

/// Whether a piece behind complete arguments starts the next call rather than repeating what is known of this one.
fn brings_more(known: &Growing, call: &Value) -> bool {
    let name = text(call.pointer("/function/name"));
    let arguments = arguments(call, None);
    !name.is_empty() && (name != known.name || !arguments.trim().is_empty())
}

fn is_whole(call: &Growing) -> bool {
    matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_)))
}

fn grow(growing: &mut Growing, call: &Value, written: Option<&str>) {
    let id = text(call.get("id"));
    if growing.id.is_empty() {
        id.clone_into(&mut growing.id);
    }
    let name = text(call.pointer("/function/name"));
    // Most servers send the name once, some with every piece, a few in pieces.
    if name != growing.name {
        growing.name.push_str(name);
    }
    growing.arguments.push_str(&arguments(call, written));
    if let Some(extra) = call.get("extra_content").filter(|extra| !extra.is_null()) {
        growing.extra = Some(extra.clone());
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// Arguments as written; of a server that sends an object instead of its text, that object as it was written.
fn arguments(call: &Value, written: Option<&str>) -> String {
    match call.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
            let raw = written.and_then(|text| raw::inside(text, &["function", "arguments"]));
            raw.map_or_else(|| other.to_string(), str::to_owned)
        }
    }
}
