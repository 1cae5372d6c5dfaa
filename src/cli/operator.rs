//! The operator's side: who is at the keyboard, which roles they have, where keys are. Never from a definition.

use super::{Exit, Failure};
use crate::engine::Principal;
use crate::host::tool::toolbox::Allowed;
use etcetera::BaseStrategy;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Configuration {
    /// Roles by user name.
    roles: HashMap<String, Vec<String>>,
    /// Prompts by name, for `--alias`.
    aliases: HashMap<String, String>,
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
    configuration()?;
    Ok(Allowed::default())
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
