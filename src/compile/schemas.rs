//! Brings the schema files that a definition refers to into its schemas, under `$defs`, so that what is judged and
//! frozen refers to nothing outside itself. Every part keeps its place in the file it came from.
//!
//! A path in a workflow or an agent file counts from the package root, one in a schema file from the folder of that
//! file, as other tools of JSON Schema read it. What cannot be brought in is a hole: nothing more is said of it.

use super::{FileError, Files, steps, take_in};
use crate::check::{invalid_schema, missing_schema, refused_path};
use crate::diagnostic::{Diagnostic, Severity};
use crate::resolve::{Agents, package_path};
use crate::schema::keyword::{self, Shape};
use crate::source::{Sources, Span, Spanned};
use crate::tree::{Entry, Node, Text, Value};
use crate::{ast, parse, schema};
use indexmap::IndexMap;

/// Schema files of one compile.
const MOST_FILES: usize = 64;
/// Bytes of schema files that are brought into the schemas of one compile, each as often as it is.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Links every schema of a definition and of its agents.
pub(super) fn link(
    ast: &mut ast::Workflow,
    agents: &mut Agents,
    files: &dyn Files,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut linker = Linker { files, sources, diagnostics, loaded: IndexMap::new(), bytes: 0 };
    for input in &mut ast.inputs {
        linker.schema(&mut input.schema);
    }
    steps::each(&mut ast.steps, &mut |step| {
        if let ast::StepKind::Agent(ast::AgentStep { result: Some(result), .. }) = &mut step.kind {
            linker.schema(result);
        }
    });
    for file in agents.files.values_mut() {
        linker.agent(&mut file.agent);
    }
}

/// Links the schema of what an agent must be given.
pub(super) fn link_agent(
    agent: &mut ast::Agent,
    files: &dyn Files,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    Linker { files, sources, diagnostics, loaded: IndexMap::new(), bytes: 0 }.agent(agent);
}

/// Without files nothing is known of what the schema refers to, so its references are holes.
pub(super) fn forget(agent: &mut ast::Agent) {
    let Some(inputs) = &mut agent.inputs else { return };
    each_schema(inputs, &mut |schema| {
        let own = own_name(schema);
        if let Some(reference) = reference_of(schema)
            && let Some(text) = reference.text()
            && !is_local(&text.value, own.as_deref())
        {
            reference.value = Value::Hole;
        }
    });
}

struct Linker<'a> {
    files: &'a dyn Files,
    sources: &'a mut Sources,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// By package path; `None` for what cannot be used, which has been said.
    loaded: IndexMap<String, Option<Loaded>>,
    bytes: usize,
}

struct Loaded {
    node: Node,
    json: serde_json::Value,
    size: usize,
}

/// What one schema needs: package paths with their keys under `$defs` and the first reference to each.
type Needed = IndexMap<String, Spanned<String>>;

