//! Adapters to model servers, and the scripted model for demos and tests.

pub mod keys;
pub mod openai;
pub mod script;
