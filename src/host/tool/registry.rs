//! All toolboxes of an agent under one roof: what there is, who has a tool, running it. Applies no policy.

use super::agents::AgentBox;
use super::bash;
use super::builtin;
use super::mcp::McpBox;
use super::openapi::OpenApiBox;
use super::skills::SkillBox;
use super::toolbox::{Kit, Listing, Place, Toolbox};
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use crate::ir;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The toolboxes of one agent, in the order in which they are offered.
pub type Boxes = Arc<Vec<Arc<dyn Toolbox>>>;

/// The toolboxes of the agents that a process works for. Each is opened once.
#[derive(Default)]
pub struct Registry {
    kit: Kit,
    shelf: Arc<bash::Shelf>,
    open: Mutex<HashMap<(ir::Digest, PathBuf), Boxes>>,
}

impl Registry {
    /// With what toolboxes share.
    #[must_use]
    pub fn new(kit: Kit) -> Self {
        Self { kit, shelf: Arc::default(), open: Mutex::default() }
    }

    /// The toolboxes of an agent whose package is at `root`.
    #[must_use]
    pub fn boxes(&self, agent: &Arc<ir::Agent>, root: &Path) -> Boxes {
        let key = (agent.digest(), root.to_path_buf());
        // Entries are put in whole, so a panic elsewhere leaves nothing half made.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(open.entry(key).or_insert_with(|| Arc::new(self.made(agent, root))))
    }

    /// A new kind of toolbox is one line here.
    fn made(&self, agent: &Arc<ir::Agent>, root: &Path) -> Vec<Arc<dyn Toolbox>> {
        let bash = BashBox { shelf: Arc::clone(&self.shelf), agent: Arc::clone(agent) };
        let mut boxes: Vec<Arc<dyn Toolbox>> = vec![Arc::new(bash)];
        boxes.extend(agent.toolboxes.builtin.iter().map(builtin::made));
        for service in &agent.toolboxes.openapi {
            boxes.push(Arc::new(OpenApiBox::new(service.clone(), root.to_path_buf(), self.kit.clone())));
        }
        for server in &agent.toolboxes.mcp {
            boxes.push(Arc::new(McpBox::new(server.clone(), root.to_path_buf(), self.kit.clone())));
        }
        boxes.push(Arc::new(AgentBox { agent: Arc::clone(agent) }));
        if !agent.toolboxes.skills.is_empty() {
            boxes.push(Arc::new(SkillBox { sources: agent.toolboxes.skills.clone() }));
        }
        boxes
    }
}

/// Everything that the boxes offer now. Of two tools with one name the first counts, the other is a fault.
pub async fn list(boxes: &Boxes, place: &Place) -> Listing {
    let mut all = Listing::default();
    let mut names = HashSet::new();
    for toolbox in boxes.iter() {
        let listing = toolbox.list(place.clone()).await;
        all.faults.extend(listing.faults);
        for tool in listing.tools {
            if names.insert(tool.name.clone()) {
                all.tools.push(tool);
            } else {
                all.faults
                    .push(format!("there is a tool `{}` already; the second one is left out", tool.name));
            }
        }
    }
    all
}

/// The box that offers a tool, and how the tool is described.
pub async fn find(boxes: &Boxes, place: &Place, tool: &str) -> Option<(Arc<dyn Toolbox>, ToolSpec)> {
    for toolbox in boxes.iter() {
        let listing = toolbox.list(place.clone()).await;
        if let Some(spec) = listing.tools.into_iter().find(|spec| spec.name == tool) {
            return Some((Arc::clone(toolbox), spec));
        }
    }
    None
}

/// Runs a call, or says what there is instead.
pub async fn call(boxes: &Boxes, place: &Place, request: ToolRequest) -> Output {
    match find(boxes, place, &request.call.name).await {
        Some((toolbox, _)) => toolbox.call(request).await,
        None => {
            let listing = list(boxes, place).await;
            let mut known: Vec<_> = listing.tools.into_iter().map(|tool| tool.name).collect();
            known.extend(listing.faults);
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Output::Failed(format!("there is no tool `{}`; there is: {known}", request.call.name))
        }
    }
}

/// The folders of bash tools of an agent.
struct BashBox {
    shelf: Arc<bash::Shelf>,
    agent: Arc<ir::Agent>,
}

impl Toolbox for BashBox {
    fn list(&self, place: Place) -> Doing<Listing> {
        let (shelf, agent) = (Arc::clone(&self.shelf), Arc::clone(&self.agent));
        Box::pin(async move {
            let (found, faults) = shelf.find(&agent, &place.root).await;
            Listing { tools: found.iter().map(bash::BashTool::spec).collect(), faults }
        })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let (shelf, agent) = (Arc::clone(&self.shelf), Arc::clone(&self.agent));
        Box::pin(async move {
            let (found, _) = shelf.find(&agent, Path::new(&request.spec.root)).await;
            match found.iter().find(|tool| tool.name() == request.call.name) {
                Some(tool) => bash::call(tool, &request).await,
                None => Output::Failed(format!("the tool `{}` is gone", request.call.name)),
            }
        })
    }
}
