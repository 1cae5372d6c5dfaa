//! Filters of operations and predicates of files. A part that cannot be read never lets more through than was meant:
//! it stands as one that fits nothing, and under `Not` the whole does.

use super::Reader;
use crate::ast::toolbox::{EndpointFilter, FilePredicate};
use crate::diagnostic::Diagnostic;
use crate::grammar::boxes;
use crate::parse::rules;
use crate::tree::Node;

/// Nesting of filters and predicates.
const MOST_DEEP: usize = 16;

/// The predicate that no file fits.
pub(super) fn nothing() -> FilePredicate {
    FilePredicate::Any(Vec::new())
}

impl Reader<'_> {
    /// A filter; `None` if any part of it cannot be read.
    pub(super) fn endpoint_filter(&mut self, node: &Node) -> Option<EndpointFilter> {
        self.filter_below(node, 0)
    }

    fn filter_below(&mut self, node: &Node, depth: usize) -> Option<EndpointFilter> {
        let (kind, contents) = self.kind(node, &boxes::ENDPOINT_FILTER)?;
        self.not_too_deep(node, depth)?;
        if matches!(kind, "AlwaysTrue" | "AlwaysFalse") {
            let all = kind == "AlwaysTrue";
            return Some(if all { EndpointFilter::All(Vec::new()) } else { EndpointFilter::Any(Vec::new()) });
        }
        let contents = self.part(node, contents, kind)?;
        let text = |reader: &mut Self| reader.sure_text(contents, kind).map(|text| text.value);
        Some(match kind {
            "PathPrefix" => EndpointFilter::PathPrefix(text(self)?),
            "PathSuffix" => EndpointFilter::PathSuffix(text(self)?),
            "PathContains" => EndpointFilter::PathContains(text(self)?),
            "PathEqual" => EndpointFilter::PathEqual(text(self)?),
            "MethodEquals" => EndpointFilter::Method(text(self)?.to_ascii_uppercase()),
            "OperationIdEquals" => EndpointFilter::Operation(text(self)?),
            "Not" => EndpointFilter::Not(Box::new(self.filter_below(contents, depth + 1)?)),
            _ => {
                let items = self.parts(contents, kind)?;
                let read: Vec<_> = items.iter().map(|item| self.filter_below(item, depth + 1)).collect();
                let read = read.into_iter().collect::<Option<Vec<_>>>()?;
                if matches!(kind, "And" | "All") {
                    EndpointFilter::All(read)
                } else {
                    EndpointFilter::Any(read)
                }
            }
        })
    }

    /// A predicate; `None` if any part of it cannot be read.
    pub(super) fn file_predicate(&mut self, node: &Node) -> Option<FilePredicate> {
        self.predicate_below(node, 0)
    }

    fn predicate_below(&mut self, node: &Node, depth: usize) -> Option<FilePredicate> {
        let (kind, contents) = self.kind(node, &boxes::FILE_PREDICATE)?;
        self.not_too_deep(node, depth)?;
        if matches!(kind, "AlwaysAllow" | "AlwaysDeny") {
            return Some(if kind == "AlwaysAllow" { FilePredicate::All(Vec::new()) } else { nothing() });
        }
        let contents = self.part(node, contents, kind)?;
        let path = |reader: &mut Self| reader.sure_text(contents, kind);
        Some(match kind {
            "FileExactly" => FilePredicate::FileExactly(path(self)?),
            "DirectoryExactly" => FilePredicate::DirectoryExactly(path(self)?),
            "DirectoryRecursive" => FilePredicate::DirectoryRecursive(path(self)?),
            "DirectoryShallow" => FilePredicate::DirectoryShallow(path(self)?),
            "ChildOf" => FilePredicate::ChildOf(path(self)?),
            "FilePattern" => FilePredicate::Pattern(path(self)?),
            "FileExtension" => FilePredicate::Extension(self.texts(contents, kind)),
            "FileSizeLessThan" => {
                FilePredicate::SizeBelow(self.fields.number(contents, kind, 1..=u32::MAX)?.value)
            }
            "Not" => FilePredicate::Not(Box::new(self.predicate_below(contents, depth + 1)?)),
            _ => {
                let items = self.parts(contents, kind)?;
                let read: Vec<_> = items.iter().map(|item| self.predicate_below(item, depth + 1)).collect();
                let read = read.into_iter().collect::<Option<Vec<_>>>()?;
                if matches!(kind, "And" | "All") {
                    FilePredicate::All(read)
                } else {
                    FilePredicate::Any(read)
                }
            }
        })
    }

    fn part<'t>(&mut self, node: &Node, contents: Option<&'t Node>, kind: &str) -> Option<&'t Node> {
        if contents.is_none() {
            self.fields.missing(node, "contents", &format!("`{kind}`"));
        }
        contents
    }

    fn parts<'t>(&mut self, contents: &'t Node, kind: &str) -> Option<&'t [Node]> {
        let before = self.fields.diagnostics.len();
        let items = self.fields.items(contents, &format!("the `contents` of `{kind}`"));
        (self.fields.diagnostics.len() == before).then_some(items)
    }

    fn not_too_deep(&mut self, node: &Node, depth: usize) -> Option<()> {
        if depth < MOST_DEEP {
            return Some(());
        }
        let message = format!("filters are nested more than {MOST_DEEP} deep");
        self.fields.report(Diagnostic::new(&rules::TOO_DEEP, node.span, message));
        None
    }
}
