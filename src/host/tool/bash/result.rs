//! What a tool printed as a result for the model. Whatever it printed, the call gets a result in words.

use super::describe::{Described, Prints};
use crate::host::model::raw;
use crate::host::perform::Output;
use crate::host::response;
use crate::host::tool::process::{Captured, Finished};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::time::Duration;

const REFUSED_LENGTH_BYTES: usize = 2000;

/// The result of a call that was run.
#[must_use]
pub fn of(described: &Described, finished: &Finished, timeout: Duration) -> Output {
    if finished.timed_out {
        return Output::Failed(format!(
            "the tool was killed after {} s; it may have had part of its effect. It printed so far: {}",
            timeout.as_secs(),
            short(&finished.output.text())
        ));
    }
    if finished.code != Some(0) {
        let code = finished.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        let said = format!("{}{}", finished.errors.text(), finished.output.text());
        return Output::Failed(format!("the tool ended with {code}: {}", short(&said)));
    }
    if finished.output.bytes.is_empty() {
        return described.empty.clone().unwrap_or_else(|| Output::Text(String::new()));
    }
    match &described.prints {
        Prints::Text => {
            let mut text = finished.output.text();
            if finished.left_behind {
                text.push_str("\n[flowright: what the tool had left running was ended]");
            }
            Output::Text(text)
        }
        Prints::Json => match json(&finished.output, "one JSON value") {
            Ok(value) => {
                let text = finished.output.text();
                // A number whose form would not outlive being read and written keeps it as text (B46).
                if raw::keeps_numbers(&text, &value) { Output::Json(value) } else { Output::Text(text) }
            }
            Err(fault) => Output::Failed(fault),
        },
        Prints::Response => {
            let read = json(&finished.output, "a response object");
            let read = read.map(|value| (response::read(&value).filter(is_flat), value));
            match read {
                Ok((Some(output), _)) => output,
                Ok((None, value)) => Output::Failed(format!(
                    "the tool declares a response object and printed another value: {}",
                    short(&value.to_string())
                )),
                Err(fault) => Output::Failed(fault),
            }
        }
        Prints::Media(mime) => media(mime, &finished.output),
    }
}

/// Whether no mix stands in a mix.
fn is_flat(output: &Output) -> bool {
    match output {
        Output::Mixed(parts) => parts.iter().all(|part| match part {
            Output::Text(_) | Output::Json(_) | Output::Media { .. } => true,
            Output::Mixed(_) | Output::Failed(_) | Output::Unknown(_) => false,
        }),
        Output::Text(_) | Output::Json(_) | Output::Media { .. } | Output::Failed(_) | Output::Unknown(_) => {
            true
        }
    }
}

fn json(output: &Captured, what: &str) -> Result<Value, String> {
    if output.total > output.bytes.len() {
        return Err(format!(
            "the tool declares {what} and printed more than is read: {} bytes",
            output.total
        ));
    }
    serde_json::from_slice(&output.bytes).map_err(|error| {
        format!("the tool declares {what} and printed something else ({error}): {}", short(&output.text()))
    })
}

/// Media in base64, as other hosts of such tools want it, or as its bytes, which are never plain text.
fn media(mime: &str, output: &Captured) -> Output {
    let whole = |bytes: Vec<u8>| Output::Media { mime: mime.to_owned(), bytes, name: None };
    if output.total > output.bytes.len() {
        return Output::Failed(format!(
            "the tool printed more than is read: {} bytes of {mime}",
            output.total
        ));
    }
    if !output.bytes.is_ascii() {
        return whole(output.bytes.clone());
    }
    let digits: Vec<u8> = output.bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    match STANDARD.decode(digits) {
        Ok(bytes) => whole(bytes),
        Err(_) => Output::Failed(format!(
            "the tool declares {mime} in base64 and printed something else: {}",
            short(&output.text())
        )),
    }
}

/// The beginning of a text, for faults.
#[must_use]
pub fn short(text: &str) -> String {
    let text = text.trim();
    if text.len() <= REFUSED_LENGTH_BYTES {
        return text.to_owned();
    }
    let cut = text.get(..text.floor_char_boundary(REFUSED_LENGTH_BYTES)).unwrap_or_default();
    format!("{cut} … [cut]")
}
