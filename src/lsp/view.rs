//! What answers are made from: the open documents and what the client can. Places of `ide` become places of the
//! protocol here. It changes nothing.

use super::client::Client;
use super::documents::{Document, Documents};
use super::judged::Judged;
use super::pages::Pages;
use super::{text, uri};
use crate::ide::At;
use crate::source::{FileId, Source, Span};
use gen_lsp_types as lsp;
use lsp_server::ErrorCode;

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub code: ErrorCode,
    pub message: String,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub documents: &'a Documents,
    pub client: &'a Client,
    pub pages: &'a Pages,
}

/// A document that was asked about, and one compile that has read it.
pub(super) struct Seen<'a> {
    pub judged: &'a Judged,
    pub at: At,
}

impl<'a> View<'a> {
    /// An open document.
    pub(super) fn document(&self, id: &lsp::TextDocumentIdentifier) -> Result<&'a Document, Refusal> {
        let refusal = || Refusal::new(ErrorCode::InvalidParams, format!("`{}` is not open", id.uri));
        self.documents.get(&id.uri.0).ok_or_else(refusal)
    }

    /// A place in its own compile.
    pub(super) fn own(&self, place: &lsp::TextDocumentPositionParams) -> Result<Option<Seen<'a>>, Refusal> {
        let document = self.document(&place.text_document)?;
        let offset = document.text.offset(place.position, self.client.encoding);
        let seen = |judged| Seen { judged, at: At { file: FileId::MAIN, offset } };
        Ok(document.judged.as_ref().map(seen))
    }

    /// A place in every compile that has read its document, its own first.
    pub(super) fn everywhere(
        &self,
        place: &lsp::TextDocumentPositionParams,
    ) -> Result<Vec<Seen<'a>>, Refusal> {
        let mut all: Vec<_> = self.own(place)?.into_iter().collect();
        let document = self.document(&place.text_document)?;
        let offset = document.text.offset(place.position, self.client.encoding);
        let key = uri::canonical(&document.uri);
        for judged in self.documents.all.values().filter_map(|other| other.judged.as_ref()) {
            if let Some(file) = judged.id_of(&key).filter(|file| *file != FileId::MAIN) {
                all.push(Seen { judged, at: At { file, offset } });
            }
        }
        Ok(all)
    }

    /// A place of a source as the protocol writes it.
    pub(super) fn range_in(&self, source: &Source, span: Span) -> lsp::Range {
        let position = |offset| text::position(source, offset, self.client.encoding);
        let range = span.range();
        lsp::Range { start: position(range.start), end: position(range.end) }
    }

    pub(super) fn range(&self, judged: &Judged, span: Span) -> Option<lsp::Range> {
        Some(self.range_in(judged.sources().get(span.file)?, span))
    }

    pub(super) fn location(&self, judged: &Judged, span: Span) -> Option<lsp::Location> {
        let (source, key) = judged.file(span.file)?;
        Some(lsp::Location { uri: self.spelling(key), range: self.range_in(source, span) })
    }

    /// The bytes of the main document that a range of the protocol covers.
    pub(super) fn span(&self, document: &Document, range: lsp::Range) -> Span {
        let offset = |position| document.text.offset(position, self.client.encoding);
        Span::new(FileId::MAIN, offset(range.start), offset(range.end))
    }

    /// An address as the client writes it.
    pub(super) fn spelling(&self, canonical: &str) -> lsp::Uri {
        let open = self.documents.all.get(canonical);
        lsp::Uri(open.map_or_else(|| canonical.to_owned(), |document| document.uri.clone()))
    }

    /// Text that is Markdown, said to be plain to a client that knows no Markdown.
    pub(super) fn markup(&self, markdown: String) -> lsp::MarkupContent {
        let kind = if self.client.markdown { lsp::MarkupKind::Markdown } else { lsp::MarkupKind::PlainText };
        lsp::MarkupContent { kind, value: markdown }
    }
}
