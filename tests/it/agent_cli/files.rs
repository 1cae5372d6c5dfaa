//! Session files: out and in again, edited, of the old version.

use super::Desk;
use serde_json::Value;

/// What was written comes in again under a new id, is the same file, and goes on to the same end.
#[test]
fn a_session_file_goes_round() {
    let desk = Desk::new();
    let (id, ..) = desk.partial();
    let (code, _, err) = desk.run(&["session", "export", &id, "out.json"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = desk.run(&["session", "import", "out.json", "--agent-file", "agents/lookup.json"]);
    assert_eq!(code, 4, "the id is taken: {err}");
    let (code, told) =
        desk.json(&["session", "import", "out.json", "--new-id", "--agent-file", "agents/lookup.json"]);
    assert_eq!(code, 0, "{told}");
    let copy = told["session"]["id"].as_str().unwrap().to_owned();
    assert_ne!(copy, id);
    let turns = |id: &str| {
        let file: Value = serde_json::from_str(&desk.run(&["session", "export", id]).1).unwrap();
        file["turns"].as_array().unwrap().len()
    };
    assert_eq!(turns(&copy), turns(&id));
    let (_, told) = desk.json(&["session", "pending", &copy]);
    for (call, text) in told["pending"].as_array().unwrap().iter().zip(["a is 5", "b is 7"]) {
        let (code, _, err) = desk.fed(&["session", "complete", call["token"].as_str().unwrap(), "-"], text);
        assert_eq!(code, 0, "{err}");
    }
    let (code, out, err) = desk.run(&["session", "resume", &copy]);
    assert!(code == 0 && out.contains("c is 3, a is 5 and b is 7."), "{out}{err}");
    // The first one still waits.
    assert_eq!(desk.run(&["session", "step", &id]).0, 3);
}

#[test]
fn an_editor_changes_the_turns_of_a_session_at_rest() {
    let desk = Desk::new();
    let (id, a, b) = desk.partial();
    let (code, _, err) = desk.run(&["session", "edit", &id, "--file", "agents/lookup.json"]);
    assert_eq!(code, 4, "not at rest: {err}");
    desk.fed(&["session", "complete", &a, "-"], "a is 5");
    desk.fed(&["session", "complete", &b, "-"], "b is 7");
    desk.run(&["session", "resume", &id]);
    let mut editor = desk.command(&["session", "edit", &id]);
    let done = editor.env("EDITOR", "sed -i s/Look.up/Find/").output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let (_, out, _) = desk.run(&["session", "print", &id]);
    assert!(out.contains("Find a, b and c.") && !out.contains("Look up a, b"), "{out}");
    let before = desk.run(&["session", "log", &id]).1;
    let done = desk.command(&["session", "edit", &id]).env("EDITOR", "true").output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(desk.run(&["session", "log", &id]).1, before, "nothing changed, nothing written");
    let done =
        desk.command(&["session", "edit", &id]).env("EDITOR", "sh -c 'echo { >$1' --").output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(desk.run(&["session", "log", &id]).1, before);
}

#[test]
fn what_is_no_session_file_is_one_sentence() {
    let desk = Desk::new();
    for (name, text) in [
        ("empty.json", ""),
        ("list.json", "[]"),
        ("future.json", r#"{"sessionVersion": 99, "turns": []}"#),
        ("half.json", r#"{"sessionVersion": 2, "turns": [{"#),
    ] {
        desk.write(name, text.as_bytes());
        let (code, out, err) = desk.run(&["session", "import", name, "--agent-file", "agents/lookup.json"]);
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {err}");
        assert!(err.contains(name) && err.lines().count() == 1, "{name}: {err}");
    }
    let (code, _, err) =
        desk.run(&["session", "import", "missing.json", "--agent-file", "agents/lookup.json"]);
    assert_eq!(code, 2, "{err}");
}
