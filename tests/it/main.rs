//! The one test binary. Rooms are named after what they hold.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![allow(missing_docs, clippy::wildcard_enum_match_arm)]

mod agent_cli;
mod agent_engine;
mod agents_host;
mod bash_tools;
mod checks;
mod cli;
mod corpus;
mod crash;
mod documents;
mod field;
mod flow;
mod fmt;
mod grammar;
mod house;
mod ide;
mod lsp;
mod mcp;
mod mcp_server;
mod models;
mod mutate;
mod outputs;
mod packages;
mod pages;
mod preview;
mod reader;
mod rehearse;
mod report;
mod scenarios;
mod schedule;
mod schema;
mod schemas;
mod sim;
mod store;
mod support;
mod toolboxes;
mod why;
mod work;
mod workflow_engine;
