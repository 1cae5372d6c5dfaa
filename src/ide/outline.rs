//! The outline of a document, and what can be folded.

use super::{Analysis, Entry};
use crate::source::Span;

/// The entries of the main document in its order.
#[must_use]
pub fn outline(analysis: &Analysis) -> Vec<Entry> {
    let _ = analysis;
    Vec::new()
}

/// What can be folded in the main document: mappings, sequences, block scalars, of two lines or more.
#[must_use]
pub fn folds(analysis: &Analysis) -> Vec<Span> {
    let _ = analysis;
    Vec::new()
}
