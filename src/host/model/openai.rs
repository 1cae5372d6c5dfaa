//! The chat completions protocol, in the manners of several servers. Sends nothing itself.

mod calls;
mod read;
mod write;

pub(super) use read::Reply;
pub(super) use write::{body, parameters};
