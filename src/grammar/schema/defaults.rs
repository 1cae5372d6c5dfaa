//! What holds where a key is not written, as far as it is one value. A test compiles definitions with and without.

use serde_json::{Value, json};

/// The default of a key in a context.
pub(super) fn default_of(context: &str, key: &str) -> Option<Value> {
    Some(match (context, key) {
        ("document", "retention") => json!("90d"),
        ("cron", "missed") => json!("skip"),
        ("question", "feedback") => json!("none"),
        ("question" | "gate_human", "respondents") => json!(["owner"]),
        ("agent", "completion") => json!("one_shot"),
        ("agent", "max_revisions") => json!(5),
        ("agent", "deadline") => json!("24h"),
        ("agent", "on_blocked" | "on_failed" | "on_deadline" | "on_exhausted")
        | ("question" | "gate_human" | "loop_body", "on_deadline")
        | ("gate_human", "on_abort") => json!("hold"),
        ("choice" | "steps_transition", "then") => json!("continue"),
        ("policy", "default") => json!("runSync"),
        ("agent_file", "executionMode") => json!("synchronous"),
        ("agent_file", "maxConcurrency") => json!(4),
        ("agent_file", "asyncCallTimeoutSeconds") => json!(300),
        _ => return None,
    })
}
