//! What tools give, with long texts and media put aside as blobs; and the bytes that a conversation refers to.

use super::HostError;
use crate::engine::agent::command::{Notification as AgentNews, Part, Said};
use crate::engine::agent::event::{Kept, Media, ToolResult};
use crate::engine::policy;
use crate::host::perform::{Blobs, Output};
use crate::ir;
use crate::store::Store;

/// Texts up to this length stand in their event.
const INLINE_BYTES: usize = 16 * 1024;
/// Bytes of a long text that its event shows.
const HEAD_BYTES: usize = 240;

/// Cuts a result to the bytes that the policy lets it have. What was cut off is said.
pub(super) fn truncate(output: Output, decorators: &[ir::Decorator]) -> Output {
    let Some(most) = policy::most_bytes(decorators) else { return output };
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    cut(output, &mut left)
}

fn cut(output: Output, left: &mut usize) -> Output {
    match output {
        Output::Text(text) => Output::Text(cut_text(text, left)),
        Output::Failed(text) => Output::Failed(cut_text(text, left)),
        Output::Json(value) => {
            let text = value.to_string();
            if text.len() <= *left {
                *left -= text.len();
                return Output::Json(value);
            }
            Output::Text(cut_text(text, left))
        }
        Output::Mixed(parts) => Output::Mixed(parts.into_iter().map(|part| cut(part, left)).collect()),
        // Half a picture is none.
        Output::Media { .. } | Output::Unknown(_) => output,
    }
}

fn cut_text(text: String, left: &mut usize) -> String {
    if text.len() <= *left {
        *left -= text.len();
        return text;
    }
    let kept = text.get(..text.floor_char_boundary(*left)).unwrap_or_default();
    *left = 0;
    format!("{kept}\n[flowright: {} more bytes were cut off]", text.len() - kept.len())
}

/// The answer of another agent as its caller records it.
pub(super) fn answer(store: &dyn Store, result: ToolResult, decorators: &[ir::Decorator]) -> ToolResult {
    match result {
        ToolResult::Text(text) => {
            let cut = truncate(Output::Text(text), decorators);
            output(store, cut).unwrap_or_else(ToolResult::Error)
        }
        ToolResult::Json(_)
        | ToolResult::Error(_)
        | ToolResult::Kept(_)
        | ToolResult::Media(_)
        | ToolResult::Mixed(_) => result,
    }
}

/// What a call came to, as it is told.
pub(super) fn news(store: &dyn Store, output: Output, call: String, admission: u32) -> AgentNews {
    match self::output(store, output) {
        Ok(result) => AgentNews::CallReported { call, admission, result },
        Err(reason) => AgentNews::CallUncertain { call, admission, reason },
    }
}

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
