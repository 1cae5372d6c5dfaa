//! The real effects: models over HTTP or from a script file, tools as processes.

use crate::engine::agent::command::Answer;
use crate::engine::agent::event::Spec;
use crate::host::model::keys::Keys;
use crate::host::model::{self, Limits, script};
use crate::host::perform::{
    Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest, ToolSpec, submit_tool,
};
use crate::host::tool::bash;
use crate::ir;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Effects on this machine.
pub struct RealPerform {
    keys: Arc<Keys>,
    client: Arc<OnceLock<reqwest::Client>>,
    shelf: Arc<bash::Shelf>,
}

impl RealPerform {
    /// With the operator's keys.
    #[must_use]
    pub fn new(keys: Keys) -> Self {
        Self { keys: Arc::new(keys), client: Arc::new(OnceLock::new()), shelf: Arc::default() }
    }
}

impl Perform for RealPerform {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let keys = Arc::clone(&self.keys);
        let client = Arc::clone(&self.client);
        let shelf = Arc::clone(&self.shelf);
        Box::pin(async move {
            let url = request.agent.model_url.clone().unwrap_or_default();
            if let Some(file) = url.strip_prefix("script:") {
                return script::answer(Path::new(&request.spec.root), file, &request);
            }
            let (found, _) = shelf.find(&request.agent, Path::new(&request.spec.root)).await;
            let mut tools: Vec<_> = found.iter().map(bash::BashTool::spec).collect();
            tools.extend(request.spec.contract.as_ref().map(submit_tool));
            model::ask(&client, &keys, Limits::of_operator(), &request, &tools).await
        })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        let shelf = Arc::clone(&self.shelf);
        Box::pin(async move {
            let (found, faults) = shelf.find(&request.agent, Path::new(&request.spec.root)).await;
            let Some(tool) = found.iter().find(|tool| tool.name() == request.call.name) else {
                let mut known: Vec<_> = found.iter().map(bash::BashTool::name).collect();
                known.extend(faults);
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Output::Failed(format!(
                    "there is no tool `{}`; there is: {known}",
                    request.call.name
                ));
            };
            bash::call(tool, &request).await
        })
    }

    fn definition(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<Option<ToolSpec>> {
        let shelf = Arc::clone(&self.shelf);
        Box::pin(async move {
            let (found, _) = shelf.find(&agent, Path::new(&spec.root)).await;
            found.iter().find(|found| found.name() == tool).map(bash::BashTool::spec)
        })
    }

    fn repeatable(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<bool> {
        let shelf = Arc::clone(&self.shelf);
        Box::pin(async move {
            if agent.repeatable_tools.contains(&tool) {
                return true;
            }
            let (found, _) = shelf.find(&agent, Path::new(&spec.root)).await;
            found.iter().any(|found| found.name() == tool && found.spec().repeatable)
        })
    }
}
