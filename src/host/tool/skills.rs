//! Skills: folders with a `SKILL.md` that an agent reads when it needs them, one tool `skill_<name>` each. Those that
//! are on from the start stand in the system prompt instead.

use super::builtin::blocking;
use super::given::Given;
use super::paths;
use super::toolbox::{Listing, Place, Toolbox};
use crate::host::perform::{Doing, Output, ToolRequest, ToolSpec};
use crate::ir::toolbox::SkillSource;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The skills of an agent. Edits count at the next look.
#[derive(Clone, Debug)]
pub struct SkillBox {
    /// Where they are.
    pub sources: Vec<SkillSource>,
}

/// A skill that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Name of its folder.
    pub name: String,
    /// `description` of its front matter.
    pub about: String,
    /// What stands below the front matter.
    pub body: String,
    /// Its folder, without links.
    folder: PathBuf,
}

/// Bytes of a file of a skill.
const MOST_BYTES: u64 = 1024 * 1024;
/// Skills of a source, and files that a skill names.
const MOST: usize = 200;

/// The skills of some sources, the first of two with one name, and why others are not there.
#[must_use]
pub fn find(sources: &[SkillSource], root: &Path) -> (Vec<Skill>, Vec<String>) {
    let (mut skills, mut faults): (Vec<Skill>, Vec<String>) = (Vec::new(), Vec::new());
    for source in sources {
        let folders = match source {
            SkillSource::Single(path) => paths::inside(root, path).map(|folder| vec![folder]),
            SkillSource::Directory(path) => paths::inside(root, path).and_then(|folder| below(&folder, root)),
        };
        match folders {
            Err(why) => faults.push(format!("skills cannot be read: {why}")),
            Ok(folders) => {
                for folder in folders {
                    match read(folder) {
                        Ok(skill) if skills.iter().any(|known| known.name == skill.name) => {
                            faults.push(format!("there is a skill `{}` already", skill.name));
                        }
                        Ok(skill) => skills.push(skill),
                        Err(why) => faults.push(why),
                    }
                }
            }
        }
    }
    (skills, faults)
}

/// The folders in a folder that hold a skill, by name.
fn below(folder: &Path, root: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{} cannot be read: {error}", folder.display());
    let root = root.canonicalize().map_err(fault)?;
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        // Links out of the package are passed over, as are folders without a skill.
        if let Ok(path) = entry.map_err(fault)?.path().canonicalize()
            && path.starts_with(&root)
            && path.join("SKILL.md").is_file()
        {
            folders.push(path);
        }
    }
    folders.sort();
    folders.truncate(MOST);
    Ok(folders)
}

fn read(folder: PathBuf) -> Result<Skill, String> {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 57 || !name.chars().all(usable) {
        return Err(format!("the skill `{name}` is left out: a name has letters, digits, `-` and `_`"));
    }
    let text =
        text_in(&folder, "SKILL.md").map_err(|why| format!("the skill `{name}` is left out: {why}"))?;
    let (front, body) = split(&text);
    let about = front.lines().find_map(|line| line.strip_prefix("description:")).unwrap_or_default();
    let about = about.trim().trim_matches(['"', '\'']).to_owned();
    Ok(Skill { name, about, body: body.trim().to_owned(), folder })
}

/// Front matter and what stands below it.
fn split(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return ("", text) };
    match rest.split_once("\n---\n") {
        Some((front, body)) => (front, body),
        None => ("", text),
    }
}

fn text_in(folder: &Path, file: &str) -> Result<String, String> {
    let path = paths::inside(folder, file)?;
    let fault = |error: std::io::Error| format!("`{file}` cannot be read: {error}");
    let about = std::fs::metadata(&path).map_err(fault)?;
    if !about.is_file() {
        return Err(format!("`{file}` is no file"));
    }
    if about.len() > MOST_BYTES {
        return Err(format!("`{file}` has {} bytes; at most {MOST_BYTES} are read", about.len()));
    }
    let bytes = std::fs::read(&path).map_err(fault)?;
    Ok(String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}"))
}

impl Skill {
    fn spec(&self) -> ToolSpec {
        let about = if self.about.is_empty() { "A skill." } else { &self.about };
        ToolSpec {
            name: format!("skill_{}", self.name),
            description: format!(
                "{about} Gives the instructions of this skill; with `file` one of the files that they name."
            ),
            parameters: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": { "file": { "type": "string", "description": "A file of the skill" } }
            }),
            repeatable: true,
        }
    }

    fn told(&self) -> String {
        let mut files = Vec::new();
        names(&self.folder, "", &mut files);
        files.retain(|file| file != "SKILL.md");
        if files.is_empty() {
            return self.body.clone();
        }
        format!("{}\n\nFiles of this skill: {}", self.body, files.join(", "))
    }
}

/// Files below a folder, without links; the folders of the first two levels are entered.
fn names(folder: &Path, before: &str, into: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        if into.len() >= MOST {
            return;
        }
        if kind.is_file() {
            into.push(format!("{before}{name}"));
        } else if kind.is_dir() && before.matches('/').count() < 2 {
            names(&entry.path(), &format!("{before}{name}/"), into);
        }
    }
}

/// What the skills that are on from the start add to the system prompt.
#[must_use]
pub fn from_the_start(sources: &[SkillSource], enabled: &[String], root: &Path) -> String {
    if enabled.is_empty() {
        return String::new();
    }
    let (skills, _) = find(sources, root);
    let on = skills.iter().filter(|skill| enabled.contains(&skill.name));
    on.map(|skill| format!("\n\n# Skill {}\n\n{}", skill.name, skill.told())).collect()
}

impl Toolbox for SkillBox {
    fn list(&self, place: Place) -> Doing<Listing> {
        let sources = self.sources.clone();
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || find(&sources, &place.root)).await;
            let (skills, faults) = looked.unwrap_or_default();
            Listing { tools: skills.iter().map(Skill::spec).collect(), faults }
        })
    }

    fn call(&self, request: ToolRequest) -> Doing<Output> {
        let sources = self.sources.clone();
        Box::pin(blocking(move || {
            let given = Given::of(&request, &["file"])?;
            let (skills, _) = find(&sources, Path::new(&request.spec.root));
            let name = request.call.name.strip_prefix("skill_").unwrap_or_default();
            let skill = skills.iter().find(|skill| skill.name == name);
            let skill = skill.ok_or_else(|| format!("the skill `{name}` is gone"))?;
            match given.text("file")? {
                None => Ok(Output::Text(skill.told())),
                Some(file) => text_in(&skill.folder, file).map(Output::Text),
            }
        }))
    }
}
