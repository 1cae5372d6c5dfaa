//! An agent file in its frozen form, with the defaults of agents applied.

mod toolbox;

use crate::resolve::Around;
use crate::{ast, ir, tree};

/// Calls of one turn side by side where nothing is written.
const MAX_CONCURRENCY: u32 = 4;
/// Seconds that a call may take where nothing is written.
const CALL_TIMEOUT_SECONDS: u32 = 300;

/// Freezes an agent that was read from the package path `file`, with what its package holds, if that is known.
#[must_use]
pub fn freeze(agent: &ast::Agent, file: &str, around: Option<&Around>) -> ir::Agent {
    let text = |text: &Option<crate::source::Spanned<String>>| text.as_ref().map(|text| text.value.clone());
    ir::Agent {
        slug: text(&agent.slug).unwrap_or_else(|| stem(file)),
        base: text(&agent.base),
        announce: text(&agent.announce),
        file: file.to_owned(),
        flavor: text(&agent.flavor),
        model_url: text(&agent.model_url),
        model_name: text(&agent.model_name),
        api_key_id: text(&agent.api_key_id),
        system_prompt: agent.system_prompt.iter().map(|text| text.value.clone()).collect(),
        asynchronous: agent.asynchronous.as_ref().is_some_and(|mode| mode.value),
        policy: policy(agent.policy.as_ref()),
        toolboxes: toolbox::freeze(&agent.toolboxes, around),
        bash_toolboxes: agent
            .bash_toolboxes
            .iter()
            .map(|toolbox| ir::BashToolbox {
                path: toolbox.path.value.clone(),
                basename_filter: text(&toolbox.basename_filter),
                single: toolbox.is_single,
            })
            .collect(),
        repeatable_tools: agent.repeatable_tools.iter().map(|tool| tool.value.clone()).collect(),
        max_concurrency: agent.max_concurrency.as_ref().map_or(MAX_CONCURRENCY, |most| most.value),
        max_tool_calls: agent.max_tool_calls.as_ref().map(|most| most.value),
        call_timeout_seconds: agent.call_timeout_seconds.as_ref().map_or(CALL_TIMEOUT_SECONDS, |t| t.value),
        inputs: agent.inputs.as_ref().map(tree::Node::to_json),
        tool_choice: text(&agent.tool_choice),
        temperature: agent.temperature.as_ref().and_then(|digits| digits.value.parse().ok()),
        max_tokens: agent.max_tokens.as_ref().map(|most| most.value),
        later: agent.later.iter().map(|entry| (entry.key.value.clone(), entry.value.to_json())).collect(),
    }
}

/// The file's name without its ending: `agents/planner.agent.md` is `planner`.
fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name).to_owned()
}

fn policy(policy: Option<&ast::Policy>) -> ir::Policy {
    let Some(policy) = policy else {
        return ir::Policy { default: ir::Disposition::RunSync, rules: Vec::new() };
    };
    let rules = policy.rules.iter().map(|rule| ir::PolicyRule {
        tool: rule.tool.value.clone(),
        disposition: disposition(&rule.disposition.value),
    });
    ir::Policy {
        default: policy
            .default
            .as_ref()
            .map_or(ir::Disposition::RunSync, |default| disposition(&default.value)),
        rules: rules.collect(),
    }
}

fn disposition(written: &ast::Disposition) -> ir::Disposition {
    match written {
        ast::Disposition::RunSync => ir::Disposition::RunSync,
        ast::Disposition::RunAsync => ir::Disposition::RunAsync,
        ast::Disposition::Defer { reason } => ir::Disposition::Defer { reason: reason.clone() },
        ast::Disposition::Deny { reason } => ir::Disposition::Deny { reason: reason.clone() },
        ast::Disposition::RunIsolated(isolation) => ir::Disposition::RunIsolated { spec: spec(isolation) },
        ast::Disposition::Decorate { decorators, inner } => ir::Disposition::Decorate {
            decorators: decorators.iter().map(decorator).collect(),
            inner: Box::new(disposition(inner)),
        },
        // INVARIANT: reported as an error, so nothing is frozen; refusing is the safe reading all the same.
        ast::Disposition::Hole => ir::Disposition::Deny { reason: None },
    }
}

fn spec(isolation: &ast::Isolation) -> ir::Isolation {
    match isolation {
        ast::Isolation::Docker { image } => ir::Isolation::Docker { image: image.value.clone() },
        ast::Isolation::LocalProcess { path } => ir::Isolation::LocalProcess { path: path.value.clone() },
        ast::Isolation::FunctionRunner { target } => {
            ir::Isolation::FunctionRunner { target: target.value.clone() }
        }
    }
}

fn decorator(written: &ast::Decorator) -> ir::Decorator {
    match written {
        ast::Decorator::Timeout { seconds } => ir::Decorator::Timeout { seconds: *seconds },
        ast::Decorator::Retries { count } => ir::Decorator::Retries { count: *count },
        ast::Decorator::Cache { key } => ir::Decorator::Cache { key: key.clone() },
        ast::Decorator::Label { label } => ir::Decorator::Label { label: label.clone() },
        ast::Decorator::Truncate { max_bytes } => ir::Decorator::Truncate { max_bytes: *max_bytes },
    }
}
