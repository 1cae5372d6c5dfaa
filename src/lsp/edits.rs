//! Edits of the compile as edits of the protocol, grouped by document and, if the client can, bound to the version
//! that they were made for.

use super::judged::Judged;
use super::view::View;
use crate::diagnostic::Edit;
use gen_lsp_types as lsp;
use std::collections::{BTreeMap, HashMap};

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

fn with_line_ends_of(document: &str, text: &str) -> String {
    if text.contains('\n') && document.contains("\r\n") {
        return text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    text.to_owned()
}
