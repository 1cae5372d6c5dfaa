//! One verdict for every way in: the command line, stdin, an editor and a package all ask here. A document is
//! compiled as what it is, then settings and ignore comments are applied to its findings.
//!
//! A pure function of the document, the files of its package, settings and a date; nothing here prints.

pub mod kind;

pub use kind::{Kind, kind};
