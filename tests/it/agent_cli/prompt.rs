//! The prompt script: parts in the order of the command line (R15 to R17).

use super::Desk;
use serde_json::Value;

fn prompt(desk: &Desk, words: &[&str], stdin: &str) -> String {
    let all = [&["session", "start", "--agent-file", "agents/lookup.json"], words, &["--json"]].concat();
    let (code, out, err) = desk.fed(&all, stdin);
    assert_eq!(code, 0, "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    let (_, out, _) = desk.run(&["session", "export", told["session"]["id"].as_str().unwrap()]);
    let file: Value = serde_json::from_str(&out).unwrap();
    file["turns"][0]["contents"]["userQuery"].as_str().unwrap().to_owned()
}

#[test]
fn parts_keep_their_order() {
    let desk = Desk::new();
    desk.write("note.txt", b"from a file\n");
    let words = [
        "-p",
        "first",
        "-s",
        "-",
        "--file",
        "note.txt",
        "--shell",
        "echo from $((1+1))",
        "-f",
        "-",
        "-p",
        "last",
    ];
    let text = prompt(&desk, &words, "from stdin\n");
    assert_eq!(text, "first\n----\nfrom a file\n\nfrom 2\nfrom stdin\n\nlast");
}

#[test]
fn without_a_part_it_is_read_from_stdin() {
    let desk = Desk::new();
    assert_eq!(prompt(&desk, &[], "said\n"), "said");
}

#[test]
fn an_alias_is_the_operators_and_comes_first() {
    let desk = Desk::new();
    desk.write("config/flowright/config.json", br#"{ "aliases": { "again": "Do it again." } }"#);
    assert_eq!(prompt(&desk, &["--alias", "again", "-p", "now"], ""), "Do it again.\nnow");
    let begin = ["session", "start", "--agent-file", "agents/lookup.json"];
    let (code, _, err) = desk.run(&[&begin[..], &["-p", "x", "--alias", "again"]].concat());
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = desk.run(&[&begin[..], &["--alias", "other"]].concat());
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("other"), "{err}");
}

#[test]
fn what_cannot_be_read_starts_nothing() {
    let desk = Desk::new();
    for (part, value, says) in [
        ("--file", "missing.txt", "missing.txt"),
        ("--shell", "exit 3", "exit 3"),
        ("--media", "missing.png", "missing.png"),
    ] {
        let words = ["session", "start", "--agent-file", "agents/lookup.json", part, value];
        let (code, _, err) = desk.run(&words);
        assert_eq!(code, 2, "{part}: {err}");
        assert!(err.contains(says) && err.lines().count() == 1, "{part}: {err}");
    }
    assert_eq!(desk.run(&["session", "list", "--json"]).1.matches("\"id\"").count(), 0);
}

#[test]
fn media_goes_with_the_prompt() {
    let desk = Desk::new();
    desk.write("dot.png", b"\x89PNG\r\n\x1a\n0000");
    let words = ["session", "start", "--agent-file", "agents/lookup.json", "-p", "see", "-m", "dot.png"];
    let (_, told) = desk.json(&words);
    let (_, out, _) = desk.run(&["session", "export", told["session"]["id"].as_str().unwrap()]);
    assert!(out.contains("image/png") && out.contains("iVBORw0KGgo"), "{out}");
}
