//! Faults reported of comparable durable tools, each made impossible here: real processes, one database, real files.

mod database;

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A package and a database of their own.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(desk.path(".flowright")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A tool without arguments that runs `lines`.
    fn tool(&self, slug: &str, lines: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let name = format!("tools/{slug}");
        let describe = format!(r#"{{"slug":"{slug}","description":"Does it.","args":[]}}"#);
        self.write(
            &name,
            &format!("#!/bin/sh\ncase \"$1\" in describe) echo '{describe}' ;; run) {lines} ;; esac\n"),
        );
        std::fs::set_permissions(self.path(&name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_remove("FLOWRIGHT_DB")
            .env("USER", "ada")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap_or(-1), text(stdout), text(stderr))
    }

    fn json(&self, wanted: i32, words: &[&str]) -> Value {
        let (code, out, err) = self.run(&[words, &["--json"]].concat());
        assert_eq!(code, wanted, "{words:?}: {out}{err}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}\n{out}\n{err}"))
    }

    fn lines(&self, name: &str) -> usize {
        std::fs::read_to_string(self.path(name)).map(|text| text.lines().count()).unwrap_or_default()
    }

    /// The agents `first` and `second`, each with a tool of its name that notes that it ran; scripted.
    fn workers(&self) {
        for slug in ["first", "second"] {
            self.write(
                &format!("agents/{slug}.json"),
                &format!(
                    r#"{{"slug":"{slug}","base":"workflow-agent@1","modelUrl":"script:./replies.yaml","modelName":"x","systemPrompt":["You work."],
                    "bashToolboxes":[{{"tag":"FileSystemDirectory","contents":{{"Path":"./tools"}}}}]}}"#
                ),
            );
            self.tool(slug, &format!("echo x >> {slug}.ran; echo done"));
        }
        let mut text = "kind: script\nversion: 1\nreplies:\n".to_owned();
        for slug in ["first", "second"] {
            text.push_str(&format!(
                "  - agent: {slug}\n    reply: 1\n    call:\n      - bash_{slug}: {{}}\n  - agent: {slug}\n    submit: {{ summary: Done., result: {{}} }}\n"
            ));
        }
        self.write("replies.yaml", &text);
    }
}

const WORK: &str = "result: { type: object }";

/// Effects before a wait are never repeated by going on behind it (B57), not even in a loop.
#[test]
fn b57_what_ran_before_a_wait_does_not_run_again() {
    let desk = Desk::new();
    desk.workers();
    desk.write(
        "flow.yaml",
        &format!(
            "kind: workflow\nversion: 1\nname: rounds\nsteps:\n  - loop:\n      repeat: 3\n      steps:\n        - id: work\n          agent: first\n          task: Work.\n          {WORK}\n        - id: ask\n          question: Go on?\n          choices: {{ yes: Yes }}\n"
        ),
    );
    let started = desk.json(3, &["run", "flow.yaml"]);
    let id = started["session"]["id"].as_str().unwrap().to_owned();
    for round in 1..=3 {
        assert_eq!(desk.lines("first.ran"), round);
        // Going on without an answer runs nothing.
        desk.json(3, &["session", "resume", &id]);
        desk.json(3, &["session", "resume", &id]);
        assert_eq!(desk.lines("first.ran"), round);
        desk.json(if round == 3 { 0 } else { 3 }, &["session", "answer", &id, "yes", "--resume"]);
    }
    assert_eq!(desk.lines("first.ran"), 3);
}

