//! A folder to work in, the binary, and the files of the corpus.

use flowright::compile::{Folder, MainDocument, package_root};
use flowright::diagnostic::Diagnostic;
use flowright::settings::Settings;
use flowright::verdict::{self, Under, Verdict};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::AS_OF;

pub(super) struct Desk {
    folder: tempfile::TempDir,
}

pub(super) struct Outcome {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Outcome {
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path().join(name)).unwrap()).unwrap()
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .arg("check")
            .args(words)
            .current_dir(self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null());
        command
    }

    /// `check` with these words, in the folder.
    pub(super) fn check(&self, words: &[&str]) -> Outcome {
        outcome(self.command(words))
    }

    pub(super) fn check_stdin(&self, words: &[&str], text: &[u8]) -> Outcome {
        let mut command = self.command(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        taken(child.wait_with_output().unwrap())
    }
}

fn outcome(mut command: Command) -> Outcome {
    taken(command.output().unwrap())
}

fn taken(output: std::process::Output) -> Outcome {
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A workflow with these lines under `inputs:`, if there are any, and one sound step.
pub(super) fn flow(inputs: &str) -> String {
    let inputs = if inputs.is_empty() { String::new() } else { format!("inputs:\n{inputs}") };
    format!(
        "kind: workflow\nversion: 1\nname: example\n{inputs}steps:\n  - id: go\n    question: Go on?\n    \
         choices: {{ \"yes\": Go on, \"no\": Stay }}\n"
    )
}

/// Every workflow and agent of the corpus, sorted.
pub(super) fn corpus(folder: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if !path.is_symlink()
                && verdict::kind::may_be_ours(&path.to_string_lossy())
                && verdict::kind(&path.to_string_lossy(), &std::fs::read(&path).unwrap()).is_some()
            {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new(folder), &mut found);
    found.sort();
    assert!(found.len() >= 2, "{folder} holds documents");
    found
}

/// A document of the disk as the library takes it.
pub(super) fn document(path: &Path) -> (MainDocument, Folder) {
    let root = package_root(path);
    let absolute = std::path::absolute(path).unwrap();
    let package_path = absolute.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let name = path.display().to_string();
    let prefix = name.strip_suffix(&package_path).unwrap().to_owned();
    let bytes = std::fs::read(path).unwrap();
    (MainDocument { name, package_path, bytes }, Folder::new(root).shown_under(prefix))
}

pub(super) fn judged(path: &Path) -> Verdict {
    let (main, files) = document(path);
    verdict::judge(main, &files, Under { settings: &Settings::default(), path: "x" }, AS_OF)
}

/// What is said of a text, without settings and without a package.
pub(super) fn of_text(name: &str, text: &str) -> Verdict {
    let main = MainDocument {
        name: name.to_owned(),
        package_path: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let files = flowright::compile::Memory::new();
    verdict::judge(main, &files, Under { settings: &Settings::default(), path: name }, AS_OF)
}

/// `rule@line` of each finding.
pub(super) fn said(verdict: &Verdict) -> Vec<String> {
    let line = |one: &Diagnostic| {
        verdict.sources.get(one.span.file).map_or(0, |source| source.position(one.span.range().start).line)
    };
    verdict.diagnostics.iter().map(|one| format!("{}@{}", one.rule.name, line(one))).collect()
}
