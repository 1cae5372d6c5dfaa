//! Code actions: the fix of a finding, and all safe fixes of a document at once. Which fix mends what is the
//! finding's own.

use super::client::FIX_ALL;
use super::documents::Document;
use super::edits::{of_files, to_become, workspace_edit};
use super::findings;
use super::judged::Judged;
use super::uri;
use super::view::{Refusal, View};
use crate::diagnostic::{Diagnostic, Fix};
use crate::source::{FileId, Span};
use gen_lsp_types as lsp;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is read of the parameters; findings that the client sends along are not needed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    text_document: lsp::TextDocumentIdentifier,
    range: lsp::Range,
    #[serde(default)]
    context: Context,
}

#[derive(Default, Deserialize)]
struct Context {
    only: Option<Vec<String>>,
}

impl Context {
    /// Whether actions of a kind are wanted; a kind stands for all below it.
    fn wants(&self, kind: &str) -> bool {
        self.only.as_ref().is_none_or(|only| {
            only.iter().any(|wanted| {
                wanted.is_empty()
                    || kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })
    }
}

pub(super) fn actions(view: View<'_>, asked: &Asked) -> Result<Vec<lsp::CodeActionResponse>, Refusal> {
    let document = view.document(&asked.text_document)?;
    let mut actions = Vec::new();
    if asked.context.wants("quickfix") {
        quick_fixes(view, document, asked, &mut actions);
    }
    if asked.context.wants(FIX_ALL)
        && let Some(judged) = &document.judged
    {
        actions.extend(fix_all(view, judged));
    }
    Ok(actions.into_iter().map(lsp::CodeActionResponse::CodeAction).collect())
}

fn quick_fixes(view: View<'_>, document: &Document, asked: &Asked, actions: &mut Vec<lsp::CodeAction>) {
    let key = uri::canonical(&document.uri);
    let asked = view.span(document, asked.range);
    let own = document.judged.iter();
    let others = view.documents.all.values().filter(|other| !std::ptr::eq(*other, document));
    for judged in own.chain(others.filter_map(|other| other.judged.as_ref())) {
        let Some(id) = judged.id_of(&key) else { continue };
        for found in judged.findings().iter().filter(|found| found.span.file == id) {
            let Some(fix) = &found.fix else { continue };
            if !overlaps(found.span, asked) {
                continue;
            }
            let action = quick_fix(view, judged, found, fix);
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
    }
    // Safe ones first, otherwise in the order of the findings.
    actions.sort_by_key(|action| action.is_preferred != Some(true));
}

/// Whether a finding touches what was asked about; places of the same document in different compiles.
fn overlaps(found: Span, asked: Span) -> bool {
    found.start <= asked.end && asked.start <= found.end
}

fn quick_fix(view: View<'_>, judged: &Judged, found: &Diagnostic, fix: &Fix) -> lsp::CodeAction {
    let title = if fix.safe { fix.title.clone() } else { format!("{} (may change the meaning)", fix.title) };
    lsp::CodeAction {
        title,
        kind: Some(lsp::CodeActionKind::QuickFix),
        diagnostics: findings::diagnostic(view, judged, found).map(|one| vec![one]),
        is_preferred: fix.safe.then_some(true),
        edit: Some(workspace_edit(view, judged, &fix.edits)),
        ..lsp::CodeAction::default()
    }
}

fn fix_all(view: View<'_>, judged: &Judged) -> Option<lsp::CodeAction> {
    let is_safe = |found: &Diagnostic| found.fix.as_ref().is_some_and(|fix| fix.safe);
    if !judged.findings().iter().any(is_safe) {
        return None;
    }
    let (source, key) = judged.file(FileId::MAIN)?;
    let edits = to_become(view, source, judged.mended(view.documents));
    if edits.is_empty() {
        return None;
    }
    Some(lsp::CodeAction {
        title: "apply all safe fixes".to_owned(),
        kind: Some(lsp::CodeActionKind::Custom(FIX_ALL.into())),
        edit: Some(of_files(view, BTreeMap::from([(key, edits)]))),
        ..lsp::CodeAction::default()
    })
}
