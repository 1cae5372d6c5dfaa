//! Packages: a folder with a manifest, its canonical archive with one digest, and the place where versions are
//! installed. Opens no network and starts nothing; what an archive holds is believed in nothing but its digest.

pub mod archive;
pub mod install;
pub mod manifest;

pub use archive::{Contents, Item};
pub use install::{Installation, Installed, Place};
pub use manifest::Manifest;

/// Files of a package at most.
pub const MOST_FILES: usize = 4096;
/// Bytes of one file at most.
pub const FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of all files at most.
pub const ALL_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of a path at most: what a plain archive can name.
pub const PATH_BYTES: usize = 100;
