//! The scripted model behind `modelUrl: "script:./replies.yaml"`: deterministic answers for demos and tests.
//!
//! It keeps no state: which reply is given follows from the agent, the number of the reply and the last words alone,
//! so a session that is killed and resumed gets the same answers. The format stands in `docs/scripted-model.md`.

use crate::engine::agent::command::{Answer, Said};
use crate::engine::agent::event::SUBMIT_TOOL;
use crate::host::perform::{Blobs, ModelFault, ModelRequest};
use crate::source::{FileId, Source};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    kind: String,
    version: u32,
    replies: Vec<Reply>,
}

/// One reply: conditions, then what is said. The first whose conditions all hold is given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Reply {
    /// Slug of the agent.
    agent: Option<String>,
    /// Number of the reply within its session, from 1.
    reply: Option<u32>,
    /// Text that the last message to the model holds.
    contains: Option<String>,
    /// Text of the answer.
    say: String,
    /// Tool calls: one map of tool name to arguments each.
    call: Vec<Map<String, Value>>,
    /// Shorthand for a call of the submit tool; `outcome` defaults to `succeeded`.
    submit: Option<Map<String, Value>>,
    /// A fault instead of an answer.
    fail: Option<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    message: String,
    #[serde(default)]
    retryable: bool,
}

/// The answer that the script has for this request.
///
/// # Errors
/// The script's own fault, or one sentence if it cannot be read or has no reply.
pub fn answer(root: &Path, file: &str, request: &ModelRequest) -> Result<Answer, ModelFault> {
    let fatal = |message: String| ModelFault { message, retryable: false, retry_after_ms: None };
    let path = root.join(file);
    let script = read(&path).map_err(fatal)?;
    let last = request.messages.last().map(|said| words(said, &request.blobs)).unwrap_or_default();
    let slug = request.agent.slug.as_str();
    let found = script.replies.into_iter().find(|reply| {
        reply.agent.as_deref().is_none_or(|agent| agent == slug)
            && reply.reply.is_none_or(|number| number == request.reply)
            && reply.contains.as_deref().is_none_or(|part| last.contains(part))
    });
    let Some(reply) = found else {
        return Err(fatal(format!(
            "{} has no reply number {} for agent `{slug}`",
            path.display(),
            request.reply
        )));
    };
    if let Some(fault) = reply.fail {
        return Err(ModelFault { message: fault.message, retryable: fault.retryable, retry_after_ms: None });
    }
    let mut calls = Vec::new();
    for call in reply.call {
        for (name, arguments) in call {
            calls.push((String::new(), name, arguments.to_string()));
        }
    }
    if let Some(mut envelope) = reply.submit {
        envelope.entry("outcome").or_insert_with(|| "succeeded".into());
        envelope.entry("summary").or_insert_with(|| "".into());
        calls.push((String::new(), SUBMIT_TOOL.to_owned(), Value::Object(envelope).to_string()));
    }
    Ok(Answer { text: reply.say, calls, ..Answer::default() })
}

fn words(said: &Said, blobs: &Blobs) -> String {
    match said {
        Said::System(text) | Said::User { text, .. } | Said::Assistant { text, .. } => text.clone(),
        Said::Tool { content, .. } => {
            let parts: Vec<String> = content.iter().map(|part| blobs.text(part)).collect();
            parts.join("\n")
        }
    }
}

fn read(path: &Path) -> Result<Script, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the script {name} cannot be read: {error}"))?;
    let source = Source::new(FileId::MAIN, name.clone(), text);
    let mut diagnostics = Vec::new();
    let tree = crate::parse::read(&source, &mut diagnostics);
    if let Some(first) = diagnostics.iter().find(|found| found.severity == crate::diagnostic::Severity::Error)
    {
        let at = source.position(first.span.start as usize);
        return Err(format!(
            "the script {name} cannot be read: line {}, column {}: {}",
            at.line, at.column, first.message
        ));
    }
    let script: Script = serde_json::from_value(tree.to_json())
        .map_err(|error| format!("the script {name} is not of its form: {error}"))?;
    if script.kind != "script" || script.version != 1 {
        return Err(format!("the script {name} must begin with `kind: script` and `version: 1`"));
    }
    Ok(script)
}
