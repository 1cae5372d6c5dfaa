//! Reading, writing and patching text files in a sandbox: the tool `developer_<name>_developer_tools`.

use super::builtin::OneTool;
use super::given::Given;
use super::sandbox::{Sandbox, state_of};
use crate::host::perform::{Output, ToolRequest, ToolSpec};
use crate::ir::toolbox::FilePredicate;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The toolbox.
#[derive(Clone, Debug)]
pub struct Developer {
    /// Its name.
    pub name: String,
    /// For the model.
    pub description: String,
    /// What it may do.
    pub capabilities: Vec<String>,
    /// Which files; none without it.
    pub sandbox: Option<FilePredicate>,
    /// The largest file.
    pub max_file_bytes: u64,
}

/// Lines that one call reads at most.
const MOST_LINES: usize = 2_000;
/// Names that one call lists at most.
const MOST_NAMES: usize = 1_000;
const ARGUMENTS: [&str; 9] = ["action", "path", "from", "to", "text", "state", "old", "new", "all"];
const ABOUT: [(&str, &str); 5] = [
    (
        "read-file-range",
        "gives lines `from` to `to` of the text file `path` (all without them), and its `state`",
    ),
    (
        "write-file-range",
        "puts `text` in the place of lines `from` to `to` of `path`; without both it writes the whole file, and with \
         `from` one behind the last line it appends",
    ),
    (
        "patch-file",
        "replaces `old`, which must stand in `path` exactly once (with `all` as often as it stands there), by `new`",
    ),
    ("list-directory", "names what lies in the folder `path`"),
    ("help", "says which actions there are"),
];

impl OneTool for Developer {
    fn spec(&self) -> ToolSpec {
        let about = if self.description.is_empty() { "Files of the project." } else { &self.description };
        ToolSpec {
            name: format!("developer_{}_developer_tools", self.name),
            description: format!("{about}\n{}", self.help()),
            parameters: json!({
                "type": "object",
                "required": ["action"],
                "additionalProperties": false,
                "properties": {
                    "action": { "type": "string", "enum": self.capabilities },
                    "path": { "type": "string", "description": "Path from the root of the project" },
                    "from": { "type": "integer", "minimum": 1, "description": "First line, from 1" },
                    "to": { "type": "integer", "minimum": 0, "description": "Last line, it included" },
                    "text": { "type": "string", "description": "What is written" },
                    "state": { "type": "string", "description": "The `state` that a read gave: a file that was \
                        changed since is left alone" },
                    "old": { "type": "string", "description": "What is replaced" },
                    "new": { "type": "string", "description": "What stands there afterwards" },
                    "all": { "type": "boolean", "description": "Whether every place is replaced" }
                }
            }),
            repeatable: false,
        }
    }

    fn run(&self, root: &Path, request: &ToolRequest) -> Result<Output, String> {
        let given = Given::of(request, &ARGUMENTS)?;
        let action = given.must("action")?;
        if !self.capabilities.iter().any(|capability| capability == action) {
            let known = self.capabilities.join(", ");
            return Err(format!("there is no action `{action}` here; there is: {known}"));
        }
        let sandbox = Sandbox::new(root, self.sandbox.as_ref(), self.max_file_bytes)?;
        match action {
            "read-file-range" => read(&sandbox, &given),
            "write-file-range" => write(&sandbox, &given),
            "patch-file" => patch(&sandbox, &given),
            "list-directory" => list(&sandbox, given.text("path")?.unwrap_or(".")),
            _ => Ok(Output::Text(self.help())),
        }
    }
}

impl Developer {
    fn help(&self) -> String {
        let known = ABOUT.iter().filter(|(name, _)| self.capabilities.iter().any(|own| own == name));
        let lines: Vec<String> = known.map(|(name, about)| format!("- {name}: {about}")).collect();
        lines.join("\n")
    }
}

fn read(sandbox: &Sandbox, given: &Given) -> Result<Output, String> {
    let (place, text) = sandbox.read(given.must("path")?)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = given.number("from")?.unwrap_or(1);
    let to = given.number("to")?.unwrap_or(lines.len()).min(lines.len());
    if from == 0 || (from > 1 && from > lines.len()) {
        return Err(format!("`{}` has {} lines; there is no line {from}", place.shown(), lines.len()));
    }
    let last = to.min(from.saturating_add(MOST_LINES - 1));
    let part: String = lines.iter().take(last).skip(from - 1).copied().collect();
    let mut said = Map::new();
    said.insert("path".to_owned(), place.shown().into());
    said.insert("from".to_owned(), from.into());
    said.insert("to".to_owned(), last.into());
    said.insert("lines".to_owned(), lines.len().into());
    if last < to {
        let more = format!("lines {} to {to} were left out: at most {MOST_LINES} are read at once", last + 1);
        said.insert("cut".to_owned(), more.into());
    }
    said.insert("state".to_owned(), state_of(&text).into());
    said.insert("text".to_owned(), part.into());
    Ok(Output::Json(Value::Object(said)))
}

