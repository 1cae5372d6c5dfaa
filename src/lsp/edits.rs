//! Edits of the compile as edits of the protocol, grouped by document and, if the client can, bound to the version
//! that they were made for.

use super::judged::Judged;
use super::view::View;
use crate::diagnostic::Edit;
use crate::source::{Source, Span};
use gen_lsp_types as lsp;
use similar::{Algorithm, DiffTag, TextDiff};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// How long two texts are compared at most.
const MOST_TIME: Duration = Duration::from_millis(200);

/// The edit of a workspace that makes these edits, which do not overlap.
pub(super) fn workspace_edit<'e>(
    view: View<'_>,
    judged: &Judged,
    edits: impl IntoIterator<Item = &'e Edit>,
) -> lsp::WorkspaceEdit {
    let mut by_file: BTreeMap<&str, Vec<lsp::TextEdit>> = BTreeMap::new();
    for edit in edits {
        let Some((source, key)) = judged.file(edit.span.file) else { continue };
        let new_text = with_line_ends_of(source.text(), &edit.text);
        by_file
            .entry(key)
            .or_default()
            .push(lsp::TextEdit { range: view.range_in(source, edit.span), new_text });
    }
    of_files(view, by_file)
}

/// The edit of a workspace, by canonical address.
pub(super) fn of_files(view: View<'_>, by_file: BTreeMap<&str, Vec<lsp::TextEdit>>) -> lsp::WorkspaceEdit {
    if !view.client.versions {
        let changes = by_file.into_iter().map(|(key, edits)| (view.spelling(key), edits));
        return lsp::WorkspaceEdit {
            changes: Some(changes.collect::<HashMap<_, _>>()),
            ..Default::default()
        };
    }
    let changes = by_file.into_iter().map(|(key, edits)| {
        let version = view.documents.all.get(key).map(|document| document.version);
        let id = lsp::TextDocumentIdentifier { uri: view.spelling(key) };
        lsp::DocumentChange::TextDocumentEdit(lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier::new(version, id),
            edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
        })
    });
    lsp::WorkspaceEdit { document_changes: Some(changes.collect()), ..Default::default() }
}

/// The edits that make another text of a source, by whole lines.
pub(super) fn to_become(view: View<'_>, source: &Source, text: &str) -> Vec<lsp::TextEdit> {
    let mut config = TextDiff::configure();
    // A text of many changes must not take long to compare; the edits are right however they are cut.
    let diff = config.algorithm(Algorithm::Myers).timeout(MOST_TIME).diff_lines(source.text(), text);
    let (mut old, mut edits) = (0, Vec::new());
    for operation in diff.ops() {
        let (tag, before, after) = operation.as_tag_tuple();
        let length =
            diff.old_slices().get(before).into_iter().flatten().map(|line| line.len()).sum::<usize>();
        if tag != DiffTag::Equal {
            let new_text = diff.new_slices().get(after).unwrap_or_default().concat();
            let range = view.range_in(source, Span::new(source.id(), old, old + length));
            edits.push(lsp::TextEdit { range, new_text });
        }
        old += length;
    }
    edits
}

fn with_line_ends_of(document: &str, text: &str) -> String {
    if text.contains('\n') && document.contains("\r\n") {
        return text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    text.to_owned()
}