/// A wait in the second step of a nested loop: going on begins there and nowhere before (B63).
#[test]
fn b63_going_on_begins_where_it_stood() {
    let desk = Desk::new();
    desk.workers();
    desk.write(
        "flow.yaml",
        &format!(
            "kind: workflow\nversion: 1\nname: nested\nsteps:\n  - id: before\n    agent: first\n    task: Work.\n    {WORK}\n  - loop:\n      repeat: 2\n      steps:\n        - loop:\n            repeat: 2\n            steps:\n              - id: inner\n                agent: second\n                task: Work.\n                {WORK}\n              - id: ask\n                question: Go on?\n                choices: {{ yes: Yes }}\n"
        ),
    );
    let started = desk.json(3, &["run", "flow.yaml"]);
    let id = started["session"]["id"].as_str().unwrap().to_owned();
    for round in 1..=4 {
        assert_eq!((desk.lines("first.ran"), desk.lines("second.ran")), (1, round));
        desk.json(if round == 4 { 0 } else { 3 }, &["session", "answer", &id, "yes", "--resume"]);
    }
    assert_eq!((desk.lines("first.ran"), desk.lines("second.ran")), (1, 4));
}

/// The file of a paused run is edited: the run goes on with its frozen definition, and `show` says that the file has
/// another one now (B64). A comment changes nothing of what a definition means, and is no change.
#[test]
fn b64_an_edited_file_does_not_change_what_runs() {
    let desk = Desk::new();
    desk.workers();
    let steps = |first: &str| {
        format!(
            "kind: workflow\nversion: 1\nname: edited\nsteps:\n{first}  - id: ask\n    question: Go on?\n    choices: {{ yes: Yes }}\n  - id: after\n    agent: second\n    task: Work.\n    {WORK}\n"
        )
    };
    desk.write("flow.yaml", &steps(""));
    let started = desk.json(3, &["run", "flow.yaml"]);
    let id = started["session"]["id"].as_str().unwrap().to_owned();
    let now = |wanted: &str, line: bool| {
        let shown = desk.json(0, &["session", "show", &id]);
        assert_eq!(shown["session"]["definition"]["now"], wanted, "{shown}");
        let (_, out, _) = desk.run(&["session", "show", &id]);
        assert_eq!(out.contains("the session goes on with the definition that it began with"), line, "{out}");
    };
    now("same", false);
    desk.write("flow.yaml", &format!("# A comment.\n{}", steps("")));
    now("same", false);
    desk.write(
        "flow.yaml",
        &steps(&format!("  - id: inserted\n    agent: first\n    task: Work.\n    {WORK}\n")),
    );
    now("changed", true);
    desk.write("flow.yaml", "kind: workflow\nsteps: [\n");
    now("broken", true);
    std::fs::remove_file(desk.path("flow.yaml")).unwrap();
    now("gone", true);
    let done = desk.json(0, &["session", "answer", &id, "yes", "--resume"]);
    assert_eq!(done["session"]["status"], "completed", "{done}");
    assert_eq!((desk.lines("first.ran"), desk.lines("second.ran")), (0, 1));
}

/// What came before the pause is kept while the rest comes later, in any order, from other processes (B61).
#[test]
fn b61_results_from_before_and_after_a_restart_join() {
    let desk = Desk::new();
    desk.tool("here", "echo x >> here.ran; echo from here");
    desk.tool("far", "echo never");
    desk.write(
        "agent.json",
        r#"{"slug":"a","modelUrl":"script:./replies.yaml","modelName":"x","systemPrompt":["You work."],
        "bashToolboxes":[{"tag":"FileSystemDirectory","contents":{"Path":"./tools"}}],
        "toolCallPolicy":{"rules":[{"tool":"bash_far","disposition":{"tag":"defer","reason":"far away"}}]}}"#,
    );
    desk.write(
        "replies.yaml",
        "kind: script\nversion: 1\nreplies:\n  - reply: 1\n    call:\n      - bash_far: {}\n      - bash_here: {}\n      - bash_far: {}\n  - say: All three are there.\n",
    );
    let paused = desk.json(3, &["agent", "run", "agent.json", "-p", "Go."]);
    let id = paused["session_id"].as_str().unwrap().to_owned();
    let token =
        |call: usize| paused["deferred_calls"][call]["continuation_token"].as_str().unwrap().to_owned();
    desk.write("result", "from afar");
    desk.json(0, &["session", "complete", &token(1), "result"]);
    desk.json(3, &["session", "resume", &id]);
    desk.json(0, &["session", "complete", &token(0), "result"]);
    let (code, out, err) = desk.run(&["session", "resume", &id]);
    assert!(code == 0 && out.contains("All three are there."), "{out}{err}");
    assert_eq!(desk.lines("here.ran"), 1);
}

