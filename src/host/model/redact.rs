//! Hiding keys in what servers send back: in faults, in answers, and in streams that cut a key in two.

use crate::engine::agent::command::Answer;
use crate::secret;
use reqwest::Url;
use serde_json::Value;

/// What stands for a key.
const HIDDEN: &str = "•••";
/// A shorter text is no key: hiding it would hide words.
const LEAST_CHARS: usize = 4;
/// In answers only what is surely a key is hidden: names such as `lm-studio` serve as keys of local servers.
const LEAST_CHARS_IN_ANSWERS: usize = 16;

/// Texts that are never shown.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The key, and what of the URL may be one: its password and the values of its query.
    pub(super) fn of(key: Option<&str>, url: &Url) -> Self {
        let mut texts: Vec<String> = key.map(str::to_owned).into_iter().collect();
        texts.extend(url.password().map(str::to_owned));
        if url.password().is_none() {
            texts.extend(Some(url.username().to_owned()));
        }
        let values = url.query_pairs().filter(|(name, _)| name != "api-version");
        texts.extend(values.map(|(_, value)| value.into_owned()));
        texts.retain(|text| text.len() >= LEAST_CHARS);
        // The longest first, so that none is left over for holding another.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(texts)
    }

    /// A sentence for people: without these texts, and without others that look like keys.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for hidden in &self.0 {
            text = text.replace(hidden, HIDDEN);
        }
        secret::masked(&text)
    }

    fn sure(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter(|text| text.len() >= LEAST_CHARS_IN_ANSWERS)
    }

    /// A server that repeats the key must not bring it into the store.
    pub(super) fn hide_in_answer(&self, answer: &mut Answer) {
        for hidden in self.sure() {
            let calls = answer.calls.iter_mut();
            let called = calls.flat_map(|(id, name, arguments)| [id, name, arguments]);
            for text in [&mut answer.text, &mut answer.thinking].into_iter().chain(called) {
                if text.contains(hidden.as_str()) {
                    *text = text.replace(hidden.as_str(), HIDDEN);
                }
            }
            // A carry is given back as it was, or not at all.
            if answer.carry.as_ref().is_some_and(|carry| holds(carry, hidden)) {
                answer.carry = None;
            }
        }
    }

    /// For one stream of text.
    pub(super) fn veil(&self) -> Veil {
        Veil { hidden: self.sure().cloned().collect(), held: String::new() }
    }
}

fn holds(value: &Value, hidden: &str) -> bool {
    match value {
        Value::String(text) => text.contains(hidden),
        Value::Array(items) => items.iter().any(|item| holds(item, hidden)),
        Value::Object(map) => map.values().any(|item| holds(item, hidden)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Hides keys in a text that comes in pieces: an end that may be the beginning of one is held back.
pub(super) struct Veil {
    hidden: Vec<String>,
    held: String,
}

impl Veil {
    /// Takes a piece, gives what may be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let mut held = 0;
        for hidden in &self.hidden {
            text = text.replace(hidden.as_str(), HIDDEN);
            let begun = (1..hidden.len())
                .rev()
                .find(|length| hidden.get(..*length).is_some_and(|begin| text.ends_with(begin)));
            held = held.max(begun.unwrap_or_default());
        }
        let shown = text.len().saturating_sub(held);
        self.held = text.get(shown..).unwrap_or_default().to_owned();
        text.truncate(shown);
        text
    }

    /// What was held back, at the end.
    pub(super) fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}
