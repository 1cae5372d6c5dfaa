//! The worker as a process: exit codes, kills, signals.

use flowright::engine::SessionId;
use flowright::engine::agent::state::{CallState, State, Turn};
use flowright::store::Store;
use flowright::store::sqlite::SqliteStore;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

const REPORT: &str = "corpus/real/scheduled-report/scheduled-report.yaml";

/// Records its message. One that says `gate` waits for somebody who opens the other end of the pipe.
const TOOL: &str = r#"#!/bin/sh
set -eu
case "$1" in
  describe)
    cat <<'JSON'
{ "slug": "record",
  "description": "Records a message.",
  "args": [ { "name": "message", "description": "Message", "type": "string", "backing_type": "string", "arity": "single", "mode": "positional" } ] }
JSON
    ;;
  run)
    if [ "$2" = gate ]; then read -r _ < "$GATE_FILE"; fi
    printf '%s\n' "$2" >> "$CHANGES_FILE"
    ;;
esac
"#;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .args(words)
            .env("USER", "ada")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("FLOWRIGHT_DB", self.path("db"))
            .env("FLOWRIGHT_TOOL_ENV", "CHANGES_FILE,GATE_FILE")
            .env("CHANGES_FILE", self.path("changes"))
            .env("GATE_FILE", self.path("gate"))
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn code(&self, words: &[&str]) -> i32 {
        self.command(words).output().unwrap().status.code().unwrap_or(-1)
    }

    /// A workflow whose agent records its own name once and then submits.
    fn package(&self, names: &[&str]) {
        for folder in ["agents", "tools"] {
            std::fs::create_dir_all(self.path(folder)).unwrap();
        }
        std::fs::write(self.path("tools/record"), TOOL).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.path("tools/record"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut replies = "kind: script\nversion: 1\nreplies:\n".to_owned();
        for name in names {
            replies += &format!(
                "  - agent: {name}\n    reply: 1\n    call:\n      - bash_record: {{ message: {name} }}\n"
            );
            let agent = format!(
                r#"{{"slug":"{name}","base":"workflow-agent@1","modelUrl":"script:./replies.yaml","modelName":"x","systemPrompt":["You work."],"bashToolboxes":[{{"tag":"FileSystemDirectory","contents":{{"Path":"./tools"}}}}]}}"#
            );
            std::fs::write(self.path(&format!("agents/{name}.json")), agent).unwrap();
            let flow = format!(
                "kind: workflow\nversion: 1\nname: {name}\nsteps:\n  - id: work\n    agent: ./agents/{name}.json\n    task: Work.\n"
            );
            std::fs::write(self.path(&format!("{name}.yaml")), flow).unwrap();
        }
        replies += "  - submit: { summary: Done., result: {} }\n";
        std::fs::write(self.path("replies.yaml"), replies).unwrap();
        for name in names {
            let flow = self.path(&format!("{name}.yaml"));
            assert_eq!(self.code(&["run", flow.to_str().unwrap(), "--detach"]), 0);
        }
    }

    fn worker(&self, words: &[&str]) -> (Child, BufReader<ChildStdout>) {
        let mut child = self.command(words).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        (child, out)
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.path("db")).unwrap()
    }

    fn changes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("changes")).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        lines.sort();
        lines
    }

    fn statuses(&self) -> Vec<(SessionId, String)> {
        let filter = flowright::store::Filter { roots_only: true, ..Default::default() };
        let rows = self.store().list(&filter).unwrap();
        rows.into_iter().map(|row| (row.session, row.index.status)).collect()
    }

    /// A person looks whether the effect is there and says what is the case, for each call that nobody knows of.
    fn settle(&self) -> usize {
        let (store, mut settled) = (self.store(), 0);
        for (session, _) in self.statuses() {
            for child in store.children(&session).unwrap() {
                let mut state = State::default();
                for kept in store.load(&child.session).unwrap().unwrap().events {
                    let event = serde_json::from_str(&kept.body).unwrap();
                    flowright::engine::agent::evolve::evolve(&mut state, kept.at, &event);
                }
                for turn in &state.turns {
                    let Turn::Reply { calls, .. } = turn else { continue };
                    for call in calls.iter().filter(|call| call.state == CallState::Unknown) {
                        let done = self.changes().contains(&child.index.title);
                        let how: &[&str] = if done { &["--completed", "done"] } else { &["--retry"] };
                        let words = [&["session", "resolve", &child.session.0, &call.made.id], how].concat();
                        assert_eq!(self.code(&words), 0);
                        settled += 1;
                    }
                }
            }
        }
        settled
    }
}

