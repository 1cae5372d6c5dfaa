//! Finding files, wrong use, exit codes, what is counted and how it is said.

use super::desk::{Desk, flow};

const UNUSED: &str = "  a: { type: string }\n";

fn names(out: &str) -> Vec<&str> {
    out.lines().map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn a_search_passes_over_what_is_hidden_ignored_or_foreign() {
    let desk = Desk::new();
    for name in [
        "b.yaml",
        "a/c.yml",
        ".hidden/d.yaml",
        "node_modules/e.yaml",
        "target/f.yaml",
        "skipped/g.yaml",
        "kept/h.yaml",
        "i.txt",
    ] {
        desk.file(name, flow(UNUSED));
    }
    desk.file(".gitignore", "skipped/\n");
    desk.file("other.yaml", "on: push\njobs: {}\n");
    assert_eq!(names(&desk.check(&[]).out), ["a/c.yml", "b.yaml", "kept/h.yaml"]);
    // What is named is checked.
    assert_eq!(names(&desk.check(&["skipped/g.yaml", "target"]).out), ["skipped/g.yaml", "target/f.yaml"]);
    assert_eq!(names(&desk.check(&[".hidden"]).out), [".hidden/d.yaml"]);
    assert_eq!(desk.check(&["other.yaml"]).code, 1, "a file that is named is taken for a workflow");
}

#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let desk = Desk::new();
    desk.file("a/flow.yaml", flow(UNUSED));
    let outcome = desk.check(&["a/flow.yaml", "./a/../a/flow.yaml", "a", "--format", "human"]);
    assert!(outcome.out.ends_with("1 warning in 1 file · 1 file checked\n"), "{}", outcome.out);
}

#[test]
fn one_count_at_the_end() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(UNUSED));
    desk.file("b.yaml", flow(UNUSED).replace("version: 1", "version: 1\ntitel: x"));
    let out = desk.check(&["--format", "human"]).out;
    assert!(out.ends_with("\n1 error, 2 warnings in 2 files · 2 files checked\n1 fix with --fix\n"), "{out}");
    assert_eq!(out.matches(" in ").count(), 1, "{out}");
}

#[test]
fn what_cannot_be_read_is_a_sentence_and_the_others_are_checked() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(UNUSED));
    desk.file("big.yaml", vec![b'a'; 17 * 1024 * 1024]);
    desk.file("binary.yaml", b"kind: workflow\n\xff\xfe\x00");
    let outcome = desk.check(&["gone.yaml", "big.yaml", "a.yaml", "binary.yaml"]);
    assert_eq!(outcome.code, 2);
    assert_eq!(names(&outcome.out), ["a.yaml", "binary.yaml"], "{}", outcome.out);
    let said: Vec<_> = outcome.err.lines().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("flowright: gone.yaml cannot be read: "), "{}", said[0]);
    assert!(said[1].contains("larger than 16 MiB"), "{}", said[1]);
}

#[test]
fn short_is_for_pipes() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(UNUSED));
    let piped = desk.check(&["a.yaml"]);
    assert_eq!(piped.out, "a.yaml:5:3: warning[unused-input]: the input `a` is never read\n");
    assert_eq!(piped.out, desk.check(&["a.yaml", "--format", "short"]).out);
    desk.file("a.yaml", flow(""));
    assert_eq!(desk.check(&["a.yaml"]).out, "", "nothing found, nothing said");
}

#[test]
fn statistics_count_rules() {
    let desk = Desk::new();
    desk.file(
        "a.yaml",
        flow("  a: { type: string }\n  b: { type: string }\n").replace("version: 1", "version: 1\ntitel: x"),
    );
    let outcome = desk.check(&["a.yaml", "--statistics"]);
    assert_eq!(outcome.code, 1);
    let rows: Vec<Vec<&str>> =
        outcome.out.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    assert_eq!(
        (rows[0][..2].to_vec(), rows[1][..3].to_vec()),
        (vec!["2", "unused-input"], vec!["1", "*", "unknown-key"])
    );
    let json = desk.check(&["a.yaml", "--statistics", "--json"]).json();
    assert_eq!(json["statistics"][0]["count"], 2);
}

#[test]
fn bounds_are_told_on_demand() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(""));
    let outcome = desk.check(&["a.yaml", "--explain-bounds"]);
    assert_eq!(outcome.out, "a.yaml: agent runs between two waits: 0\n");
    let json = desk.check(&["a.yaml", "--explain-bounds", "--json"]).json();
    assert_eq!(json["bounds"][0]["agent_runs_between_waits"], "0");
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(""));
    for words in [
        &["--watch", "--fix"][..],
        &["--watch", "--diff"],
        &["--json", "--format", "short"],
        &["--unsafe-fixes"],
    ] {
        assert_eq!(desk.check(words).code, 2, "{words:?}");
    }
}

/// Half an output must not pass for a whole one. A reader that goes away is another matter.
#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_a_fault() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(UNUSED));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        desk.command(&["a.yaml"]).stdout(full).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("flowright: the output cannot be written: "));
}
