//! The life of a server: the handshake, refusals, cancelling, bursts, the end.

use super::client::{Client, capabilities};
use crate::support::AS_OF;
use flowright::host::clock::VirtualClock;
use flowright::lsp::{Ended, Options, serve};
use lsp_server::{Connection, Message, Notification, Request, Response};
use serde_json::{Value, json};

const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INVALID_REQUEST: i32 = -32600;
const NOT_INITIALIZED: i32 = -32002;
const CANCELLED: i32 = -32800;

/// Everything that a server answers to messages that all wait when it begins.
fn transcript(messages: Vec<Message>) -> (Vec<Message>, Ended) {
    let (far, near) = Connection::memory();
    for message in messages {
        near.sender.send(message).unwrap();
    }
    let Connection { sender, receiver } = near;
    drop(sender);
    let ended = serve(&far, &VirtualClock::new(AS_OF), Options::default());
    drop(far);
    (receiver.into_iter().collect(), ended)
}

fn request(id: i32, method: &str, params: Value) -> Message {
    Request::new(id.into(), method.to_owned(), params).into()
}

fn news(method: &str, params: Value) -> Message {
    Notification::new(method.to_owned(), params).into()
}

fn initialize() -> Message {
    request(0, "initialize", json!({ "capabilities": capabilities() }))
}

/// The error of a request, or its result.
fn answer(messages: &[Message], id: i32) -> Result<Value, i32> {
    let found = messages.iter().find_map(|message| match message {
        Message::Response(Response { id: of, response_result }) if *of == id.into() => Some(response_result),
        _ => None,
    });
    found.expect("an answer").clone().map_err(|error| error.code)
}

#[test]
fn it_ends_as_the_protocol_says() {
    let mut client = Client::new();
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
    assert_eq!(client.end(), Ended::Asked);
    assert_eq!(Client::new().end(), Ended::Unasked);
    assert_eq!(Client::new().hang_up(), Ended::Closed);
    let (_, ended) = transcript(vec![news("exit", Value::Null)]);
    assert_eq!(ended, Ended::Unasked);
}

#[test]
fn the_handshake_names_what_is_offered() {
    let client = Client::new();
    let offered = &client.greeting["capabilities"];
    assert_eq!(offered["positionEncoding"], "utf-16");
    assert_eq!(offered["textDocumentSync"]["change"], 2);
    assert_eq!(offered["renameProvider"]["prepareProvider"], true);
    assert_eq!(
        offered["codeActionProvider"]["codeActionKinds"],
        json!(["quickfix", "source.fixAll.flowright"])
    );
    assert_eq!(client.greeting["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    let plain = Client::with(json!({}));
    let offered = &plain.greeting["capabilities"];
    assert_eq!(offered["renameProvider"], true);
    assert_eq!(offered.get("codeActionProvider"), None, "a client without literals cannot take edits");
    let modern = Client::with(json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } }));
    assert_eq!(modern.greeting["capabilities"]["positionEncoding"], "utf-8");
}

#[test]
fn nothing_is_done_before_the_handshake_or_after_the_shutdown() {
    let open = news(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "file:///x/x.yaml", "languageId": "yaml", "version": 1, "text": "kind: workflow\n" } }),
    );
    let (answers, ended) = transcript(vec![
        open.clone(),
        request(1, "textDocument/hover", json!({})),
        initialize(),
        request(2, "initialize", json!({ "capabilities": {} })),
        request(3, "shutdown", Value::Null),
        open,
        request(4, "textDocument/hover", json!({})),
        news("exit", Value::Null),
    ]);
    assert_eq!(answer(&answers, 1), Err(NOT_INITIALIZED));
    assert!(answer(&answers, 0).is_ok());
    assert_eq!(answer(&answers, 2), Err(INVALID_REQUEST));
    assert_eq!(answer(&answers, 3), Ok(Value::Null));
    assert_eq!(answer(&answers, 4), Err(INVALID_REQUEST));
    assert!(answers.iter().all(|message| matches!(message, Message::Response(_))), "{answers:?}");
    assert_eq!(ended, Ended::Asked);
}

