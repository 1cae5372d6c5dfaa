//! How media can be shown to a model: as a picture, a document, a sound, or as a line of text. Writes no protocol.

use crate::engine::agent::event::Media;
use crate::host::perform::{Blobs, described};

/// A text file up to this length is shown as text.
const TEXT_BYTES: usize = 256 * 1024;

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A picture of a kind that models see.
    Picture {
        /// MIME type.
        mime: &'static str,
        /// The bytes.
        base64: String,
    },
    /// A PDF document.
    Pdf {
        /// File name.
        name: String,
        /// The bytes.
        base64: String,
    },
    /// A sound.
    Sound {
        /// `wav` or `mp3`.
        format: &'static str,
        /// The bytes.
        base64: String,
    },
    /// Words that stand for it.
    Text(String),
}

/// The best way in which media can be shown at all; a protocol that has no place for it shows [`described`].
pub(super) fn shown(media: &Media, blobs: &Blobs) -> Shown {
    let Some(base64) = blobs.base64(media) else {
        return Shown::Text(format!("{} (its bytes are not kept any more)", described(media)));
    };
    let mime = media.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let picture = match mime.as_str() {
        "image/png" => Some("image/png"),
        "image/jpeg" | "image/jpg" => Some("image/jpeg"),
        "image/gif" => Some("image/gif"),
        "image/webp" => Some("image/webp"),
        _ => None,
    };
    if let Some(mime) = picture {
        return Shown::Picture { mime, base64 };
    }
    match mime.as_str() {
        "application/pdf" => {
            let name = media.name.clone().unwrap_or_else(|| "document.pdf".to_owned());
            Shown::Pdf { name, base64 }
        }
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => {
            Shown::Sound { format: "wav", base64 }
        }
        "audio/mpeg" | "audio/mp3" => Shown::Sound { format: "mp3", base64 },
        _ => Shown::Text(as_text(media, &mime, blobs)),
    }
}

fn as_text(media: &Media, mime: &str, blobs: &Blobs) -> String {
    let line = described(media);
    let is_text = mime.starts_with("text/")
        || mime.ends_with("+json")
        || mime.ends_with("+xml")
        || matches!(
            mime,
            "application/json"
                | "application/xml"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/javascript"
                | "application/sql"
        );
    let bytes = blobs.get(&media.digest).filter(|bytes| is_text && bytes.len() <= TEXT_BYTES);
    match bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
        Some(text) => format!("{line}\n{text}"),
        None => line,
    }
}
