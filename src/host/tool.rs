//! Tools that agents call: finding them, describing them, running them. Every kind is a [`toolbox::Toolbox`].

pub mod agents;
pub mod bash;
pub mod mcp;
pub mod paths;
pub mod process;
pub mod registry;
pub mod toolbox;
