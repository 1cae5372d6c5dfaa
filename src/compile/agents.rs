//! Finds and reads the agent files that a definition names. It judges nothing: `check` does.

use super::{FileError, Files, around, boxes, take_in};
use crate::diagnostic::{Diagnostic, Severity};
use crate::resolve::{AgentFile, Agents, Reference, agent_references, flow, local, package_path};
use crate::source::{Source, Sources};
use crate::tree::Node;
use crate::{ast, parse};

/// Where a bare name is looked for.
const ENDINGS: [&str; 2] = [".json", ".agent.md"];
/// The folder of a package's agents.
const FOLDER: &str = "agents";

pub(super) fn load(
    ast: &ast::Workflow,
    files: &dyn Files,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Agents {
    let mut agents = Agents::default();
    let steps = flow::all_steps(&ast.steps);
    for (written, _) in agent_references(ast, &steps) {
        let reference = local(ast, written);
        if !agents.references.contains_key(reference) {
            let found = find(reference, files, &mut agents, sources, diagnostics);
            agents.references.insert(reference.to_owned(), found);
        }
    }
    agents.known = known(ast, files);
    agents
}

/// Reads an agent file: Markdown with front matter if its name ends in `.md`, else JSON.
pub(super) fn read(source: &Source, package_path: &str, diagnostics: &mut Vec<Diagnostic>) -> ast::Agent {
    if package_path.to_ascii_lowercase().ends_with(".md") {
        return parse::agent::markdown(source, diagnostics);
    }
    parse::agent::json(source, diagnostics)
}

/// The keys of an agent file as a tree.
pub(super) fn tree(source: &Source, package_path: &str) -> Option<Node> {
    if package_path.to_ascii_lowercase().ends_with(".md") {
        return parse::agent::front_matter_tree(source);
    }
    Some(parse::json::read(source, &mut Vec::new()))
}

fn find(
    reference: &str,
    files: &dyn Files,
    agents: &mut Agents,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Reference {
    if reference.contains('@') {
        return Reference::Installed;
    }
    let places = match candidates(reference) {
        Ok(places) => places,
        Err(why) => return Reference::Refused(why),
    };
    for path in &places {
        if agents.files.contains_key(path) {
            return Reference::File(path.clone());
        }
        match files.read(path) {
            Ok(bytes) => {
                let mut found = Vec::new();
                if let Some(source) = take_in(sources, &files.shown(path), bytes, &mut found) {
                    let mut agent = read(&source, path, &mut found);
                    boxes::link(&mut agent, files, sources, &mut found);
                    let sound = found.iter().all(|found| found.severity != Severity::Error);
                    let around = around::of(&agent, files);
                    agents.files.insert(path.clone(), AgentFile { agent, sound, around });
                    diagnostics.append(&mut found);
                    return Reference::File(path.clone());
                }
                diagnostics.append(&mut found);
                return Reference::Refused("its bytes are no text".to_owned());
            }
            Err(FileError::Missing) => {}
            Err(FileError::Outside(why) | FileError::Unreadable(why)) => return Reference::Refused(why),
        }
    }
    Reference::Missing(places)
}

/// The package paths that a reference may mean, in order.
fn candidates(reference: &str) -> Result<Vec<String>, String> {
    let is_path = reference.contains('/') || ENDINGS.iter().any(|ending| reference.ends_with(ending));
    if !is_path {
        return Ok(ENDINGS.iter().map(|ending| format!("{FOLDER}/{reference}{ending}")).collect());
    }
    package_path::normal(reference).map(|path| vec![path])
}

fn known(ast: &ast::Workflow, files: &dyn Files) -> Vec<String> {
    let mut names: Vec<String> = ast.agents.iter().map(|entry| entry.name.value.clone()).collect();
    for file in files.list(FOLDER) {
        if let Some(name) = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)) {
            names.push(name.to_owned());
            names.push(format!("./{FOLDER}/{file}"));
        }
    }
    names
}
