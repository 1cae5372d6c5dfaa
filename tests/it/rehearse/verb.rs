//! `flowright test` as a process: streams, exit codes, forms, coverage.

use std::path::Path;
use std::process::{Command, Output};

fn flowright(words: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flowright")).args(words).current_dir(folder).output().unwrap()
}

fn real() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/real")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with the workflow of the demonstration and one test file.
fn folder(cases: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = real().join("w04-plan-review-build-test");
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    for name in ["planner", "implementer", "tester"] {
        let path = format!("agents/{name}.json");
        std::fs::copy(from.join(&path), folder.path().join(&path)).unwrap();
    }
    std::fs::copy(from.join("plan-review-build-test.yaml"), folder.path().join("flow.yaml")).unwrap();
    let text = format!("kind: test\nversion: 1\ncases:\n{cases}");
    std::fs::write(folder.path().join("flow.test.yaml"), text).unwrap();
    folder
}

const PASSES: &str =
    "- name: nothing\n  steps:\n  - answer: { choice: nothing }\n  expect: { status: cancelled }\n";
const FAILS: &str = "- name: wrong\n  expect: { status: completed }\n";

#[test]
fn the_corpus_passes() {
    let out = flowright(&["test", "corpus/real"], Path::new(env!("CARGO_MANIFEST_DIR")));
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}{}", text(&out.stderr));
    assert!(said.ends_with(" 0 failed in 11 files\n"), "{said}");
    assert!(said.contains("8 of 8 edges taken (100 %)"), "{said}");
}

#[test]
fn a_failure_is_told_with_its_place_and_ends_with_1() {
    let folder = folder(&format!("{PASSES}{FAILS}"));
    let out = flowright(&["test"], folder.path());
    assert_eq!(out.status.code(), Some(1));
    let said = text(&out.stdout);
    let first = "flow.test.yaml:9:21: error[failed-expectation]: expected status `completed`, found `awaiting_answer`";
    assert!(said.starts_with(first), "{said}");
    assert!(said.ends_with("1 passed, 1 failed in 1 file\n"), "{said}");
    let out = flowright(&["test", "--format", "human", "flow.test.yaml"], folder.path());
    let said = text(&out.stdout);
    for part in [
        "  ok      nothing\n",
        "  FAILED  wrong\n",
        "9 │   expect: { status: completed }",
        "visited: request",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_filter_plays_some_cases() {
    let folder = folder(&format!("{PASSES}{FAILS}"));
    let out = flowright(&["test", "--filter", "noth"], folder.path());
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stdout).ends_with("1 passed, 0 failed in 1 file\n"));
    let out = flowright(&["test", "--filter", "nowhere"], folder.path());
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(text(&out.stderr), "flowright: no case has `nowhere` in its name\n");
}

#[test]
fn coverage_is_printed_and_may_be_demanded() {
    let folder = folder(PASSES);
    let out = flowright(&["test"], folder.path());
    let said = text(&out.stdout);
    assert!(said.contains("flow.yaml: 2 of 9 steps visited, 1 of 8 edges taken (17 %)\n"), "{said}");
    assert!(said.contains("  never visited: plan, implement, test, verdict, "), "{said}");
    assert!(said.contains("  never taken: verdict → end (passed)\n"), "{said}");
    assert_eq!(flowright(&["test", "--min-coverage", "17"], folder.path()).status.code(), Some(0));
    let out = flowright(&["test", "--min-coverage", "18"], folder.path());
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(text(&out.stderr), "flowright: 17 % of flow.yaml are visited; at least 18 % are asked for\n");
    assert_eq!(flowright(&["test", "--min-coverage", "101"], folder.path()).status.code(), Some(2));
}

#[test]
fn two_files_of_one_workflow_cover_it_together() {
    let folder = folder(PASSES);
    let more = "kind: test\nversion: 1\nworkflow: flow.yaml\ncases:\n- name: asked\n  steps:\n  - answer: { choice: build, feedback: x }\n";
    std::fs::write(folder.path().join("more.test.yaml"), more).unwrap();
    let said = text(&flowright(&["test"], folder.path()).stdout);
    assert!(said.contains("flow.yaml: 3 of 9 steps visited, 2 of 8 edges taken"), "{said}");
    assert!(said.ends_with("2 passed, 0 failed in 2 files\n"), "{said}");
}

#[test]
fn json_holds_findings_cases_and_coverage() {
    let folder = folder(&format!("{PASSES}{FAILS}"));
    let out = flowright(&["test", "--json"], folder.path());
    assert_eq!(out.status.code(), Some(1));
    let said: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(said["version"], 1);
    assert_eq!(said["diagnostics"][0]["rule"], "failed-expectation");
    assert_eq!(said["tests"][0]["cases"][0], serde_json::json!({ "name": "nothing", "passed": true }));
    assert_eq!(said["tests"][0]["failed"], 1);
    assert_eq!(said["coverage"][0]["workflow"], "flow.yaml");
    assert_eq!(said["coverage"][0]["percent"], 17);
}

#[test]
fn nothing_to_test_is_wrong_use() {
    let folder = tempfile::tempdir().unwrap();
    let out = flowright(&["test"], folder.path());
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(text(&out.stderr), "flowright: there is no test file in .\n");
    assert_eq!(flowright(&["test", "gone.test.yaml"], folder.path()).status.code(), Some(2));
}

/// `check` reads the form of a test file; `fmt` and `run` have nothing to do with one.
#[test]
fn other_verbs_know_a_test_file() {
    let folder = folder(PASSES);
    let out = flowright(&["check", "."], folder.path());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(!text(&out.stdout).contains("flow.test.yaml"), "{}", text(&out.stdout));
    let before = std::fs::read(folder.path().join("flow.test.yaml")).unwrap();
    assert_eq!(flowright(&["fmt", "."], folder.path()).status.code(), Some(0));
    assert_eq!(std::fs::read(folder.path().join("flow.test.yaml")).unwrap(), before);
    for words in [["fmt", "flow.test.yaml"], ["run", "flow.test.yaml"]] {
        let out = flowright(&words, folder.path());
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains("flow.test.yaml is a test file"), "{}", text(&out.stderr));
    }
    std::fs::write(folder.path().join("bad.test.yaml"), "kind: test\nversion: 1\ncase: []\n").unwrap();
    let out = flowright(&["check", "."], folder.path());
    assert_eq!(out.status.code(), Some(1));
    let found = "bad.test.yaml:3:1: error[unknown-key]: `case` is no key of a test file";
    assert!(text(&out.stdout).contains(found), "{}", text(&out.stdout));
    // One that is named like a test file and says nothing of a test is another tool's.
    std::fs::write(folder.path().join("bad.test.yaml"), "kind: pod\n").unwrap();
    assert_eq!(flowright(&["check", "."], folder.path()).status.code(), Some(0));
}