fn write(sandbox: &Sandbox, given: &Given) -> Result<Output, String> {
    let path = given.must("path")?;
    let text = given.must("text")?;
    let place = sandbox.place(path)?;
    let (from, to) = (given.number("from")?, given.number("to")?);
    if place.length.is_none() {
        if given.text("state")?.is_some() {
            return Err(format!("`{path}` is not there any more"));
        }
        if from.is_some_and(|from| from > 1) || to.is_some_and(|to| to > 0) {
            return Err(format!("`{path}` is not there; write it whole, without `from` and `to`"));
        }
        return written(sandbox, path, text);
    }
    let (_, old) = sandbox.read(path)?;
    unchanged(path, given, &old)?;
    if from.is_none() && to.is_none() {
        return written(sandbox, path, text);
    }
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let from = from.unwrap_or(1);
    let to = to.unwrap_or_else(|| from.max(lines.len()));
    if from == 0 || from > lines.len() + 1 || to + 1 < from {
        let count = lines.len();
        return Err(format!("`{path}` has {count} lines; lines {from} to {to} cannot be written"));
    }
    let mut new: String = lines.iter().take(from - 1).copied().collect();
    let rest: String = lines.iter().skip(to).copied().collect();
    for part in [text, &rest] {
        if !new.is_empty() && !new.ends_with('\n') && !part.is_empty() {
            new.push('\n');
        }
        new.push_str(part);
    }
    written(sandbox, path, &new)
}

fn patch(sandbox: &Sandbox, given: &Given) -> Result<Output, String> {
    let path = given.must("path")?;
    let (old, new) = (given.must("old")?, given.must("new")?);
    if old.is_empty() {
        return Err("`old` is empty".to_owned());
    }
    let (_, text) = sandbox.read(path)?;
    unchanged(path, given, &text)?;
    match text.matches(old).count() {
        0 => Err(format!("`old` does not stand in `{path}`")),
        1 => written(sandbox, path, &text.replace(old, new)),
        _ if given.flag("all")? => written(sandbox, path, &text.replace(old, new)),
        count => Err(format!("`old` stands {count} times in `{path}`; give more of the text around it")),
    }
}

/// That a file is still as it was when it was read, where the call says how that was.
fn unchanged(path: &str, given: &Given, text: &str) -> Result<(), String> {
    match given.text("state")? {
        Some(state) if state != state_of(text) => {
            Err(format!("`{path}` was changed since it was read; read it anew"))
        }
        Some(_) | None => Ok(()),
    }
}

fn written(sandbox: &Sandbox, path: &str, text: &str) -> Result<Output, String> {
    let place = sandbox.place(path)?;
    sandbox.write(path, &place, text)?;
    let lines = text.split_inclusive('\n').count();
    Ok(Output::Json(json!({ "path": place.shown(), "lines": lines, "state": state_of(text) })))
}

/// What of a folder may be seen.
///
/// # Errors
/// It is no folder, or nothing that may be touched can lie in it.
pub(super) fn list(sandbox: &Sandbox, path: &str) -> Result<Output, String> {
    let place = sandbox.place(path)?;
    if !place.is_folder {
        return Err(format!("`{path}` is no folder"));
    }
    if !sandbox.leads(&place.relative) {
        return Err(format!("`{path}` may not be seen: nothing of the sandbox lies in it"));
    }
    let entries =
        std::fs::read_dir(&place.full).map_err(|error| format!("`{path}` cannot be read: {error}"))?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let mut seen = Vec::new();
    for name in names {
        // What leads nowhere or out of the package is not there for the model.
        let Ok(inner) = sandbox.place(&format!("{}/{name}", place.shown())) else { continue };
        if inner.is_folder && sandbox.leads(&inner.relative) {
            seen.push(json!({ "name": name, "folder": true }));
        } else if let Some(length) = inner.length
            && sandbox.allows(&inner, length)
        {
            seen.push(json!({ "name": name, "bytes": length }));
        }
    }
    let more = seen.len().saturating_sub(MOST_NAMES);
    seen.truncate(MOST_NAMES);
    let mut said = json!({ "path": place.shown(), "entries": seen });
    if let (true, Some(map)) = (more > 0, said.as_object_mut()) {
        map.insert("cut".to_owned(), format!("{more} more are not shown").into());
    }
    Ok(Output::Json(said))
}
