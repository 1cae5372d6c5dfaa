//! Toolboxes in their frozen form. What may not be used (a path that leaves the package, a service whose file was not
//! read) is left out: it has been reported, and leaving it out is the safe reading.

use crate::ast::toolbox as written;
use crate::ir::toolbox as frozen;
use crate::resolve::{Around, Extra, package_path};
use crate::source::Spanned;
use indexmap::IndexMap;

/// Bytes of the largest file that a toolbox touches, where nothing is written.
const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// Freezes the toolboxes of an agent, with what is known of the agents that it may call.
pub(super) fn freeze(boxes: &written::Toolboxes, around: Option<&Around>) -> frozen::Toolboxes {
    frozen::Toolboxes {
        builtin: boxes.builtin.iter().filter_map(builtin).collect(),
        openapi: boxes.openapi.iter().filter_map(|toolbox| openapi(toolbox.server.as_ref()?)).collect(),
        mcp: boxes.mcp.iter().map(mcp).collect(),
        agents: agents(boxes, around),
        skills: boxes.skills.iter().filter_map(skill).collect(),
        enabled_skills: boxes.enabled_skills.iter().map(|name| name.value.clone()).collect(),
    }
}

fn text(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}

fn pairs(pairs: &[written::Pair]) -> IndexMap<String, String> {
    pairs.iter().map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
}

fn mcp(server: &written::McpServer) -> frozen::McpServer {
    let name = server.name.value.clone();
    match &server.reach {
        written::McpReach::Program { executable, args, env } => frozen::McpServer::Program {
            name,
            executable: executable.value.clone(),
            args: args.iter().map(|arg| arg.value.clone()).collect(),
            env: pairs(env),
        },
        written::McpReach::Http { url, headers, api_key_id } => frozen::McpServer::Http {
            name,
            url: url.value.clone(),
            headers: pairs(headers),
            api_key_id: text(api_key_id.as_ref()),
        },
    }
}

fn openapi(server: &written::OpenApiServer) -> Option<frozen::OpenApi> {
    let spec = &server.spec.value;
    let spec = if package_path::is_url(spec) { spec.clone() } else { package_path::normal(spec).ok()? };
    Some(frozen::OpenApi {
        spec,
        base_url: text(server.base_url.as_ref()),
        headers: pairs(&server.headers),
        api_key_id: text(server.api_key_id.as_ref()),
        filter: server.filter.as_ref().map(filter),
    })
}

fn filter(of: &written::EndpointFilter) -> frozen::EndpointFilter {
    match of {
        written::EndpointFilter::PathPrefix(text) => frozen::EndpointFilter::PathPrefix(text.clone()),
        written::EndpointFilter::PathSuffix(text) => frozen::EndpointFilter::PathSuffix(text.clone()),
        written::EndpointFilter::PathContains(text) => frozen::EndpointFilter::PathContains(text.clone()),
        written::EndpointFilter::PathEqual(text) => frozen::EndpointFilter::PathExactly(text.clone()),
        written::EndpointFilter::Method(name) => frozen::EndpointFilter::Methods(vec![name.clone()]),
        written::EndpointFilter::Operation(id) => frozen::EndpointFilter::Operations(vec![id.clone()]),
        written::EndpointFilter::Any(parts) => {
            frozen::EndpointFilter::Any(parts.iter().map(filter).collect())
        }
        written::EndpointFilter::All(parts) => {
            frozen::EndpointFilter::All(parts.iter().map(filter).collect())
        }
        written::EndpointFilter::Not(part) => frozen::EndpointFilter::Not(Box::new(filter(part))),
    }
}

