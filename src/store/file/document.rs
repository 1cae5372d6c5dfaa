//! One document of a file store: what other tools read of a session, and under `flowright` what makes it whole. Opens
//! no file.

use crate::engine::{IndexRow, SessionId};
use crate::ir::Digest;
use crate::store::memory::Whole;
use crate::store::{KeptEvent, NewEvent};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The key of ours. Other tools leave it aside; one that writes the file anew drops it, and the file counts as one of
/// its own again.
const KEY: &str = "flowright";
const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Own {
    format: u32,
    #[serde(rename = "createdAt")]
    created_at: Timestamp,
    #[serde(rename = "lastAppendId")]
    last_append_id: String,
    index: IndexRow,
    tokens: Vec<String>,
    blobs: Vec<Digest>,
    events: Vec<OwnEvent>,
}

/// The event is a text: its bytes must stay what they are.
#[derive(Debug, Serialize, Deserialize)]
struct OwnEvent {
    at: Timestamp,
    body: String,
}

/// A session that another tool has written, as events of ours.
#[derive(Debug)]
pub struct Adopted {
    /// At least one.
    pub events: Vec<NewEvent>,
    /// Its index row.
    pub index: IndexRow,
    /// Bytes that the events refer to.
    pub blobs: Vec<Vec<u8>>,
}

/// How documents look to other tools. The store itself knows nothing of turns.
pub trait Forms: Send + Sync {
    /// Keys of the document beside ours: the session as a session file.
    fn outer(
        &self,
        session: &SessionId,
        events: &[KeptEvent],
        blobs: &dyn Fn(&Digest) -> Option<Vec<u8>>,
    ) -> Map<String, Value>;

    /// A document without our key, last written `at`. The same document must give the same events.
    ///
    /// # Errors
    /// One sentence, where it is no session file.
    fn adopt(&self, session: &SessionId, document: &Value, at: Timestamp) -> Result<Adopted, String>;
}

/// What a document holds.
pub(super) struct Held {
    pub whole: Whole,
    pub blobs: Vec<Digest>,
    /// Bytes that are not in the folder yet.
    pub adopted: Vec<Vec<u8>>,
}

/// Reads a document.
pub(super) fn read(
    forms: &dyn Forms,
    session: &SessionId,
    bytes: &[u8],
    at: Timestamp,
) -> Result<Held, String> {
    let mut document: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("is no JSON: {error}"))?;
    let own = document.as_object_mut().and_then(|map| map.remove(KEY));
    let Some(own) = own else { return adopt(forms, session, &document, at) };
    let format = own.get("format").and_then(Value::as_u64).unwrap_or_default();
    if format > u64::from(FORMAT) {
        return Err(format!("was written by a newer flowright (format {format}; this one knows {FORMAT})"));
    }
    let own: Own =
        serde_json::from_value(own).map_err(|error| format!("has a `{KEY}` that cannot be read: {error}"))?;
    let numbered = own.events.into_iter().zip(1..);
    let events: Vec<KeptEvent> =
        numbered.map(|(event, sequence)| KeptEvent { sequence, at: event.at, body: event.body }).collect();
    if events.is_empty() {
        return Err(format!("has no events under `{KEY}`"));
    }
    let whole = Whole {
        created_at: own.created_at,
        last_append_id: own.last_append_id,
        index: own.index,
        tokens: own.tokens,
        events,
    };
    Ok(Held { whole, blobs: own.blobs, adopted: Vec::new() })
}

fn adopt(forms: &dyn Forms, session: &SessionId, document: &Value, at: Timestamp) -> Result<Held, String> {
    let adopted = forms.adopt(session, document, at)?;
    let numbered = adopted.events.into_iter().zip(1..);
    let events: Vec<KeptEvent> =
        numbered.map(|(event, sequence)| KeptEvent { sequence, at: event.at, body: event.body }).collect();
    let whole = Whole {
        created_at: at,
        last_append_id: String::new(),
        tokens: adopted.index.tokens.clone(),
        index: adopted.index,
        events,
    };
    let blobs = adopted.blobs.iter().map(|bytes| Digest::of(bytes)).collect();
    Ok(Held { whole, blobs, adopted: adopted.blobs })
}

/// Prints a document.
pub(super) fn write(
    forms: &dyn Forms,
    session: &SessionId,
    whole: Whole,
    blobs: Vec<Digest>,
    bytes_of: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, String> {
    let mut document = forms.outer(session, &whole.events, bytes_of);
    let own = Own {
        format: FORMAT,
        created_at: whole.created_at,
        last_append_id: whole.last_append_id,
        index: whole.index,
        tokens: whole.tokens,
        blobs,
        events: whole.events.into_iter().map(|event| OwnEvent { at: event.at, body: event.body }).collect(),
    };
    let own = serde_json::to_value(own).map_err(|error| error.to_string())?;
    document.insert(KEY.to_owned(), own);
    let mut bytes = serde_json::to_vec_pretty(&Value::Object(document)).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    Ok(bytes)
}