impl Linker<'_> {
    fn agent(&mut self, agent: &mut ast::Agent) {
        if let Some(inputs) = &mut agent.inputs {
            self.schema(inputs);
        }
    }

    fn schema(&mut self, schema: &mut Node) {
        let taken: Vec<String> = schema
            .get("$defs")
            .into_iter()
            .flat_map(Node::entries)
            .map(|entry| entry.key.value.clone())
            .collect();
        let mut needed = Needed::new();
        let own = own_name(schema);
        self.rewrite(schema, None, own.as_deref(), &taken, &mut needed);
        let mut defs = Vec::new();
        let mut next = 0;
        while let Some((path, key)) = needed.get_index(next).map(|(path, key)| (path.clone(), key.clone())) {
            next += 1;
            let Some(Some(loaded)) = self.loaded.get(&path) else { continue };
            self.bytes = self.bytes.saturating_add(loaded.size);
            let mut node = loaded.node.clone();
            let own = own_name(&node);
            without(&mut node, "$id");
            self.rewrite(&mut node, Some(&path), own.as_deref(), &taken, &mut needed);
            each_schema(&mut node, &mut |schema| without(schema, "$anchor"));
            defs.push(Entry { key, value: node });
        }
        if !defs.is_empty() {
            add(schema, defs);
        }
    }

    /// Turns each reference to a file, and in a file each reference within it, into one to its place under `$defs`.
    fn rewrite(
        &mut self,
        node: &mut Node,
        file: Option<&str>,
        own: Option<&str>,
        taken: &[String],
        needed: &mut Needed,
    ) {
        each_schema(node, &mut |schema| {
            let Some(reference) = reference_of(schema) else { return };
            let Some(text) = reference.text() else { return };
            let written = text.value.clone();
            let place = match (is_local(&written, own), file) {
                (true, None) => return,
                (true, Some(file)) => {
                    let fragment = written.find('#').and_then(|at| written.get(at..)).unwrap_or("#");
                    self.within(file, fragment, reference)
                }
                (false, _) => self.elsewhere(&written, file, reference),
            };
            let Some((path, pointer)) = place else {
                reference.value = Value::Hole;
                return;
            };
            let key = needed.entry(path).or_insert_with_key(|path| {
                let mut key = path.clone();
                while taken.contains(&key) {
                    key.push('\'');
                }
                Spanned::new(key, reference.span)
            });
            let value = format!("#/$defs/{}{pointer}", key.value.replace('~', "~0").replace('/', "~1"));
            if let Value::Text(text) = &reference.value {
                let value = schema::fragment(&value);
                reference.value = Value::Text(Text { value, runs: Vec::new(), ..text.clone() });
            }
        });
    }

    /// The package path and the pointer that a reference to a file means.
    fn elsewhere(&mut self, written: &str, file: Option<&str>, node: &Node) -> Option<(String, String)> {
        let (path, fragment) = match written.find('#') {
            Some(at) => (written.get(..at)?, written.get(at..)?),
            None => (written, "#"),
        };
        if has_scheme(path) {
            self.refuse(written, node, "nothing is ever fetched");
            return None;
        }
        let folder = file.and_then(|file| file.rsplit_once('/')).map(|(folder, _)| folder);
        let full = match folder {
            Some(folder) if !path.starts_with(['/', '\\']) => format!("{folder}/{path}"),
            Some(_) | None => path.to_owned(),
        };
        let full = match package_path::normal(&full) {
            Ok(full) => full,
            Err(why) => {
                self.refuse(path, node, &why);
                return None;
            }
        };
        self.load(&full, path, node);
        self.within(&full, fragment, node)
    }

    /// The place that a fragment means in a file that was read.
    fn within(&mut self, path: &str, fragment: &str, node: &Node) -> Option<(String, String)> {
        let loaded = self.loaded.get(path)?.as_ref()?;
        let Some(pointer) = schema::locate(&loaded.json, fragment) else {
            let message = format!("`{fragment}` points to nothing in `{path}`");
            let found = Diagnostic::new(&invalid_schema::RULE, node.span, message);
            let file = loaded.node.span.at_start();
            self.diagnostics.push(if file.file == node.span.file {
                found
            } else {
                found.label(file, "the file")
            });
            return None;
        };
        Some((path.to_owned(), pointer))
    }

    fn refuse(&mut self, written: &str, node: &Node, why: &str) {
        let message = format!("the file `{written}` is not read: {why}");
        let found = Diagnostic::new(&refused_path::RULE, node.span, message);
        self.diagnostics.push(found.help("write a path inside the package, such as `./schemas/plan.json`"));
    }

    fn load(&mut self, path: &str, written: &str, node: &Node) {
        if matches!(self.loaded.get(path), Some(Some(_))) && self.bytes <= MOST_BYTES {
            return;
        }
        let loaded = self.read(path, written, node);
        self.loaded.insert(path.to_owned(), loaded);
    }

    fn read(&mut self, path: &str, written: &str, node: &Node) -> Option<Loaded> {
        if self.bytes > MOST_BYTES || self.loaded.len() >= MOST_FILES {
            let most = MOST_BYTES / 1024 / 1024;
            let why = format!("a definition refers to at most {MOST_FILES} schema files, {most} MiB in all");
            self.refuse(written, node, &why);
            return None;
        }
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(FileError::Missing) => {
                let text = node.text().map_or(node.span, |text| text.span_of(0..written.len()));
                let known = self.beside(path, written);
                self.diagnostics.push(missing_schema::fault(written, node.span, text, &known));
                return None;
            }
            Err(FileError::Outside(why) | FileError::Unreadable(why)) => {
                self.refuse(written, node, &why);
                return None;
            }
        };
        let size = bytes.len();
        let mut found = Vec::new();
        let source = take_in(self.sources, path, bytes, &mut found);
        let node = source.map(|source| parse::read(&source, &mut found));
        let is_sound = found.iter().all(|found| found.severity != Severity::Error);
        self.diagnostics.append(&mut found);
        let node = node.filter(|_| is_sound)?;
        Some(Loaded { json: node.to_json(), node, size })
    }

    /// The files in the folder of a path that is not there, written as the reference writes it.
    fn beside(&self, path: &str, written: &str) -> Vec<String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let before = written.rfind('/').and_then(|at| written.get(..=at)).unwrap_or_default();
        let names = if folder.is_empty() { self.files.list(".") } else { self.files.list(folder) };
        names.into_iter().map(|name| format!("{before}{name}")).collect()
    }
}

