//! A document that was compiled: its analysis, its findings, and which file each of its sources is. The only place of
//! the server that compiles.

use super::documents::{Document, Documents, Overlay, Reads};
use super::uri;
use crate::compile::{self, Files, MainDocument, Memory};
use crate::diagnostic::Diagnostic;
use crate::ide::{self, Analysis};
use crate::settings::{self, Settings};
use crate::source::{FileId, Source, Sources};
use crate::time::Timestamp;
use crate::verdict::mend::{Level, mend};
use crate::verdict::{self, Kind, Under};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The language id that makes any document a workflow.
const LANGUAGE: &str = "flowright";

/// What is known of an open document.
#[derive(Debug)]
pub(super) struct Judged {
    /// What `ide` answers from; its findings are those that count.
    pub analysis: Analysis,
    /// What it was read from.
    pub reads: Reads,
    /// The settings that count for it.
    pub settings: Rules,
    /// Canonical addresses of the sources by [`FileId`].
    files: Vec<String>,
    main: MainDocument,
    root: Option<PathBuf>,
    /// The document with all safe fixes, once somebody has asked for it.
    mended: OnceCell<String>,
}

/// Settings, where they stand, and what is wrong with them.
#[derive(Debug, Default)]
pub(super) struct Rules {
    settings: Settings,
    /// The path of the document from the folder of the settings.
    place: String,
    /// Their file, its canonical address, and what was found in it.
    pub file: Option<(Source, String, Vec<Diagnostic>)>,
}

impl Rules {
    /// The settings for a path, from the editor or the disk.
    fn of(path: &Path, open: &Documents) -> Self {
        let folder = path.parent().unwrap_or(path);
        let read = settings::locate(folder).and_then(|file| Some((open.text_of(&file)?, file)));
        let (settings, file) = match read {
            Some((text, file)) => {
                let source = Source::new(FileId::MAIN, file.display().to_string(), text);
                let (settings, found) = settings::read(&source, file.parent().unwrap_or(folder));
                (settings, Some((source, uri::of(&file), found)))
            }
            None => (Settings::of_folder(folder), None),
        };
        let place = settings::path_from(&settings.folder, path);
        Self { settings, place, file }
    }

    fn under(&self) -> Under<'_> {
        Under { settings: &self.settings, path: &self.place }
    }
}

impl Judged {
    /// The texts that were read.
    pub(super) fn sources(&self) -> &Sources {
        self.analysis.sources()
    }

    /// The path of the document in its package, whose ending says how it is read.
    pub(super) fn package_path(&self) -> &str {
        &self.main.package_path
    }

    /// Whether more is known of it than its findings: of a test file nothing is.
    pub(super) fn is_known(&self) -> bool {
        verdict::kind(&self.main.package_path, &self.main.bytes) != Some(Kind::Test)
    }

    /// What was found and counts.
    pub(super) fn findings(&self) -> &[Diagnostic] {
        match &self.analysis.document {
            ide::Document::Workflow(compiled) => &compiled.diagnostics,
            ide::Document::Agent(compiled) => &compiled.diagnostics,
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

    /// The document with all safe fixes: a fix counts only if its finding is gone afterwards.
    pub(super) fn mended(&self, open: &Documents) -> &str {
        self.mended.get_or_init(|| {
            let mend = |files: &dyn Files| {
                mend(&self.main, files, self.settings.under(), self.analysis.as_of, Level::Safe).text
            };
            match &self.root {
                Some(root) => mend(&Overlay::new(root, open)),
                None => mend(&Memory::new()),
            }
        })
    }
}

/// Judges a document as `flowright check` judges it in a folder; `None` if it is passed over there.
pub(super) fn judge(document: &Document, open: &Documents, as_of: Timestamp) -> Option<Judged> {
    let text = document.text.as_str();
    let name = document.path.as_deref().map_or(document.uri.clone(), |path| path.display().to_string());
    let kind = verdict::kind(&name, text.as_bytes());
    let kind = kind.or_else(|| (document.language == LANGUAGE).then_some(Kind::Workflow))?;
    let root = document.path.as_deref().map(compile::package_root);
    let package_path = match (&root, &document.path) {
        (Some(root), Some(path)) => settings::path_from(root, path),
        _ => name.clone(),
    };
    let main = MainDocument { name, package_path, bytes: text.as_bytes().to_vec() };
    let (compiled, reads) = compiled(kind, main.clone(), root.as_deref(), open, as_of);
    let settings = document.path.as_deref().map(|path| Rules::of(path, open)).unwrap_or_default();
    let analysis = Analysis { document: counted(compiled, settings.under()), as_of };
    let address = |source: &Source| {
        let is_file = root.is_some() && source.id() != FileId::MAIN;
        if is_file { uri::of(Path::new(source.name())) } else { uri::canonical(&document.uri) }
    };
    let files = analysis.sources().iter().map(address).collect();
    Some(Judged { analysis, reads, settings, files, main, root, mended: OnceCell::new() })
}

/// With the findings that count alone.
fn counted(mut document: ide::Document, under: Under<'_>) -> ide::Document {
    let (sources, found) = match &mut document {
        ide::Document::Workflow(compiled) => (&compiled.sources, &mut compiled.diagnostics),
        ide::Document::Agent(compiled) => (&compiled.sources, &mut compiled.diagnostics),
    };
    (*found, _) = verdict::apply(sources, std::mem::take(found), under);
    document
}

fn compiled(
    kind: Kind,
    main: MainDocument,
    root: Option<&Path>,
    open: &Documents,
    as_of: Timestamp,
) -> (ide::Document, Reads) {
    let workflow = |compiled| ide::Document::Workflow(Box::new(compiled));
    let agent = |compiled| ide::Document::Agent(Box::new(compiled));
    // What was never saved has no package yet.
    let Some(root) = root else {
        let document = match kind {
            Kind::Agent => agent(compile::compile_agent(main)),
            Kind::Workflow => workflow(compile::analyse(main, &Memory::new(), as_of)),
            Kind::Test => workflow(compile::compile_test(main).into_unread()),
        };
        return (document, Reads::default());
    };
    let files = Overlay::new(root, open);
    let document = match kind {
        Kind::Agent => agent(compile::compile_agent_in(main, &files)),
        Kind::Workflow => workflow(compile::analyse(main, &files, as_of)),
        Kind::Test => workflow(compile::compile_test(main).into_unread()),
    };
    (document, files.into_reads())
}
