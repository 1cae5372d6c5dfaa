//! The real effects: models over HTTP or from a script file, tools of every kind of toolbox, isolated calls.

use crate::engine::SessionId;
use crate::engine::agent::command::{Answer, Said};
use crate::engine::agent::event::Spec;
use crate::host::isolate;
use crate::host::model::keys::Keys;
use crate::host::model::{self, Limits, script};
use crate::host::perform::{
    Doing, ModelFault, ModelRequest, Output, Perform, ToolRequest, ToolSpec, submit_tool,
};
use crate::host::tool::registry::{self, Boxes, Registry};
use crate::host::tool::skills;
use crate::host::tool::toolbox::{Allowed, Kit, Listing, Place};
use crate::ir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Effects on this machine.
pub struct RealPerform {
    kit: Kit,
    registry: Registry,
}

impl RealPerform {
    /// With the operator's keys, and nothing else allowed.
    #[must_use]
    pub fn new(keys: Keys) -> Self {
        Self::allowing(keys, Allowed::default())
    }

    /// With the operator's keys and what the operator's configuration allows.
    #[must_use]
    pub fn allowing(keys: Keys, allowed: Allowed) -> Self {
        let kit = Kit { keys: Arc::new(keys), client: Arc::default(), allowed: Arc::new(allowed) };
        Self { registry: Registry::new(kit.clone()), kit }
    }

    fn boxes(&self, agent: &Arc<ir::Agent>, spec: &Spec) -> (Boxes, Place) {
        let root = PathBuf::from(&spec.root);
        (self.registry.boxes(agent, &root), Place { root, session: spec.session.clone() })
    }
}

/// Puts the skills that are on from the start behind the system prompt.
fn with_skills(request: &mut ModelRequest, root: &Path) {
    let boxes = &request.agent.toolboxes;
    let more = skills::from_the_start(&boxes.skills, &boxes.enabled_skills, root);
    if more.is_empty() {
        return;
    }
    match request.messages.first_mut() {
        Some(Said::System(text)) => text.push_str(&more),
        Some(Said::User { .. } | Said::Assistant { .. } | Said::Tool { .. }) | None => {
            request.messages.insert(0, Said::System(more.trim_start().to_owned()));
        }
    }
}

impl Perform for RealPerform {
    fn call_model(&self, request: ModelRequest) -> Doing<Result<Answer, ModelFault>> {
        let kit = self.kit.clone();
        let (boxes, place) = self.boxes(&request.agent, &request.spec);
        Box::pin(async move {
            let mut request = request;
            with_skills(&mut request, &place.root);
            let url = request.agent.model_url.clone().unwrap_or_default();
            if let Some(file) = url.strip_prefix("script:") {
                return script::answer(Path::new(&request.spec.root), file, &request);
            }
            let mut tools = registry::list(&boxes, &place).await.tools;
            tools.extend(request.spec.contract.as_ref().map(submit_tool));
            model::ask(&kit.client, &kit.keys, Limits::of_operator(), &request, &tools).await
        })
    }

    fn run_tool(&self, request: ToolRequest) -> Doing<Output> {
        if let Some(isolation) = request.isolation.clone() {
            let kit = self.kit.clone();
            return Box::pin(async move { isolate::run(&kit, &request, &isolation).await });
        }
        let (boxes, place) = self.boxes(&request.agent, &request.spec);
        Box::pin(async move { registry::call(&boxes, &place, request).await })
    }

    fn can_isolate(
        &self,
        _agent: Arc<ir::Agent>,
        spec: Arc<Spec>,
        place: ir::Isolation,
    ) -> Doing<Result<(), String>> {
        let kit = self.kit.clone();
        Box::pin(async move { isolate::possible(&kit, Path::new(&spec.root), &place).await })
    }

    fn definition(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<Option<ToolSpec>> {
        let (boxes, place) = self.boxes(&agent, &spec);
        Box::pin(async move { registry::find(&boxes, &place, &tool).await.map(|(_, spec)| spec) })
    }

    fn repeatable(&self, agent: Arc<ir::Agent>, spec: Arc<Spec>, tool: String) -> Doing<bool> {
        let (boxes, place) = self.boxes(&agent, &spec);
        Box::pin(async move {
            agent.repeatable_tools.contains(&tool)
                || registry::find(&boxes, &place, &tool).await.is_some_and(|(_, spec)| spec.repeatable)
        })
    }

    fn tools(&self, agent: Arc<ir::Agent>, root: PathBuf) -> Doing<Listing> {
        let boxes = self.registry.boxes(&agent, &root);
        let place = Place { root, session: SessionId(String::new()) };
        Box::pin(async move { registry::list(&boxes, &place).await })
    }
}
