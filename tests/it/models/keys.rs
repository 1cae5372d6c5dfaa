//! The operator's keys: where they come from, how they are sent, and that nobody sees them.

use super::{Desk, Server, Turn, completion};
use flowright::host::model::keys::Keys;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

const KEY: &str = "zebra-crossing-4711-tango";

fn keys(entries: &Value) -> Result<Keys, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret-keys");
    std::fs::write(&path, json!({ "keys": entries }).to_string()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let read = Keys::read(&path);
    read.map_err(|message| message.replace(&path.display().to_string(), "FILE"))
}

fn desk(flavor: &str, entries: &Value) -> Desk {
    let mut desk = Desk::new(flavor);
    desk.keys = keys(entries).unwrap();
    desk.agent.api_key_id = Some("mine".to_owned());
    desk
}

fn find(keys: &Keys, id: &str) -> Result<Option<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(keys.find(id))
}

#[test]
fn a_key_is_sent_as_the_protocol_wants_it() {
    let header = |flavor: &str, name: &str| {
        let mut desk = desk(flavor, &json!([{ "id": "mine", "value": format!(" {KEY}\n") }]));
        let (_, request) = desk.exchange(false, Turn::json(400, "{}"));
        request.headers.get(name).cloned()
    };
    assert_eq!(header("OpenAIv1", "authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(header("ClaudeV1", "x-api-key"), Some(KEY.to_owned()));
    assert_eq!((header("ClaudeV1", "authorization"), header("OpenAIv1", "x-api-key")), (None, None));
}

#[test]
fn a_server_on_this_machine_needs_no_key_others_do() {
    let mut desk = desk("OpenAIv1", &json!([]));
    let (_, request) = desk.exchange(false, Turn::json(400, "{}"));
    assert!(!request.headers.contains_key("authorization"));
    let fault = desk.ask_at("http://models.invalid/v1", false).unwrap_err();
    let words = "there is no key `mine`: put it into the secret-keys file or set FLOWRIGHT_KEY_MINE for it";
    assert_eq!((fault.message.as_str(), fault.retryable), (words, false));
}

#[test]
fn a_key_that_cannot_be_sent_is_told_without_it() {
    let fault = desk("OpenAIv1", &json!([{ "id": "mine", "value": "a\u{0}bcdefgh" }]))
        .ask_at("http://127.0.0.1:9/v1", false)
        .unwrap_err();
    assert_eq!(fault.message, "the key `mine` holds characters that cannot be sent");
}

#[test]
fn what_is_wrong_with_the_file_is_said_without_its_content() {
    let wrong = |entries: Value| keys(&entries).unwrap_err();
    assert_eq!(
        wrong(json!([{ "id": "a", "value": KEY, "command": ["x"] }])),
        "the key file FILE: `a` needs either a value or a command"
    );
    assert_eq!(wrong(json!([{ "id": "a" }])), "the key file FILE: `a` needs either a value or a command");
    assert_eq!(
        wrong(json!([{ "id": "a", "command": [] }])),
        "the key file FILE: the command of `a` is empty"
    );
    let twice = json!([{ "id": "a", "value": KEY }, { "id": "a", "value": KEY }]);
    assert_eq!(wrong(twice), "the key file FILE names `a` twice");
    let message = wrong(json!({ KEY: KEY }));
    assert!(
        message.starts_with("the key file FILE is not of the form") && !message.contains(KEY),
        "{message}"
    );
    assert_eq!(find(&Keys::read(std::path::Path::new("/nowhere/at/all")).unwrap(), "a").unwrap(), None);
}

#[test]
fn a_file_that_others_can_read_gets_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret-keys");
    std::fs::write(&path, "{\"keys\":[]}").unwrap();
    for (mode, warns) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let keys = Keys::read(&path).unwrap();
        assert_eq!(keys.warning().is_some_and(|warning| warning.contains("chmod 600")), warns, "{mode:o}");
    }
}

/// The program gets its arguments as they are, no shell reads them; it is asked once.
#[test]
fn a_program_gives_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!("echo x >> '{}'; printf '%s\\n%s\\n' \"$1\" note", count.display());
    let keys =
        keys(&json!([{ "id": "mine", "command": ["sh", "-c", script, "sh", "$(id) 'q'; *"] }])).unwrap();
    assert_eq!(keys.get("mine"), None);
    for _ in 0..3 {
        assert_eq!(find(&keys, "mine").unwrap().as_deref(), Some("$(id) 'q'; *"));
    }
    assert_eq!(keys.get("mine").as_deref(), Some("$(id) 'q'; *"));
    assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 1);
    assert_eq!(format!("{keys:?}"), "1 keys");
}

