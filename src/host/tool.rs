//! Tools that agents call: finding them, describing them, running them. Every kind is a [`toolbox::Toolbox`].

pub mod agents;
pub mod bash;
pub mod builtin;
pub mod developer;
pub mod given;
pub mod mcp;
pub mod openapi;
pub mod paths;
pub mod process;
pub mod registry;
pub mod sandbox;
pub mod skills;
pub mod sqlite;
pub mod system;
pub mod toolbox;
