//! Agent sessions on the command line, as processes: the verbs of R1 to R27 and R50 to R53, session files, the how-to.

mod demo;
mod files;
mod isolation;
mod pinned;
mod prompt;
mod stores;
mod verbs;

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder with the example `corpus/real/durable`, a database of its own, and nothing of the user's.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        for path in ["agents/lookup.json", "replies.yaml"] {
            desk.write(path, &std::fs::read(format!("corpus/real/durable/{path}")).unwrap());
        }
        for tool in ["fetch_local", "fetch_remote_a", "fetch_remote_b"] {
            let path = format!("tools/{tool}");
            desk.tool(&path, &std::fs::read_to_string(format!("corpus/real/durable/{path}")).unwrap());
        }
        std::fs::create_dir(desk.path(".flowright")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn tool(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text.as_bytes());
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowright"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .env_remove("FLOWRIGHT_DB")
            .env("USER", "ada")
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        parts(self.command(words).output().unwrap())
    }

    fn fed(&self, words: &[&str], stdin: &str) -> (i32, String, String) {
        let mut child = self
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        parts(child.wait_with_output().unwrap())
    }

    fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(&[words, &["--json"]].concat());
        (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}\n{out}\n{err}")))
    }

    /// A session of the example that has its prompt.
    fn started(&self) -> String {
        let words =
            ["session", "start", "--agent-file", "agents/lookup.json", "--prompt", "Look up a, b and c."];
        let (code, told) = self.json(&words);
        assert_eq!(code, 0, "{told}");
        told["session"]["id"].as_str().unwrap().to_owned()
    }

    /// A session of the example whose turn is partial, and the tokens of a and b.
    fn partial(&self) -> (String, String, String) {
        let id = self.started();
        self.json(&["session", "step", &id]);
        let (code, told) = self.json(&["session", "step", &id]);
        assert_eq!((code, &told["session"]["turn"]), (3, &Value::from("PartialUserTurn")), "{told}");
        let token = |n: usize| told["session"]["deferred"][n]["token"].as_str().unwrap().to_owned();
        (id, token(0), token(1))
    }
}

fn parts(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}
