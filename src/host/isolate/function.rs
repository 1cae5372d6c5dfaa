//! A function runner: the envelope is posted to a URL of the operator's configuration, the answer is the other one.

use super::envelope::Envelope;
use super::short;
use crate::host::model::wire;
use crate::host::perform::{Output, ToolRequest};
use crate::host::tool::bash::timeout_of;
use crate::host::tool::process::OUTPUT_LIMIT_BYTES;
use crate::host::tool::toolbox::{Function, Kit};
use futures_util::StreamExt as _;
use std::time::Duration;

/// Whether the operator allows the target.
///
/// # Errors
/// What is missing, in one sentence.
pub(super) fn possible(kit: &Kit, target: &str) -> Result<(), String> {
    function(kit, target).map(|_| ())
}

fn function<'a>(kit: &'a Kit, target: &str) -> Result<&'a Function, String> {
    let functions = &kit.allowed.functions;
    functions.iter().find(|function| function.name == target).ok_or_else(|| {
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("the operator's configuration allows no function runner `{target}`; it allows {known}")
    })
}

pub(super) async fn run(kit: &Kit, request: &ToolRequest, target: &str, envelope: &Envelope) -> Output {
    let function = match function(kit, target) {
        Ok(function) => function,
        Err(why) => return Output::Failed(why),
    };
    let timeout = timeout_of(request);
    match posted(kit, function, envelope, timeout).await {
        Ok(output) | Err(output) => output,
    }
}

/// What was answered; the other side is how it failed.
async fn posted(
    kit: &Kit,
    function: &Function,
    envelope: &Envelope,
    timeout: Duration,
) -> Result<Output, Output> {
    let what = format!("the function runner `{}`", function.name);
    let failed = |why: String| Output::Failed(format!("{what} {why}"));
    let client = wire::client(&kit.client).map_err(Output::Failed)?;
    let mut post = client
        .post(&function.url)
        .timeout(timeout)
        .header("content-type", "application/json")
        .header("idempotency-key", &envelope.token)
        .body(envelope.document.clone());
    if let Some(id) = &function.key {
        let key = kit.keys.find(id).await.map_err(Output::Failed)?;
        let Some(key) = key else {
            return Err(failed(format!("needs the key `{id}`, which the operator has not given")));
        };
        post = post.bearer_auth(key);
    }
    let answer = post.send().await.map_err(|error| {
        if error.is_connect() || error.is_builder() {
            failed("cannot be reached, so the call was not begun".to_owned())
        } else if error.is_timeout() {
            Output::Unknown(format!("{what} gave no result within {} s", timeout.as_secs()))
        } else {
            Output::Unknown(format!("the line to {what} broke before it answered"))
        }
    })?;
    let status = answer.status();
    let mut bytes = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(piece) = stream.next().await {
        let piece =
            piece.map_err(|_| Output::Unknown(format!("the line to {what} broke within its answer")))?;
        bytes.extend_from_slice(&piece);
        if bytes.len() > OUTPUT_LIMIT_BYTES {
            return Err(failed(format!(
                "answered with more than the {OUTPUT_LIMIT_BYTES} bytes that a result may have"
            )));
        }
    }
    if !status.is_success() {
        // An envelope says more than a status: a runner that failed a call says so in it.
        if let Ok(output @ Output::Failed(_)) = envelope.result(&bytes) {
            return Ok(output);
        }
        let said = short(&String::from_utf8_lossy(&bytes));
        let words = format!("answered with the HTTP status {}: {said}", status.as_u16());
        let is_refusal = status.is_client_error() || status.is_redirection();
        return Err(if is_refusal { failed(words) } else { Output::Unknown(format!("{what} {words}")) });
    }
    envelope.result(&bytes).map_err(failed)
}
