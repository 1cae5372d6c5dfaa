//! The language server: findings and all that [`ide`](crate::ide) knows, over the language server protocol.
//!
//! ```text
//! stdin ─ wire ─▶ queue ─▶ server ─▶ documents ─▶ judged ─▶ findings ─ published
//!                             └─ requests ─▶ answers, edits, actions
//! ```
//!
//! One thread takes the messages in their order; a burst is taken in whole before anything is compiled. Nothing here
//! judges a definition or decides what an editor is told of it; offsets become positions here and nowhere else.

mod actions;
mod answers;
mod client;
mod documents;
mod edits;
mod findings;
mod judged;
mod outlines;
mod pages;
mod queue;
mod requests;
mod server;
mod text;
mod uri;
mod view;
mod wire;

use crate::host::clock::Clock;
use lsp_server::Connection;
use std::path::PathBuf;

/// What the server is given besides messages.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder that pages of rules are written into, so that editors can open them; without one no finding
    /// points to its page.
    pub pages: Option<PathBuf>,
}

/// How serving ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client asked for a shutdown and then said `exit`.
    Asked,
    /// The client said `exit` without having asked for a shutdown.
    Unasked,
    /// The stream ended.
    Closed,
    /// What came was no stream of messages; one sentence.
    Broken(String),
}

/// Serves one client over a connection until it ends.
#[must_use]
pub fn serve(connection: &Connection, clock: &dyn Clock, options: Options) -> Ended {
    server::Server::new(connection, clock, options).run()
}

/// Serves one client over stdin and stdout until it ends.
#[must_use]
pub fn serve_stdio(clock: &dyn Clock, options: Options) -> Ended {
    let (connection, wire) = wire::stdio();
    let ended = serve(&connection, clock, options);
    // The writer ends when nobody can send any more, and has then written everything.
    drop(connection);
    wire.finish(ended)
}
