//! `missing-api-key-id`: an agent whose model server is remote and that names no key.

use super::bad_model_url::{host, is_local};
use crate::ast::Agent;
use crate::diagnostic::{Diagnostic, Rule, Severity};

/// A remote model server is asked without a key.
pub static RULE: Rule = Rule {
    name: "missing-api-key-id",
    severity: Severity::Hint,
    summary: "A remote model server is asked without a key",
    page: include_str!("../../docs/diagnostics/missing-api-key-id.md"),
};

/// Reports an `https` server on another machine without `apiKeyId`.
pub fn check_agent(agent: &Agent, out: &mut Vec<Diagnostic>) {
    let (Some(url), None) = (&agent.model_url, &agent.api_key_id) else { return };
    let Some(host) = url.value.strip_prefix("https://").and_then(host).filter(|host| !is_local(host)) else {
        return;
    };
    let message = format!("the model server `{host}` is asked without a key: there is no `apiKeyId`");
    let help = "name a key of the key file, such as `\"apiKeyId\": \"main\"`; the key itself stays out of this file";
    out.push(Diagnostic::new(&RULE, url.span, message).help(help));
}