fn has_scheme(path: &str) -> bool {
    path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Whether a reference stays in its document, whose own name is `own`.
fn is_local(written: &str, own: Option<&str>) -> bool {
    written.is_empty()
        || written.starts_with('#')
        || own
            .and_then(|own| written.strip_prefix(own))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

fn own_name(schema: &Node) -> Option<String> {
    let text = schema.get("$id").and_then(Node::text)?;
    Some(text.value.trim_end_matches('#').to_owned()).filter(|name| !name.is_empty())
}

fn reference_of(schema: &mut Node) -> Option<&mut Node> {
    let Value::Map(entries) = &mut schema.value else { return None };
    entries.iter_mut().find(|entry| entry.key.value == "$ref").map(|entry| &mut entry.value)
}

fn without(schema: &mut Node, key: &str) {
    if let Value::Map(entries) = &mut schema.value {
        entries.retain(|entry| entry.key.value != key || entry.value.text().is_none());
    }
}

fn add(schema: &mut Node, defs: Vec<Entry>) {
    let span = schema.span;
    let Value::Map(entries) = &mut schema.value else { return };
    if let Some(own) = entries.iter_mut().find(|entry| entry.key.value == "$defs") {
        if let Value::Map(own) = &mut own.value.value {
            own.extend(defs);
        }
        return;
    }
    let place: Span = defs.first().map_or(span, |entry| entry.key.span);
    let value = Node { span: place, value: Value::Map(defs) };
    entries.push(Entry { key: Spanned::new("$defs".to_owned(), place), value });
}

/// Calls for a schema and every schema inside it.
fn each_schema(schema: &mut Node, f: &mut dyn FnMut(&mut Node)) {
    f(schema);
    let Value::Map(entries) = &mut schema.value else { return };
    for entry in entries {
        let Some(keyword) = keyword::find(&entry.key.value) else { continue };
        match (keyword.shape, &mut entry.value.value) {
            (Shape::Schema, _) => each_schema(&mut entry.value, f),
            (Shape::SchemaMap | Shape::PatternMap, Value::Map(entries)) => {
                entries.iter_mut().for_each(|entry| each_schema(&mut entry.value, f));
            }
            (Shape::SchemaList, Value::List(items)) => items.iter_mut().for_each(|item| each_schema(item, f)),
            (_, _) => {}
        }
    }
}
