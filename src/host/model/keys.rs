//! The operator's keys: from the environment, a `secret-keys` file, or a program that the file names. Never printed,
//! never stored. No definition can name a program.

use crate::host::tool::process::{self, Run};
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a program may take to give a key; it may have to ask a person.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(60);

/// Keys by id.
#[derive(Default)]
pub struct Keys {
    by_id: HashMap<String, Source>,
    /// What programs gave, each asked once.
    given: Mutex<HashMap<String, Given>>,
    warning: Option<String>,
}

/// Where a key comes from.
enum Source {
    Value(String),
    Program(Vec<String>),
}

/// What a program gave.
#[derive(Clone)]
struct Given {
    key: String,
    /// Whether a server has seen it before.
    used: bool,
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
    value: Option<String>,
    command: Option<Vec<String>>,
}

/// The variable that holds the key of an id: letters raised, what is no letter or digit as `_`.
#[must_use]
pub fn variable(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("FLOWRIGHT_KEY_{}", id.chars().map(plain).collect::<String>())
}

impl Keys {
    /// Reads `{"keys":[{"id":"…","value":"…"},{"id":"…","command":["…"]}]}`; a file that is not there holds no key.
    ///
    /// # Errors
    /// One sentence, without anything of the file's content but ids.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("the key file {shown} cannot be read: {error}")),
        };
        let file: File = serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            format!("the key file {shown} is not of the form {{\"keys\":[…]}}: line {line}, column {column}")
        })?;
        let mut by_id = HashMap::new();
        for Entry { id, value, command } in file.keys {
            let source = match (value, command) {
                (Some(value), None) => Source::Value(value.trim().to_owned()),
                (None, Some(command)) if command.first().is_some_and(|program| !program.is_empty()) => {
                    Source::Program(command)
                }
                (None, Some(_)) => {
                    return Err(format!("the key file {shown}: the command of `{id}` is empty"));
                }
                (Some(_), Some(_)) | (None, None) => {
                    return Err(format!("the key file {shown}: `{id}` needs either a value or a command"));
                }
            };
            if by_id.insert(id.clone(), source).is_some() {
                return Err(format!("the key file {shown} names `{id}` twice"));
            }
        }
        Ok(Self { by_id, given: Mutex::default(), warning: warning(path) })
    }

    /// A sentence for the operator: others can read the file.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The key of this id where no program must be asked for it now: [`Keys::find`] asks.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<String> {
        let own = std::env::var(variable(id)).ok().map(|key| key.trim().to_owned());
        if let Some(key) = own.filter(|key| !key.is_empty()) {
            return Some(key);
        }
        match self.by_id.get(id)? {
            Source::Value(key) => Some(key.clone()),
            Source::Program(_) => {
                let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
                given.get(id).map(|given| given.key.clone())
            }
        }
    }

    /// The key of this id: `FLOWRIGHT_KEY_<ID>` before the file; a program is asked once, and again after
    /// [`Keys::renew`].
    ///
    /// # Errors
    /// One sentence if the program gives none. What it printed is not shown.
    pub async fn find(&self, id: &str) -> Result<Option<String>, String> {
        if let Some(key) = self.get(id) {
            return Ok(Some(key));
        }
        let Some(Source::Program(command)) = self.by_id.get(id) else { return Ok(None) };
        let key = ask(id, command).await?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.insert(id.to_owned(), Given { key: key.clone(), used: false });
        Ok(Some(key))
    }

    /// A server has refused the key. If a program gave it for an earlier request, it may have run out: it is forgotten,
    /// and asking again can help. Gives whether this is so.
    pub fn renew(&self, id: &str) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.remove(id).is_some_and(|given| given.used)
    }

    /// A server has taken the key.
    pub fn taken(&self, id: &str) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(given) = given.get_mut(id) {
            given.used = true;
        }
    }
}

async fn ask(id: &str, command: &[String]) -> Result<String, String> {
    let fault = |what: String| format!("the command of the key `{id}` {what}; run it by hand to see why");
    let (program, arguments) = command.split_first().ok_or_else(|| fault("is empty".to_owned()))?;
    let run = Run {
        program: Path::new(program),
        arguments: arguments.to_vec(),
        environment: Vec::new(),
        folder: Path::new("."),
        input: Vec::new(),
        timeout: PROGRAM_TIMEOUT,
    };
    let finished = process::run(run).await.map_err(|_| fault("cannot be started".to_owned()))?;
    if finished.timed_out {
        return Err(fault(format!("did not end within {} seconds", PROGRAM_TIMEOUT.as_secs())));
    }
    match finished.code {
        Some(0) => {}
        Some(code) => return Err(fault(format!("ended with exit code {code}"))),
        None => return Err(fault("was ended by a signal".to_owned())),
    }
    let text = String::from_utf8(finished.output.bytes).map_err(|_| fault("printed no text".to_owned()))?;
    // Password stores keep notes in further lines.
    let key = text.trim().lines().next().unwrap_or_default().trim();
    if key.is_empty() { Err(fault("printed nothing".to_owned())) } else { Ok(key.to_owned()) }
}

#[cfg(unix)]
fn warning(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    let shown = path.display();
    (mode & 0o077 != 0).then(|| format!("others can read the key file {shown}; `chmod 600` keeps it to you"))
}

#[cfg(not(unix))]
fn warning(_: &Path) -> Option<String> {
    None
}
