//! A document that was compiled: its analysis, its findings, and which file each of its sources is. The only place of
//! the server that compiles.

use super::documents::{Document, Documents, Overlay, Reads};
use super::uri;
use crate::compile::{self, MainDocument, Memory};
use crate::diagnostic::Diagnostic;
use crate::ide::{self, Analysis};
use crate::source::{FileId, Source, Sources};
use crate::time::Timestamp;
use crate::verdict::{self, Kind};
use std::path::{Path, PathBuf};

/// The language id that makes any document a workflow.
const LANGUAGE: &str = "flowright";

/// What is known of an open document.
#[derive(Debug)]
pub(super) struct Judged {
    /// What `ide` answers from.
    pub analysis: Analysis,
    /// What was found.
    pub findings: Vec<Diagnostic>,
    /// What it was read from.
    pub reads: Reads,
    /// Canonical addresses of the sources by [`FileId`].
    files: Vec<String>,
}

impl Judged {
    /// The texts that were read.
    pub(super) fn sources(&self) -> &Sources {
        match &self.analysis.document {
            ide::Document::Workflow(compiled) => &compiled.sources,
            ide::Document::Agent(compiled) => &compiled.sources,
        }
    }

    /// A source with its canonical address.
    pub(super) fn file(&self, id: FileId) -> Option<(&Source, &str)> {
        Some((self.sources().get(id)?, self.files.get(id.0 as usize)?))
    }

    /// Which of the sources a document is.
    pub(super) fn id_of(&self, canonical: &str) -> Option<FileId> {
        let at = self.files.iter().position(|file| file == canonical)?;
        u32::try_from(at).ok().map(FileId)
    }
}

/// Judges a document as `flowright check` judges it in a folder; `None` if it is passed over there.
pub(super) fn judge(document: &Document, open: &Documents, as_of: Timestamp) -> Option<Judged> {
    let text = document.text.as_str();
    let name = document.path.as_deref().map_or(document.uri.clone(), |path| path.display().to_string());
    let kind = verdict::kind(&name, text.as_bytes());
    let kind = kind.or_else(|| (document.language == LANGUAGE).then_some(Kind::Workflow))?;
    let root = document.path.as_deref().map(compile::package_root);
    let main = MainDocument {
        package_path: package_path(root.as_deref(), document, &name),
        name,
        bytes: text.as_bytes().to_vec(),
    };
    let (analysed, findings, reads) = match kind {
        Kind::Agent => {
            let mut compiled = compile::compile_agent(main);
            let findings = std::mem::take(&mut compiled.diagnostics);
            (ide::Document::Agent(Box::new(compiled)), findings, Reads::default())
        }
        Kind::Workflow => {
            let (mut compiled, reads) = match &root {
                Some(root) => {
                    let files = Overlay::new(root, open);
                    (compile::compile(main, &files, as_of), files.into_reads())
                }
                // What was never saved has no package yet.
                None => (compile::compile(main, &Memory::new(), as_of), Reads::default()),
            };
            let findings = std::mem::take(&mut compiled.diagnostics);
            (ide::Document::Workflow(Box::new(compiled)), findings, reads)
        }
    };
    let analysis = Analysis { document: analysed, as_of };
    let mut judged = Judged { analysis, findings, reads, files: Vec::new() };
    let address = |source: &Source| match (&root, source.id()) {
        (Some(root), id) if id != FileId::MAIN => uri::of(&root.join(source.name())),
        _ => uri::canonical(&document.uri),
    };
    judged.files = judged.sources().iter().map(address).collect();
    Some(judged)
}

/// The path of a document from the root of its package, with `/`.
fn package_path(root: Option<&Path>, document: &Document, name: &str) -> String {
    let inside = root.zip(document.path.as_deref()).and_then(|(root, path)| path.strip_prefix(root).ok());
    let path = inside.map_or_else(|| PathBuf::from(name), Path::to_path_buf);
    let parts: Vec<_> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}
