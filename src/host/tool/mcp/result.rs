//! What a tool server gave as a result for the model. Whatever it gave, the call gets a result.

use super::short;
use crate::escape;
use crate::host::perform::Output;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

const UNKNOWN_KIND: &str = "application/octet-stream";
const MOST_MIME: usize = 127;

/// The result of a call that was answered.
pub(super) fn of(given: CallToolResult) -> Output {
    if given.is_error == Some(true) {
        return Output::Failed(failure(&given));
    }
    let mut parts = Vec::new();
    if let Some(value) = given.structured_content {
        // Servers give what is structured once more as text, for clients that do not know it.
        let rest = given.content.iter().filter(|block| !says_the_same(block, &value)).map(part);
        let rest: Result<Vec<_>, _> = rest.collect();
        match rest {
            Ok(rest) => parts.extend(rest),
            Err(fault) => return Output::Failed(fault),
        }
        parts.insert(0, Output::Json(value));
    } else {
        for block in &given.content {
            match part(block) {
                Ok(part) => parts.push(part),
                Err(fault) => return Output::Failed(fault),
            }
        }
    }
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Output::Text(String::new()),
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            Output::Mixed(parts)
        }
    }
}

fn says_the_same(block: &ContentBlock, value: &Value) -> bool {
    let ContentBlock::Text(text) = block else { return false };
    let read = serde_json::from_str::<Value>(&text.text).ok();
    let is = |value: &Value| read.as_ref() == Some(value) || value.as_str() == Some(text.text.as_str());
    // A value that is no object is given as the one member `result`.
    let wrapped = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("result"));
    is(value) || wrapped.is_some_and(is)
}

fn part(block: &ContentBlock) -> Result<Output, String> {
    match block {
        ContentBlock::Text(text) => Ok(Output::Text(text.text.clone())),
        ContentBlock::Image(image) => media(&image.mime_type, &image.data, None),
        ContentBlock::Audio(audio) => media(&audio.mime_type, &audio.data, None),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Ok(Output::Text(text.clone())),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                media(mime_type.as_deref().unwrap_or(UNKNOWN_KIND), blob, file_name(uri))
            }
            _ => Ok(Output::Text("[a resource of an unknown kind]".to_owned())),
        },
        ContentBlock::ResourceLink(link) => {
            Ok(Output::Text(format!("[resource `{}`: {}]", short(&link.name), short(&link.uri))))
        }
        _ => Ok(Output::Text("[content of an unknown kind]".to_owned())),
    }
}

fn media(mime: &str, data: &str, name: Option<String>) -> Result<Output, String> {
    let bytes = STANDARD.decode(data.trim());
    let bytes = bytes.map_err(|error| format!("the tool gave {} that is no base64: {error}", short(mime)))?;
    let fits = |c: char| c.is_ascii_graphic() || c == ' ';
    let is_sound = mime.contains('/') && mime.len() <= MOST_MIME && mime.chars().all(fits);
    let mime = if is_sound { mime } else { UNKNOWN_KIND };
    Ok(Output::Media { mime: mime.to_owned(), bytes, name })
}

/// The last segment of an address, where it can name a file.
fn file_name(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next()?;
    let name = path.rsplit('/').next()?;
    let is_sound = !name.is_empty() && name != ".." && !name.chars().any(escape::is_hidden);
    is_sound.then(|| name.to_owned())
}

/// What a tool says of its failure.
fn failure(given: &CallToolResult) -> String {
    let mut said = Vec::new();
    for block in &given.content {
        match part(block) {
            Ok(Output::Text(text)) => said.push(text),
            Ok(Output::Media { mime, bytes, .. }) => said.push(format!("[{mime}, {} bytes]", bytes.len())),
            Ok(Output::Json(_) | Output::Mixed(_) | Output::Failed(_) | Output::Unknown(_)) => {}
            Err(fault) => said.push(fault),
        }
    }
    if let (true, Some(value)) = (said.is_empty(), &given.structured_content) {
        said.push(value.to_string());
    }
    if said.is_empty() { "the tool failed and does not say why".to_owned() } else { said.join("\n") }
}
