//! Anthropic's messages protocol. Sends nothing itself.

mod read;
mod write;

pub(super) use read::Reply;
pub(super) use write::body;

/// The version of the protocol that is spoken.
pub(super) const VERSION: &str = "2023-06-01";

/// What this protocol keeps under its name in `carry`.
const CARRY: &str = "messages";