#[test]
fn a_program_that_gives_none_is_told_without_what_it_printed() {
    let message =
        |command: Value| find(&keys(&json!([{ "id": "mine", "command": command }])).unwrap(), "mine");
    let by_hand = "; run it by hand to see why";
    for (command, what) in [
        (json!(["sh", "-c", format!("echo {KEY}; echo {KEY} >&2; exit 7")]), "ended with exit code 7"),
        (json!(["sh", "-c", "kill -9 $$"]), "was ended by a signal"),
        (json!(["true"]), "printed nothing"),
        (json!(["printf", "\\377\\376"]), "printed no text"),
        (json!(["/nowhere/at/all", KEY]), "cannot be started"),
    ] {
        let wanted = format!("the command of the key `mine` {what}{by_hand}");
        assert_eq!(message(command.clone()), Err(wanted), "{command}");
    }
}

/// A key that ran out is asked for anew: what a program gave before is forgotten at the first 401 and at no second.
#[test]
fn a_key_that_ran_out_is_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script =
        format!("echo x >> '{0}'; wc -l < '{0}' | tr -d ' ' | sed s/^/token-number-/", count.display());
    let mut desk = desk("OpenAIv1", &json!([{ "id": "mine", "command": ["sh", "-c", script] }]));
    let fine = || Turn::json(200, &completion(&json!({ "content": "ok" }), "stop").to_string());
    let refused = || Turn::json(401, "{\"error\":\"expired\"}");
    let server = Server::start(vec![fine(), refused(), refused(), fine()]);
    let url = server.url("/v1");
    assert!(desk.ask_at(&url, false).is_ok());
    assert!(desk.ask_at(&url, false).unwrap_err().retryable, "another may be taken");
    assert!(!desk.ask_at(&url, false).unwrap_err().retryable, "a fresh one was refused, too");
    assert!(desk.ask_at(&url, false).is_ok());
    let sent: Vec<String> = server.requests().iter().map(|it| it.headers["authorization"].clone()).collect();
    let token = |number: u32| format!("Bearer token-number-{number}");
    assert_eq!(sent, [token(1), token(1), token(2), token(3)]);
}

/// A server that repeats the key brings it neither to people nor into the store.
#[test]
fn a_key_that_a_server_repeats_is_hidden() {
    for flavor in ["OpenAIv1", "ClaudeV1"] {
        let mut desk = desk(flavor, &json!([{ "id": "mine", "value": KEY }]));
        for status in [200, 401, 500] {
            let body = format!("{{\"error\":{{\"message\":\"Incorrect key {KEY} provided\"}}}}");
            let fault = desk.exchange(false, Turn::json(status, &body)).0.unwrap_err();
            assert!(fault.message.contains("Incorrect key ••• provided"), "{fault:?}");
        }
        let fault = desk.exchange(false, Turn::json(200, &format!("no JSON but {KEY}"))).0.unwrap_err();
        assert!(!fault.message.contains(KEY), "{fault:?}");
    }
    let mut desk = desk("OpenAIv1", &json!([{ "id": "mine", "value": KEY }]));
    let message = json!({ "content": format!("It is {KEY}."), "reasoning": KEY, "reasoning_details": [{ "a": [KEY] }],
        "tool_calls": [{ "id": KEY, "function": { "name": KEY, "arguments": format!("{{\"k\":\"{KEY}\"}}") } }] });
    let answer = desk.whole(&completion(&message, "tool_calls")).unwrap();
    assert!(!format!("{answer:?}").contains(KEY), "{answer:?}");
    assert_eq!(answer.text, "It is •••.");
    // Cut in two on its way, and only begun.
    let (first, second) = KEY.split_at(9);
    let part = |text: &str| json!({ "choices": [{ "delta": { "content": text } }] }).to_string();
    let parts = [
        part(&format!("It is {first}")),
        part(&format!("{second}, or {first}")),
        part("?"),
        json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string(),
        "[DONE]".to_owned(),
    ];
    let answer = desk.streamed(&parts.each_ref().map(String::as_str)).unwrap();
    let wanted = format!("It is •••, or {first}?");
    assert_eq!((&answer.text, &desk.told().0), (&wanted, &wanted));
}

/// What of the URL may be a key is hidden like one.
#[test]
fn secrets_of_the_url_are_hidden() {
    let mut desk = Desk::new("OpenAIv1");
    let server = Server::start(vec![Turn::json(
        404,
        "{\"error\":\"no POST /v1?key=quiet-river-99 for bob:swordfish-7\"}",
    )]);
    let url =
        format!("http://bob:swordfish-7@127.0.0.1:{}/v1?key=quiet-river-99&api-version=2", server.port());
    let fault = desk.ask_at(&url, false).unwrap_err();
    let request = server.requests().remove(0);
    assert_eq!(request.line, "POST /v1/chat/completions?key=quiet-river-99&api-version=2 HTTP/1.1");
    assert_eq!(fault.message, "the model server answered 404 Not Found: no POST /v1?key=••• for bob:•••");
}