fn builtin(toolbox: &written::Builtin) -> Option<frozen::Builtin> {
    let name = toolbox.name.value.clone();
    let description = text(toolbox.description.as_ref()).unwrap_or_default();
    let words = |list: &[Spanned<String>]| {
        let mut words: Vec<String> = Vec::new();
        for word in list.iter().filter(|word| !word.value.is_empty()) {
            if !words.contains(&word.value) {
                words.push(word.value.clone());
            }
        }
        words
    };
    let most = |sandbox: Option<&written::Sandbox>| {
        let written = sandbox.and_then(|sandbox| sandbox.max_file_bytes.as_ref());
        written.map_or(MAX_FILE_BYTES, |most| u64::from(most.value))
    };
    Some(match &toolbox.kind {
        written::BuiltinKind::Sqlite { path: file, is_writable } => frozen::Builtin::Sqlite {
            name,
            description,
            path: package_path::normal(&file.value).ok()?,
            writable: *is_writable,
        },
        written::BuiltinKind::System { capabilities, env_filter, sandbox } => frozen::Builtin::System {
            name,
            description,
            capabilities: words(&capabilities.value),
            env_filter: text(env_filter.as_ref()),
            sandbox: sandbox.as_ref().map(|sandbox| predicate(&sandbox.predicate)),
            max_file_bytes: most(sandbox.as_ref()),
        },
        written::BuiltinKind::Developer { capabilities, sandbox } => frozen::Builtin::Developer {
            name,
            description,
            capabilities: words(&capabilities.value),
            sandbox: sandbox.as_ref().map(|sandbox| predicate(&sandbox.predicate)),
            max_file_bytes: most(sandbox.as_ref()),
        },
    })
}

/// A predicate whose path may not be used fits nothing, and so does one around it that would turn that round.
fn predicate(of: &written::FilePredicate) -> frozen::FilePredicate {
    let mut is_sound = true;
    of.each_path(&mut |text| is_sound &= package_path::normal_or_root(&text.value).is_ok());
    if is_sound { sound(of) } else { frozen::FilePredicate::Any(Vec::new()) }
}

fn sound(of: &written::FilePredicate) -> frozen::FilePredicate {
    let place = |text: &Spanned<String>| package_path::normal_or_root(&text.value).unwrap_or_default();
    let all = |parts: &[written::FilePredicate]| parts.iter().map(sound).collect();
    match of {
        written::FilePredicate::FileExactly(path) => frozen::FilePredicate::FileExactly(place(path)),
        written::FilePredicate::DirectoryExactly(path) => {
            frozen::FilePredicate::DirectoryExactly(place(path))
        }
        written::FilePredicate::DirectoryRecursive(path) => {
            frozen::FilePredicate::DirectoryRecursive(place(path))
        }
        written::FilePredicate::ChildOf(path) => frozen::FilePredicate::All(vec![
            frozen::FilePredicate::DirectoryRecursive(place(path)),
            frozen::FilePredicate::Not(Box::new(frozen::FilePredicate::DirectoryExactly(place(path)))),
        ]),
        written::FilePredicate::DirectoryShallow(path) => frozen::FilePredicate::DirectoryFlat(place(path)),
        written::FilePredicate::Pattern(pattern) => frozen::FilePredicate::NamePattern(pattern.value.clone()),
        written::FilePredicate::Extension(endings) => frozen::FilePredicate::Any(
            endings
                .iter()
                .map(|ending| {
                    frozen::FilePredicate::Extension(ending.value.trim_start_matches('.').to_owned())
                })
                .collect(),
        ),
        written::FilePredicate::SizeBelow(bytes) => frozen::FilePredicate::SizeBelow(u64::from(*bytes)),
        written::FilePredicate::Any(parts) => frozen::FilePredicate::Any(all(parts)),
        written::FilePredicate::All(parts) => frozen::FilePredicate::All(all(parts)),
        written::FilePredicate::Not(part) => frozen::FilePredicate::Not(Box::new(sound(part))),
    }
}

/// Agents whose files may be used. What is known of a file stands beside it by its place in the list.
fn agents(boxes: &written::Toolboxes, around: Option<&Around>) -> Vec<frozen::ExtraAgent> {
    let mut frozen = Vec::new();
    for (i, extra) in boxes.agents.iter().enumerate() {
        let Ok(path) = package_path::normal(&extra.path.value) else { continue };
        let known = match around.and_then(|around| around.extras.get(i)) {
            Some(Extra::Read { digest, announce }) => Some((digest.clone(), announce.clone())),
            Some(Extra::Missing | Extra::Refused(_) | Extra::Broken(_)) | None => None,
        };
        let (agent, announce) = known.map_or((None, None), |(digest, announce)| (Some(digest), announce));
        frozen.push(frozen::ExtraAgent { slug: extra.slug.value.clone(), path, agent, announce });
    }
    frozen
}

fn skill(source: &written::SkillSource) -> Option<frozen::SkillSource> {
    let path = package_path::normal_or_root(&source.path.value).ok()?;
    Some(if source.is_single {
        frozen::SkillSource::Single(path)
    } else {
        frozen::SkillSource::Directory(path)
    })
}
