//! Canonical bytes and digests: keys sorted by code point, no white space, numbers with the digits as written.

use super::{Parts, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};

/// `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// The digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(71);
        text.push_str("sha256:");
        for byte in Sha256::digest(bytes) {
            // Writing into a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The digest of a JSON value's canonical bytes.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
    }

    /// The digest that a text is, if it is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?;
        let fits = digits.len() == 64 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `sha256:` and the first twelve digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..19).unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why bytes are no frozen workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenError(String);

impl fmt::Display for FrozenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FrozenError {}

/// The format that this version writes.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Frozen {
    flowright: u32,
    digest: Digest,
    workflow: Value,
}

/// Canonical JSON text of a value.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    push(value, &mut out);
    out
}

/// Depth is bounded by the readers (32 levels of a document and of its schemas), so recursion is safe here; values
/// from models are bounded by serde_json's own limit of 128.
fn push(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            // Writing into a String cannot fail.
            let _ = write!(out, "{value}");
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (i, (key, item)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}", Value::String(key.clone()));
                out.push(':');
                push(item, out);
            }
            out.push('}');
        }
    }
}

fn parts_json(parts: &Parts) -> Value {
    // INVARIANT: every map in `Parts` has text keys, so this never fails; null would only change the digest.
    serde_json::to_value(parts).unwrap_or(Value::Null)
}

pub(super) fn digest_of(parts: &Parts) -> Digest {
    Digest::of_json(&parts_json(parts))
}

pub(super) fn write(workflow: &Workflow) -> Vec<u8> {
    let mut frozen = serde_json::Map::new();
    frozen.insert("flowright".to_owned(), FORMAT.into());
    frozen.insert("digest".to_owned(), workflow.digest().as_str().into());
    frozen.insert("workflow".to_owned(), parts_json(workflow.parts()));
    let mut text = canonical_json(&Value::Object(frozen));
    text.push('\n');
    text.into_bytes()
}

pub(super) fn read(bytes: &[u8]) -> Result<Workflow, FrozenError> {
    let fault = |what: String| FrozenError(what);
    let frozen: Frozen = serde_json::from_slice(bytes)
        .map_err(|error| fault(format!("this is no frozen workflow of flowright: {error}")))?;
    if frozen.flowright != FORMAT {
        let found = frozen.flowright;
        return Err(fault(format!(
            "the frozen workflow has format {found}, this flowright reads format {FORMAT}"
        )));
    }
    let actual = Digest::of_json(&frozen.workflow);
    if actual != frozen.digest {
        return Err(fault(format!(
            "the frozen workflow was changed after it was written: its digest says {}, its content is {}",
            frozen.digest.short(),
            actual.short()
        )));
    }
    let parts: Parts = serde_json::from_value(frozen.workflow)
        .map_err(|error| fault(format!("the frozen workflow cannot be read: {error}")))?;
    if parts.graph.entry().is_none() {
        return Err(fault("the frozen workflow has no step".to_owned()));
    }
    Ok(Workflow { parts, digest: frozen.digest.into() })
}
