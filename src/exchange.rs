//! Session files `conv.<uuid>.json`: agent sessions as other tools of the kind write and read them. Knows the form
//! alone: opens no file, keeps no blob and decides nothing.

mod read;
mod write;

pub use read::read;
pub use write::{disposition, write};

use crate::engine::agent::event::Media;
use crate::engine::agent::state::Turn;
use crate::ir::Digest;

/// What a session file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// Id of the session, as written.
    pub session: Option<String>,
    /// The session it was copied from.
    pub forked_from: Option<String>,
    /// Whether it ran asynchronously.
    pub asynchronous: bool,
    /// System prompt of the last turn that gives one.
    pub system: String,
    /// Oldest first. Calls without a result stay as they are: open at the end, unknown in the middle (B40).
    pub turns: Vec<Turn>,
    /// What a person has said into a turn that is still open.
    pub waiting: Vec<(String, Vec<Media>)>,
    /// Bytes that the turns refer to.
    pub blobs: Vec<(Digest, Vec<u8>)>,
    /// What does not fit together, one sentence each.
    pub faults: Vec<String>,
}
