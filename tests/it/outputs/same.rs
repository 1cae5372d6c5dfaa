//! The verdict does not depend on the way in: file, folder, stdin, package, inline.

use super::desk::{Desk, corpus, document};
use flowright::compile::{FileError, Files, MainDocument, Memory};
use flowright::host::clock::{Clock, RealClock};
use flowright::settings::Settings;
use flowright::verdict::{self, Under};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Findings without the names of files: rule, severity, message, place.
fn essence(diagnostics: &Value) -> Vec<String> {
    let mut all: Vec<String> = diagnostics
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let file = Path::new(one["file"].as_str().unwrap()).file_name().unwrap().to_owned();
            format!("{file:?} {} {} {} {}", one["rule"], one["severity"], one["message"], one["span"])
        })
        .collect();
    all.sort();
    all
}

/// Links stay links.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            std::os::unix::fs::symlink(target, to.join(entry.file_name())).unwrap();
        } else if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// The files below a folder as an inline package, with what may be run as a program.
struct Inline {
    files: Memory,
    programs: BTreeMap<String, Option<bool>>,
}

impl Files for Inline {
    fn read(&self, package_path: &str) -> Result<Vec<u8>, FileError> {
        self.files.read(package_path)
    }

    fn list(&self, dir: &str) -> Vec<String> {
        self.files.list(dir)
    }

    fn is_executable(&self, package_path: &str) -> Option<bool> {
        self.programs.get(package_path).copied().flatten()
    }
}

fn inline(root: &Path, disk: &dyn Files) -> Inline {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if !path.is_symlink() {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    let mut all = Inline { files: Memory::new(), programs: BTreeMap::new() };
    for path in found {
        let name = path.to_str().unwrap();
        all.files = all.files.with(name, std::fs::read(root.join(&path)).unwrap());
        all.programs.insert(name.to_owned(), disk.is_executable(name));
    }
    all
}

fn by_library(main: MainDocument, files: &dyn Files) -> Vec<String> {
    let settings = Settings::default();
    // Dates are looked at from today on, as the command line does.
    let verdict = verdict::judge(main, files, Under { settings: &settings, path: "x" }, RealClock.now());
    let mut out = Vec::new();
    let look = flowright::report::Look::default();
    let format = flowright::report::Format::Json;
    flowright::report::write(format, &verdict.sources, &verdict.diagnostics, &mut out, look).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    essence(&json["diagnostics"])
}

#[test]
fn every_way_in_gives_the_same_verdict() {
    let desk = Desk::new();
    copy(Path::new("corpus"), &desk.path().join("corpus"));
    let paths = corpus("corpus");
    let names: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let flags = ["--json", "--no-settings"];
    let by_folder = desk.check(&[&["corpus"], &flags[..]].concat()).json();
    let by_name = desk.check(&[&names[..], &flags[..]].concat()).json();
    assert_eq!(by_folder["summary"]["files"], paths.len());
    assert_eq!(essence(&by_name["diagnostics"]), essence(&by_folder["diagnostics"]));
    let mut findings = 0;
    let mut packages: BTreeMap<PathBuf, Inline> = BTreeMap::new();
    for path in paths {
        let name = path.to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let by_stdin = desk.check_stdin(&["-", "--json", "--no-settings", "--stdin-filename", name], &bytes);
        let by_stdin = essence(&by_stdin.json()["diagnostics"]);
        findings += by_stdin.len();
        let of_folder: Vec<Value> = by_folder["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["file"] == name)
            .cloned()
            .collect();
        let of_folder = essence(&Value::Array(of_folder));
        let own = format!("{:?} ", path.file_name().unwrap());
        let of_itself: Vec<String> = by_stdin.iter().filter(|one| one.starts_with(&own)).cloned().collect();
        if verdict::kind(name, &bytes) == Some(verdict::Kind::Agent) {
            // Workflows of the folder may say more of an agent that they name.
            assert!(of_itself.iter().all(|one| of_folder.contains(one)), "folder: {name}");
        } else {
            assert_eq!(of_folder, of_itself, "folder: {name}");
        }
        let by_file = by_stdin;
        let (main, disk) = document(&path);
        assert_eq!(by_library(main.clone(), &disk), by_file, "library: {name}");
        let root = flowright::compile::package_root(&path);
        // Inline there are no links out of the package.
        if !name.contains("link-out-of-the-package") {
            let files = packages.entry(root.clone()).or_insert_with(|| inline(&root, &disk));
            assert_eq!(by_library(main, files), by_file, "inline: {name}");
        }
    }
    assert!(findings > 20, "the corpus has findings to compare");
}

/// A file deep in a package sees the whole package, from wherever it is named.
#[test]
fn a_package_is_the_same_from_everywhere() {
    let desk = Desk::new();
    desk.file("pkg/package.toml", "");
    desk.file("pkg/agents/worker.json", "{ \"slug\": \"worker\", \"base\": \"workflow-agent@1\", \"modelUrl\": \"http://localhost:1/v1\", \"modelName\": \"m\", \"apiKeyId\": \"k\", \"systemPrompt\": \"x\" }\n");
    let flow = "kind: workflow\nversion: 1\nname: example\ninputs:\n  a: { type: string }\nsteps:\n  - agent: worker\n    task: Work.\n    with: { b: ${{ steps.nope.x }} }\n";
    desk.file("pkg/flows/deep/flow.yaml", flow);
    let all = desk.check(&["--json"]).json();
    let expected = essence(&all["diagnostics"]);
    assert!(expected.len() >= 2);
    for (folder, path) in [
        ("pkg", "flows/deep/flow.yaml"),
        ("pkg/flows/deep", "flow.yaml"),
        ("pkg/agents", "../flows/deep/flow.yaml"),
        (".", "pkg"),
        ("pkg", "."),
    ] {
        let mut command = desk.command(&[path, "--json"]);
        let output = command.current_dir(desk.path().join(folder)).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(essence(&json["diagnostics"]), expected, "{path} in {folder}");
    }
}
