//! Declarations and uses of what stands at a place, across the workflow and its agent files.

use super::{Analysis, At, Symbol};

/// What the name at a place stands for.
#[must_use]
pub fn symbol(analysis: &Analysis, at: At) -> Option<Symbol> {
    let _ = (analysis, at);
    None
}
