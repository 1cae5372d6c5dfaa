//! The life of a server: the handshake, the messages in their order, the changes of documents, the end. Documents
//! are compiled when somebody asks about them or when nothing else waits.

use super::client::Client;
use super::documents::{Document, Documents};
use super::findings::Board;
use super::pages::Pages;
use super::queue::Queue;
use super::text::Text;
use super::view::View;
use super::{Ended, Options, judged, requests, uri};
use crate::host::clock::Clock;
use gen_lsp_types as lsp;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Files whose change may move the root of a package or what counts in it.
const MARKERS: [&str; 3] = ["package.toml", "plugin.json", ".flowright.toml"];

pub(super) struct Server<'a> {
    connection: &'a Connection,
    clock: &'a dyn Clock,
    pages: Pages,
    /// `None` before the handshake.
    client: Option<Client>,
    is_shut_down: bool,
    documents: Documents,
    board: Board,
}

/// A change of a document, read strictly: of a range that cannot be read must not become a change of everything.
#[derive(Deserialize)]
struct Change {
    range: Option<lsp::Range>,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changes {
    text_document: Versioned,
    content_changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Versioned {
    uri: String,
    version: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    text_document: Item,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    uri: String,
    #[serde(default)]
    language_id: String,
    version: i32,
    text: String,
}

impl<'a> Server<'a> {
    pub(super) fn new(connection: &'a Connection, clock: &'a dyn Clock, options: Options) -> Self {
        Self {
            connection,
            clock,
            pages: Pages::new(options.pages),
            client: None,
            is_shut_down: false,
            documents: Documents::default(),
            board: Board::default(),
        }
    }

    pub(super) fn run(mut self) -> Ended {
        let mut queue = Queue::default();
        loop {
            let Some(message) = queue.next(self.connection) else {
                // Nothing waits: one document is brought up to date, then the queue is looked at again.
                if self.compile_one() {
                    continue;
                }
                self.publish();
                if !queue.wait(self.connection) {
                    return Ended::Closed;
                }
                continue;
            };
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(notification) if notification.method == "exit" => {
                    return if self.is_shut_down { Ended::Asked } else { Ended::Unasked };
                }
                Message::Notification(notification) => self.notification(notification),
                // Answers to our own requests say nothing that is needed.
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // A client that is gone is noticed where messages come in.
        let _ = self.connection.sender.send(message.into());
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        self.send(Response::new_err(id, code as i32, message.to_owned()));
    }

    fn request(&mut self, request: Request) {
        match (request.method.as_str(), self.client.is_some()) {
            ("initialize", false) => {
                let client = Client::new(&request.params);
                self.send(Response::new_ok(request.id, client.greeting()));
                self.client = Some(client);
            }
            ("initialize", true) => {
                self.refuse(request.id, ErrorCode::InvalidRequest, "the server is initialized already");
            }
            (_, false) => {
                self.refuse(request.id, ErrorCode::ServerNotInitialized, "`initialize` comes first");
            }
            (_, true) if self.is_shut_down => {
                self.refuse(request.id, ErrorCode::InvalidRequest, "the server is shut down");
            }
            ("shutdown", true) => {
                self.is_shut_down = true;
                self.send(Response::new_ok(request.id, Value::Null));
            }
            (_, true) => {
                while self.compile_one() {}
                if let Some(view) = self.view() {
                    self.send(requests::answer(view, request));
                }
            }
        }
    }

    fn view(&self) -> Option<View<'_>> {
        let client = self.client.as_ref()?;
        Some(View { documents: &self.documents, client, pages: &self.pages })
    }

    fn notification(&mut self, notification: Notification) {
        if self.client.is_none() || self.is_shut_down {
            return;
        }
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" => self.watch(),
            "textDocument/didOpen" => self.read(&method, params, Self::open),
            "textDocument/didChange" => self.read(&method, params, Self::change),
            "textDocument/didSave" => self.read(&method, params, Self::save),
            "textDocument/didClose" => self.read(&method, params, Self::close),
            "workspace/didChangeWatchedFiles" => self.read(&method, params, Self::watched),
            // Other news, among them all that begin with `$/`, may be passed over.
            _ => {}
        }
    }

    /// Takes news in; news that cannot be read are passed over, and the client's log says so.
    fn read<P: DeserializeOwned>(&mut self, method: &str, params: Value, take: fn(&mut Self, P)) {
        match serde_json::from_value(params) {
            Ok(params) => take(self, params),
            Err(error) => self.log(&format!("`{method}` cannot be read: {error}")),
        }
    }

    fn log(&self, message: &str) {
        let params = json!({ "type": lsp::MessageType::Error, "message": message });
        self.send(Notification::new("window/logMessage".to_owned(), params));
    }

    fn watch(&mut self) {
        if self.client.as_ref().is_some_and(|client| client.watches) {
            let id = RequestId::from("flowright.files".to_owned());
            self.send(Request::new(id, "client/registerCapability".to_owned(), Client::watching()));
        }
    }

    fn open(&mut self, opened: Opened) {
        let Item { uri, language_id, version, text } = opened.text_document;
        let document = Document {
            path: uri::path(&uri),
            language: language_id,
            version,
            text: Text::new(text),
            judged: None,
            is_stale: true,
            uri,
        };
        let path = document.path.clone();
        self.documents.all.insert(uri::canonical(&document.uri), document);
        if let Some(path) = path {
            self.changed(&path, true);
        }
    }

    fn change(&mut self, changes: Changes) {
        let Changes { text_document: Versioned { uri, version }, content_changes } = changes;
        let Some(encoding) = self.client.as_ref().map(|client| client.encoding) else { return };
        let Some(document) = self.documents.get_mut(&uri) else {
            self.log(&format!("`{uri}` was changed and is not open"));
            return;
        };
        for change in content_changes {
            match change.range {
                Some(range) => document.text.replace(range, &change.text, encoding),
                None => document.text = Text::new(change.text),
            }
        }
        document.version = version;
        document.is_stale = true;
        if let Some(path) = document.path.clone() {
            self.changed(&path, false);
        }
    }

    fn save(&mut self, saved: lsp::DidSaveTextDocumentParams) {
        if let Some(path) = uri::path(&saved.text_document.uri.0) {
            self.changed(&path, false);
        }
    }

    fn close(&mut self, closed: lsp::DidCloseTextDocumentParams) {
        let key = uri::canonical(&closed.text_document.uri.0);
        if let Some(document) = self.documents.all.remove(&key)
            && let Some(path) = document.path
        {
            // What depends on it sees the disk again.
            self.changed(&path, true);
        }
    }

    fn watched(&mut self, watched: lsp::DidChangeWatchedFilesParams) {
        for change in watched.changes {
            if let Some(path) = uri::path(&change.uri.0) {
                self.changed(&path, change.kind != lsp::FileChangeType::Changed);
            }
        }
    }

    /// Takes in that a file is another one now, on the disk or in the editor.
    fn changed(&mut self, path: &Path, came_or_went: bool) {
        if path.file_name().is_some_and(|name| MARKERS.iter().any(|marker| name == *marker)) {
            self.documents.mark_all();
        } else {
            self.documents.mark(path, came_or_went);
        }
    }

    /// Compiles a document that has changed; false if there is none.
    fn compile_one(&mut self) -> bool {
        let stale = self.documents.all.iter().find(|(_, document)| document.is_stale);
        let Some((key, document)) = stale else { return false };
        let key = key.clone();
        let as_of = self.clock.now();
        // A fault of ours costs the findings of this document until it changes, not the session.
        let compiled = catch_unwind(AssertUnwindSafe(|| judged::judge(document, &self.documents, as_of)));
        if compiled.is_err() {
            self.log(&format!("a fault of ours while compiling `{}`; please report it", document.uri));
        }
        if let Some(document) = self.documents.all.get_mut(&key) {
            document.judged = compiled.unwrap_or_default();
            document.is_stale = false;
        }
        true
    }

    /// Tells the client what it does not know yet.
    fn publish(&mut self) {
        let Some(client) = &self.client else { return };
        let view = View { documents: &self.documents, client, pages: &self.pages };
        for news in self.board.news(view) {
            self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), news));
        }
    }
}
