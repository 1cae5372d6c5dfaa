//! Looking at tracked calls: which are open, what one means, what its arguments are. Changes nothing by itself.

use super::command::Answer;
use super::event::{CallMade, ToolResult};
use super::state::{Call, CallState, State, Turn};
use crate::engine::policy;
use crate::ir;
use crate::ir::Digest;
use serde_json::{Map, Value};

/// The calls of the last turn, if it is a reply.
pub(super) fn last_calls(state: &State) -> &[Call] {
    match state.turns.last() {
        Some(Turn::Reply { calls, .. }) => calls,
        Some(Turn::Said { .. }) | None => &[],
    }
}

/// Whether the model is being asked or a call of the last reply is still to end.
pub(super) fn turn_is_open(state: &State) -> bool {
    state.asking.as_ref().is_some_and(|asking| asking.holder.is_some())
        || last_calls(state).iter().any(|call| !call.state.is_terminal())
}

/// Every call of the session, newest reply first.
pub(super) fn calls(state: &State) -> impl Iterator<Item = &Call> {
    state.turns.iter().rev().flat_map(|turn| match turn {
        Turn::Reply { calls, .. } => calls.as_slice(),
        Turn::Said { .. } => &[],
    })
}

/// The call with this id.
pub(super) fn find<'a>(state: &'a State, id: &str) -> Option<&'a Call> {
    calls(state).find(|call| call.made.id == id)
}

/// The call with this id, to be changed.
pub(super) fn find_mut<'a>(state: &'a mut State, id: &str) -> Option<&'a mut Call> {
    let holds = |turn: &Turn| match turn {
        Turn::Reply { calls, .. } => calls.iter().any(|call| call.made.id == id),
        Turn::Said { .. } => false,
    };
    let from_behind = state.turns.iter().rev().position(holds)?;
    let at = state.turns.len().checked_sub(from_behind + 1)?;
    // Only this turn is copied where another state shares it.
    match state.turns.get_mut(at)? {
        Turn::Reply { calls, .. } => calls.iter_mut().find(|call| call.made.id == id),
        Turn::Said { .. } => None,
    }
}

/// Where a call stands that gave this.
pub(super) fn ended(result: &ToolResult) -> CallState {
    match result {
        ToolResult::Error(text) => CallState::Failed(text.clone()),
        ToolResult::Text(_)
        | ToolResult::Json(_)
        | ToolResult::Kept(_)
        | ToolResult::Media(_)
        | ToolResult::Mixed(_) => CallState::Completed(result.clone()),
    }
}

/// The deferred call of the last reply that this token names.
pub(super) fn deferred<'a>(state: &'a State, wanted: &str) -> Option<&'a Call> {
    last_calls(state).iter().find(|call| match &call.state {
        CallState::Deferred { token, .. } => token == wanted,
        CallState::Ready
        | CallState::Running { .. }
        | CallState::Delegated { .. }
        | CallState::Unknown
        | CallState::Completed(_)
        | CallState::Failed(_) => false,
    })
}

/// Whether the call runs, here or in the session of another agent.
pub(super) fn is_under_way(call: &Call) -> bool {
    matches!(call.state, CallState::Running { .. } | CallState::Delegated { .. })
}

/// Calls of the last reply that may still start beside those under way.
pub(super) fn slots(ir: &ir::Agent, state: &State) -> usize {
    let most = usize::try_from(ir.max_concurrency.max(1)).unwrap_or(usize::MAX);
    most.saturating_sub(last_calls(state).iter().filter(|call| is_under_way(call)).count())
}

/// Whether the call runs.
pub(super) fn is_running(call: &Call) -> bool {
    matches!(call.state, CallState::Running { .. })
}

/// The arguments that a model wrote; nothing at all counts as none.
///
/// # Errors
/// What is wrong with them, in words for the model.
pub(super) fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let found = match serde_json::from_str(text) {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Array(_)) => "an array",
        Err(error) => {
            return Err(format!("the arguments are not valid JSON ({error}); the call was not run"));
        }
    };
    Err(format!("the arguments must be a JSON object, found {found}; the call was not run"))
}

/// Digest of tool name and canonical arguments; the digits of numbers count.
pub fn digest(tool: &str, arguments: Map<String, Value>) -> Digest {
    let mut whole = Map::new();
    whole.insert("tool".to_owned(), tool.into());
    whole.insert("arguments".to_owned(), Value::Object(arguments));
    Digest::of_json(&Value::Object(whole))
}

/// The digest of a call as its model made it.
pub(super) fn digest_of(made: &CallMade) -> Digest {
    digest(&made.name, arguments(&made.arguments).unwrap_or_default())
}

/// What makes calls equal whose results may be shared, where the policy says so.
pub(super) fn cache_key(ir: &ir::Agent, made: &CallMade) -> Option<Digest> {
    match policy::cache(&policy::judge(&ir.policy, &made.name).1)? {
        None => Some(digest_of(made)),
        Some(key) => {
            let mut whole = Map::new();
            whole.insert("tool".to_owned(), made.name.clone().into());
            whole.insert("key".to_owned(), key.into());
            Some(Digest::of_json(&Value::Object(whole)))
        }
    }
}

/// Whether an equal call of the same reply, whose result this one may share, is still to end.
pub(super) fn waits_for_equal(ir: &ir::Agent, state: &State, call: &Call) -> bool {
    if call.approved.is_some() {
        return false;
    }
    let Some(key) = cache_key(ir, &call.made) else { return false };
    let before = last_calls(state).iter().take_while(|other| other.made.id != call.made.id);
    let mut open = before.filter(|other| is_under_way(other) || other.state == CallState::Ready);
    open.any(|other| other.made.name == call.made.name && cache_key(ir, &other.made).as_ref() == Some(&key))
}

/// Whether this answer was taken before under this number.
pub(super) fn is_known_reply(state: &State, number: u32, answer: &Answer) -> bool {
    state.turns.iter().rev().any(|turn| match turn {
        Turn::Reply { reply, text, thinking, calls, .. } => {
            let made =
                calls.iter().map(|call| (&call.made.provider_id, &call.made.name, &call.made.arguments));
            *reply == number
                && *text == answer.text
                && *thinking == answer.thinking
                && made.eq(answer.calls.iter().map(|(id, name, arguments)| (id, name, arguments)))
        }
        Turn::Said { .. } => false,
    })
}
