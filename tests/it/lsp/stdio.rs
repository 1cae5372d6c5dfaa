//! The program itself over stdin and stdout: framing, hostile messages, exit codes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Program {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_flowright"))
            .args(["lsp", "--stdio"])
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output, folder }
    }

    fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn text(&mut self, text: &str) {
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn send(&mut self, message: &Value) {
        self.text(&message.to_string());
    }

    fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.until(|message| message["id"] == json!(id))
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut length = 0;
            loop {
                let mut line = String::new();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "the program has ended");
                let line = line.strip_suffix("\r\n").unwrap();
                if line.is_empty() {
                    break;
                }
                length = line.strip_prefix("Content-Length: ").unwrap().parse().unwrap();
            }
            let mut bytes = vec![0; length];
            self.output.read_exact(&mut bytes).unwrap();
            let message: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(message["jsonrpc"], "2.0");
            if is_it(&message) {
                return message;
            }
        }
    }

    fn initialize(&mut self) {
        let capabilities =
            json!({ "textDocument": { "publishDiagnostics": { "codeDescriptionSupport": true } } });
        let greeting = self.ask(1, "initialize", json!({ "processId": 4711, "capabilities": capabilities }));
        assert_eq!(greeting["result"]["serverInfo"]["name"], "flowright");
        self.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    }

    /// The exit code and what stands on stderr.
    fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let status = self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status.code().unwrap(), said)
    }
}

#[test]
fn a_session_over_stdio() {
    let mut program = Program::new();
    program.initialize();
    let uri = format!("file://{}/a.yaml", program.folder.path().display());
    let item = json!({ "uri": uri, "languageId": "yaml", "version": 7, "text": "kind: workflow\nversion: 1\nname: a # ä\nstepz: []\n" });
    program.send(
        &json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": item } }),
    );
    let told = program.until(|message| message["method"] == "textDocument/publishDiagnostics");
    assert_eq!(told["params"]["version"], 7);
    let found = &told["params"]["diagnostics"][0];
    assert_eq!(found["range"]["start"], json!({ "line": 3, "character": 0 }), "{found}");
    let page = found["codeDescription"]["href"].as_str().unwrap();
    assert!(std::path::Path::new(page.strip_prefix("file://").unwrap()).is_file(), "{page}");
    assert_eq!(program.ask(2, "shutdown", Value::Null).get("result"), Some(&Value::Null));
    program.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(program.end(), (0, String::new()));
}

#[test]
fn messages_that_are_none_are_answered_and_the_next_is_read() {
    let mut program = Program::new();
    program.initialize();
    for (text, code, id) in [
        ("{ \"jsonrpc\": \"2.0\", ", -32700, Value::Null),
        ("\u{1F600}", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        ("{\"id\": 1.5, \"method\": \"shutdown\"}", -32600, json!(1.5)),
        (
            "{\"id\": 99999999999999999999, \"method\": \"shutdown\"}",
            -32600,
            json!(99999999999999999999_u128),
        ),
        ("{\"id\": \"x\", \"method\": 3}", -32600, json!("x")),
    ] {
        program.text(text);
        let answer = program.until(|message| message.get("error").is_some());
        assert_eq!(
            (&answer["error"]["code"], &answer["id"].to_string()),
            (&json!(code), &id.to_string()),
            "{text}"
        );
    }
    program.raw(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 52\r\n\r\n");
    program.raw(br#"{"jsonrpc":"2.0","id":"text","method":"nothing/one"}"#);
    let answer = program.until(|message| message["id"] == "text");
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(program.end().0, 1, "the stream ended without a goodbye");
}

#[test]
fn exit_without_a_shutdown_is_1() {
    let mut program = Program::new();
    program.initialize();
    program.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(program.end(), (1, String::new()));
}

#[test]
fn a_stream_that_is_no_stream_of_messages_ends_it_in_one_sentence() {
    for bytes in [
        b"hello\n".as_slice(),
        b"Content-Length: x\r\n\r\n",
        b"\r\n\r\n{}",
        b"Content-Length: 99999999999999\r\n\r\n",
        b"Content-Length: 10\r\n\r\n{}",
        &[0xff; 10_000],
    ] {
        let mut program = Program::new();
        program.raw(bytes);
        let (code, said) = program.end();
        assert_eq!(code, 1);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("is started by an editor"), "{said}");
    }
}