#[test]
fn what_cannot_be_understood_is_refused_and_the_session_goes_on() {
    let mut client = Client::new();
    assert_eq!(client.refused("textDocument/nothing", json!({})).0, METHOD_NOT_FOUND);
    assert_eq!(client.refused("$/nothing", json!({})).0, METHOD_NOT_FOUND);
    for params in [json!({}), json!([]), json!(null), json!({ "textDocument": 3, "position": {} })] {
        for method in
            ["hover", "completion", "definition", "references", "rename", "prepareRename", "documentSymbol"]
        {
            let (code, why) = client.refused(&format!("textDocument/{method}"), params.clone());
            assert_eq!(code, INVALID_PARAMS, "{method} {params}: {why}");
        }
    }
    let place = json!({ "textDocument": { "uri": "file:///nowhere.yaml" }, "position": { "line": 0, "character": 0 } });
    let (code, why) = client.refused("textDocument/hover", place);
    assert_eq!((code, why.as_str()), (INVALID_PARAMS, "`file:///nowhere.yaml` is not open"));
    for method in ["didOpen", "didChange", "didClose", "didSave"] {
        client.notify(&format!("textDocument/{method}"), json!({ "textDocument": [] }));
    }
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": 1 }));
    client.notify("$/setTrace", json!({ "value": "off" }));
    client.notify("$/cancelRequest", json!({ "id": 1.5 }));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    let uri = client.open("a.yaml", "kind: workflow\nversion: 1\nname: a\nsteps: []\n");
    client.findings(&uri);
    let logged: Vec<_> = client.settle();
    let logged = logged.iter().filter(|one| one.method == "window/logMessage").count();
    assert_eq!(logged, 5, "news that cannot be read are in the log, other news are not");
}

#[test]
fn news_that_cannot_be_read_are_in_the_log() {
    let (answers, _) =
        transcript(vec![initialize(), news("textDocument/didOpen", json!({ "textDocument": {} }))]);
    let said = answers.iter().find_map(|message| match message {
        Message::Notification(one) if one.method == "window/logMessage" => Some(one.params.clone()),
        _ => None,
    });
    let said = said.unwrap();
    assert_eq!(said["type"], 1);
    assert!(said["message"].as_str().unwrap().starts_with("`textDocument/didOpen` cannot be read"), "{said}");
}

#[test]
fn a_request_that_was_cancelled_meanwhile_is_not_computed() {
    let (answers, _) = transcript(vec![
        initialize(),
        request(1, "textDocument/hover", json!({})),
        request(2, "textDocument/hover", json!({})),
        news("$/cancelRequest", json!({ "id": 1 })),
        news("$/cancelRequest", json!({ "id": 77 })),
    ]);
    assert_eq!(answer(&answers, 1), Err(CANCELLED));
    assert_eq!(answer(&answers, 2), Err(INVALID_PARAMS));
    let count = answers.iter().filter(|message| matches!(message, Message::Response(_))).count();
    assert_eq!(count, 3, "each request has one answer");
}

#[test]
fn a_burst_of_changes_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let uri = super::client::uri(&folder.path().join("burst.yaml"));
    let item = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": "kind: workflow\n" });
    let mut messages = vec![initialize(), news("textDocument/didOpen", json!({ "textDocument": item }))];
    for version in 2..=30 {
        let place = json!({ "line": 1, "character": version - 2 });
        let change = json!({ "range": { "start": place, "end": place }, "text": "#" });
        let id = json!({ "uri": uri, "version": version });
        messages
            .push(news("textDocument/didChange", json!({ "textDocument": id, "contentChanges": [change] })));
    }
    let (answers, ended) = transcript(messages);
    assert_eq!(ended, Ended::Closed);
    let told: Vec<_> = answers
        .iter()
        .filter_map(|message| match message {
            Message::Notification(one) if one.method == "textDocument/publishDiagnostics" => {
                Some(&one.params)
            }
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["version"], 30);
}
