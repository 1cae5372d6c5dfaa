//! Renaming of steps, inputs and local agent names.

use super::{Analysis, At};
use crate::diagnostic::Edit;
use crate::source::Span;

/// What would be renamed at a place, or why nothing can be (one sentence).
///
/// # Errors
/// If nothing that can be renamed stands there.
pub fn target(analysis: &Analysis, at: At) -> Result<Span, String> {
    let _ = (analysis, at);
    Err("nothing that can be renamed stands here".to_owned())
}

/// The edits that rename what stands at a place.
///
/// # Errors
/// If nothing that can be renamed stands there, or the new name is not allowed or taken (one sentence).
pub fn rename(analysis: &Analysis, at: At, new_name: &str) -> Result<Vec<Edit>, String> {
    let _ = new_name;
    target(analysis, at).map(|_| Vec::new())
}
