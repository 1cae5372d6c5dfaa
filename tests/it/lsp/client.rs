//! A client for tests: it keeps the texts of its documents itself, applies edits as the protocol says, and never
//! waits for ever.

use crate::support::AS_OF;
use flowright::host::clock::VirtualClock;
use flowright::lsp::{Ended, Options, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a message may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What an editor of today says it can.
pub(super) fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "workspace": {
            "workspaceEdit": { "documentChanges": true },
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
        "textDocument": {
            "publishDiagnostics": {
                "relatedInformation": true,
                "codeDescriptionSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } } },
            "definition": { "linkSupport": true },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "rename": { "prepareSupport": true },
        },
    })
}

pub(super) struct Client {
    connection: Connection,
    server: JoinHandle<Ended>,
    pub folder: PathBuf,
    _temp: Option<tempfile::TempDir>,
    next_id: i32,
    /// News that nobody has asked for yet.
    news: VecDeque<Notification>,
    /// Text and version of what is open.
    texts: BTreeMap<String, (String, i32)>,
    pub greeting: Value,
}

impl Client {
    /// An editor of today in an empty folder.
    pub(super) fn new() -> Self {
        Self::with(capabilities())
    }

    pub(super) fn with(capabilities: Value) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let mut client = Self::start(temp.path().canonicalize().unwrap(), capabilities);
        client._temp = Some(temp);
        client
    }

    /// In a folder that is there.
    pub(super) fn start(folder: PathBuf, capabilities: Value) -> Self {
        let (far, connection) = Connection::memory();
        let options = Options { pages: Some(folder.join("pages of rules")) };
        let server = std::thread::spawn(move || serve(&far, &VirtualClock::new(AS_OF), options));
        let mut client = Self {
            connection,
            server,
            folder,
            _temp: None,
            next_id: 0,
            news: VecDeque::new(),
            texts: BTreeMap::new(),
            greeting: Value::Null,
        };
        client.greeting =
            client.ask("initialize", json!({ "processId": null, "capabilities": capabilities }));
        client.notify("initialized", json!({}));
        client
    }

    pub(super) fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.uri(name)
    }

    pub(super) fn uri(&self, name: &str) -> String {
        uri(&self.folder.join(name))
    }

    /// Writes a file and opens it.
    pub(super) fn open(&mut self, name: &str, text: &str) -> String {
        let uri = self.write(name, text);
        self.open_buffer(&uri, "yaml", text);
        uri
    }

    /// Opens a text that is not what the disk holds.
    pub(super) fn open_buffer(&mut self, uri: &str, language: &str, text: &str) {
        self.texts.insert(uri.to_owned(), (text.to_owned(), 1));
        let item = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    pub(super) fn close(&mut self, uri: &str) {
        self.texts.remove(uri);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    pub(super) fn text(&self, uri: &str) -> &str {
        &self.texts[uri].0
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.to_owned(), params).into()).unwrap();
    }

    /// Sends edits in their order; each counts on the text that the ones before it have left.
    pub(super) fn edit(&mut self, uri: &str, edits: &[(Value, &str)]) {
        let (text, version) = self.texts.get_mut(uri).unwrap();
        *version += 1;
        let mut changes = Vec::new();
        for (range, with) in edits {
            apply(text, &[json!({ "range": range, "newText": with })]);
            changes.push(json!({ "range": range, "text": with }));
        }
        let id = json!({ "uri": uri, "version": *version });
        self.notify("textDocument/didChange", json!({ "textDocument": id, "contentChanges": changes }));
    }

    /// Replaces the first place that holds `old`.
    pub(super) fn swap(&mut self, uri: &str, old: &str, new: &str) {
        let range = range_of(self.text(uri), old);
        self.edit(uri, &[(range, new)]);
    }

    /// Replaces the whole text.
    pub(super) fn rewrite(&mut self, uri: &str, text: &str) {
        let known = self.texts.get_mut(uri).unwrap();
        *known = (text.to_owned(), known.1 + 1);
        let id = json!({ "uri": uri, "version": known.1 });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": id, "contentChanges": [{ "text": text }] }),
        );
    }

    pub(super) fn try_ask(&mut self, method: &str, params: Value) -> Response {
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        self.connection.sender.send(Request::new(id.clone(), method.to_owned(), params).into()).unwrap();
        loop {
            match self.connection.receiver.recv_timeout(PATIENCE).expect("an answer") {
                Message::Response(answer) => {
                    assert_eq!(answer.id, id);
                    return answer;
                }
                Message::Notification(news) => self.news.push_back(news),
                Message::Request(request) => self.answer(request),
            }
        }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params).response_result.unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// The error that answers a request: its code and its words.
    pub(super) fn refused(&mut self, method: &str, params: Value) -> (i32, String) {
        let error = self.try_ask(method, params).response_result.unwrap_err();
        (error.code, error.message)
    }

    /// Asks about the start of the first place that holds a word.
    pub(super) fn ask_at(&mut self, method: &str, uri: &str, word: &str, more: Value) -> Value {
        let params = self.place(uri, word, more);
        self.ask(method, params)
    }

    pub(super) fn place(&self, uri: &str, word: &str, more: Value) -> Value {
        let start = range_of(self.text(uri), word)["start"].clone();
        let mut params = json!({ "textDocument": { "uri": uri }, "position": start });
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        params
    }

    fn answer(&self, request: Request) {
        assert_eq!(request.method, "client/registerCapability");
        self.connection.sender.send(Response::new_ok(request.id, Value::Null).into()).unwrap();
    }

    /// Waits for news and keeps them.
    fn receive(&mut self) {
        match self.connection.receiver.recv_timeout(PATIENCE).expect("news") {
            Message::Notification(news) => self.news.push_back(news),
            Message::Request(request) => self.answer(request),
            Message::Response(answer) => panic!("nobody asked for {answer:?}"),
        }
    }

    /// The findings of the present state of an open document.
    pub(super) fn findings(&mut self, uri: &str) -> Vec<Value> {
        let version = self.texts.get(uri).map(|(_, version)| *version);
        self.findings_until(uri, |params| {
            params.get("version").and_then(Value::as_i64) == version.map(i64::from)
        })
    }

    /// The next findings of a document that satisfy something; those of others stay.
    pub(super) fn findings_until(&mut self, uri: &str, is_it: impl Fn(&Value) -> bool) -> Vec<Value> {
        let is_of = |news: &Notification| {
            news.method == "textDocument/publishDiagnostics" && news.params["uri"] == json!(uri)
        };
        loop {
            let Some(at) = self.news.iter().position(is_of) else {
                self.receive();
                continue;
            };
            let news = self.news.remove(at).unwrap();
            if is_it(&news.params) {
                return news.params["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    /// All news of a method until everything that was sent is done.
    pub(super) fn settle(&mut self) -> Vec<Notification> {
        // Findings are told when nothing waits; a request after that comes later than they do.
        let mut all: Vec<_> = self.news.drain(..).collect();
        self.ask("shutdown", Value::Null);
        all.extend(self.news.drain(..));
        all
    }

    /// Applies the edit of a workspace to the open texts and tells the server; files that are not open are written.
    pub(super) fn apply(&mut self, edit: &Value) {
        for change in edit["documentChanges"].as_array().expect("versioned changes") {
            let uri = change["textDocument"]["uri"].as_str().unwrap().to_owned();
            let edits = change["edits"].as_array().unwrap();
            if let Some((text, version)) = self.texts.get(&uri) {
                assert_eq!(change["textDocument"]["version"], json!(version));
                let mut text = text.clone();
                apply(&mut text, edits);
                self.rewrite(&uri, &text);
            } else {
                assert_eq!(change["textDocument"].get("version"), Some(&Value::Null));
                let path = PathBuf::from(uri.strip_prefix("file://").unwrap());
                let mut text = std::fs::read_to_string(&path).unwrap();
                apply(&mut text, edits);
                std::fs::write(&path, text).unwrap();
                self.notify(
                    "workspace/didChangeWatchedFiles",
                    json!({ "changes": [{ "uri": uri, "type": 2 }] }),
                );
            }
        }
    }

    /// Says goodbye in a way; how the server took it.
    pub(super) fn end(self) -> Ended {
        self.notify("exit", Value::Null);
        self.server.join().unwrap()
    }

    pub(super) fn hang_up(self) -> Ended {
        drop(self.connection);
        self.server.join().unwrap()
    }
}

pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.display()).replace(' ', "%20")
}

/// Rules of findings, in their order.
pub(super) fn rules(findings: &[Value]) -> Vec<&str> {
    findings.iter().map(|found| found["code"].as_str().unwrap()).collect()
}

/// The text under a range, which counts UTF-16.
pub(super) fn under(text: &str, range: &Value) -> String {
    text[offset(text, &range["start"])..offset(text, &range["end"])].to_owned()
}

/// The UTF-16 range of the first place that holds a word.
pub(super) fn range_of(text: &str, word: &str) -> Value {
    let start = text.find(word).unwrap_or_else(|| panic!("`{word}` is not in the text"));
    json!({ "start": position(text, start), "end": position(text, start + word.len()) })
}

fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
    json!({ "line": line, "character": column })
}

fn offset(text: &str, position: &Value) -> usize {
    let number = |name: &str| usize::try_from(position[name].as_u64().unwrap()).unwrap();
    let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if units >= number("character") {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// Applies edits that count on the same text and do not overlap.
fn apply(text: &mut String, edits: &[Value]) {
    let place = |edit: &Value| (offset(text, &edit["range"]["start"]), offset(text, &edit["range"]["end"]));
    let mut places: Vec<_> =
        edits.iter().map(|edit| (place(edit), edit["newText"].as_str().unwrap())).collect();
    places.sort();
    for pair in places.windows(2) {
        assert!(pair[0].0.1 <= pair[1].0.0, "edits overlap: {edits:?}");
    }
    for ((start, end), with) in places.into_iter().rev() {
        text.replace_range(start..end, with);
    }
}
