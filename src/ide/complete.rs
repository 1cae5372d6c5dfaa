//! Completion: keys by context, words, step ids, outputs and fields by schema, agents, tools, zones.

pub(super) mod schema;

use super::{Analysis, At, Completion};

/// What can be written at a place, best first.
#[must_use]
pub fn complete(analysis: &Analysis, at: At) -> Vec<Completion> {
    let _ = (analysis, at);
    Vec::new()
}
