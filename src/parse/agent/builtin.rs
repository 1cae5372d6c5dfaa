//! Built-in toolboxes: SQLite files, facts about the machine, files in a sandbox. Opens no file.

use super::Reader;
use crate::ast::toolbox::{Builtin, BuiltinKind, Sandbox};
use crate::diagnostic::{Diagnostic, nearest};
use crate::grammar::{Context, Shape, boxes};
use crate::parse::rules;
use crate::source::{Span, Spanned};
use crate::tree::Node;

impl Reader<'_> {
    pub(super) fn builtin(&mut self, node: &Node) -> Option<Builtin> {
        let (kind, contents) = self.kind(node, &boxes::BUILTIN_TOOLBOX)?;
        let context = match kind {
            "SqliteToolbox" => &boxes::SQLITE_TOOLBOX,
            "SystemToolbox" => &boxes::SYSTEM_TOOLBOX,
            _ => &boxes::DEVELOPER_TOOLBOX,
        };
        let contents = contents?;
        self.contents(contents, context)?;
        let name = self.box_name(contents, context, "Name");
        let description = self.text_of(contents, context, "Description");
        let kind = match kind {
            "SqliteToolbox" => self.sqlite(contents)?,
            "SystemToolbox" => BuiltinKind::System {
                capabilities: self.capabilities(contents, context)?,
                env_filter: self.text_of(contents, context, "EnvVarFilter"),
                sandbox: self.sandbox(contents, context),
            },
            _ => BuiltinKind::Developer {
                capabilities: self.capabilities(contents, context)?,
                sandbox: self.sandbox(contents, context),
            },
        };
        Some(Builtin { span: node.span, name: name?, description, kind })
    }

    /// The file of an SQLite toolbox: under `Versioning`, or flat as it was once written.
    fn sqlite(&mut self, node: &Node) -> Option<BuiltinKind> {
        let context = &boxes::SQLITE_TOOLBOX;
        let access = self.value_of(node, context, "Access");
        let flat = self.value_of(node, context, "Path");
        if let Some(versioning) = self.value_of(node, context, "Versioning") {
            for other in [flat, access].into_iter().flatten() {
                let message = "the file is named under `Versioning` already";
                let found = Diagnostic::new(&rules::DUPLICATE_KEY, other.span, message);
                self.fields.report(found.help("keep `Versioning` alone"));
            }
            return self.versioning(versioning);
        }
        let Some(path) = flat else {
            self.fields.missing(node, "Versioning", context.title);
            return None;
        };
        let path = self.text(path, "Path")?;
        let is_writable = match access {
            None => false,
            Some(access) => match access.text().map(|text| text.value.as_str()) {
                Some("snapshot") => return self.snapshots(access.span),
                _ => self.fields.word(access, "Access", &["read-only", "read-write"])?.value == "read-write",
            },
        };
        Some(BuiltinKind::Sqlite { path, is_writable })
    }

    fn versioning(&mut self, node: &Node) -> Option<BuiltinKind> {
        if !self.fields.map(node, boxes::SQLITE_VERSIONING.title) {
            return None;
        }
        let tag = node.get("tag");
        if let Some(text) = tag.and_then(Node::text).filter(|tag| tag.value == "SqliteVersioned") {
            return self.snapshots(text.span);
        }
        self.keys(node, &boxes::SQLITE_VERSIONING);
        let Some(Shape::Word(words)) = boxes::SQLITE_VERSIONING.key("tag").map(|key| key.shape) else {
            return None;
        };
        let tag = self.fields.word(tag?, "tag", words)?;
        let path = self.text_of(node, &boxes::SQLITE_VERSIONING, "path")?;
        Some(BuiltinKind::Sqlite { path, is_writable: tag.value != "SqliteReadOnly" })
    }

    fn snapshots(&mut self, place: Span) -> Option<BuiltinKind> {
        let message = "versioned SQLite files, of which each call keeps a snapshot, are not supported";
        self.unsupported(place, message, "write `SqliteReadOnly` or `SqliteReadWrite` with a `path`");
        None
    }

    /// Words of `Capabilities`; those that are not supported are named and left out.
    fn capabilities(&mut self, node: &Node, context: &Context) -> Option<Spanned<Vec<Spanned<String>>>> {
        let Some(Shape::Words(words)) = context.key("Capabilities").map(|key| key.shape) else { return None };
        let list = self.value_of(node, context, "Capabilities")?;
        let mut out = Vec::new();
        for word in self.list(list, "Capabilities") {
            if words.contains(&word.value.as_str()) {
                out.push(word);
            } else {
                self.no_capability(&word, context, words);
            }
        }
        Some(Spanned::new(out, list.span))
    }

    fn no_capability(&mut self, word: &Spanned<String>, context: &Context, words: &[&'static str]) {
        let (written, span) = (word.value.as_str(), word.span);
        if written == "execute-command" {
            let message = "`execute-command` is not supported: an agent runs the tools that it was given";
            self.unsupported(span, message, "write a bash tool for what it is to run");
            return;
        }
        let message = format!("`{written}` is no supported capability of {}", of(context));
        let all: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
        let mut found = Diagnostic::new(&rules::UNSUPPORTED_TOOLBOX, span, message)
            .help(format!("the capabilities are {}", all.join(", ")));
        if let Some(near) = nearest(written, words.iter().copied()) {
            found = found.suggest(written, Some(&format!("\"{near}\"")), span);
        }
        found.severity = self.strict;
        self.fields.report(found);
    }

    fn sandbox(&mut self, node: &Node, context: &Context) -> Option<Sandbox> {
        let node = self.value_of(node, context, "FileSandbox")?;
        let context = &boxes::FILE_SANDBOX;
        self.contents(node, context)?;
        let predicate = self.value_of(node, context, "fsbPredicate")?;
        let predicate = self.file_predicate(predicate).unwrap_or_else(super::predicate::nothing);
        let Some(Shape::Number(from, to)) = context.key("fsbMaxFileSize").map(|key| key.shape) else {
            return None;
        };
        let most = self.value_of(node, context, "fsbMaxFileSize");
        let max_file_bytes = most.and_then(|node| self.number(node, "fsbMaxFileSize", from..=to));
        Some(Sandbox { span: node.span, predicate, max_file_bytes })
    }
}

fn of(context: &Context) -> &'static str {
    if context.name == boxes::SYSTEM_TOOLBOX.name { "a system toolbox" } else { "a developer toolbox" }
}
