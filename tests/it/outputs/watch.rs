//! `--watch`: a round for each change, of what depends on it; Ctrl-C ends it with 0. Nothing here waits for a time: each
//! round ends with its count, and that is read. A round that never comes fails the test instead of standing still.

use super::desk::{Desk, flow};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const UNUSED: &str = "  a: { type: string }\n";

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

const NEVER: Duration = Duration::from_secs(120);

impl Watching {
    fn new(desk: &Desk, words: &[&str]) -> Self {
        let mut command = desk.command(&[&["--watch"], words].concat());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Self { child, lines }
    }

    /// What is printed up to the count of a round.
    fn round(&mut self) -> String {
        let mut text = String::new();
        loop {
            match self.lines.recv_timeout(NEVER) {
                Ok(line) => text.push_str(&format!("{line}\n")),
                Err(why) => {
                    self.child.kill().unwrap();
                    panic!("{why} after: {text}");
                }
            }
            if text.trim_end().ends_with("checked") {
                return text;
            }
        }
    }

    /// Rounds until one says this. A change may be seen in two halves: a file that is there and still empty.
    fn until(&mut self, words: &str) -> String {
        loop {
            let text = self.round();
            if text.contains(words) {
                return text;
            }
        }
    }

    fn end(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

#[cfg(unix)]
#[test]
fn each_change_is_a_round_and_ctrl_c_ends_it() {
    let desk = Desk::new();
    desk.file("a.yaml", flow(""));
    let mut watching = Watching::new(&desk, &["."]);
    assert_eq!(watching.round(), "no findings · 1 file checked\n", "no terminal, nothing is cleared");
    desk.file("a.yaml", flow(UNUSED));
    assert!(watching.until("1 warning in 1 file · 1 file checked").contains("warning[unused-input]"));
    // A file in a folder that is new.
    desk.file("new/deep/b.yaml", flow(UNUSED));
    watching.until("2 warnings in 2 files · 2 files checked");
    // Settings.
    desk.file(".flowright.toml", "[check]\nignore = [\"unused-input\"]\n");
    watching.until("no findings · 2 files checked");
    std::fs::remove_file(desk.path().join(".flowright.toml")).unwrap();
    watching.until("2 warnings in 2 files · 2 files checked");
    std::fs::remove_file(desk.path().join("a.yaml")).unwrap();
    watching.until("1 warning in 1 file · 1 file checked");
    assert_eq!(watching.end(), Some(0));
}

/// A workflow that is named alone is checked again when an agent of its package comes, changes or goes.
#[cfg(unix)]
#[test]
fn what_depends_on_a_change_is_checked_again() {
    let desk = Desk::new();
    desk.file("package.toml", "");
    desk.file(
        "flows/a.yaml",
        "kind: workflow\nversion: 1\nname: a\nsteps:\n  - agent: worker\n    task: Work.\n",
    );
    let mut watching = Watching::new(&desk, &["flows/a.yaml"]);
    assert!(watching.round().contains("error[missing-agent]"));
    let agent = "{ \"slug\": \"worker\", \"base\": \"workflow-agent@1\", \"modelUrl\": \"http://localhost:1/v1\", \"modelName\": \"m\", \"apiKeyId\": \"k\", \"systemPrompt\": \"x\" }\n";
    desk.file("agents/worker.json", agent);
    let text = watching.until("no findings · 1 file checked");
    assert!(!text.contains("missing-agent"), "{text}");
    desk.file("agents/worker.json", agent.replace("modelName", "modelNam"));
    watching.until("agents/worker.json:1:");
    std::fs::remove_file(desk.path().join("agents/worker.json")).unwrap();
    watching.until("error[missing-agent]");
    assert_eq!(watching.end(), Some(0));
}

#[test]
fn stdin_cannot_be_watched() {
    let outcome = Desk::new().check(&["--watch", "-"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (2, "flowright: stdin cannot be watched\n"));
}
