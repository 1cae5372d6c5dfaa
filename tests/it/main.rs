//! The one test binary. Rooms are named after what they hold.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![allow(missing_docs, clippy::wildcard_enum_match_arm)]
mod checks;
mod flow;
mod pages;
mod reader;
mod schedule;
mod schema;
