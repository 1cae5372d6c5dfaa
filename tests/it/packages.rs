//! Packages: made, checked, built the same everywhere, installed without trust, run by name.

use flowright::package::{Contents, Installation, Place};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder for packages and sessions of its own.
struct Desk {
    folder: tempfile::TempDir,
}

const FLOW: &str = "kind: workflow\nversion: 1\nname: ask\nsteps:\n  - id: work\n    agent: worker\n    task: Work.\n    result:\n      type: object\n      required: [done]\n      properties: { done: { type: string } }\n  - id: ask\n    question: Go on?\n    choices: { yes: Yes }\n";
const AGENT: &str = r#"{"slug":"worker","base":"workflow-agent@1","modelUrl":"script:./replies.yaml","modelName":"x","systemPrompt":["You work."],
"bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"./tools"}}]}"#;
const REPLIES: &str = "kind: script\nversion: 1\nreplies:\n  - reply: 1\n    call:\n      - bash_here: {}\n  - submit: { summary: Done., result: { done: all } }\n";

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_flowright"))
            .args(words)
            .current_dir(self.folder.path())
            .env("USER", "ada")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env_remove("FLOWRIGHT_DB")
            .env_remove("FLOWRIGHT_PACKAGES")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap_or(-1), text(stdout), text(stderr))
    }

    fn json(&self, wanted: i32, words: &[&str]) -> Value {
        let (code, out, err) = self.run(&[words, &["--json"]].concat());
        assert_eq!(code, wanted, "{words:?}: {out}{err}");
        serde_json::from_str(&out).unwrap()
    }

    /// The package `rounds` of this version, with a workflow, an agent, its replies and a tool.
    fn package(&self, version: &str) {
        self.write("rounds/package.toml", &format!("name = \"rounds\"\nversion = \"{version}\"\n"));
        self.write("rounds/workflows/ask.yaml", FLOW);
        self.write("rounds/agents/worker.json", AGENT);
        self.write("rounds/replies.yaml", REPLIES);
        let tool = "#!/bin/sh\ncase \"$1\" in describe) echo '{\"slug\":\"here\",\"description\":\"Says where.\",\"args\":[]}' ;; run) pwd ;; esac\n";
        self.write("rounds/tools/here", tool);
        std::fs::set_permissions(self.path("rounds/tools/here"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        self.write("rounds/.flowright/flowright.db", "no part of it");
    }

    fn place(&self) -> Place {
        Place(self.path("place"))
    }
}

#[test]
fn from_a_folder_to_a_run_by_name() {
    let desk = Desk::new();
    desk.package("1.2.0");
    let built = desk.json(0, &["package", "build", "rounds"]);
    assert_eq!(built["workflows"], serde_json::json!(["ask"]));
    let again = desk.json(0, &["package", "build", "rounds", "-o", "second.tar"]);
    assert_eq!(built["digest"], again["digest"]);
    assert_eq!(
        std::fs::read(desk.path("rounds-1.2.0.tar")).unwrap(),
        std::fs::read(desk.path("second.tar")).unwrap()
    );
    let installed = desk.json(0, &["package", "install", "rounds-1.2.0.tar"]);
    assert_eq!((&installed["fresh"], &installed["installed"]["digest"]), (&true.into(), &built["digest"]));
    // The folder goes away; what is installed stands for itself, tools and replies included.
    std::fs::remove_dir_all(desk.path("rounds")).unwrap();
    let run = desk.json(3, &["run", "rounds/ask@1.2.0"]);
    assert_eq!(run["session"]["status"], "awaiting_answer", "{run}");
    let noted = run["session"]["definition"]["package"].as_str().unwrap();
    assert_eq!(noted, format!("rounds/ask@1.2.0#{}", built["digest"].as_str().unwrap()));
    let newest = desk.json(3, &["run", "rounds/ask"]);
    assert_eq!(newest["session"]["digest"], run["session"]["digest"]);
    let (code, out, err) = desk.run(&["run", "rounds/gone@1.2.0"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("rounds@1.2.0 has no workflow `gone`; it has ask"), "{err}");
    let (_, out, _) = desk.run(&["package", "list"]);
    assert!(out.starts_with("rounds@1.2.0  sha256:"), "{out}");
    assert_eq!(desk.run(&["package", "remove", "rounds"]).0, 2);
    desk.json(0, &["package", "remove", "rounds@1.2.0"]);
    let (code, _, err) = desk.run(&["run", "rounds/ask@1.2.0"]);
    assert_eq!((code, err.contains("no version of `rounds` is installed")), (2, true), "{err}");
}

#[test]
fn a_version_never_changes() {
    let desk = Desk::new();
    desk.package("1.0.0");
    desk.json(0, &["package", "install", "rounds"]);
    let same = desk.json(0, &["package", "install", "rounds"]);
    assert_eq!(same["fresh"], false);
    desk.write("rounds/README.md", "Other content.");
    let (code, _, err) = desk.run(&["package", "install", "rounds"]);
    assert_eq!(code, 4);
    assert!(err.contains("rounds@1.0.0 is installed with other content"), "{err}");
    desk.package("1.1.0-beta.1");
    desk.json(0, &["package", "install", "rounds"]);
    // A pre-release is nobody's newest version unless it is named.
    let shown = desk.json(0, &["package", "show", "rounds"]);
    assert_eq!(shown["package"]["version"], "1.0.0");
    let shown = desk.json(0, &["package", "show", "rounds@1.1.0-beta.1"]);
    assert_eq!(shown["package"]["version"], "1.1.0-beta.1");
}

#[test]
fn an_installed_package_that_was_altered_does_not_run() {
    let desk = Desk::new();
    desk.package("1.0.0");
    let installed = desk.json(0, &["package", "install", "rounds"]);
    let tool = PathBuf::from(installed["installed"]["folder"].as_str().unwrap()).join("tools/here");
    std::fs::write(&tool, "#!/bin/sh\nrm -rf /\n").unwrap();
    let (code, _, err) = desk.run(&["run", "rounds/ask"]);
    assert_eq!(code, 4);
    assert!(err.contains("the installed rounds@1.0.0 was altered"), "{err}");
    std::fs::remove_file(&tool).unwrap();
    symlink("/bin/sh", &tool).unwrap();
    assert_eq!(desk.run(&["run", "rounds/ask"]).0, 4);
}

#[test]
fn what_does_not_check_is_not_built() {
    let desk = Desk::new();
    desk.package("1.0.0");
    desk.write(
        "rounds/workflows/broken.yaml",
        "kind: workflow\nversion: 1\nname: broken\nsteps:\n  - id: a\n    agent: nobody\n    task: x\n",
    );
    let (code, out, err) = desk.run(&["package", "build", "rounds"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("error[missing-agent]") && err.contains("rounds@1.0.0 has "), "{err}");
    assert!(!desk.path("rounds-1.0.0.tar").exists());
    for (manifest, expected) in [
        ("name = \"Rounds\"\nversion = \"1.0.0\"\n", "has the name `Rounds`"),
        ("name = \"rounds\"\nversion = \"1.0\"\n", "has the version `1.0`, which is none"),
        ("name = \"rounds\"\nversion = \"1.0.0+x\"\n", "would make two names of one version"),
        ("name = \"rounds\"\nversion = \"1.0.0\"\nextra = 1\n", "line 3: unknown field `extra`"),
    ] {
        desk.write("rounds/package.toml", manifest);
        let (code, _, err) = desk.run(&["package", "check", "rounds"]);
        assert_eq!(code, 1);
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn a_new_package_is_in_order() {
    let desk = Desk::new();
    desk.json(0, &["package", "init", "fresh-one"]);
    desk.json(0, &["package", "check", "fresh-one"]);
    assert_eq!(desk.run(&["package", "init", "fresh-one"]).0, 4, "nothing is written over");
    assert_eq!(desk.run(&["package", "init", "Un named"]).0, 2);
}

/// A raw archive of entries: type, path, link target, bytes.
fn archive(entries: &[(tar::EntryType, &str, &str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, path, target, bytes) in entries {
        let mut header = tar::Header::new_ustar();
        // As an attacker writes them: without the library's own checks.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_entry_type(*kind);
        header.set_cksum();
        builder.append(&header, bytes.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

const MANIFEST: &str = "name = \"evil\"\nversion = \"1.0.0\"\n";

fn refused(entries: &[(tar::EntryType, &str, &str, &str)]) -> String {
    let mut all = vec![(tar::EntryType::Regular, "package.toml", "", MANIFEST)];
    all.extend(entries);
    all.sort_by_key(|(_, path, _, _)| path.to_owned());
    Contents::of_archive(&archive(&all)).unwrap_err()
}

/// Paths that lead out, hide, or mean two things.
#[test]
fn paths_of_an_archive_lead_nowhere_else() {
    let plain = tar::EntryType::Regular;
    for path in [
        "../evil",
        "a/../../evil",
        "/etc/evil",
        "a//b",
        "./a",
        "a/.",
        ".hidden",
        "a/.git/config",
        "a\\b",
        "C:evil",
        "a:stream",
        "con\u{202e}txt",
        "tab\there",
        "dot.",
        "",
    ] {
        let said = refused(&[(plain, path, "", "x")]);
        assert!(said.contains("is refused") || said.contains("archive"), "{path}: {said}");
    }
    assert!(
        refused(&[(plain, "a", "", "x"), (plain, "A", "", "y")]).contains("is there twice, capitals aside")
    );
    assert!(refused(&[(plain, "a", "", "x"), (plain, "a", "", "y")]).contains("is there twice"));
    assert!(refused(&[(plain, "a", "", "x"), (plain, "a/b", "", "y")]).contains("`a` is a file"));
}

#[test]
fn b75_links_and_devices_are_refused() {
    use tar::EntryType as Type;
    for (kind, target) in [
        (Type::Symlink, "../../etc"),
        (Type::Symlink, "a"),
        (Type::Link, "/etc/passwd"),
        (Type::Fifo, ""),
        (Type::Char, ""),
        (Type::Block, ""),
        (Type::Directory, ""),
        (Type::GNULongName, ""),
        (Type::XHeader, ""),
        (Type::GNUSparse, ""),
        (Type::Continuous, ""),
    ] {
        let said = refused(&[(kind, "entry", target, "")]);
        assert!(said.contains("is no plain file") || said.contains("archive"), "{kind:?}: {said}");
    }
    let desk = Desk::new();
    desk.package("1.0.0");
    symlink("/etc/passwd", desk.path("rounds/agents/link.json")).unwrap();
    let said = Contents::of_folder(&desk.path("rounds")).unwrap_err();
    assert_eq!(said, "`agents/link.json` is a link, a pipe or a device; a package holds plain files alone");
}

/// A link that somebody planted where the next version goes is not written through (B76).
#[test]
fn b76_nothing_is_written_through_a_planted_link() {
    let desk = Desk::new();
    desk.package("1.0.0");
    let contents = Contents::of_folder(&desk.path("rounds")).unwrap();
    let outside = desk.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::create_dir_all(desk.path("place/rounds")).unwrap();
    symlink(&outside, desk.path("place/rounds/1.0.0")).unwrap();
    let outcome = desk.place().install(&contents);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{outcome:?}");
    if let Ok(Installation::Fresh(installed)) = outcome {
        desk.place().verified(&installed).unwrap();
        assert!(!std::fs::symlink_metadata(&installed.folder).unwrap().is_symlink());
    }
}

/// There is one archive of a package: other times, owners, orders or trailing bytes are not it.
#[test]
fn another_form_of_the_same_files_is_refused() {
    let plain = tar::EntryType::Regular;
    let (manifest, file) = ((plain, "package.toml", "", MANIFEST), (plain, "a", "", "x"));
    let good = archive(&[file, manifest]);
    let contents = Contents::of_archive(&good).unwrap();
    assert_eq!(contents.archive().unwrap(), good);
    assert!(Contents::of_archive(&archive(&[manifest, file])).unwrap_err().contains("not in the one form"));
    let mut longer = good.clone();
    longer.extend([0; 512]);
    assert!(Contents::of_archive(&longer).unwrap_err().contains("not in the one form"));
    let mut cut = good.clone();
    cut.truncate(700);
    Contents::of_archive(&cut).unwrap_err();
    for at in (0..good.len()).step_by(7) {
        let mut damaged = good.clone();
        damaged[at] ^= 0x55;
        // Never a panic; what is taken is what it says byte for byte.
        if let Ok(contents) = Contents::of_archive(&damaged) {
            assert_eq!(contents.archive().unwrap(), damaged);
        }
    }
}

/// An installation that a crash cut off is no installation, and the next one makes it whole.
#[test]
fn half_an_installation_is_none() {
    let desk = Desk::new();
    desk.package("1.0.0");
    let contents = Contents::of_folder(&desk.path("rounds")).unwrap();
    // As it stands when the process dies between the folder and its record.
    std::fs::create_dir_all(desk.path("place/rounds/1.0.0/tools")).unwrap();
    assert_eq!(desk.place().all().unwrap(), []);
    let Installation::Fresh(installed) = desk.place().install(&contents).unwrap() else { panic!() };
    assert_eq!(desk.place().verified(&installed).unwrap(), contents);
}
