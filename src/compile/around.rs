//! What a package holds of the things that an agent file names: tools, programs, other agents, skills. It runs
//! nothing and judges nothing; names of tools are read from the texts of their files.

use super::{FileError, Files, agents, boxes, schemas, take_in};
use crate::ast::toolbox::{ExtraAgent, McpReach, SkillSource};
use crate::ast::{Agent, BashToolbox, Disposition, Isolation};
use crate::diagnostic::Severity;
use crate::lower;
use crate::resolve::package_path::{normal, normal_or_root};
use crate::resolve::{Around, Extra, Program, Tool, Toolbox};
use crate::source::Sources;

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
    for server in &agent.toolboxes.mcp {
        if let McpReach::Program { executable, .. } = &server.reach
            && executable.value.contains('/')
            && !executable.value.starts_with('/')
        {
            let path = executable.value.as_str();
            around.programs.entry(path.to_owned()).or_insert_with(|| program(path, files));
        }
    }
    around.extras = agent.toolboxes.agents.iter().map(|agent| extra(agent, files)).collect();
    let enabled = agent.toolboxes.enabled_skills.iter();
    around.skills = enabled.map(|name| skill(&name.value, &agent.toolboxes.skills, files)).collect();
    around
}

/// An agent that may be called, read alone: what it may call in turn is not looked at.
fn extra(extra: &ExtraAgent, files: &dyn Files) -> Extra {
    let path = match normal(&extra.path.value) {
        Ok(path) => path,
        Err(why) => return Extra::Refused(why),
    };
    let bytes = match files.read(&path) {
        Ok(bytes) => bytes,
        Err(FileError::Missing) => return Extra::Missing,
        Err(FileError::Outside(why) | FileError::Unreadable(why)) => return Extra::Refused(why),
    };
    let (mut sources, mut found) = (Sources::default(), Vec::new());
    let read = take_in(&mut sources, &files.shown(&path), bytes, &mut found).map(|source| {
        let mut agent = agents::read(&source, &path, &mut found);
        schemas::link_agent(&mut agent, files, &mut sources, &mut found);
        boxes::link(&mut agent, files, &mut sources, &mut found);
        agent
    });
    if let Some(error) = found.iter().find(|found| found.severity == Severity::Error) {
        let place = sources.get(error.span.file).map(|source| source.position(error.span.start as usize));
        let line = place.map(|place| format!(" in line {}", place.line)).unwrap_or_default();
        return Extra::Broken(format!("{}{line}", error.message));
    }
    let Some(agent) = read else { return Extra::Broken("its bytes are no text".to_owned()) };
    let frozen = lower::freeze_agent(&agent, &path, None);
    Extra::Read { digest: frozen.own_digest(), announce: frozen.announce }
}

/// Whether a source of skills holds a skill of this name. A folder and its skill have one name.
fn skill(name: &str, sources: &[SkillSource], files: &dyn Files) -> Option<bool> {
    let mut is_there = false;
    for source in sources {
        let folder = normal_or_root(&source.path.value).ok()?;
        if source.is_single {
            is_there |= folder.rsplit('/').next() == Some(name);
        } else {
            let path = format!("{folder}/{name}/SKILL.md");
            is_there |= files.read(path.trim_start_matches('/')).is_ok();
        }
    }
    Some(is_there)
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
    if toolbox.is_single {
        return single(toolbox, asks, files);
    }
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

fn single(toolbox: &BashToolbox, asks: bool, files: &dyn Files) -> Toolbox {
    let path = match normal(&toolbox.path.value) {
        Ok(path) => path,
        Err(why) => return Toolbox::Refused(why),
    };
    let bytes = match files.read(&path) {
        Ok(bytes) => Some(bytes),
        Err(FileError::Missing) => return Toolbox::Files(Vec::new()),
        Err(FileError::Outside(why)) => return Toolbox::Refused(why),
        // A program may be larger than what is read of a package.
        Err(FileError::Unreadable(_)) => None,
    };
    if files.is_executable(&path) == Some(false) {
        return Toolbox::Files(Vec::new());
    }
    let text = bytes.filter(|_| asks).and_then(|bytes| String::from_utf8(bytes).ok());
    let file = path.rsplit('/').next().unwrap_or(&path).to_owned();
    Toolbox::Files(vec![Tool { file, slug: text.as_deref().and_then(slug) }])
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
