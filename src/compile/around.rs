//! What a package holds of the things that an agent file names: folders of tools and programs of isolations. It runs
//! nothing and judges nothing; names of tools are read from the texts of their files.

use super::files::normal;
use super::{FileError, Files};
use crate::ast::{Agent, BashToolbox, Disposition, Isolation};
use crate::resolve::{Around, Program, Tool, Toolbox};

/// Looks for what the agent names.
pub(super) fn of(agent: &Agent, files: &dyn Files) -> Around {
    let mut around = Around::default();
    // Tools are read only where something names one.
    let asks = agent.policy.as_ref().is_some_and(|policy| !policy.rules.is_empty())
        || !agent.repeatable_tools.is_empty();
    around.toolboxes = agent.bash_toolboxes.iter().map(|toolbox| folder(toolbox, asks, files)).collect();
    let policy = agent.policy.iter();
    for policy in policy {
        let rules = policy.rules.iter().map(|rule| &rule.disposition);
        for disposition in rules.chain(&policy.default) {
            if let Some(path) = program_of(&disposition.value) {
                around.programs.entry(path.to_owned()).or_insert_with(|| program(path, files));
            }
        }
    }
    around
}

fn program_of(disposition: &Disposition) -> Option<&str> {
    match disposition {
        Disposition::RunIsolated(Isolation::LocalProcess { path }) => Some(&path.value),
        Disposition::Decorate { inner, .. } => program_of(inner),
        Disposition::RunIsolated(Isolation::Docker { .. } | Isolation::FunctionRunner { .. })
        | Disposition::RunSync
        | Disposition::RunAsync
        | Disposition::Defer { .. }
        | Disposition::Deny { .. }
        | Disposition::Hole => None,
    }
}

fn program(path: &str, files: &dyn Files) -> Program {
    match files.read(path) {
        Err(FileError::Missing) => Program::Missing,
        Err(FileError::Outside(why) | FileError::Unreadable(why)) => Program::Refused(why),
        Ok(_) if files.is_executable(path) == Some(false) => Program::NotExecutable,
        Ok(_) => Program::Runnable,
    }
}

fn folder(toolbox: &BashToolbox, asks: bool, files: &dyn Files) -> Toolbox {
    let folder = match normal(&toolbox.path.value) {
        Ok(folder) => folder,
        // The root of the package itself may hold the tools; it is not listed.
        Err(_) if matches!(toolbox.path.value.as_str(), "." | "./") => return Toolbox::Unknown,
        Err(why) => return Toolbox::Refused(why),
    };
    let filter = toolbox.basename_filter.as_ref().map(|filter| filter.value.as_str());
    let mut tools = Vec::new();
    for file in files.list(&folder) {
        let path = format!("{folder}/{file}");
        let is_tool = !file.starts_with('.') && filter.is_none_or(|filter| file.contains(filter));
        if !is_tool || files.is_executable(&path) == Some(false) {
            continue;
        }
        let text =
            if asks { files.read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) } else { None };
        tools.push(Tool { file, slug: text.as_deref().and_then(slug) });
    }
    Toolbox::Files(tools)
}

/// The name that a script prints as its `slug`, if its text names exactly one.
fn slug(text: &str) -> Option<String> {
    let mut found: Option<&str> = None;
    for (at, _) in text.match_indices("slug") {
        let rest = text.get(at + "slug".len()..)?;
        // Behind the key a quote (possibly escaped), then a colon or an equals sign, then a quoted value.
        let rest = rest.trim_start_matches(['\\', '"', '\'']).trim_start();
        let Some(rest) = rest.strip_prefix([':', '=']) else { continue };
        let value = rest.trim_start_matches('>').trim_start().trim_start_matches('\\');
        let Some(value) = value.strip_prefix(['"', '\'']) else { continue };
        let length = value
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            .unwrap_or(value.len());
        let name = value.get(..length).filter(|name| !name.is_empty())?;
        if found.is_some_and(|other| other != name) {
            return None;
        }
        found = Some(name);
    }
    found.map(str::to_owned)
}
