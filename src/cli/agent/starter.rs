//! The starter that `agent new` writes: an agent file and a folder with a first tool.

use super::super::{Exit, Failure, output};
use serde_json::json;
use std::path::Path;

const TOOL: &str = include_str!("today.sh");

/// Writes a starter; overwrites nothing.
pub(super) fn write(name: &str, root: &Path) -> Result<Exit, Failure> {
    let fits = !name.is_empty()
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !fits {
        return Err(Failure::usage(format!("`{name}` is no kebab-case name such as `planner`")));
    }
    let agent = json!({
        "--": "Keys that begin with two dashes are comments.",
        "slug": name,
        "announce": "What this agent does, for people and for other agents.",
        "flavor": "OpenAIv1",
        "modelUrl": "http://localhost:11434/v1",
        "modelName": "qwen3:4b",
        "systemPrompt": ["You are a careful assistant."],
        "executionMode": "asynchronous",
        "toolCallPolicy": { "default": "runSync", "rules": [
            { "tool": "bash_today", "disposition": {
                "tag": "decorate", "decorators": [{ "tag": "timeout", "seconds": 10 }], "inner": "runSync" } } ] },
        "bashToolboxes": [{ "tag": "FileSystemDirectory", "contents": { "Path": format!("tools/{name}") } }],
    });
    let agents = root.join("agents");
    let file = agents.join(format!("{name}.json"));
    let tool_folder = root.join("tools").join(name);
    let tool = tool_folder.join("today");
    if let Some(there) = [&file, &tool].into_iter().find(|path| path.exists()) {
        return Err(Failure {
            exit: Exit::Refused,
            message: format!("{} is there already; nothing was written", there.display()),
            code: "conflict",
        });
    }
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| Failure::usage(format!("{path} cannot be written: {error}"))
    };
    std::fs::create_dir_all(&agents).map_err(failed(&agents))?;
    std::fs::create_dir_all(&tool_folder).map_err(failed(&tool_folder))?;
    std::fs::write(&tool, TOOL).map_err(failed(&tool))?;
    make_executable(&tool).map_err(failed(&tool))?;
    let text = serde_json::to_string_pretty(&agent).unwrap_or_default() + "\n";
    std::fs::write(&file, text).map_err(failed(&file))?;
    output::line(&file.display().to_string());
    output::line(&tool.display().to_string());
    Ok(Exit::Done)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
