//! Answers about a place: hover, completion, definition, references, rename. What is answered is `ide`'s.

use super::edits::workspace_edit;
use super::view::{Refusal, Seen, View};
use crate::ide::{self, CompletionKind, complete, define, rename};
use crate::source::Span;
use gen_lsp_types as lsp;
use lsp_server::ErrorCode;

pub(super) fn hover(view: View<'_>, asked: lsp::HoverParams) -> Result<Option<lsp::Hover>, Refusal> {
    for seen in view.everywhere(&asked.text_document_position_params)? {
        if let Some(hover) = ide::hover::hover(&seen.judged.analysis, seen.at) {
            return Ok(Some(lsp::Hover {
                contents: lsp::Contents::MarkupContent(view.markup(hover.markdown)),
                range: view.range(seen.judged, hover.span).filter(|_| hover.span.file == seen.at.file),
            }));
        }
    }
    Ok(None)
}

pub(super) fn completion(
    view: View<'_>,
    asked: lsp::CompletionParams,
) -> Result<Option<lsp::CompletionResponse>, Refusal> {
    let Some(seen) = view.own(&asked.text_document_position_params)? else { return Ok(None) };
    let all = complete::complete(&seen.judged.analysis, seen.at);
    let items = all.into_iter().enumerate().filter_map(|(rank, one)| item(view, &seen, rank, one)).collect();
    let list = lsp::CompletionList { is_incomplete: false, items, ..lsp::CompletionList::default() };
    Ok(Some(lsp::CompletionResponse::CompletionList(list)))
}

fn item(view: View<'_>, seen: &Seen<'_>, rank: usize, one: ide::Completion) -> Option<lsp::CompletionItem> {
    let kind = match one.kind {
        CompletionKind::Key => lsp::CompletionItemKind::Property,
        CompletionKind::Word => lsp::CompletionItemKind::Keyword,
        CompletionKind::Step => lsp::CompletionItemKind::Function,
        CompletionKind::Field => lsp::CompletionItemKind::Field,
        CompletionKind::Input => lsp::CompletionItemKind::Variable,
        CompletionKind::Agent => lsp::CompletionItemKind::Class,
        CompletionKind::Tool => lsp::CompletionItemKind::Method,
        CompletionKind::Zone => lsp::CompletionItemKind::Constant,
    };
    let range = view.range(seen.judged, one.span)?;
    let edit = lsp::TextEdit { range, new_text: one.text.clone() };
    // Clients keep what fits the text that is replaced, so the filter has to be what is written.
    let filter = (one.text != one.label).then(|| one.text.trim_start().to_owned());
    // The protocol wants replaced text to lie in one line.
    let is_one_line = range.start.line == range.end.line;
    Some(lsp::CompletionItem {
        label: one.label,
        kind: Some(kind),
        detail: (!one.detail.is_empty()).then_some(one.detail),
        documentation: (!one.doc.is_empty()).then(|| lsp::Documentation::MarkupContent(view.markup(one.doc))),
        sort_text: Some(format!("{rank:05}")),
        filter_text: filter,
        insert_text: (!is_one_line).then_some(one.text),
        insert_text_format: Some(lsp::InsertTextFormat::PlainText),
        // The text says itself how it is indented.
        insert_text_mode: Some(lsp::InsertTextMode::AsIs),
        text_edit: is_one_line.then_some(lsp::CompletionItemTextEdit::TextEdit(edit)),
        ..lsp::CompletionItem::default()
    })
}

pub(super) fn definition(
    view: View<'_>,
    asked: lsp::DefinitionParams,
) -> Result<Option<lsp::DefinitionResponse>, Refusal> {
    for seen in view.everywhere(&asked.text_document_position_params)? {
        let Some(symbol) = define::symbol(&seen.judged.analysis, seen.at) else { continue };
        let locations: Vec<_> =
            symbol.declared.iter().filter_map(|span| view.location(seen.judged, *span)).collect();
        if locations.is_empty() {
            continue;
        }
        if !view.client.links {
            let definition = lsp::Definition::LocationList(locations);
            return Ok(Some(lsp::DefinitionResponse::Definition(definition)));
        }
        let links = locations.into_iter().map(|location| lsp::LocationLink {
            origin_selection_range: view.range(seen.judged, symbol.asked),
            target_uri: location.uri,
            target_range: location.range,
            target_selection_range: location.range,
        });
        return Ok(Some(lsp::DefinitionResponse::DefinitionLinkList(links.collect())));
    }
    Ok(None)
}

pub(super) fn references(
    view: View<'_>,
    asked: lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>, Refusal> {
    let mut all = Vec::new();
    let mut is_symbol = false;
    for seen in view.everywhere(&asked.text_document_position_params)? {
        let Some(symbol) = define::symbol(&seen.judged.analysis, seen.at) else { continue };
        is_symbol = true;
        let declared: &[Span] = if asked.context.include_declaration { &symbol.declared } else { &[] };
        for span in declared.iter().chain(&symbol.used) {
            if let Some(location) = view.location(seen.judged, *span)
                && !all.contains(&location)
            {
                all.push(location);
            }
        }
    }
    Ok(is_symbol.then_some(all))
}

pub(super) fn prepare_rename(
    view: View<'_>,
    asked: lsp::PrepareRenameParams,
) -> Result<Option<lsp::PrepareRenameResult>, Refusal> {
    let (seen, span) = renamed(view, &asked.text_document_position_params)?;
    let source = seen.judged.sources().get(span.file);
    Ok(source.map(|source| {
        lsp::PrepareRenameResult::PrepareRenamePlaceholder(lsp::PrepareRenamePlaceholder {
            range: view.range_in(source, span),
            placeholder: source.slice(span).to_owned(),
        })
    }))
}

pub(super) fn rename(
    view: View<'_>,
    asked: lsp::RenameParams,
) -> Result<Option<lsp::WorkspaceEdit>, Refusal> {
    let (seen, _) = renamed(view, &asked.text_document_position_params)?;
    let edits = rename::rename(&seen.judged.analysis, seen.at, &asked.new_name)
        .map_err(|why| Refusal::new(ErrorCode::RequestFailed, why))?;
    Ok(Some(workspace_edit(view, seen.judged, &edits)))
}

/// What would be renamed, in the first compile that knows it.
fn renamed<'a>(view: View<'a>, place: &lsp::TextDocumentPositionParams) -> Result<(Seen<'a>, Span), Refusal> {
    let mut why = None;
    for seen in view.everywhere(place)? {
        match rename::target(&seen.judged.analysis, seen.at) {
            Ok(span) => return Ok((seen, span)),
            Err(sentence) => why = why.or(Some(sentence)),
        }
    }
    let why = why.unwrap_or_else(|| "this is neither a workflow nor an agent".to_owned());
    Err(Refusal::new(ErrorCode::RequestFailed, why))
}
