//! Agent sessions: a conversation with tools, durable by the call.

pub mod command;
pub mod conversation;
pub mod decide;
pub mod event;
pub mod evolve;
pub mod pending;
pub mod state;
mod submit;
pub mod track;
