//! What the client can, and what the server offers it. Capabilities are looked up by their place in the message, so
//! that a client which writes some other part of it oddly is still served.

use super::text::Encoding;
use crate::ide::TokenKind;
use gen_lsp_types as lsp;
use serde_json::{Value, json};

/// The kind of the action that applies every safe fix of a document.
pub(super) const FIX_ALL: &str = "source.fixAll.flowright";
/// The kinds of semantic tokens by their number in the protocol.
const TOKENS: [(TokenKind, &str); 7] = [
    (TokenKind::Bracket, "operator"),
    (TokenKind::Root, "variable"),
    (TokenKind::Step, "function"),
    (TokenKind::Property, "property"),
    (TokenKind::Number, "number"),
    (TokenKind::Word, "keyword"),
    (TokenKind::Agent, "class"),
];

/// The number of a kind of token.
pub(super) fn token_number(kind: TokenKind) -> u32 {
    let at = TOKENS.iter().position(|(known, _)| *known == kind).unwrap_or_default();
    u32::try_from(at).unwrap_or_default()
}

/// What the client can.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Client {
    /// What columns count.
    pub encoding: Encoding,
    /// Findings may name further places.
    pub related: bool,
    /// Findings may point to a page.
    pub pages: bool,
    /// Findings may be marked as about something that is not needed.
    pub unnecessary: bool,
    /// A definition may say what it was asked about.
    pub links: bool,
    /// Outlines may be trees.
    pub trees: bool,
    /// Edits may name versions of documents.
    pub versions: bool,
    /// Actions may carry edits.
    pub literals: bool,
    /// Text may be Markdown.
    pub markdown: bool,
    /// What may be renamed can be asked before.
    pub prepares: bool,
    /// Watching files can be asked for.
    pub watches: bool,
    /// At most so many folds.
    pub folds: usize,
}

impl Client {
    /// From the parameters of `initialize`.
    pub(super) fn new(params: &Value) -> Self {
        let at = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let is = |path: &str| at(path).and_then(Value::as_bool).unwrap_or(false);
        let words = |path: &str| {
            let list = at(path).and_then(Value::as_array);
            list.map(|list| list.iter().filter_map(Value::as_str).collect::<Vec<_>>())
        };
        let encodings = words("general/positionEncodings").unwrap_or_default();
        let tags = at("textDocument/publishDiagnostics/tagSupport/valueSet").and_then(Value::as_array);
        let formats = words("textDocument/hover/contentFormat").unwrap_or_default();
        let folds = at("textDocument/foldingRange/rangeLimit").and_then(Value::as_u64);
        Self {
            encoding: if encodings.contains(&"utf-8") { Encoding::Utf8 } else { Encoding::Utf16 },
            related: is("textDocument/publishDiagnostics/relatedInformation"),
            pages: is("textDocument/publishDiagnostics/codeDescriptionSupport"),
            unnecessary: tags.is_some_and(|tags| tags.iter().any(|tag| tag.as_u64() == Some(1))),
            links: is("textDocument/definition/linkSupport"),
            trees: is("textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            versions: is("workspace/workspaceEdit/documentChanges"),
            literals: at("textDocument/codeAction/codeActionLiteralSupport").is_some_and(Value::is_object),
            markdown: formats.is_empty() || formats.contains(&"markdown"),
            prepares: is("textDocument/rename/prepareSupport"),
            watches: is("workspace/didChangeWatchedFiles/dynamicRegistration"),
            folds: folds.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX),
        }
    }

    /// The answer to `initialize`.
    pub(super) fn greeting(&self) -> Value {
        let encoding = match self.encoding {
            Encoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            Encoding::Utf16 => lsp::PositionEncodingKind::UTF16,
        };
        let sync = lsp::TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(lsp::TextDocumentSyncKind::Incremental),
            save: Some(lsp::Save::Bool(true)),
            ..lsp::TextDocumentSyncOptions::default()
        };
        let completion = lsp::CompletionOptions {
            trigger_characters: Some([".", "{", " ", "/", "@"].map(str::to_owned).to_vec()),
            ..lsp::CompletionOptions::default()
        };
        let actions = lsp::CodeActionOptions {
            code_action_kinds: Some(vec![lsp::CodeActionKind::QuickFix, FIX_ALL.to_owned().into()]),
            ..lsp::CodeActionOptions::default()
        };
        let rename = if self.prepares {
            let options = lsp::RenameOptions { prepare_provider: Some(true), ..Default::default() };
            lsp::RenameProvider::RenameOptions(options)
        } else {
            lsp::RenameProvider::Bool(true)
        };
        let tokens = lsp::SemanticTokensOptions {
            legend: lsp::SemanticTokensLegend {
                token_types: TOKENS.iter().map(|(_, name)| (*name).to_owned()).collect(),
                token_modifiers: Vec::new(),
            },
            range: Some(lsp::SemanticTokensOptionsRange::Bool(true)),
            full: Some(lsp::Full::Bool(true)),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        };
        let capabilities = lsp::ServerCapabilities {
            position_encoding: Some(encoding),
            text_document_sync: Some(lsp::TextDocumentSync::Options(sync)),
            completion_provider: Some(completion),
            hover_provider: Some(lsp::HoverProvider::Bool(true)),
            definition_provider: Some(lsp::DefinitionProvider::Bool(true)),
            references_provider: Some(lsp::ReferencesProvider::Bool(true)),
            document_symbol_provider: Some(lsp::DocumentSymbolProvider::Bool(true)),
            code_action_provider: self
                .literals
                .then_some(lsp::CodeActionProvider::CodeActionOptions(actions)),
            document_formatting_provider: Some(lsp::DocumentFormattingProvider::Bool(true)),
            rename_provider: Some(rename),
            folding_range_provider: Some(lsp::FoldingRangeProvider::Bool(true)),
            semantic_tokens_provider: Some(lsp::SemanticTokensProvider::SemanticTokensOptions(tokens)),
            inlay_hint_provider: Some(lsp::InlayHintProvider::Bool(true)),
            ..lsp::ServerCapabilities::default()
        };
        json!({
            "capabilities": capabilities,
            "serverInfo": { "name": "flowright", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// The request that asks for news of files which documents depend on.
    pub(super) fn watching() -> Value {
        let globs = ["**/*.json", "**/*.agent.md", "**/package.toml", "**/.flowright.toml"];
        let watchers: Vec<_> = globs.iter().map(|glob| json!({ "globPattern": glob })).collect();
        json!({
            "registrations": [{
                "id": "flowright.files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": { "watchers": watchers },
            }],
        })
    }
}
