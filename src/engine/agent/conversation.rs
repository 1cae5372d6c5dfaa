//! The conversation as it goes to a model. Derived from the state; sends nothing and changes nothing.

use super::command::{Part, Said};
use super::event::{CallMade, SUBMIT_TOOL, Spec, ToolResult};
use super::state::{Call, CallState, State, Turn};
use super::track;
use crate::ir;
use serde_json::{Map, Value};

/// The base whose agents work for workflows.
const WORKFLOW_BASE: &str = "workflow-agent@1";

/// System prompt, then every complete turn. Each call of a reply has exactly one answer, in the order of the calls;
/// a last reply whose calls are still open is left out whole. Thinking stands beside the text, for servers that want it
/// back.
#[must_use]
pub fn messages(ir: &ir::Agent, state: &State) -> Vec<Said> {
    let mut said = Vec::new();
    let prompt = system(ir, state.spec.as_ref());
    if !prompt.is_empty() {
        said.push(Said::System(prompt));
    }
    let last = state.turns.len().saturating_sub(1);
    for (index, turn) in state.turns.iter().enumerate() {
        match turn {
            Turn::Said { text, media, .. } => {
                let text = match &state.spec {
                    // A history from elsewhere may begin with other words.
                    Some(spec) if index == 0 && *text == spec.prompt => assignment(spec),
                    Some(_) | None => text.clone(),
                };
                said.push(Said::User { text, media: media.clone() });
            }
            Turn::Reply { text, calls, thinking, carry, .. } => {
                let open = calls.iter().any(|call| !call.state.is_terminal());
                // Servers refuse a model message without content.
                let empty = text.is_empty() && calls.is_empty();
                if (open && index == last) || empty {
                    continue;
                }
                said.push(Said::Assistant {
                    text: text.clone(),
                    calls: calls.iter().map(made).collect(),
                    thinking: thinking.clone(),
                    carry: carry.clone(),
                });
                said.extend(calls.iter().map(answer));
            }
        }
    }
    said
}

fn system(ir: &ir::Agent, spec: Option<&Spec>) -> String {
    let mut paragraphs = ir.system_prompt.clone();
    let owes = spec.is_some_and(|spec| spec.contract.is_some());
    if owes && ir.base.as_deref() == Some(WORKFLOW_BASE) {
        paragraphs.push(format!(
            "You work on one finite assignment.\n\
             - Perform the assignment that the first message gives, and only that.\n\
             - Keep to the required outputs: their names, types and meaning are given by the schema of the tool \
             `{SUBMIT_TOOL}`.\n\
             - When the work is done, call `{SUBMIT_TOOL}` once with outcome, summary and result, and then stop. \
             Writing that you are done does not submit anything.\n\
             - If you cannot go on without something from outside, submit the outcome `blocked`; if it cannot be \
             done, submit `failed`. Say why in the summary.\n\
             - If a submission is refused or feedback arrives, correct what is named and submit again.\n\
             - Never invent next stages, approvals or further assignments: what follows is not yours to decide.\n\
             - Never set up schedules, reminders or recurring work."
        ));
    }
    paragraphs.join("\n\n")
}

/// The prompt, followed by the named inputs as JSON. The digits of numbers are kept.
#[must_use]
pub fn assignment(spec: &Spec) -> String {
    if spec.with.is_empty() {
        return spec.prompt.clone();
    }
    let inputs: Map<String, Value> =
        spec.with.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let json = format!("{:#}", Value::Object(inputs));
    let gap = if spec.prompt.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}Inputs:\n{json}", spec.prompt)
}

/// A call as it goes back. Servers parse the arguments of old calls and refuse the whole conversation if they cannot,
/// so unreadable ones go back as none; the answer to the call says what was wrong.
fn made(call: &Call) -> CallMade {
    let mut made = call.made.clone();
    if made.arguments.trim().is_empty() || track::arguments(&made.arguments).is_err() {
        "{}".clone_into(&mut made.arguments);
    }
    made
}

fn answer(call: &Call) -> Said {
    let (content, is_error) = match &call.state {
        CallState::Completed(result) => (parts(result), matches!(result, ToolResult::Error(_))),
        CallState::Failed(reason) => (vec![Part::Text(format!("Error: {reason}"))], true),
        // Only a history from elsewhere can leave a call open in its middle (B40).
        CallState::Ready
        | CallState::Running { .. }
        | CallState::Deferred { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown => {
            let text = "Error: the session was interrupted; no result of this call is known";
            (vec![Part::Text(text.to_owned())], true)
        }
    };
    Said::Tool { call: call.made.id.clone(), name: call.made.name.clone(), content, is_error }
}

fn parts(result: &ToolResult) -> Vec<Part> {
    match result {
        ToolResult::Text(text) => vec![Part::Text(text.clone())],
        ToolResult::Json(value) => vec![Part::Text(value.to_string())],
        ToolResult::Error(reason) => vec![Part::Text(format!("Error: {reason}"))],
        ToolResult::Kept(kept) => vec![Part::Kept(kept.clone())],
        ToolResult::Media(media) => vec![Part::Media(media.clone())],
        ToolResult::Mixed(results) => results.iter().flat_map(parts).collect(),
    }
}
