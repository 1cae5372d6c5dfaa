//! Arguments of a call to a built-in tool, taken one by one; what is wrong with them is one sentence for the model.

use super::bash::arguments;
use crate::host::perform::ToolRequest;
use serde_json::{Map, Value};

/// What a call brings.
#[derive(Clone, Debug)]
pub struct Given(Map<String, Value>);

impl Given {
    /// The arguments of a call, of which the tool knows these.
    ///
    /// # Errors
    /// They are no map, or there is one that the tool does not know.
    pub fn of(request: &ToolRequest, known: &[&str]) -> Result<Self, String> {
        let map = arguments::parse(&request.call.arguments)?;
        match map.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(format!("there is no argument `{name}`; the tool takes: {}", known.join(", "))),
            None => Ok(Self(map)),
        }
    }

    /// A value; null counts as not given.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that may be left out.
    ///
    /// # Errors
    /// It is none.
    pub fn text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be text")),
        }
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// It is not there, or is none.
    pub fn must(&self, name: &str) -> Result<&str, String> {
        self.text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A count that may be left out; models write it in quotes too.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, name: &str) -> Result<Option<usize>, String> {
        let read = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
        let number = match self.value(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => read(number.as_u64()),
            Some(Value::String(text)) => read(text.parse().ok()),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null) => None,
        };
        number.map(Some).ok_or_else(|| format!("`{name}` must be a whole number, 0 or more"))
    }

    /// Whether something is asked for; models write it in quotes too.
    ///
    /// # Errors
    /// It is neither true nor false.
    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(format!("`{name}` must be true or false")),
        }
    }

    /// A list of texts; one text counts as a list.
    ///
    /// # Errors
    /// It is not there, or holds something else.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>, String> {
        match self.value(name) {
            None => Err(format!("`{name}` is missing")),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().ok_or_else(|| format!("`{name}` must be a list of texts")))
                .collect(),
            Some(_) => Err(format!("`{name}` must be a list of texts")),
        }
    }
}
