//! Code actions: the fix of a finding, and all safe fixes of a document at once. Which fix mends what is the
//! finding's own.

use super::client::FIX_ALL;
use super::documents::Document;
use super::edits::workspace_edit;
use super::findings;
use super::judged::Judged;
use super::uri;
use super::view::{Refusal, View};
use crate::diagnostic::{Diagnostic, Edit, Fix};
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
        for found in judged.findings.iter().filter(|found| found.span.file == id) {
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
    let fixes = judged.findings.iter().filter_map(|found| found.fix.as_ref());
    let is_here = |fix: &&Fix| fix.edits.iter().all(|edit| edit.span.file == FileId::MAIN);
    let edits = compatible(fixes.filter(|fix| fix.safe).filter(is_here));
    if edits.is_empty() {
        return None;
    }
    Some(lsp::CodeAction {
        title: "apply all safe fixes".to_owned(),
        kind: Some(lsp::CodeActionKind::Custom(FIX_ALL.into())),
        edit: Some(workspace_edit(view, judged, edits)),
        ..lsp::CodeAction::default()
    })
}

/// The edits of as many fixes as do not touch each other, the first first.
fn compatible<'f>(fixes: impl Iterator<Item = &'f Fix>) -> Vec<&'f Edit> {
    let mut fixes: Vec<_> = fixes.filter(|fix| !fix.edits.is_empty()).collect();
    fixes.sort_by_key(|fix| fix.edits.iter().map(|edit| edit.span).min());
    // Ends by start: what is taken is apart, so only the last that starts before an edit's end can touch it.
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    let mut edits = Vec::new();
    for fix in fixes {
        let touches = |edit: &Edit| {
            taken.range(..=edit.span.end).next_back().is_some_and(|(_, end)| *end >= edit.span.start)
        };
        if !fix.edits.iter().any(touches) {
            taken.extend(fix.edits.iter().map(|edit| (edit.span.start, edit.span.end)));
            edits.extend(&fix.edits);
        }
    }
    edits
}
