//! The tools that are other agents. Their calls are answered in sessions of their own, so nothing is run here.

use super::toolbox::{Listing, Place, Toolbox};
use crate::engine::policy;
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use crate::ir;
use std::sync::Arc;

/// Agents that an agent may call.
pub struct AgentBox {
    /// The calling agent.
    pub agent: Arc<ir::Agent>,
}

impl Toolbox for AgentBox {
    fn list(&self, _place: Place) -> Doing<Listing> {
        let tools = self.agent.toolboxes.agents.iter().map(described).collect();
        Box::pin(async move { Listing { tools, faults: Vec::new() } })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let name = request.call.name;
        Box::pin(async move { Output::Failed(format!("`{name}` is answered in a session of its own")) })
    }
}

fn described(extra: &ir::toolbox::ExtraAgent) -> ToolSpec {
    let about = extra.announce.clone().unwrap_or_else(|| format!("The agent `{}`.", extra.slug));
    ToolSpec {
        name: policy::agent_tool(&extra.slug),
        description: format!(
            "{about} It works by itself and sees nothing of this conversation: say in `prompt` everything that it \
             needs to know. Its last words are the result."
        ),
        parameters: serde_json::json!({
            "type": "object",
            "required": ["prompt"],
            "additionalProperties": false,
            "properties": { "prompt": { "type": "string", "description": "What to do." } }
        }),
        // Whoever finds it interrupted goes on with its session.
        repeatable: true,
    }
}