/// A model server that notes what it is sent: first a call is asked for, then an end.
fn model() -> (String, std::thread::JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let call = r#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash_bytes","arguments":"{}"}}]}}]}"#;
        let end = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Read."}}]}"#;
        let mut bodies = Vec::new();
        for answer in [call, end, end] {
            let (mut line, _) = listener.accept().unwrap();
            let (mut bytes, mut buffer) = (Vec::new(), [0; 8192]);
            let body = loop {
                let count = line.read(&mut buffer).unwrap();
                bytes.extend_from_slice(&buffer[..count]);
                let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if bytes.len() >= end + 4 + length.parse::<usize>().unwrap() {
                    break bytes[end + 4..].to_vec();
                }
            };
            bodies.push(body);
            write!(
                line,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}",
                answer.len()
            )
            .unwrap();
        }
        bodies
    });
    (url, served)
}

/// Bytes that are no text do not get into the history: every later request is UTF-8 and JSON (B49).
#[test]
fn b49_bad_bytes_of_a_tool_spoil_no_later_request() {
    let desk = Desk::new();
    desk.tool("bytes", r"printf 'a\377\355\240\200\000b'");
    let (url, served) = model();
    desk.write(
        "agent.json",
        &format!(
            r#"{{"slug":"a","flavor":"OpenAIv1","modelUrl":"{url}","modelName":"x","systemPrompt":["You read."],
            "bashToolboxes":[{{"tag":"FileSystemDirectory","contents":{{"Path":"./tools"}}}}]}}"#
        ),
    );
    let first = desk.json(0, &["agent", "run", "agent.json", "-p", "Read."]);
    let id = first["session_id"].as_str().unwrap();
    desk.json(0, &["agent", "run", "agent.json", "--session", id, "-p", "Once more."]);
    for body in served.join().unwrap() {
        let text = String::from_utf8(body).expect("a body is UTF-8");
        let value: Value = serde_json::from_str(&text).expect("a body is JSON");
        assert!(!text.contains("\\u0000") && !text.contains("\\ud800"), "{value}");
        let mut tools =
            value["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        assert!(tools.all(|tool| tool["content"].as_str().unwrap().starts_with("a\u{fffd}")), "{value}");
    }
}

/// Whoever sees a workflow wait for a yes sees how to give it, and what the agent was given.
#[test]
fn a_wait_for_a_yes_inside_a_stage_is_shown_with_its_verb() {
    let desk = Desk::new();
    desk.workers();
    let agent = std::fs::read_to_string(desk.path("agents/first.json")).unwrap();
    let policy =
        r#""toolCallPolicy":{"rules":[{"tool":"bash_first","disposition":{"tag":"defer","reason":"ask"}}]},"#;
    desk.write("agents/first.json", &agent.replacen('{', &format!("{{{policy}"), 1));
    desk.write(
        "flow.yaml",
        &format!(
            "kind: workflow\nversion: 1\nname: asks\nsteps:\n  - id: work\n    agent: first\n    task: Work.\n    with: {{ note: a 1.50 note }}\n    {WORK}\n"
        ),
    );
    let (code, out, err) = desk.run(&["run", "flow.yaml"]);
    assert_eq!(code, 3, "{err}");
    let line = out
        .lines()
        .find(|line| line.contains("flowright session pending "))
        .unwrap_or_else(|| panic!("{out}"));
    let child = line.trim().rsplit(' ').next().unwrap();
    let (_, printed, _) = desk.run(&["session", "print", child]);
    assert!(printed.contains("Work.") && printed.contains("\"note\": \"a 1.50 note\""), "{printed}");
    let (_, pending, _) = desk.run(&["session", "pending", child]);
    assert!(pending.contains("bash_first"), "{pending}");
}
