//! The operator's side: who is at the keyboard, which roles they have, where keys are. Never from a definition.

use super::{Exit, Failure};
use crate::engine::Principal;
use crate::host::tool::toolbox::{Allowed, Function, Walls};
use etcetera::BaseStrategy;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Configuration {
    /// Roles by user name.
    roles: HashMap<String, Vec<String>>,
    /// Prompts by name, for `--alias`.
    aliases: HashMap<String, String>,
    /// Function runners by name: a URL, or a URL with the id of a key.
    functions: BTreeMap<String, Runner>,
    /// The container program.
    docker: Option<String>,
    /// What isolated programs of packages may touch.
    isolation: Isolation,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a URL, or an object with `url` and `key`")]
enum Runner {
    Url(String),
    WithKey(WithKey),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithKey {
    url: String,
    key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Isolation {
    /// Variables that they may see.
    environment: Vec<String>,
    /// Walls of the kernel; none without them.
    landlock: Option<Landlock>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Landlock {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    network: bool,
}

fn folder() -> Result<PathBuf, Failure> {
    let strategy = etcetera::choose_base_strategy()
        .map_err(|_| Failure::usage("there is no home folder to read the configuration from"))?;
    Ok(strategy.config_dir().join("flowright"))
}

/// The file that holds the keys of model servers.
pub(super) fn keys_file() -> Result<PathBuf, Failure> {
    match std::env::var_os("FLOWRIGHT_KEYS") {
        Some(path) => Ok(PathBuf::from(path)),
        None => Ok(folder()?.join("secret-keys")),
    }
}

/// What the configuration allows beyond what every agent may do.
pub(super) fn allowed() -> Result<Allowed, Failure> {
    let configuration = configuration()?;
    let functions = configuration.functions.into_iter().map(|(name, runner)| function(name, runner));
    Ok(Allowed {
        functions: functions.collect::<Result<_, _>>()?,
        docker: configuration.docker,
        environment: configuration.isolation.environment,
        walls: configuration.isolation.landlock.map(|walls| Walls {
            read: walls.read,
            write: walls.write,
            network: walls.network,
        }),
    })
}

fn function(name: String, runner: Runner) -> Result<Function, Failure> {
    let (url, key) = match runner {
        Runner::Url(url) => (url, None),
        Runner::WithKey(WithKey { url, key }) => (url, key),
    };
    let has_host = |start: &str| url.strip_prefix(start).is_some_and(|rest| !rest.is_empty());
    if has_host("https://") || has_host("http://") {
        return Ok(Function { name, url, key });
    }
    let message =
        format!("the configuration gives the function runner `{name}` no URL that begins with https://");
    Err(Failure::usage(message))
}

/// The prompt that `--alias` names.
pub(super) fn alias(name: &str) -> Result<String, Failure> {
    let configuration = configuration()?;
    configuration.aliases.get(name).cloned().ok_or_else(|| {
        let mut known: Vec<&str> = configuration.aliases.keys().map(String::as_str).collect();
        known.sort_unstable();
        let known = if known.is_empty() { "it names none".to_owned() } else { known.join(", ") };
        Failure::usage(format!("the configuration names no prompt `{name}`; {known}"))
    })
}

/// Who is at the keyboard, with the roles that the operator's configuration gives.
pub(super) fn principal() -> Result<Principal, Failure> {
    let user = user();
    let roles = configuration()?.roles.get(&user).cloned().unwrap_or_default();
    Ok(Principal { user, roles, via: "cli".to_owned() })
}

fn configuration() -> Result<Configuration, Failure> {
    let path = match std::env::var_os("FLOWRIGHT_CONFIG") {
        Some(path) => PathBuf::from(path),
        None => folder()?.join("config.json"),
    };
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<Configuration>(&bytes).map_err(|error| {
            Failure::usage(format!("the configuration {} cannot be read: {error}", path.display()))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Configuration::default()),
        Err(error) => {
            let message = format!("the configuration {} cannot be read: {error}", path.display());
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

/// Name of the local user.
pub(super) fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "local".to_owned())
}