/// Reads lines until so many have passed the test.
fn read_until(out: &mut BufReader<ChildStdout>, mut left: usize, is_one: impl Fn(&str) -> bool) {
    while left > 0 {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "the worker ended early");
        let _: Value = serde_json::from_str(&line).unwrap();
        left -= usize::from(is_one(&line));
    }
}

#[test]
fn until_idle_tells_by_its_exit_code_what_is_left() {
    let desk = Desk::new();
    // Nothing is there.
    assert_eq!(desk.code(&["work", "--until-idle"]), 0);
    desk.package(&["one", "two"]);
    let output = desk.command(&["work", "--until-idle", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: std::collections::BTreeSet<_> =
        lines.iter().map(|line| line["session"].as_str().unwrap()).collect();
    // Two workflows and their children.
    assert_eq!(sessions.len(), 4);
    assert!(lines.iter().all(|line| line["sequence"].is_u64() && !line["event"].is_null()));
    assert!(desk.statuses().iter().all(|(_, status)| status == "completed"));
    assert_eq!(desk.changes(), ["one", "two"]);
    // Now one waits for its schedule.
    assert_eq!(desk.code(&["run", REPORT, "--detach"]), 0);
    assert_eq!(desk.code(&["work", "--until-idle"]), 3);
    assert_eq!(desk.code(&["work", "--jobs", "0"]), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn killed_in_the_middle_a_second_worker_ends_with_each_effect_once() {
    let names = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"];
    let desk = Desk::new();
    desk.package(&names);
    let (mut first, mut out) = desk.worker(&["work", "--json", "--jobs", "3"]);
    read_until(&mut out, 4, |line| line.contains("\"call_admitted\""));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(desk.statuses().iter().any(|(_, status)| status != "completed"));
    assert!(!desk.store().leases().unwrap().is_empty());
    let mut code = desk.code(&["work", "--until-idle"]);
    for _ in 0..names.len() {
        if desk.settle() == 0 {
            break;
        }
        code = desk.code(&["work", "--until-idle"]);
    }
    assert_eq!((code, desk.changes()), (0, names.map(ToOwned::to_owned).to_vec()));
    assert!(desk.statuses().iter().all(|(_, status)| status == "completed"), "{:?}", desk.statuses());
    assert_eq!(desk.store().leases().unwrap(), []);
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_lets_running_calls_end_and_gives_the_leases_back() {
    let desk = Desk::new();
    let made = Command::new("mkfifo").arg(desk.path("gate")).status().unwrap();
    assert!(made.success());
    desk.package(&["gate"]);
    let (mut worker, mut out) = desk.worker(&["work", "--json"]);
    read_until(&mut out, 1, |line| line.contains("\"call_admitted\""));
    assert_eq!(desk.store().leases().unwrap().len(), 1);
    let killed = Command::new("kill").args(["-TERM", &worker.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // The call runs until the gate opens.
    std::fs::write(desk.path("gate"), "go\n").unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    assert_eq!(desk.changes(), ["gate"]);
    assert_eq!(desk.store().leases().unwrap(), []);
    assert_eq!(desk.code(&["work", "--until-idle"]), 0);
    assert_eq!(desk.changes(), ["gate"]);
}

#[test]
fn a_log_that_is_followed_ends_with_its_session() {
    let desk = Desk::new();
    desk.package(&["one"]);
    let (session, _) = desk.statuses().remove(0);
    let (mut follower, mut out) = desk.worker(&["session", "log", &session.0, "--follow"]);
    // It follows before anything is done.
    read_until(&mut out, 1, |line| line.contains("\"started\""));
    assert_eq!(desk.code(&["work", "--until-idle"]), 0);
    read_until(&mut out, 1, |line| line.contains("\"ended\""));
    assert_eq!(follower.wait().unwrap().code(), Some(0));
    let mut rest = String::new();
    assert_eq!(out.read_line(&mut rest).unwrap(), 0, "{rest}");
    // What has ended is not waited for.
    assert_eq!(desk.code(&["session", "log", &session.0, "-f"]), 0);
}

#[test]
#[cfg(unix)]
fn a_log_that_is_followed_ends_at_a_signal() {
    let desk = Desk::new();
    assert_eq!(desk.code(&["run", REPORT, "--detach"]), 0);
    let (session, _) = desk.statuses().remove(0);
    let (mut follower, mut out) = desk.worker(&["session", "log", &session.0, "--follow"]);
    read_until(&mut out, 1, |line| line.contains("\"occurrence_awaited\""));
    let sent = Command::new("kill").args(["-INT", &follower.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(follower.wait().unwrap().code(), Some(0));
}
