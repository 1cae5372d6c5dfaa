//! What tools give, with long texts and media put aside as blobs; and the bytes that a conversation refers to.

use super::HostError;
use crate::engine::agent::command::{Part, Said};
use crate::engine::agent::event::{Kept, Media, ToolResult};
use crate::host::perform::{Blobs, Output};
use crate::store::Store;

/// Texts up to this length stand in their event.
const INLINE_BYTES: usize = 16 * 1024;
/// Bytes of a long text that its event shows.
const HEAD_BYTES: usize = 240;

/// The result as it is recorded; `Err` says what is known of a call whose outcome is not.
pub(super) fn output(store: &dyn Store, output: Output) -> Result<ToolResult, String> {
    match output {
        Output::Unknown(reason) => Err(reason),
        Output::Mixed(parts) => {
            let kept: Result<Vec<_>, _> = parts.into_iter().map(|part| self::output(store, part)).collect();
            kept.map(ToolResult::Mixed)
        }
        Output::Failed(message) => Ok(ToolResult::Error(message)),
        Output::Text(text) if text.len() <= INLINE_BYTES => Ok(ToolResult::Text(text)),
        Output::Text(text) => Ok(long(store, &text, false)),
        Output::Json(value) => {
            let text = value.to_string();
            Ok(if text.len() <= INLINE_BYTES { ToolResult::Json(value) } else { long(store, &text, true) })
        }
        Output::Media { mime, bytes, name } => Ok(match store.put_blob(&bytes) {
            Ok(digest) => ToolResult::Media(Media { mime, digest, length: bytes.len() as u64, name }),
            Err(error) => {
                ToolResult::Error(format!("the tool ran, and what it gave could not be kept: {error}"))
            }
        }),
    }
}

fn long(store: &dyn Store, text: &str, json: bool) -> ToolResult {
    match store.put_blob(text.as_bytes()) {
        Ok(digest) => {
            let head = text.get(..text.floor_char_boundary(HEAD_BYTES)).unwrap_or_default().to_owned();
            ToolResult::Kept(Kept { digest, length: text.len() as u64, json, head })
        }
        Err(error) => ToolResult::Error(format!("the tool ran, and what it gave could not be kept: {error}")),
    }
}

/// The bytes that messages refer to. What is gone is left out: its place says so.
pub(super) fn blobs(store: &dyn Store, messages: &[Said]) -> Result<Blobs, HostError> {
    let mut blobs = Blobs::default();
    let mut wanted = Vec::new();
    for said in messages {
        match said {
            Said::User { media, .. } => wanted.extend(media.iter().map(|media| media.digest.clone())),
            Said::Tool { content, .. } => wanted.extend(content.iter().filter_map(|part| match part {
                Part::Text(_) => None,
                Part::Kept(kept) => Some(kept.digest.clone()),
                Part::Media(media) => Some(media.digest.clone()),
            })),
            Said::System(_) | Said::Assistant { .. } => {}
        }
    }
    for digest in wanted {
        if blobs.get(&digest).is_none()
            && let Some(bytes) = store.blob(&digest)?
        {
            blobs.insert(digest, bytes);
        }
    }
    Ok(blobs)
}
