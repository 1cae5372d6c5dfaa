//! The arguments of a call, brought to where a tool wants them. Every digit of a number is kept. Runs nothing.

use super::describe::{Argument, Kind, Mode};
use crate::host::model::raw;
use serde_json::{Map, Value};

/// Arguments as a program is given them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Words of the command line.
    pub words: Vec<String>,
    /// Standard input.
    pub input: Vec<u8>,
    /// Variables.
    pub environment: Vec<(String, String)>,
}

/// The arguments of a call as a map.
///
/// # Errors
/// One sentence for the model.
pub fn parse(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("the arguments must be a JSON object".to_owned()),
        Err(error) => Err(format!("the arguments are no JSON: {error}")),
    }
}

/// Brings arguments to their places, in the order that the tool declares. `text` is what `given` was read from: a
/// value read and written anew would have another form of exponent.
///
/// # Errors
/// One sentence for the model: what is missing, unknown or of another kind.
pub fn place(declared: &[Argument], given: &Map<String, Value>, text: &str) -> Result<Placed, String> {
    if let Some(unknown) = given.keys().find(|name| declared.iter().all(|argument| argument.name != **name)) {
        let known: Vec<_> = declared.iter().map(|argument| argument.name.as_str()).collect();
        return Err(format!("there is no argument `{unknown}`; the tool takes: {}", known.join(", ")));
    }
    let mut placed = Placed::default();
    let mut left_out: Option<&str> = None;
    let mut inputs = 0;
    for argument in declared {
        let name = argument.name.as_str();
        let value = match given.get(name) {
            None | Some(Value::Null) if argument.optional => {
                if argument.mode == Mode::Positional {
                    left_out = left_out.or(Some(name));
                }
                continue;
            }
            None | Some(Value::Null) => return Err(format!("the argument `{name}` is missing")),
            Some(value) => text_of(argument, value, raw::member(text, name))?,
        };
        if value.contains('\0') && argument.mode != Mode::Stdin {
            return Err(format!("the argument `{name}` holds a NUL character"));
        }
        match argument.mode {
            Mode::DashDashSpace => placed.words.extend([format!("--{name}"), value]),
            Mode::DashDashEqual => placed.words.push(format!("--{name}={value}")),
            Mode::Stdin => {
                if inputs > 0 {
                    placed.input.push(b'\n');
                }
                inputs += 1;
                placed.input.extend(value.into_bytes());
            }
            Mode::Env => placed.environment.push((name.to_owned(), value)),
            Mode::Positional => {
                if let Some(before) = left_out {
                    // It would be taken for the one that was left out.
                    return Err(format!(
                        "`{name}` cannot be given without `{before}`, which stands before it"
                    ));
                }
                placed.words.push(value);
            }
        }
    }
    Ok(placed)
}

/// A value as text. Models often write numbers in quotes; what reads as the kind that was asked for is taken.
fn text_of(argument: &Argument, value: &Value, written: Option<&str>) -> Result<String, String> {
    let text = match value.as_str() {
        Some(text) => text.to_owned(),
        None => written.map_or_else(|| value.to_string(), str::to_owned),
    };
    let read = serde_json::from_str::<Value>(text.trim());
    let (fits, wanted) = match argument.kind {
        Kind::Text => (true, "text"),
        Kind::Integer => (is_integer(text.trim()), "a whole number"),
        Kind::Number => (read.is_ok_and(|read| read.is_number()), "a number"),
        Kind::Bool => (matches!(text.trim(), "true" | "false"), "true or false"),
        Kind::Array => (read.is_ok_and(|read| read.is_array()), "a list"),
        Kind::Object => (read.is_ok_and(|read| read.is_object()), "a map"),
    };
    if fits {
        return Ok(if argument.kind == Kind::Text { text } else { text.trim().to_owned() });
    }
    Err(format!("the argument `{}` must be {wanted}", argument.name))
}

/// Whether a text has the digits of a whole number, however many; `1.0` and `1e2` are numbers of another form.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
