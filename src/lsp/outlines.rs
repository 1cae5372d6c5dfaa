//! Answers about a whole document: symbols, folds, tokens, inlay notes, its layout. What is answered is
//! `ide`'s and `fmt`'s.

use super::client;
use super::documents::Document;
use super::edits::to_become;
use super::judged::Judged;
use super::view::{Refusal, View};
use crate::fmt;
use crate::ide::{self, Entry, EntryKind};
use crate::source::{FileId, Source, Span};
use gen_lsp_types as lsp;
use lsp_server::ErrorCode;

/// A document that is ours, with its compile and its text.
fn ours<'a>(
    view: View<'a>,
    id: &lsp::TextDocumentIdentifier,
) -> Result<Option<(&'a Document, &'a Judged, &'a Source)>, Refusal> {
    let document = view.document(id)?;
    let judged = document.judged.as_ref();
    Ok(judged.and_then(|judged| Some((document, judged, judged.sources().get(FileId::MAIN)?))))
}

pub(super) fn symbols(
    view: View<'_>,
    asked: lsp::DocumentSymbolParams,
) -> Result<Option<lsp::DocumentSymbolResponse>, Refusal> {
    let Some((document, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    let entries = ide::outline::outline(&judged.analysis);
    if view.client.trees {
        let tree = entries.iter().map(|entry| symbol(view, source, entry)).collect();
        return Ok(Some(lsp::DocumentSymbolResponse::DocumentSymbolList(tree)));
    }
    let mut flat = Vec::new();
    flatten(view, &document.uri, source, None, &entries, &mut flat);
    Ok(Some(lsp::DocumentSymbolResponse::SymbolInformationList(flat)))
}

fn kind(entry: &Entry) -> lsp::SymbolKind {
    match entry.kind {
        EntryKind::Input => lsp::SymbolKind::Variable,
        EntryKind::Output => lsp::SymbolKind::Property,
        EntryKind::Agent => lsp::SymbolKind::Class,
        EntryKind::Cron => lsp::SymbolKind::Event,
        EntryKind::Question => lsp::SymbolKind::Interface,
        EntryKind::Stage => lsp::SymbolKind::Function,
        EntryKind::Loop => lsp::SymbolKind::Array,
        EntryKind::Branch => lsp::SymbolKind::Enum,
        EntryKind::Stop => lsp::SymbolKind::Constant,
        EntryKind::Gate => lsp::SymbolKind::Operator,
    }
}

/// Clients refuse a symbol without a name.
fn name(entry: &Entry) -> String {
    let is_blank = entry.name.trim().is_empty();
    if is_blank { "(no name)".to_owned() } else { entry.name.clone() }
}

#[allow(deprecated)]
fn symbol(view: View<'_>, source: &Source, entry: &Entry) -> lsp::DocumentSymbol {
    // Clients refuse a name that lies outside its symbol.
    let whole = entry.span.to(entry.name_span);
    let children: Vec<_> = entry.children.iter().map(|child| symbol(view, source, child)).collect();
    lsp::DocumentSymbol {
        name: name(entry),
        detail: (!entry.detail.is_empty()).then(|| entry.detail.clone()),
        kind: kind(entry),
        tags: None,
        deprecated: None,
        range: view.range_in(source, whole),
        selection_range: view.range_in(source, entry.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

#[allow(deprecated)]
fn flatten(
    view: View<'_>,
    uri: &str,
    source: &Source,
    container: Option<&str>,
    entries: &[Entry],
    flat: &mut Vec<lsp::SymbolInformation>,
) {
    for entry in entries {
        let range = view.range_in(source, entry.span.to(entry.name_span));
        flat.push(lsp::SymbolInformation {
            deprecated: None,
            location: lsp::Location { uri: lsp::Uri(uri.to_owned()), range },
            base_symbol_information: lsp::BaseSymbolInformation {
                name: name(entry),
                kind: kind(entry),
                tags: None,
                container_name: container.map(str::to_owned),
            },
        });
        flatten(view, uri, source, Some(&entry.name), &entry.children, flat);
    }
}

pub(super) fn folds(
    view: View<'_>,
    asked: lsp::FoldingRangeParams,
) -> Result<Option<Vec<lsp::FoldingRange>>, Refusal> {
    let Some((_, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    let line = |offset: usize| u32::try_from(source.lines().line_of(offset)).unwrap_or(u32::MAX);
    let lines = |span: Span| {
        // Blank lines behind a value are no part of it.
        let end = span.range().start + source.slice(span).trim_end().len();
        (line(span.range().start), line(end))
    };
    let mut folds: Vec<_> = ide::outline::folds(&judged.analysis).into_iter().map(lines).collect();
    folds.retain(|(start, end)| start < end);
    folds.sort_unstable();
    folds.dedup();
    folds.truncate(view.client.folds);
    let fold = |(start, end)| lsp::FoldingRange { start_line: start, end_line: end, ..Default::default() };
    Ok(Some(folds.into_iter().map(fold).collect()))
}

pub(super) fn tokens(
    view: View<'_>,
    asked: lsp::SemanticTokensParams,
) -> Result<Option<lsp::SemanticTokens>, Refusal> {
    let Some((_, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    Ok(Some(encode(view, source, judged, None)))
}

pub(super) fn tokens_within(
    view: View<'_>,
    asked: lsp::SemanticTokensRangeParams,
) -> Result<Option<lsp::SemanticTokens>, Refusal> {
    let Some((document, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    Ok(Some(encode(view, source, judged, Some(view.span(document, asked.range)))))
}

/// Tokens as the protocol writes them: each counts from the one before. Columns go on from the last token of the
/// line, so that a long line is read once.
fn encode(view: View<'_>, source: &Source, judged: &Judged, within: Option<Span>) -> lsp::SemanticTokens {
    let mut data = Vec::new();
    let (mut line, mut column, mut offset, mut line_before, mut column_before) = (0, 0, 0, 0, 0);
    for token in ide::tokens::tokens(&judged.analysis) {
        let range = token.span.range();
        let is_wanted =
            within.is_none_or(|within| token.span.start < within.end && within.start < token.span.end);
        let length = view.client.encoding.units(source.slice(token.span));
        if !is_wanted || length == 0 || range.start < offset {
            continue;
        }
        let here = source.lines().line_of(range.start);
        if here != line {
            (line, column, offset) = (here, 0, source.lines().start_of(here));
        }
        column += view.client.encoding.units(source.text().get(offset..range.start).unwrap_or_default());
        offset = range.start;
        let delta_line = u32::try_from(line.saturating_sub(line_before)).unwrap_or(u32::MAX);
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start: if delta_line == 0 { column - column_before } else { column },
            length,
            token_type: client::token_number(token.kind),
            token_modifiers_bitset: 0,
        });
        (line_before, column_before) = (line, column);
    }
    lsp::SemanticTokens { result_id: None, data }
}

pub(super) fn inlays(
    view: View<'_>,
    asked: lsp::InlayHintParams,
) -> Result<Option<Vec<lsp::InlayHint>>, Refusal> {
    let Some((document, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    let within = view.span(document, asked.range);
    let notes = ide::inlay::inlays(&judged.analysis, within).into_iter().map(|note| {
        let place = Span::new(FileId::MAIN, note.offset, note.offset);
        let tooltip = lsp::Tooltip::MarkupContent(view.markup(note.tooltip.clone()));
        lsp::InlayHint {
            position: view.range_in(source, place).start,
            label: lsp::Label::String(note.label),
            kind: None,
            text_edits: None,
            tooltip: (!note.tooltip.is_empty()).then_some(tooltip),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        }
    });
    Ok(Some(notes.collect()))
}

pub(super) fn formatting(
    view: View<'_>,
    asked: lsp::DocumentFormattingParams,
) -> Result<Option<Vec<lsp::TextEdit>>, Refusal> {
    let Some((_, judged, source)) = ours(view, &asked.text_document)? else { return Ok(None) };
    if !judged.is_known() {
        return Ok(None);
    }
    let refused = |refusal| {
        let why = match refusal {
            fmt::Refusal::Unreadable(_) => {
                "what cannot be read is not formatted; mend its errors first".to_owned()
            }
            fmt::Refusal::Different(why) => format!("a fault of ours, nothing is formatted: {why}"),
        };
        Refusal::new(ErrorCode::RequestFailed, why)
    };
    let text = fmt::format(judged.package_path(), source.text()).map_err(refused)?;
    Ok(Some(to_become(view, source, &text)))
}
