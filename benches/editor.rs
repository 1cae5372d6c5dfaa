//! What a keystroke costs in an editor: from the change of a document of 500 steps to the findings on the wire, and
//! what the editor asks after it. The server runs in a thread of its own, as it does behind stdin.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use divan::Bencher;
use flowright::host::clock::VirtualClock;
use flowright::lsp::{Ended, Options, serve};
use flowright::time::Timestamp;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::fmt::Write;
use std::thread::JoinHandle;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// With the loops around every tenth of them, 500.
const STAGES: usize = 455;
const AGENT: &str = r#"{"slug":"worker","base":"workflow-agent@1","modelUrl":"http://127.0.0.1:9","modelName":"x","systemPrompt":["You work."]}"#;

fn main() {
    divan::main();
}

/// A workflow of 500 steps: stages with results that read each other, every tenth a loop.
fn text() -> String {
    let mut text =
        "kind: workflow\nversion: 1\nname: long\ninputs:\n  topic: { type: string }\nsteps:\n".to_owned();
    let mut before = "inputs.topic".to_owned();
    for step in 0..STAGES {
        let indent = if step % 10 == 9 {
            let _ = write!(text, "  - id: loop-{step}\n    loop:\n      repeat: 3\n      steps:\n");
            "        "
        } else {
            "  "
        };
        let _ = write!(
            text,
            "{indent}- id: step-{step}\n{indent}  agent: worker\n{indent}  task: Do part {step} of ${{{{ inputs.topic }}}}.\n\
             {indent}  with:\n{indent}    before: ${{{{ {before} }}}}\n{indent}  result:\n{indent}    type: object\n\
             {indent}    required: [text]\n{indent}    properties:\n{indent}      text: {{ type: string }}\n"
        );
        if step % 10 != 9 {
            before = format!("steps.step-{step}.result.text");
        }
    }
    text
}

struct Editor {
    connection: Connection,
    server: JoinHandle<Ended>,
    _folder: tempfile::TempDir,
    uri: String,
    line: usize,
    version: i32,
}

impl Editor {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("agents")).unwrap();
        std::fs::write(folder.path().join("agents/worker.json"), AGENT).unwrap();
        let (far, connection) = Connection::memory();
        let server = std::thread::spawn(move || {
            serve(&far, &VirtualClock::new(Timestamp(1_764_547_200_000)), Options::default())
        });
        let uri = format!("file://{}/long.flow.yaml", folder.path().display());
        let text = text();
        let line = text.lines().position(|line| line.contains("Do part 250 ")).unwrap();
        let editor = Self { connection, server, _folder: folder, uri, line, version: 1 };
        editor.request("initialize", json!({ "capabilities": {} }));
        editor.notify("initialized", json!({}));
        let item = json!({ "uri": editor.uri, "languageId": "yaml", "version": 1, "text": text });
        editor.notify("textDocument/didOpen", json!({ "textDocument": item }));
        let found = editor.findings(1);
        assert!(found.as_array().unwrap().is_empty(), "{found}");
        editor
    }

    fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.to_owned(), params).into()).unwrap();
    }

    fn request(&self, method: &str, params: Value) -> Value {
        let id = RequestId::from(1);
        self.connection.sender.send(Request::new(id, method.to_owned(), params).into()).unwrap();
        loop {
            if let Message::Response(answer) = self.connection.receiver.recv().unwrap() {
                return answer.response_result.unwrap();
            }
        }
    }

    /// Waits for the findings of a version.
    fn findings(&self, version: i32) -> Value {
        loop {
            let Message::Notification(news) = self.connection.receiver.recv().unwrap() else { continue };
            if news.params["version"] == json!(version) {
                return news.params["diagnostics"].clone();
            }
        }
    }

    /// One letter more in the task of the middle step.
    fn press(&mut self) {
        self.version += 1;
        let place = json!({ "line": self.line, "character": 12 });
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": self.uri, "version": self.version },
                "contentChanges": [{ "range": { "start": place, "end": place }, "text": "x" }],
            }),
        );
    }

    fn end(self) {
        drop(self.connection);
        assert_eq!(self.server.join().unwrap(), Ended::Closed);
    }
}

#[divan::bench]
fn a_keystroke_to_its_findings(bencher: Bencher) {
    let mut editor = Editor::new();
    bencher.bench_local(|| {
        editor.press();
        editor.findings(editor.version)
    });
    editor.end();
}

#[divan::bench]
fn a_burst_of_twenty_keystrokes(bencher: Bencher) {
    let mut editor = Editor::new();
    bencher.bench_local(|| {
        for _ in 0..20 {
            editor.press();
        }
        editor.findings(editor.version)
    });
    editor.end();
}

fn asked(bencher: Bencher, method: &str) {
    let editor = Editor::new();
    let params = json!({
        "textDocument": { "uri": editor.uri },
        "position": { "line": editor.line, "character": 26 },
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99999, "character": 0 } },
        "context": { "includeDeclaration": true, "diagnostics": [], "triggerKind": 1 },
    });
    bencher.bench_local(|| editor.request(method, params.clone()));
    editor.end();
}

#[divan::bench]
fn completion(bencher: Bencher) {
    asked(bencher, "textDocument/completion");
}

#[divan::bench]
fn hover(bencher: Bencher) {
    asked(bencher, "textDocument/hover");
}

#[divan::bench]
fn references(bencher: Bencher) {
    asked(bencher, "textDocument/references");
}

#[divan::bench]
fn symbols(bencher: Bencher) {
    asked(bencher, "textDocument/documentSymbol");
}

#[divan::bench]
fn semantic_tokens(bencher: Bencher) {
    asked(bencher, "textDocument/semanticTokens/full");
}

#[divan::bench]
fn code_actions(bencher: Bencher) {
    asked(bencher, "textDocument/codeAction");
}
