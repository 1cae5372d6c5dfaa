//! Judges a submission against the contract of the session. Reads arguments only: whose result it is follows from
//! the session that made the call, never from what the call says (R86).

use super::event::{Contract, Envelope, EnvelopeOutcome};
use super::track;
use crate::schema::Schema;
use serde_json::{Map, Value};

/// Characters of a summary at most.
const SUMMARY_MAX: usize = 4000;

/// Reads the envelope in the arguments of a submit call.
///
/// # Errors
/// Every fault at once with path, expected and found, in words for the model.
pub(super) fn judge(contract: &Contract, arguments: &str) -> Result<Envelope, String> {
    let mut map = track::arguments(arguments).map_err(|fault| format!("not submitted: {fault}"))?;
    let mut faults = Vec::new();
    for key in map.keys().filter(|key| !matches!(key.as_str(), "outcome" | "summary" | "result")) {
        faults.push(format!(
            "/{key}: expected no such key, found `{key}`; a submission has only outcome, summary and result, and the \
             runtime knows whose it is"
        ));
    }
    let outcome = outcome(&map, &mut faults);
    let summary = summary(&map, &mut faults);
    let result = match outcome {
        Some(EnvelopeOutcome::Succeeded) => result(contract, &mut map, &mut faults),
        // What is no result of a finished assignment is not kept as one.
        Some(EnvelopeOutcome::Blocked | EnvelopeOutcome::Failed) | None => Value::Null,
    };
    match (outcome, summary) {
        (Some(outcome), Some(summary)) if faults.is_empty() => Ok(Envelope { outcome, summary, result }),
        (Some(_) | None, Some(_) | None) => {
            Err(format!("not submitted; correct this and call the tool again:\n- {}", faults.join("\n- ")))
        }
    }
}

fn outcome(map: &Map<String, Value>, faults: &mut Vec<String>) -> Option<EnvelopeOutcome> {
    let found = map.get("outcome");
    let outcome = match found.and_then(Value::as_str) {
        Some("succeeded") => Some(EnvelopeOutcome::Succeeded),
        Some("blocked") => Some(EnvelopeOutcome::Blocked),
        Some("failed") => Some(EnvelopeOutcome::Failed),
        Some(_) | None => None,
    };
    if outcome.is_none() {
        faults.push(format!(
            "/outcome: expected \"succeeded\", \"blocked\" or \"failed\", found {}",
            shown(found)
        ));
    }
    outcome
}

fn summary(map: &Map<String, Value>, faults: &mut Vec<String>) -> Option<String> {
    let found = map.get("summary");
    let Some(text) = found.and_then(Value::as_str) else {
        faults.push(format!("/summary: expected a string, found {}", shown(found)));
        return None;
    };
    let length = text.chars().count();
    if length > SUMMARY_MAX {
        faults.push(format!("/summary: expected at most {SUMMARY_MAX} characters, found {length}"));
    }
    Some(text.to_owned())
}

fn result(contract: &Contract, map: &mut Map<String, Value>, faults: &mut Vec<String>) -> Value {
    let Some(result) = map.shift_remove("result") else {
        faults.push("/result: expected a result with the outcome \"succeeded\", found nothing".to_owned());
        return Value::Null;
    };
    match &contract.schema {
        Some(schema) => against(schema, &result, faults),
        None if !result.is_object() => {
            faults.push(format!("/result: expected an object, found {}", shown(Some(&result))));
        }
        None => {}
    }
    result
}

fn against(schema: &Value, result: &Value, faults: &mut Vec<String>) {
    match Schema::compile(schema) {
        Ok(schema) => faults.extend(schema.validate(result).into_iter().map(|violation| {
            let place: String = violation.pointer.iter().map(|segment| format!("/{segment}")).collect();
            format!("/result{place}: expected {}, found {}", violation.expected, violation.found)
        })),
        Err(wrong) => faults.extend(wrong.into_iter().map(|fault| {
            format!(
                "/result: the schema of this assignment cannot be used, no result can fit it: {}",
                fault.message
            )
        })),
    }
}

/// A value as a fault shows it: short enough for one line.
fn shown(value: Option<&Value>) -> String {
    const MAX: usize = 60;
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    if text.chars().count() <= MAX {
        return text;
    }
    let mut short: String = text.chars().take(MAX).collect();
    short.push('…');
    short
}
