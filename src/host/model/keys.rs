//! The operator's keys: from the environment or a `secret-keys` file. Never printed, never stored.

use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// Keys by id.
#[derive(Default)]
pub struct Keys {
    by_id: HashMap<String, String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.by_id.len())
    }
}

#[derive(Deserialize)]
struct File {
    keys: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    value: String,
}

impl Keys {
    /// Reads `{"keys":[{"id":"…","value":"…"}]}`; a file that is not there holds no key.
    ///
    /// # Errors
    /// One sentence, without anything of the file's content.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("the key file {} cannot be read: {error}", path.display())),
        };
        let file: File = serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            format!(
                "the key file {} is not of the form {{\"keys\":[…]}}: line {line}, column {column}",
                path.display()
            )
        })?;
        Ok(Self { by_id: file.keys.into_iter().map(|entry| (entry.id, entry.value)).collect() })
    }

    /// The key of this id: `FLOWRIGHT_KEY_<ID>` (letters raised, others `_`) before the file.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<String> {
        let name: String = id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        std::env::var(format!("FLOWRIGHT_KEY_{name}")).ok().or_else(|| self.by_id.get(id).cloned())
    }
}
