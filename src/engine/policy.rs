//! What the tool-call policy says of a call. Reads a frozen policy; never runs, stores or decides anything else.

use crate::ir;

/// Prefix of the tools that are other agents.
const AGENT_TOOL: &str = "prompt_agent_";

/// What happens to calls of `tool`: the base disposition without its decorators, and these, outermost first.
/// The first rule with exactly this name wins, else the default.
#[must_use]
pub fn judge(policy: &ir::Policy, tool: &str) -> (ir::Disposition, Vec<ir::Decorator>) {
    let rule = policy.rules.iter().find(|rule| rule.tool == tool);
    let mut base = rule.map_or(&policy.default, |rule| &rule.disposition);
    let mut around = Vec::new();
    while let ir::Disposition::Decorate { decorators, inner } = base {
        around.extend(decorators.iter().cloned());
        base = inner;
    }
    (base.clone(), around)
}

/// Whether calls of `tool` run in the background.
#[must_use]
pub fn in_background(policy: &ir::Policy, tool: &str) -> bool {
    matches!(judge(policy, tool).0, ir::Disposition::RunAsync)
}

/// Where calls of `tool` are isolated, if they are.
#[must_use]
pub fn isolation(policy: &ir::Policy, tool: &str) -> Option<ir::Isolation> {
    match judge(policy, tool).0 {
        ir::Disposition::RunIsolated { spec } => Some(spec),
        ir::Disposition::RunSync
        | ir::Disposition::RunAsync
        | ir::Disposition::Defer { .. }
        | ir::Disposition::Deny { .. }
        | ir::Disposition::Decorate { .. } => None,
    }
}

/// How often a known failure is tried again. One `retries` around another tries all that the inner one tries anew.
#[must_use]
pub fn retries(decorators: &[ir::Decorator]) -> u32 {
    let attempts = decorators.iter().fold(1_u32, |attempts, decorator| match decorator {
        ir::Decorator::Retries { count } => attempts.saturating_mul(count.saturating_add(1)),
        ir::Decorator::Timeout { .. }
        | ir::Decorator::Cache { .. }
        | ir::Decorator::Label { .. }
        | ir::Decorator::Truncate { .. } => attempts,
    });
    attempts.saturating_sub(1)
}

/// Whether equal calls share a result, and under which key instead of their arguments.
#[must_use]
pub fn cache(decorators: &[ir::Decorator]) -> Option<Option<String>> {
    decorators.iter().find_map(|decorator| match decorator {
        ir::Decorator::Cache { key } => Some(key.clone()),
        ir::Decorator::Timeout { .. }
        | ir::Decorator::Retries { .. }
        | ir::Decorator::Label { .. }
        | ir::Decorator::Truncate { .. } => None,
    })
}

/// What people read beside calls of `tool`.
#[must_use]
pub fn label(policy: &ir::Policy, tool: &str) -> Option<String> {
    judge(policy, tool).1.into_iter().find_map(|decorator| match decorator {
        ir::Decorator::Label { label } => Some(label),
        ir::Decorator::Timeout { .. }
        | ir::Decorator::Retries { .. }
        | ir::Decorator::Cache { .. }
        | ir::Decorator::Truncate { .. } => None,
    })
}

/// Bytes that a result may have at most.
#[must_use]
pub fn most_bytes(decorators: &[ir::Decorator]) -> Option<u64> {
    let bounds = decorators.iter().filter_map(|decorator| match decorator {
        ir::Decorator::Truncate { max_bytes } => Some(*max_bytes),
        ir::Decorator::Timeout { .. }
        | ir::Decorator::Retries { .. }
        | ir::Decorator::Cache { .. }
        | ir::Decorator::Label { .. } => None,
    });
    bounds.min()
}

/// The agent that calls of `tool` go to, if it is one.
#[must_use]
pub fn agent<'a>(ir: &'a ir::Agent, tool: &str) -> Option<&'a ir::toolbox::ExtraAgent> {
    let slug = tool.strip_prefix(AGENT_TOOL)?;
    ir.toolboxes.agents.iter().find(|agent| agent.slug == slug)
}

/// The tool through which an agent is called.
#[must_use]
pub fn agent_tool(slug: &str) -> String {
    format!("{AGENT_TOOL}{slug}")
}
