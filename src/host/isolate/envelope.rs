//! The envelope of an isolated call: what a runner is given and what it answers, in the form of `sessions-format`.

use super::short;
use crate::engine::derived_id;
use crate::host::model::raw;
use crate::host::perform::{Output, ToolRequest};
use crate::host::response;
use crate::ir;
use serde_json::{Value, json};

/// One call on its way to a runner.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Ties the answer to the call; never two admissions with one.
    pub token: String,
    /// The document, as compact JSON.
    pub document: Vec<u8>,
}

impl Envelope {
    /// Of a call. Holds no key, no path of the store and nothing of the conversation.
    #[must_use]
    pub fn of(request: &ToolRequest, place: &ir::Isolation) -> Self {
        let (spec, call) = (&request.spec, &request.call);
        let token = request.token.clone().unwrap_or_else(|| {
            derived_id(&[&spec.session.0, "isolated", &call.id, &request.admission.to_string()])
        });
        let reason = format!("the policy isolates `{}`", call.name);
        let document = json!({
            "token": token,
            "toolCall": {
                "id": call.id,
                "index": 0,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments },
            },
            "contextSnapshot": {
                "ctxSessionId": spec.session.0,
                "ctxConversationId": spec.session.0,
                "ctxTurnId": request.reply.to_string(),
                "ctxCallStack": [request.agent.slug],
                "ctxAllowedTools": [call.name],
                "ctxParentConversation": spec.caller.as_ref().map(|caller| &caller.session.0),
            },
            "policy": { "disposition": disposition(place), "reason": reason },
            "reason": reason,
        });
        Self { token, document: document.to_string().into_bytes() }
    }

    /// Reads an answer. `Output::Failed` where the runner says that the call failed.
    ///
    /// # Errors
    /// What is wrong with the answer, as the end of a sentence that names the runner.
    pub fn result(&self, answer: &[u8]) -> Result<Output, String> {
        if answer.iter().all(u8::is_ascii_whitespace) {
            return Err("answered with nothing".to_owned());
        }
        let text = std::str::from_utf8(answer)
            .map_err(|_| "answered with bytes that are no text, so with no result envelope".to_owned())?;
        let quoted = || short(text);
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("answered with no result envelope ({error}): {}", quoted()))?;
        let member = |name: &str| value.get(name);
        match member("token").and_then(Value::as_str) {
            Some(token) if token == self.token => {}
            Some(_) => return Err("answered for another call: the token of its envelope differs".to_owned()),
            None => return Err(format!("answered with an envelope without a token: {}", quoted())),
        }
        match member("status").and_then(Value::as_str) {
            Some("success") => match member("result") {
                Some(result) if !result.is_null() => Ok(given(result, text)),
                Some(_) | None => Err("says success and gives no `result`".to_owned()),
            },
            Some("error") => match member("error").and_then(Value::as_str) {
                Some(error) => Ok(Output::Failed(error.to_owned())),
                None => Err("says error and does not say which: `error` is no text".to_owned()),
            },
            Some(other) => {
                Err(format!("answered with the status `{other}`, which is neither success nor error"))
            }
            None => Err(format!("answered with an envelope without a status: {}", quoted())),
        }
    }
}

/// A result: a response object, or any JSON value. Numbers keep their digits (B46).
fn given(result: &Value, text: &str) -> Output {
    if let Some(output) = response::read(result) {
        return output;
    }
    if let Value::String(text) = result {
        return Output::Text(text.clone());
    }
    let Some(written) = raw::member(text, "result") else { return Output::Json(result.clone()) };
    if raw::keeps_numbers(written, result) {
        Output::Json(result.clone())
    } else {
        Output::Text(written.to_owned())
    }
}

/// What the policy said, in the words of agent files.
fn disposition(place: &ir::Isolation) -> Value {
    crate::exchange::disposition(&ir::Disposition::RunIsolated { spec: place.clone() })
}
