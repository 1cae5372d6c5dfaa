//! The content of a result file: a response in the form of session files, or text. Media go into the store.

use super::super::{Exit, Failure, definition};
use crate::engine::agent::event::ToolResult;
use crate::host::response;
use crate::host::run::Host;
use std::path::Path;

/// Reads a result (R51): JSON that is a response counts as one, everything else is text.
pub(super) fn read(host: &Host, path: &Path) -> Result<ToolResult, Failure> {
    let bytes = if path.as_os_str() == "-" { definition::stdin()? } else { definition::read(path)? };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    host.keep_output(response::from_text(text)).map_err(|error| Failure::new(Exit::Fault, error))
}
