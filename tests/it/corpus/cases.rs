//! The cases of a folder: what is one, and how it is compiled. Judges nothing.
//!
//! A case is a file `x.yaml`, `x.json`, `x.agent.md`, `x.agent.json` or (settings) `x.toml`, or a folder with a `workflow.yaml` or `workflow.json`, which
//! then is a package of its own. All files of one folder share its `agents/`. In `x.grow.yaml` a line that begins
//! with `%N%` stands N times, `%n%` in it is its number, and `%N:text%` is the text N times; so that a limit can be
//! shown by a few lines.

use crate::support::AS_OF;
use flowright::compile::{
    Compiled, CompiledAgent, Files, Folder, MainDocument, Memory, compile, compile_agent,
};
use flowright::diagnostic::Diagnostic;
use flowright::source::{FileId, Source, Sources};
use flowright::verdict::{self, Under};
use flowright::{ir, settings};
use std::path::{Path, PathBuf};

pub(crate) struct Case {
    /// Name without its ending.
    pub(crate) name: String,
    /// The document.
    pub(crate) path: PathBuf,
    /// Root of its package.
    pub(crate) root: PathBuf,
    /// Its name as it is shown.
    pub(crate) file: String,
}

pub(crate) struct Findings {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) workflow: Option<ir::Workflow>,
    pub(crate) agent: Option<ir::Agent>,
    /// Whether no workflow can come of it: it is an agent or a file of settings.
    pub(crate) is_agent: bool,
}

pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// In the order of their names.
pub(crate) fn of(name: &str) -> Vec<Case> {
    let root = folder(name);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let main = ["workflow.yaml", "workflow.json"].map(|main| path.join(main));
            if let Some(main) = main.into_iter().find(|main| main.is_file()) {
                let shown = main.file_name().unwrap().to_str().unwrap().to_owned();
                found.push(Case { name: file, path: main, root: path, file: shown });
            }
            continue;
        }
        let endings = [".grow.yaml", ".agent.md", ".agent.json", ".yaml", ".json", ".toml"];
        if let Some(name) = endings.iter().find_map(|ending| file.strip_suffix(ending)) {
            found.push(Case { name: name.to_owned(), path, root: root.clone(), file });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in found.windows(2) {
        assert_ne!(pair[0].name, pair[1].name, "two cases have the same name");
    }
    found
}

impl Case {
    /// The file with the expected listing.
    pub(crate) fn expectation(&self) -> PathBuf {
        let at = if self.path.parent() == Some(&*self.root) && self.file.starts_with("workflow.") {
            self.root.parent().unwrap().to_path_buf()
        } else {
            self.root.clone()
        };
        at.join(format!("{}.expected", self.name))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let bytes = std::fs::read(&self.path).unwrap();
        if self.file.ends_with(".grow.yaml") {
            grow(&String::from_utf8(bytes).unwrap()).into_bytes()
        } else {
            bytes
        }
    }

    /// The document as the compiler takes it.
    pub(crate) fn document(&self) -> MainDocument {
        // An agent alone stands where a package would have it.
        let package_path = match self.file.strip_suffix(".agent.json") {
            Some(name) => format!("agents/{name}.json"),
            None => self.file.clone(),
        };
        MainDocument { name: self.file.clone(), package_path, bytes: self.bytes() }
    }

    pub(crate) fn is_agent(&self) -> bool {
        self.file.contains(".agent.") || self.file.ends_with(".toml")
    }

    pub(crate) fn compile(&self) -> Findings {
        self.compile_document(self.document(), &Folder::new(&self.root))
    }

    /// As the command line does it: settings and ignore comments are applied.
    pub(crate) fn compile_document(&self, main: MainDocument, files: &dyn Files) -> Findings {
        let mut findings = self.raw(main, files);
        let text = std::fs::read_to_string(self.root.join(settings::FILE)).unwrap_or_default();
        let source = Source::new(FileId::MAIN, settings::FILE, text);
        let (settings, faults) = settings::read(&source, &self.root);
        assert!(faults.is_empty(), "{faults:?}");
        let under = Under { settings: &settings, path: &self.file };
        findings.diagnostics = verdict::apply(&findings.sources, findings.diagnostics, under).0;
        findings
    }

    fn raw(&self, main: MainDocument, files: &dyn Files) -> Findings {
        if self.file.ends_with(".toml") {
            let mut sources = Sources::default();
            let source = sources.add(self.file.as_str(), String::from_utf8(main.bytes).unwrap());
            let (_, diagnostics) = settings::read(&source, &self.root);
            return Findings { sources, diagnostics, workflow: None, agent: None, is_agent: true };
        }
        if self.file.contains(".agent.") {
            let CompiledAgent { sources, diagnostics, agent, .. } = compile_agent(main);
            return Findings { sources, diagnostics, workflow: None, agent, is_agent: true };
        }
        let Compiled { sources, diagnostics, workflow, .. } = compile(main, files, AS_OF);
        Findings { sources, diagnostics, workflow, agent: None, is_agent: false }
    }

    pub(crate) fn compile_in_memory(&self) -> Findings {
        let mut files = Memory::new();
        for path in all_files(&self.root) {
            let inside = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
            // Only a folder that is a package of its own is read whole; the shared folder lends its agents.
            if self.file.starts_with("workflow.") || inside.contains('/') {
                files = files.with(&inside, std::fs::read(&path).unwrap());
            }
        }
        self.compile_document(self.document(), &files)
    }

    /// Whether the package holds a link, which memory cannot.
    pub(crate) fn has_links(&self) -> bool {
        self.file.starts_with("workflow.") && all_files(&self.root).iter().any(|path| path.is_symlink())
    }
}

fn all_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            found.push(path);
        } else if path.is_dir() {
            found.extend(all_files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The text of a `.grow.yaml`.
pub(crate) fn grow(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let repeated = line.strip_prefix('%').and_then(|rest| {
            let (count, rest) = rest.split_once('%')?;
            Some((count.parse::<usize>().ok()?, rest))
        });
        match repeated {
            Some((count, rest)) => {
                (1..=count).for_each(|n| out.push_str(&widen(&rest.replace("%n%", &n.to_string()))));
            }
            None => out.push_str(&widen(line)),
        }
    }
    out
}

fn widen(line: &str) -> String {
    let parts: Vec<&str> = line.split('%').collect();
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        match part.split_once(':').and_then(|(count, text)| Some((count.parse::<usize>().ok()?, text))) {
            Some((count, text)) if i % 2 == 1 => out.push_str(&text.repeat(count)),
            _ => out.push_str(part),
        }
    }
    out
}
