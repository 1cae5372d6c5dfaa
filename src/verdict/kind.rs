//! What a file is, decided by its name and its outermost keys: a workflow, an agent, a test file or none of them.
//!
//! The text need not be sound: a file with a fault in it is still what it says it is. Nothing is parsed as a whole.

use crate::diagnostic::nearest;
use crate::parse;

/// What a document is compiled as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A workflow definition.
    Workflow,
    /// An agent description.
    Agent,
    /// Cases of a workflow: `kind: test` in a file named so.
    Test,
}

/// Whether a file of this name can be one of ours at all.
#[must_use]
pub fn may_be_ours(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".yaml", ".yml", ".json", ".agent.md"].iter().any(|ending| name.ends_with(ending))
}

/// What a file is; `None` if it is none of ours. Of a file that was named on purpose the caller takes `None` for a
/// workflow, in a folder it passes it over.
#[must_use]
pub fn kind(path: &str, bytes: &[u8]) -> Option<Kind> {
    if path.to_ascii_lowercase().ends_with(".agent.md") {
        return Some(Kind::Agent);
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let is_flow = parse::is_json(path) || text.trim_start().starts_with('{');
    let keys = if is_flow { flow_keys(text) } else { block_keys(text) };
    let is_test = keys.contains(&("kind", "test"));
    if is_test && parse::rehearsal::is_test(path) { Some(Kind::Test) } else { judge(&keys) }
}

/// A key of the outermost map, and the scalar beside it if there is one on its line.
type Key<'a> = (&'a str, &'a str);

fn judge(keys: &[Key<'_>]) -> Option<Kind> {
    let value = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    if let Some(kind) = value("kind") {
        // Other tools write `kind` as well, beside `apiVersion` and in capitals. A misspelt word is still ours.
        let is_ours = kind == "workflow" || (kind.starts_with('w') && nearest(kind, ["workflow"]).is_some());
        return (is_ours && value("apiVersion").is_none()).then_some(Kind::Workflow);
    }
    let is_wrapped = value("tag") == Some("OpenAIAgentDescription");
    let is_bare = value("slug").is_some() && (value("modelUrl").is_some() || value("base").is_some());
    (is_wrapped || is_bare).then_some(Kind::Agent)
}

/// Keys at the margin of a YAML text in block style.
fn block_keys(text: &str) -> Vec<Key<'_>> {
    let mut keys = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', '-']) {
            continue;
        }
        let Some((key, rest)) = line.split_once(':') else { continue };
        if rest.is_empty() || rest.starts_with([' ', '\t', '\r']) {
            let value = rest.split(" #").next().unwrap_or_default();
            keys.push((bare(key), bare(value)));
        }
    }
    keys
}

fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Keys of the outermost map of a JSON text, or of YAML in flow style.
fn flow_keys(text: &str) -> Vec<Key<'_>> {
    let mut keys = Vec::new();
    let (mut depth, mut start, mut key): (usize, usize, Option<&str>) = (0, 0, None);
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if let Some(open) = quote {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' && open == '"' {
                is_escaped = true;
            } else if c == open {
                quote = None;
            }
            continue;
        }
        let ends = matches!((c, depth), (',' | '}', 1));
        if ends || (c == ':' && depth == 1 && key.is_none()) {
            let part = bare(text.get(start..at).unwrap_or_default());
            match (ends, key.take()) {
                (true, Some(key)) => keys.push((key, part)),
                (true, None) => {}
                (false, _) => key = Some(part),
            }
            start = at + 1;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '{' | '[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // A text that breaks off: the last key still counts.
    keys.extend(key.map(|key| (key, bare(text.get(start..).unwrap_or_default()))));
    keys
}
