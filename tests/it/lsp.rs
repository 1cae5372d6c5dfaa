//! The language server as a client sees it: transcripts over channels in this process, and the program over stdio.

mod actions;
mod answers;
mod client;
mod documents;
mod findings;
mod life;
mod stdio;
