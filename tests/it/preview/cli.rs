//! `graph` and `why` as a process: streams, exit codes, JSON.

use std::process::{Command, Stdio};

const W04: &str = "corpus/real/w04-plan-review-build-test/plan-review-build-test.yaml";
const REPORT: &str = "corpus/real/scheduled-report/scheduled-report.yaml";

fn run(words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_flowright")).args(words).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn every_form_is_printed() {
    for (form, opens) in [
        ("text", "plan-review-build-test  sha256:"),
        ("mermaid", "flowchart TD\n"),
        ("dot", "digraph \""),
        ("svg", "<svg "),
        ("html", "<!DOCTYPE html>\n"),
        ("json", "{\n  \"version\": 1,"),
    ] {
        let (code, out, err) = run(&["graph", W04, "--format", form]);
        assert_eq!((code, err.as_str()), (0, ""), "{form}");
        assert!(out.starts_with(opens), "{form}: {out}");
        assert!(out.ends_with('\n'), "{form}");
    }
    let (code, _, err) = run(&["graph", W04, "--format", "png"]);
    assert_eq!(code, 2);
    assert!(err.contains("svg"), "{err}");
}

#[test]
fn the_date_is_given_or_left_out() {
    let dated = run(&["graph", REPORT, "--as-of", "2026-01-31T09:30:00Z"]).1;
    assert!(dated.contains("Sat 2026-01-31 10:00 UTC"), "{dated}");
    assert!(!run(&["graph", REPORT, "--as-of", "none"]).1.contains("next  "));
    assert!(run(&["graph", REPORT]).1.contains("next  "), "now, without one");
    let (code, _, err) = run(&["graph", REPORT, "--as-of", "tomorrow"]);
    assert_eq!(code, 2);
    assert!(err.contains("RFC 3339"), "{err}");
}

#[test]
fn the_page_says_what_was_proved() {
    let page = run(&["graph", W04, "--format", "html"]).1;
    assert!(page.contains("never more than 2 agent runs between two waits"), "{page}");
}

#[test]
fn a_comparison_ends_like_diff() {
    let (code, out, _) = run(&["graph", "--diff", W04, W04]);
    assert_eq!(code, 0);
    assert!(!out.contains('['), "{out}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.yaml");
    let text = std::fs::read_to_string(W04).unwrap().replace("max_revisions: 5", "max_revisions: 3");
    for agent in ["planner", "implementer", "tester"] {
        let file = format!("agents/{agent}.json");
        std::fs::create_dir_all(folder.path().join("agents")).unwrap();
        std::fs::copy(format!("corpus/real/w04-plan-review-build-test/{file}"), folder.path().join(&file))
            .unwrap();
    }
    std::fs::create_dir_all(folder.path().join("tools")).unwrap();
    std::fs::write(&path, text).unwrap();
    let (code, out, err) = run(&["graph", "--diff", W04, path.to_str().unwrap()]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("plan  agent") && out.contains("[~ changed: max_revisions]"), "{out}");
    let (code, out, _) = run(&["graph", "--diff", W04, path.to_str().unwrap(), "--format", "json"]);
    let data: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(data["nodes"][1]["mark"]["keys"][0], "max_revisions");
    assert_eq!(run(&["graph", "--diff", "nowhere.yaml", W04]).0, 2);
}

#[test]
fn why_answers_about_steps_and_rules() {
    let (code, out, err) = run(&["why", "plan", W04]);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["what leads to it", "what it can reach", "if nobody answers", "why it can run for ever"] {
        assert!(out.contains(part), "{out}");
    }
    let (_, out, _) = run(&["why", "report", REPORT, "--forever"]);
    assert!(out.contains("every way round waits") && !out.contains("what leads"), "{out}");
    let (code, out, _) = run(&["why", "report", REPORT, "--json"]);
    let data: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &data["step"]["kind"]), (0, &serde_json::Value::from("agent")));
    let (code, out, _) = run(&["why", "unbounded-loop", "corpus/bad/four-faults.yaml", "--json"]);
    let data: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &data["rule"]), (0, &serde_json::Value::from("unbounded-loop")));
}

#[test]
fn why_names_the_nearest_for_what_it_does_not_know() {
    let (code, _, err) = run(&["why", "pan", W04]);
    assert_eq!(code, 2);
    assert!(err.contains("did you mean `plan`?"), "{err}");
    let (code, out, _) = run(&["why", "pan", W04, "--json"]);
    assert_eq!(code, 2);
    let data: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(data["error"]["code"], "usage");
}
