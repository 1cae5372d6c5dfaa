//! Facts about this machine: the tool `system_<name>_system_info`. Tells nothing that was not named as a capability.

use super::builtin::OneTool;
use super::developer::list;
use super::given::Given;
use super::process::{Inherit, allowed_by_operator};
use super::sandbox::Sandbox;
use crate::host::perform::{Output, ToolRequest, ToolSpec};
use crate::ir::toolbox::FilePredicate;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The toolbox.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name.
    pub name: String,
    /// For the model.
    pub description: String,
    /// What it may tell.
    pub capabilities: Vec<String>,
    /// Only variables whose name contains this.
    pub env_filter: Option<String>,
    /// Which files; none without it.
    pub sandbox: Option<FilePredicate>,
    /// The largest file that is attached.
    pub max_file_bytes: u64,
}

/// What needs a path.
const OF_A_PATH: [&str; 2] = ["list-directory", "attach-file"];

impl OneTool for System {
    fn spec(&self) -> ToolSpec {
        let about = if self.description.is_empty() { "Facts about this machine." } else { &self.description };
        ToolSpec {
            name: format!("system_{}_system_info", self.name),
            description: format!("{about} Without `what` it tells everything that needs no path."),
            parameters: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "what": { "type": "array", "items": { "type": "string", "enum": self.capabilities } },
                    "path": { "type": "string", "description": "For list-directory and attach-file: a path from the \
                        root of the project" }
                }
            }),
            repeatable: true,
        }
    }

    fn run(&self, root: &Path, request: &ToolRequest) -> Result<Output, String> {
        let given = Given::of(request, &["what", "path"])?;
        let asked: Vec<&str> = match given.value("what") {
            Some(_) => given.texts("what")?,
            None => self.facts(),
        };
        if let Some(unknown) = asked.iter().find(|word| !self.capabilities.iter().any(|own| own == **word)) {
            let known = self.capabilities.join(", ");
            return Err(format!("`{unknown}` is not told here; there is: {known}"));
        }
        let mut facts = Map::new();
        let mut parts = Vec::new();
        for word in asked {
            if OF_A_PATH.contains(&word) {
                let sandbox = Sandbox::new(root, self.sandbox.as_ref(), self.max_file_bytes)?;
                parts.push(of_a_path(&sandbox, word, given.must("path")?)?);
            } else {
                facts.insert(word.to_owned(), self.fact(word, root));
            }
        }
        if !facts.is_empty() || parts.is_empty() {
            parts.insert(0, Output::Json(Value::Object(facts)));
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Output::Mixed(parts) })
    }
}

impl System {
    fn facts(&self) -> Vec<&str> {
        let words = self.capabilities.iter().map(String::as_str);
        words.filter(|word| !OF_A_PATH.contains(word)).collect()
    }

    fn fact(&self, word: &str, root: &Path) -> Value {
        match word {
            "date" => chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true).into(),
            "operating-system" => {
                json!({ "name": std::env::consts::OS, "architecture": std::env::consts::ARCH })
            }
            "running-user" => variable(&["USER", "LOGNAME", "USERNAME"]),
            "hostname" => match std::fs::read_to_string("/proc/sys/kernel/hostname") {
                Ok(name) => name.trim().into(),
                Err(_) => variable(&["HOSTNAME", "COMPUTERNAME"]),
            },
            "working-directory" => root.display().to_string().into(),
            "process-info" => json!({
                "id": std::process::id(),
                "cores": std::thread::available_parallelism().map_or(1, usize::from),
            }),
            "uptime" => uptime(),
            "env-vars" => Value::Object(self.variables()),
            _ => Value::Null,
        }
    }

    /// Those that tools may see at all, and that the description does not filter out.
    fn variables(&self) -> Map<String, Value> {
        let allowed = allowed_by_operator();
        let inherit = Inherit::Allowed(&allowed);
        let mut all: Vec<(String, String)> = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .filter(|(name, _)| inherit.takes(name))
            .filter(|(name, _)| self.env_filter.as_ref().is_none_or(|filter| name.contains(filter)))
            .collect();
        all.sort();
        all.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

fn variable(names: &[&str]) -> Value {
    names.iter().find_map(|name| std::env::var(name).ok()).map_or(Value::Null, Value::from)
}

/// Seconds since the machine was started.
fn uptime() -> Value {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split('.').next().and_then(|seconds| seconds.parse::<u64>().ok()).map_or(Value::Null, Value::from)
}

fn of_a_path(sandbox: &Sandbox, word: &str, path: &str) -> Result<Output, String> {
    if word == "list-directory" {
        return list(sandbox, path);
    }
    let place = sandbox.place(path)?;
    let bytes = sandbox.bytes(path, &place)?;
    let name = place.relative.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Output::Text(text),
        Ok(text) => Output::Media { mime: mime_of(&place.relative), bytes: text.into_bytes(), name },
        Err(error) => Output::Media { mime: mime_of(&place.relative), bytes: error.into_bytes(), name },
    })
}

fn mime_of(path: &Path) -> String {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("pdf") => "application/pdf",
        Some("mp3") => "audio/mpeg",
        Some("wav") => "audio/wav",
        Some(_) | None => "application/octet-stream",
    }
    .to_owned()
}
