//! Workflow sessions: a deterministic controller over one frozen definition. It has no model and no transcript.

pub mod command;
pub mod decide;
pub mod event;
pub mod evolve;
mod mark;
pub mod pending;
mod people;
mod question;
mod quiet;
pub mod render;
mod repeat;
mod stage;
pub mod state;
mod walk;
