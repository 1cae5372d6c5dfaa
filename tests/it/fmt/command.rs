//! `flowright fmt` as a process: what it writes, lists, shows and leaves alone.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const UGLY: &str = "kind:  workflow\nversion: 1\nname: \"x\"\nsteps:\n- stop: succeeded # done\n";
const NEAT: &str = "kind: workflow\nversion: 1\nname: x\nsteps:\n  - stop: succeeded  # done\n";

fn run(folder: &Path, words: &[&str], stdin: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_flowright"))
        .arg("fmt")
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_folder_is_listed_shown_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    std::fs::create_dir(path("agents")).unwrap();
    std::fs::write(path("ugly.yaml"), UGLY).unwrap();
    std::fs::write(path("neat.yaml"), NEAT).unwrap();
    std::fs::write(path("other.yaml"), "not:   ours\n").unwrap();
    std::fs::write(path("agents/a.agent.md"), "---\nslug:   a\n---\nBe  brief.\n").unwrap();

    let (code, out, err) = run(folder.path(), &["--check"], "");
    assert_eq!((code, out.as_str()), (1, "./agents/a.agent.md\n./ugly.yaml\n"), "{err}");
    assert_eq!(err, "2 files not formatted · 1 file unchanged\n");
    let (code, out, _) = run(folder.path(), &["--diff", "ugly.yaml"], "");
    assert_eq!(code, 1);
    assert!(out.contains("--- ugly.yaml\n+++ ugly.yaml\n@@ -1,5 +1,5 @@\n-kind:  workflow\n"), "{out}");
    assert_eq!(read("ugly.yaml"), UGLY, "looking writes nothing");

    let (code, out, _) = run(folder.path(), &[], "");
    assert_eq!((code, out.as_str()), (0, "formatted ./agents/a.agent.md\nformatted ./ugly.yaml\n"));
    assert_eq!(read("ugly.yaml"), NEAT);
    assert_eq!(read("agents/a.agent.md"), "---\nslug: a\n---\nBe  brief.\n");
    assert_eq!(read("other.yaml"), "not:   ours\n");
    let (code, out, err) = run(folder.path(), &["--check"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (0, "", "0 files not formatted · 3 files unchanged\n"));
}

#[test]
fn stdin_goes_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), &["-"], UGLY), (0, NEAT.to_owned(), String::new()));
    let json = ["-", "--stdin-filename", "agents/a.json"];
    assert_eq!(run(folder.path(), &json, "{\"slug\":1.50}").1, "{\n  \"slug\": 1.50\n}\n");
    let (code, out, _) = run(folder.path(), &["-", "--check"], UGLY);
    assert_eq!((code, out.as_str()), (1, "stdin.yaml\n"));
}

#[test]
fn what_cannot_be_read_is_left_alone_with_its_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.yaml");
    for text in [b"kind: workflow\nname:   &x y\n".as_slice(), b"kind: workflow\nname: \xff\n"] {
        std::fs::write(&file, text).unwrap();
        let (code, _, err) = run(folder.path(), &["x.yaml"], "");
        assert_eq!(code, 1);
        assert!(err.contains("anchor-or-alias") || err.contains("not-utf8"), "{err}");
        assert!(err.ends_with("0 files formatted · 0 files unchanged · 1 file left alone\n"), "{err}");
        assert_eq!(std::fs::read(&file).unwrap(), text);
    }
    assert_eq!(run(folder.path(), &["nothing.yaml"], "").0, 2);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(run(folder.path(), &[], "").0, 2, "a folder without anything of ours");
}

/// A definition with faults that are no faults of reading is formatted too, and keeps them.
#[test]
fn faults_of_meaning_do_not_stop_it() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = run(folder.path(), &["-"], "kind: workflow\nsteps:\n- frobnicate:   1\n");
    assert_eq!((code, out.as_str()), (0, "kind: workflow\nsteps:\n  - frobnicate: 1\n"));
}

/// Settings keep files out of a search; a file that is named is formatted, with its permissions and through its link.
#[cfg(unix)]
#[test]
fn what_is_excluded_is_not_searched_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("vendor")).unwrap();
    std::fs::write(path(".flowright.toml"), "[check]\nexclude = [\"vendor/\"]\n").unwrap();
    std::fs::write(path("vendor/ugly.yaml"), UGLY).unwrap();
    std::fs::write(path("ugly.yaml"), UGLY).unwrap();
    std::fs::set_permissions(path("vendor/ugly.yaml"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("vendor/ugly.yaml", path("link.yaml")).unwrap();

    let (code, out, _) = run(folder.path(), &[], "");
    assert_eq!((code, out.as_str()), (0, "formatted ./ugly.yaml\n"));
    assert_eq!(std::fs::read_to_string(path("vendor/ugly.yaml")).unwrap(), UGLY);
    let (code, out, _) = run(folder.path(), &["link.yaml"], "");
    assert_eq!((code, out.as_str()), (0, "formatted link.yaml\n"));
    assert!(path("link.yaml").is_symlink());
    assert_eq!(std::fs::read_to_string(path("vendor/ugly.yaml")).unwrap(), NEAT);
    assert_eq!(std::fs::metadata(path("vendor/ugly.yaml")).unwrap().permissions().mode() & 0o777, 0o640);
}
