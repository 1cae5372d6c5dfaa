//! Hover: the doc of a key, the schema of a binding, the next occurrences of a schedule, what a step can reach.

use super::{Analysis, At, Hover};

/// The text for a place.
#[must_use]
pub fn hover(analysis: &Analysis, at: At) -> Option<Hover> {
    let _ = (analysis, at);
    None
}
